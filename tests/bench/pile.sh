#!/usr/bin/env bash
# Benchmarks on a settled pile of #: a step beside the bare kernels, copies of the pile side by side, Chipmunk.
#   tests/bench/pile.sh BUILD [COUNT]     (1000; 11000 takes seven minutes of processor time to settle)
# Maps and the settled run are made once and kept in BUILD/bench.
set -euo pipefail
build=$(realpath "${1:?usage: tests/bench/pile.sh BUILD [COUNT]}")
count=${2:-1000}
shape=$(realpath "$(dirname "$0")/../../shapes/hash.wkt")
mkdir -p "$build/bench"
cd "$build/bench"
[ -f hash.maps.h5 ] || "$build/bin/mkmaps" "$shape" -o hash.maps.h5
if [ ! -f "pile$count.run.h5" ]; then
    # a box about as wide as the settled pile is high; the lattice above it is 2.05 R a row
    width=$(awk -v n="$count" 'BEGIN {printf "%.3f", 0.0205 * int(sqrt(n))}')
    cat > "pile$count.yaml" <<SCENE
types: {hash: {shape: "$shape", radius: 0.01, density: 2500}}
contact: {default: {kn: 4.0e6, restitution: 0.3, mu: 0.4}}
boundaries:
  - {name: floor, plane: {point: [0, 0], normal: [0, 1]}}
  - {name: back, plane: {point: [0, 0], normal: [1, 0]}}
  - {name: gate, plane: {point: [$width, 0], normal: [-1, 0]}}
fill: [{type: hash, count: $count, region: [0, 0, $width, 9]}]
phases: [{name: settle, time: 1.8}]
maps: hash.maps.h5
output: {every: 0.2}
SCENE
    "$build/bin/simulate" "pile$count.yaml" -o "part.run.h5" --threads 1
    mv part.run.h5 "pile$count.run.h5"
fi
for copies in 1 9; do "$build/tests/bench_pile" "pile$count.yaml" "pile$count.run.h5" hash.maps.h5 "$copies"; done
"$build/tests/bench_pile" "pile$count.yaml" "pile$count.run.h5" hash.maps.h5 9 shuffle
if [ -x "$build/tests/bench_chipmunk" ]; then
    for setting in "240 30" "120 10"; do
        # shellcheck disable=SC2086
        "$build/tests/bench_chipmunk" "pile$count.yaml" "pile$count.run.h5" hash.maps.h5 $setting 2 2>/dev/null
    done
else
    echo "bench_chipmunk was not built: Chipmunk is not installed (Debian: libchipmunk-dev)"
fi
