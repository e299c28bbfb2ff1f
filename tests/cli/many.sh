#!/bin/bash
# Runs of no grain are refused in words; runs of one grain, and of as many as are asked for, come to their end with all of them.
# $1: folder of the commands; $2: grains.
. "$(dirname "$0")/common.sh"
count=$2
cp "$tests/../shapes/octagon.wkt" .
# scene GRAINS: 100 steps of octagons in a box that is large enough.
scene() {
    cat <<END
types: {g: {shape: octagon.wkt, radius: 0.001, density: 2500}}
contact: {default: {kn: 1.0e5, restitution: 0.3, mu: 0.4}}
boundaries: [{name: floor, plane: {point: [0, 0], normal: [0, 1]}}]
$1
phases: [{name: fall, time: 0.001}]
narrow_phase: exact
smoothing: 0
dt: 1.0e-5
END
}
scene "" >none.yaml
scene "fill: [{type: g, count: 0, region: [0, 0, 1, 1]}]" >zero.yaml
expect 2 'none.yaml: no grains' simulate none.yaml -o x.h5
expect 2 'fill.0..count: found "0"' simulate zero.yaml -o x.h5
for n in 1 "$count"; do
    scene "fill: [{type: g, count: $n, region: [0, 0, 4, 4]}]" >scene.yaml
    "$bin/simulate" scene.yaml -o run.h5 --quiet >out.txt 2>err.txt || fail "$n grains: $(cat err.txt)"
    "$bin/simstat" run.h5 --overlap off >stat.txt || fail "$n grains: simstat"
    grep -q "^step  *100$" stat.txt && grep -q "^grains  *$n$" stat.txt || fail "$n grains: $(head -6 stat.txt)"
done
finish
