#!/usr/bin/env bash
# Which labels to prefer: the same small piles with contacts by the minimiser and by exact depth, and a ring shot at a ring.
#   tests/bench/labels_rest.sh BUILD WORK [--grains N] [--kn STIFFNESS] [--seeds N]
# Shapes: # (walls .26, right angles), a star with tips of 26 degrees, a ring of 48 corners with a wall of .06 circumradii. One
# row per shape and back end, means over the seeds: true overlap of the outlines (mean, 99 %, largest, circumradii), resting
# height (top, circumradii), kinetic energy left (m g R per grain), CPU seconds. Then, for speeds in units of sqrt(g R), where
# a ring ends that flew at a ring held fast: 0 would be its centre, 2 is contact, -4 is free flight through it.
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?BUILD folder}" && pwd)
work=${2:?WORK folder}
shift 2
grains=24 kn=2.0e4 seeds=2
while [ $# -gt 0 ]; do
    case "$1" in
    --grains) grains=$2 ;;
    --kn) kn=$2 ;;
    --seeds) seeds=$2 ;;
    *)
        echo "labels_rest.sh: unknown argument \"$1\"" >&2
        exit 2
        ;;
    esac
    shift 2
done
cp "$(dirname "$0")/../../shapes/hash.wkt" "$(mkdir -p "$work" && cd "$work" && pwd)/"
cd "$work"
TIMEFORMAT='%U'
awk 'BEGIN { pi = atan2(0, -1)
    printf "POLYGON ((" > "star.wkt"
    for (i = 0; i <= 10; i++) { a = pi * (0.5 + (i % 10) / 5); r = i % 2 ? .3 : 1; printf "%s%.6f %.6f", i ? ", " : "", r * cos(a), r * sin(a) > "star.wkt" }
    print "))" > "star.wkt"
    for (k = 0; k < 2; k++) {
        printf "%s", k ? "), (" : "POLYGON ((" > "ring.wkt"
        for (i = 0; i <= 48; i++) { a = pi * (i % 48) / 24; r = k ? .94 : 1; printf "%s%.6f %.6f", i ? ", " : "", r * cos(a), r * sin(a) > "ring.wkt" }
    }
    print "))" > "ring.wkt" }'

# $1: shape, $2: back end, $3: seed. A pile in a box of 8 radii.
pile() {
    cat > "$1.$2.yaml" <<END
types:
  grain: {shape: $1.wkt, radius: 0.01, density: 2500}
contact:
  default: {kn: $kn, restitution: 0.3, mu: 0.4}
boundaries:
  - {name: floor, plane: {point: [0, 0], normal: [0, 1]}}
  - {name: left, plane: {point: [0, 0], normal: [1, 0]}}
  - {name: right, plane: {point: [0.08, 0], normal: [-1, 0]}}
fill:
  - {type: grain, count: $grains, region: [0, 0, 0.08, 1]}
phases:
  - {name: settle, time: 0.8}
narrow_phase: $2
output: {every: 0.1}
seed: $3
END
    { time "$build/bin/simulate" "$1.$2.yaml" -o "$1.$2.run.h5" --threads 1 --quiet >/dev/null; } 2> time.txt
    "$build/bin/simstat" "$1.$2.run.h5" --json --quiet > stat.json
    echo "$(tail -n 1 time.txt) $(tr ',{}' '\n' < stat.json | awk -F: '
        { gsub(/[ "]/, "") } { v[$1] = $2 }
        END { print v["overlap_mean"], v["overlap_p99"], v["overlap_max"], v["height"], v["kinetic_per_mgr"] }')"
}

echo 'shape  labels     overlap: mean     p99     max   height  E/(m g R)    CPU s'
for shape in hash star ring; do
    for labels in minimiser exact; do
        for seed in $(seq "$seeds"); do pile $shape $labels "$seed"; done | awk -v name="$shape" -v labels="$labels" '
            { cpu += $1; mean += $2; p99 += $3; max = $4 > max ? $4 : max; top += $5; energy += $6 }
            END { r = .01; printf "%-6s %-9s %13.5f %8.5f %7.5f %8.3f  %9.1e %8.1f\n", name, labels, mean / NR, p99 / NR, max, top / NR / r, energy / NR, cpu / NR }'
    done
done
echo 'ring at ring: end (circumradii from the centre of the one held fast), speeds .5 1 2 4 8 sqrt(g R)'
for labels in minimiser exact; do
    printf '%-9s' $labels
    for speed in .5 1 2 4 8; do
        v=$(awk -v k="$speed" 'BEGIN { print -k * sqrt(9.81 * .01) }')
        cat > shot.yaml <<END
gravity: [0, 0]
types:
  ring: {shape: ring.wkt, radius: 0.01, density: 2500}
contact:
  default: {kn: $kn, restitution: 0.3, mu: 0.4}
boundaries:
  - {name: anvil, grain: {type: ring, position: [0, 0]}}
place:
  - {type: ring, position: [0.0201, 0], velocity: [$v, 0]}
phases:
  - {name: fly, time: $(awk -v v="$v" 'BEGIN { print .06 / -v }')}
narrow_phase: $labels
dt: 5.0e-5
output: {every: 0.01}
END
        "$build/bin/simulate" shot.yaml -o shot.run.h5 --threads 1 --quiet >/dev/null
        "$build/bin/simstat" shot.run.h5 --poses poses.csv --quiet >/dev/null
        awk -F, 'NR == 2 { printf " %8.2f", $3 / .01 }' poses.csv
    done
    echo
done
