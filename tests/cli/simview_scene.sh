#!/bin/bash
# simview (and simstat --contacts) on a run of simulate with contact rows and moving walls: contact network, colour by force, SVG that is XML.
# $1: folder of the commands; $2: folder of the project.
source=$(cd "$2" && pwd)
. "$(dirname "$0")/common.sh"

"$bin/simulate" "$source/data/scenes/drum.yaml" --set output.contacts=true -o drum.h5 --quiet || exit 1
"$bin/simview" drum.h5 -o forces.png --forces --quiet || fail "contact network"
"$bin/simview" drum.h5 -o shape.png --quiet || fail "picture"
cmp -s forces.png shape.png && fail "the contact network changes nothing"
"$bin/simview" drum.h5 -o force.png --colour force --quiet || fail "colour by force"
cmp -s force.png shape.png && fail "the colour by force changes nothing"
"$bin/simview" drum.h5 -o forces.svg --forces --colour rotation --quiet || fail "SVG"
"$bin/simview" drum.h5 -o film --forces --every 20 --width 200 --quiet || fail "folder with the contact network"
lines=$(grep -c 'stroke="#961020"' forces.svg)
# The rows that simstat lists: one a line of the network but for the faintest; those of the drum add up to the load on it.
"$bin/simstat" drum.h5 --contacts contacts.csv --boundaries boundaries.csv --overlap off --quiet >/dev/null || fail "simstat --contacts"
awk -F, -v lines="$lines" 'NR > 1 { f[NR] = $8; if ($8 > m) m = $8 }
    END { for (i in f) { n++; if (f[i] > m / 50) seen++ } exit !(lines <= n && lines >= seen && seen > 5) }' contacts.csv ||
    fail "$lines lines of the network for $(cut -d, -f8 contacts.csv | tr '\n' ' ')"
awk -F, 'NR == FNR { if (FNR > 1) { x = $2; y = $3 }; next } $1 == "drum" { x += $10; y += $11; n++ }
    $1 != "drum" && FNR > 1 { size = sqrt($8 * $8 + $9 * $9) - sqrt($10 * $10 + $11 * $11); if (size * size > 1e-18 || $2 <= $1) bad = 1 }
    END { exit !(n > 0 && !bad && x * x + y * y < 1e-18) }' boundaries.csv contacts.csv || fail "forces of --contacts: $(cat boundaries.csv)"
if command -v xmllint >/dev/null; then xmllint --noout forces.svg || fail "the SVG is no XML"; fi

[ $failures = 0 ] && echo "simview on scenes: all right"
exit $((failures > 0))
