#!/usr/bin/env bash
# The whole chain on a small scene: two types of different size, shape files -> maps -> run -> pictures -> numbers; a second mkmaps
# reuses everything; the run is the same for 1 and 2 threads. Usage: pipeline.sh BIN SOURCE
set -u
bin=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() {
    echo "FAILED: $*"
    exit 1
}
mkdir "in put"
cp "$source/shapes/square.wkt" "$source/shapes/u.wkt" "in put/"
cat >"in put/scene.yaml" <<'END'
title: Squares and U
types:
  block: {shape: square.wkt, radius: 0.01, density: 2500}
  u: {shape: u.wkt, radius: 0.015, density: 2500}
contact:
  default: {kn: 2.0e5, restitution: 0.3, mu: 0.4}
  pairs:
    - {a: block, b: floor, mu: 0.5}
boundaries:
  - {name: floor, plane: {point: [0, 0], normal: [0, 1]}}
  - {name: left, plane: {point: [0, 0], normal: [1, 0]}}
  - {name: right, plane: {point: [0.12, 0], normal: [-1, 0]}}
fill:
  - {type: block, count: 10, region: [0, 0, 0.12, 0.2]}
  - {type: u, count: 6, region: [0, 0.1, 0.12, 0.4]}
phases:
  - {name: fall, time: 0.25}
  - {name: spread, remove: [right], time: 0.1}
output: {every: 0.05}
END
options=(--samples 4000 --held-out 1000 --epochs 20 --width 16 --resolution 64 --quiet)
"$bin/mkmaps" "in put/scene.yaml" -o maps.h5 "${options[@]}" >table.txt || fail "mkmaps"
[ "$(grep -c '^[a-z]*-[a-z]*[: ]' table.txt)" = 3 ] || fail "mkmaps: expected a row for each of three pairs: $(cat table.txt)"
grep -q '3 maps built, 0 reused' table.txt || fail "mkmaps: $(tail -n 1 table.txt)"
cp maps.h5 before.h5
"$bin/mkmaps" "in put/scene.yaml" -o maps.h5 "${options[@]}" >table.txt || fail "second mkmaps"
grep -q '0 maps built, 3 reused; 0 sample sets built, 0 reused; 0 grids built' table.txt || fail "second mkmaps: $(tail -n 1 table.txt)"
for threads in 1 2; do
    "$bin/simulate" "in put/scene.yaml" --maps maps.h5 -o "run$threads.h5" --threads $threads --quiet || fail "simulate"
    "$bin/simstat" "run$threads.h5" --csv --poses "poses$threads.csv" >"numbers$threads.csv" || fail "simstat"
done
cmp poses1.csv poses2.csv || fail "1 and 2 threads differ"
[ "$(wc -l <poses1.csv)" = 17 ] || fail "expected 16 grains: $(cat poses1.csv)"
"$bin/simview" run1.h5 -o picture.png --time fall,spread --width 300 --quiet || fail "simview"
head -c 8 picture.png | od -An -tx1 | grep -q '89 50 4e 47' || fail "no PNG"
echo 'theta,x,y
0.3,1.6,0.2' | "$bin/mapquery" maps.h5 square u >forward.csv || fail "mapquery"
[ "$(wc -l <forward.csv)" = 2 ] || fail "mapquery: $(cat forward.csv)"
# A changed shape makes its maps stale: simulate refuses them and says what to do.
sed -i "s/1 -1, 1 1/1.1 -1, 1.1 1/" "in put/square.wkt"
cmp -s "in put/square.wkt" "$source/shapes/square.wkt" && fail "the shape did not change"
"$bin/simulate" "in put/scene.yaml" --maps maps.h5 -o run3.h5 --quiet 2>err.txt && fail "simulate took maps of another shape"
grep -q mkmaps err.txt || fail "stale maps: $(cat err.txt)"
[ ! -e run3.h5 ] || fail "stale maps: left run3.h5"
echo "pipeline: all right"
