#!/bin/bash
# simview on a run of simulate with contact rows and moving walls: contact network, colour by force, SVG that is XML.
# $1: folder of the commands; $2: folder of the project.
set -u
bin=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

"$bin/simulate" "$source/data/scenes/drum.yaml" --set output.contacts=true -o drum.h5 --quiet || exit 1
rows=$("$bin/simstat" drum.h5 --overlap off | awk '$1 == "contacts" { print $NF }')
"$bin/simview" drum.h5 -o forces.png --forces --quiet || fail "contact network"
"$bin/simview" drum.h5 -o shape.png --quiet || fail "picture"
cmp -s forces.png shape.png && fail "the contact network changes nothing"
"$bin/simview" drum.h5 -o force.png --colour force --quiet || fail "colour by force"
cmp -s force.png shape.png && fail "the colour by force changes nothing"
"$bin/simview" drum.h5 -o forces.svg --forces --colour rotation --quiet || fail "SVG"
"$bin/simview" drum.h5 -o film --forces --every 20 --width 200 --quiet || fail "folder with the contact network"
lines=$(grep -c 'stroke="#961020"' forces.svg)
# The observable counts contacts of grains with each other; the drum's come on top.
[ "$lines" -gt "${rows:-1000}" ] && [ "$lines" -le $((${rows:-0} + 12)) ] ||
    fail "SVG: $lines lines of the network for ${rows:-no} contacts of 12 grains"
if command -v xmllint >/dev/null; then xmllint --noout forces.svg || fail "the SVG is no XML"; fi

[ $failures = 0 ] && echo "simview on scenes: all right"
exit $((failures > 0))
