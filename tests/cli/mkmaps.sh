#!/bin/bash
# mkmaps on good and bad input: pairs, reuse, exit status, one clear message, nothing under the final name after a failure.
. "$(dirname "$0")/map_common.sh"

mkdir other
cp "$shapes/u.wkt" "ü u.wkt"
cp "$shapes/octagon.wkt" other/u.wkt
cat >scene.yaml <<'YAML'
title: Two sizes
gravity: [0, -9.81]
types:
  small: {shape: ü u.wkt, radius: 0.01, density: 2500}
  large: {shape: ü u.wkt, radius: 0.02, density: 2500}
contact:
  default: {kn: 2.0e5, restitution: 0.3, mu: 0.4}
boundaries:
  - {name: floor, plane: {point: [0, 0], normal: [0, 1]}}
fill:
  - {type: small, count: 2, region: [0, 0, 0.4, 2.0]}
  - {type: large, count: 2, region: [0, 2, 0.4, 4.0]}
phases:
  - {name: fall, time: 0.1}
dt: auto
output: {every: 0.02}
seed: 1
YAML

# What works: every pair once, the second call reuses all of it, a changed option only retrains.
"$bin/mkmaps" "$shapes/square.wkt" "ü u.wkt" "$shapes/square.wkt" -o two.h5 $tiny >out.txt 2>err.txt || fail "two shapes: $(cat err.txt)"
grep -q '3 maps built, 0 reused; 3 sample sets built, 0 reused; 2 grids built, 0 reused' out.txt || fail "two shapes: $(cat out.txt)"
[ "$(grep -c ' 1x8 ' out.txt)" = 3 ] || fail "expected three rows: $(cat out.txt)"
[ -s err.txt ] && fail "--quiet is not: $(cat err.txt)"
cp two.h5 before.h5
"$bin/mkmaps" "$shapes/square.wkt" "ü u.wkt" -o two.h5 $tiny >out.txt || fail "second call"
grep -q '0 maps built, 3 reused' out.txt || fail "second call: $(cat out.txt)"
cmp -s two.h5 before.h5 || fail "a current bundle was rewritten"
"$bin/mkmaps" "$shapes/square.wkt" "ü u.wkt" -o two.h5 $tiny --width 9 >out.txt || fail "other width"
grep -q '3 maps built, 0 reused; 0 sample sets built, 3 reused; 0 grids built, 2 reused' out.txt || fail "other width: $(cat out.txt)"
"$bin/mkmaps" "$shapes/square.wkt" "ü u.wkt" -o two.h5 $tiny --labels exact >out.txt || fail "exact labels"
grep -q '3 maps built, 0 reused; 3 sample sets built, 0 reused; 0 grids built, 2 reused' out.txt || fail "other labels are another set: $(cat out.txt)"
"$bin/mkmaps" scene.yaml -o scene.h5 $tiny >out.txt 2>err.txt || fail "scene: $(cat err.txt)"
grep -q '2 maps built' out.txt || fail "scene: $(cat out.txt)"
grep -q ':0.5 ' out.txt || fail "scene: no pair of ratio 0.5: $(cat out.txt)"
# A shape with walls of 0.1 circumradii: 1.6 cells at resolution 32 are told, resolution auto is fine enough (and is a grid of its own).
echo "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0), (.7 .7, .7 9.3, 9.3 9.3, 9.3 .7, .7 .7))" >frame.wkt
"$bin/mkmaps" frame.wkt -o frame.h5 $tiny >out.txt 2>err.txt || fail "thin walls: $(cat err.txt)"
grep -q 'mkmaps: warning: frame.wkt: a wall of 0.099 circumradii is 1.6 cells wide at resolution 32.*resolution 64 would' err.txt || fail "thin walls: $(cat err.txt)"
"$bin/mkmaps" frame.wkt -o frame.h5 $tiny --resolution auto >out.txt 2>err.txt || fail "auto: $(cat err.txt)"
[ -s err.txt ] && fail "auto: $(cat err.txt)"
grep -q '1 maps built, 0 reused.*1 grids built, 0 reused' out.txt || fail "auto: $(cat out.txt)"

# A spread of three sizes of one shape needs three maps, not six; their number is shown before the work begins.
sed 's/  small:.*/  grain: {shape: ü u.wkt, radii: [0.01, 0.02], sizes: 3, density: 2500}/; /  large:/d; s/type: small/type: grain/; s/type: large/type: grain~1/' scene.yaml >spread.yaml
"$bin/mkmaps" spread.yaml -o spread.h5 ${tiny/--quiet/} >out.txt 2>err.txt || fail "spread: $(cat err.txt)"
head -1 err.txt | grep -q 'mkmaps: 3 pairs of 1 shapes; about [0-9]* s where' || fail "spread: $(cat err.txt)"
grep -q '3 maps built' out.txt || fail "spread: $(cat out.txt)"
"$bin/simulate" spread.yaml --maps spread.h5 --check --quiet || fail "spread: simulate does not find the maps of all ratios"
"$bin/mkmaps" --help | grep -q 'Examples' || fail "--help has no example"

# Usage.
expect 2 'no files' mkmaps -o x.h5
expect 2 '-o MAPS.h5' mkmaps "$shapes/u.wkt"
expect 2 'nonsense' mkmaps "$shapes/u.wkt" -o x.h5 --nonsense
for option in --resolution=15 --resolution=x --margin=0 --samples=10 --near-fraction=1.5 --band=0 --layers=0 --recipe=fast --threads=0 --seed=x; do
    expect 2 "${option%%=*}" mkmaps "$shapes/u.wkt" -o x.h5 $option
done
expect 2 'scene.yaml' mkmaps scene.yaml "$shapes/u.wkt" -o x.h5
cp "$shapes/u.wkt" same.wkt
expect 2 'same file' mkmaps same.wkt -o same.wkt
expect 2 'same file' mkmaps same.wkt -o ./same.wkt

# Files.
echo "POLYGON ((0 0, 1 0, nan 1, 0 0))" >nan.wkt
: >empty.wkt
head -c 40 "$shapes/u.wkt" >cut.wkt
mkdir folder.wkt
echo "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0), (.1 .1, .1 9.9, 9.9 9.9, 9.9 .1, .1 .1))" >thin.wkt
expect 2 'thin.wkt: a wall of 0.014 circumradii is 0.91 cells wide at resolution 128, expected at least 1; resolution 432 would' mkmaps thin.wkt -o x.h5 --resolution 128
expect 1 'missing.wkt' mkmaps missing.wkt -o x.h5
expect 1 'missing.yaml' mkmaps missing.yaml -o x.h5
expect 1 'folder.wkt' mkmaps folder.wkt -o x.h5
expect 2 'nan.wkt' mkmaps nan.wkt -o x.h5
expect 2 'empty.wkt' mkmaps empty.wkt -o x.h5
expect 2 'cut.wkt' mkmaps cut.wkt -o x.h5
cp "$shapes/u.wkt" u.wkt
expect 2 'different shape' mkmaps u.wkt other/u.wkt -o x.h5
sed 's/friction//; s/gravity:/gravitty:/' scene.yaml >typo.yaml
expect 2 'gravity' mkmaps typo.yaml -o x.h5
expect 1 'nowhere' mkmaps u.wkt -o nowhere/x.h5
expect 1 'folder.h5' mkmaps u.wkt -o folder.h5
expect 2 'text.h5' mkmaps u.wkt -o text.h5 # no bundle: not overwritten
grep -q 'no HDF5 at all' text.h5 || fail "text.h5 was overwritten"
(ulimit -f 4 && "$bin/mkmaps" u.wkt -o full.h5 $tiny >/dev/null 2>err.txt)
[ $? = 1 ] || fail "full disk: $(cat err.txt)"
[ -e full.h5 ] && fail "full disk: something is under the final name"
[ -z "$(find full.h5.cache -name '*.h5' 2>/dev/null)" ] || fail "full disk: $(ls full.h5.cache)"
finish
