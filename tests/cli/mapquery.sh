#!/bin/bash
# mapquery on good and bad input: maps, minimiser, both orders of a pair, exit status, one clear message with its line.
. "$(dirname "$0")/map_common.sh"

"$bin/mkmaps" "$shapes/square.wkt" "$shapes/u.wkt" -o all.h5 $tiny >/dev/null || exit 1
cp all.h5.cache/square.sdf.h5 square.h5
cp all.h5.cache/u.sdf.h5 "ü.h5"
damage all.h5
cp truncated.h5 cut_maps.h5
damage square.h5
printf 'theta,x,y\r\n0.3,1.2,0.1\r\n\r\n -1.5 ,\t-0.2, 1.1e0\r\n' >poses.csv
export stdin=poses.csv

# What works: the header and a row a pose, numbers that read back, the identity r_a - r_b = t.n, both orders of the pair.
check='NR == 1 {if ($0 != "theta,x,y,d,d_theta,gx,gy,r_a,r_b") exit 1; next}
    {n++; l = sqrt($6 * $6 + $7 * $7); e = $8 - $9 - ($2 * $6 + $3 * $7) / l; if (NF != 9 || e > 1e-12 || e < -1e-12) exit 1} END {if (n != 2) exit 1}'
"$bin/mapquery" all.h5 square u <poses.csv >map.csv || fail "map"
awk -F, "$check" map.csv || fail "map: $(cat map.csv)"
grep -q '^0.29999999999999999,1.2,0.10000000000000001,' map.csv || fail "poses are not repeated: $(cat map.csv)"
awk -F, 'BEGIN {OFS = ","} NR == 1 {print; next} {c = cos($1); s = sin($1); printf "%.17g,%.17g,%.17g\n", -$1, -(c * $2 + s * $3), s * $2 - c * $3}' map.csv |
    sed 's/^theta.*/theta,x,y/' | "$bin/mapquery" all.h5 u square >swapped.csv || fail "other order"
paste -d, map.csv swapped.csv | awk -F, 'function far(a, b) {return a - b > 1e-9 || b - a > 1e-9}
    NR > 1 && (far($4, $13) || far($8, -$18) || far($9, -$17)) {exit 1}' || fail "the other order disagrees: $(cat map.csv swapped.csv)"
"$bin/mapquery" --numeric square.h5 "ü.h5" --ratio 0.5 <poses.csv >numeric.csv || fail "numeric"
awk -F, "$check" numeric.csv || fail "numeric: $(cat numeric.csv)"
printf 'theta,x,y\n0,2.5,0\n' | "$bin/mapquery" --numeric square.h5 square.h5 |
    awk -F, 'NR == 2 {e = $4 - (2.5 - sqrt(2)); exit !(e < 1e-3 && e > -1e-3)}' || fail "two squares are sqrt(2) wide"
printf 'theta,x,y\n0,1.2142135623730951,0\n' | "$bin/mapquery" --numeric --exact square.h5 square.h5 |
    awk -F, 'NR == 2 {e = $4 + 0.2; exit !($6 == 1 && e < 1e-12 && e > -1e-12)}' || fail "two squares .2 deep"
expect 2 '--exact goes with --numeric' mapquery --exact all.h5 square u
# The error statement: every table, one row a band; JSON holds the same numbers.
"$bin/mapquery" all.h5 u u --error </dev/null >error.txt 2>err.txt || fail "--error: $(cat err.txt)"
for title in 'u-u of ratio 1' 'map against exact geometry' 'map against its own labels' 'labels against exact' 'with A and B exchanged' 'jumps over the seams' 'overlaps the map does not see'; do
    grep -q "$title" error.txt || fail "--error: no \"$title\": $(cat error.txt)"
done
[ "$(grep -c '^all ' error.txt)" = 5 ] || fail "--error: five tables: $(cat error.txt)"
head -1 error.txt | grep -q 'labels minimiser, not smoothed$' || fail "--error: labels: $(head -1 error.txt)"
"$bin/csample" all.h5.cache/u.sdf.h5 -o smooth.samples.h5 --labels exact --smooth 0.002 --samples 1000 --held-out 300 --quiet >/dev/null || fail "smoothed samples"
"$bin/nntrain" smooth.samples.h5 -o smooth.h5 --layers 1 --width 8 --epochs 1 --quiet >/dev/null || fail "a map of smoothed labels"
"$bin/mapquery" smooth.h5 u u --error </dev/null | head -1 | grep -q 'labels exact smoothed over 0.002$' || fail "--error: smoothed labels"
"$bin/mapquery" smooth.h5 u u --error --json </dev/null | grep -q '^  "smoothing": 0.002,$' || fail "--json: smoothed labels"
"$bin/mapquery" all.h5 u square --error </dev/null >error.txt || fail "--error in the other order"
grep -q '^square-u of' error.txt || fail "--error: $(head -1 error.txt)"
grep -q 'exchanged' error.txt && fail "--error: different shapes cannot be exchanged"
"$bin/mapquery" all.h5 u u --error --json </dev/null >error.json || fail "--json"
if command -v python3 >/dev/null; then
    "$bin/mapquery" all.h5 u u --error </dev/null >error.txt
    python3 - <<'PY' || fail "--json: $(cat error.json)"
import json
s = json.load(open("error.json"))
row = [line for line in open("error.txt") if line.startswith("all")][0].split()
t = s["map_against_exact"]
assert len(s["band_edges"]) == 7 and all(len(column) == 7 for column in t.values())
assert sum(t["poses"][:6]) == t["poses"][6] == int(row[1]) > 100
assert abs(t["distance_mean"][6] - float(row[2])) < 1e-5 and abs(t["moment_arm_p99"][6] - float(row[15])) < 1e-5
assert len(s["seams"]) == len(s["jumps_by_seam"]["crossings"]) == 5 and sum(s["jumps_by_seam"]["crossings"]) == s["jumps_by_band"]["crossings"][6]
PY
fi
expect 2 '--json goes with --error' mapquery all.h5 u u --json
expect 2 '--error is about a map' mapquery --numeric square.h5 square.h5 --error
"$bin/mapquery" --help | grep -q 'Examples' || fail "--help has no example"

# Usage.
expect 2 'expected MAPS.h5 A B' mapquery
expect 2 'expected MAPS.h5 A B' mapquery all.h5 square
expect 2 'A.sdf.h5 B.sdf.h5' mapquery --numeric square.h5
expect 2 'nonsense' mapquery --nonsense all.h5 square u
for ratio in 0 -1 nan x 100; do expect 2 '--ratio' mapquery all.h5 square u "--ratio=$ratio"; done
expect 2 'square-u of ratio 1' mapquery all.h5 square triangle
expect 2 'square-u of ratio 1' mapquery all.h5 square u --ratio 0.5

# Files.
for mode in map numeric; do
    for file in missing.h5:1 folder.h5:1 empty.h5:2 text.h5:2 truncated.h5:2 nan.h5:2 "ü.h5:2"; do
        name=${file%:*}
        if [ $mode = map ]; then
            [ "$name" = nan.h5 ] || expect "${file#*:}" "$name" mapquery "$name" square u
        else
            [ "$name" = "ü.h5" ] || expect "${file#*:}" "$name" mapquery --numeric "$name" square.h5
        fi
    done
done
expect 2 'cut_maps.h5' mapquery cut_maps.h5 square u
expect 2 'all.h5.*cem.maps' mapquery --numeric all.h5 square.h5

# Poses.
bad() {
    printf "$2" >bad.csv
    stdin=bad.csv expect 2 "$1" mapquery all.h5 square u
}
: >bad.csv
bad 'header line' ''
bad 'no rows' 'theta,x,y\n'
bad 'input:1: .*theta,x,y' '0,1,2\n'
bad 'input:1: column "y"' 'x,theta\n0,1\n'
bad 'input:3: ' 'theta,x,y\n0,1,2\n0,1\n'
bad 'input:2: ' 'theta,x,y\n0,1,2,3\n'
bad 'input:2: column x' 'theta,x,y\n0,one,2\n'
bad 'input:2: column theta' 'theta,x,y\nnan,1,2\n'
bad 'input:2: column y' 'theta,x,y\n0,1,inf\n'
bad 'input:2: column y' 'theta,x,y\n0,1,1e999\n'
bad 'input:3: column y: found 2e+06' 'theta,x,y\n\n0,1,2e6\n'
bad 'input:2: column theta' 'theta,x,y\n0x10,1,2\n'
bad 'input:2: ' 'theta,x,y\n0;1;2\n'
bad 'input:2: column x' 'theta,x,y\n0,,2\n'
bad 'zero byte' 'theta,x,y\n0,1,2\0,3\n'
printf 'y,theta,x\n2,0,1\n' | "$bin/mapquery" all.h5 square u | grep -q '^0,1,2,' || fail "columns in another order"
head -c 5000 /dev/zero | tr '\0' '1' >long.txt
(echo theta,x,y && cat long.txt) >bad.csv
stdin=bad.csv expect 2 'input:2: ' mapquery all.h5 square u
"$bin/mapquery" all.h5 square u <&- >/dev/null 2>err.txt
[ $? = 1 ] && grep -q 'standard input' err.txt || fail "closed standard input: $(cat err.txt)"
if [ -e /dev/full ]; then
    "$bin/mapquery" all.h5 square u <poses.csv >/dev/full 2>err.txt
    [ $? = 1 ] || fail "full standard output: $(cat err.txt)"
fi
finish
