#!/bin/bash
# simulate, simview and simstat on scenes with `model: continuum`. $1: folder of the commands; $2: the repository.
. "$(dirname "$0")/run_common.sh"
top=$2

cat >good.yaml <<'END'
title: A heap
model: continuum
grid: {cell: 0.02, region: [0, 0, 0.6, 0.2], friction: 1}
material: {kind: sand, density: 1500}
boundaries:
  - {name: gate, plane: {point: [0.2, 0], normal: [-1, 0]}}
fill: [{box: [0, 0, 0.2, 0.16]}]
phases: [{name: settle, time: 0.05}, {name: go, remove: [gate], time: 0.2}]
output: {every: 0.05, checkpoint: 0.1, texture: layers}
END
sed 's/kind: sand/kind: mud/' good.yaml >mud.yaml
sed 's/go, remove: .gate., time: 0.2/go, until: rest, timeout: 0.1/' good.yaml >restless.yaml

# What works.
"$bin/simulate" good.yaml -o run.h5 >out.txt 2>err.txt || fail "a good scene: $(cat err.txt)"
grep -q '320 particles, continuum sand, 30 x 10 cells' err.txt || fail "no line about the scene: $(cat err.txt)"
grep -q 'run.h5: 6 frames' out.txt || fail "no summary: $(cat out.txt)"
state=$(grep '^state' out.txt)
"$bin/simulate" --restart run.checkpoint.h5.1 -o again.h5 --threads 2 >out.txt 2>/dev/null || fail "--restart"
[ "$(grep '^state' out.txt)" = "$state" ] || fail "a restart with two threads: $(cat out.txt), expected $state"
"$bin/simulate" good.yaml --check | grep -q 'good.yaml: no errors found' || fail "--check"
"$bin/simview" run.h5 -o run.png --time 0,go+0.1 >out.txt 2>&1 || fail "simview: $(cat out.txt)"
"$bin/simstat" run.h5 >out.txt 2>&1 || fail "simstat: $(cat out.txt)"
grep -q '^grains  *320' out.txt || fail "simstat: $(cat out.txt)"
! grep -q 'overlap\|coordination\|  -$' out.txt || fail "simstat shows what a continuum does not have: $(cat out.txt)"
"$bin/simulate" --help-scene | grep -q 'grid.cell' || fail "--help-scene does not show the keys of the continuum"
for scene in "$top"/data/scenes/continuum/*.yaml; do
    "$bin/simulate" "$scene" --check >/dev/null || fail "$scene"
done

# What does not.
expect 2 'mud.yaml:4: material.kind: found "mud"' simulate mud.yaml -o x.h5 --quiet
expect 2 'maps: found m.h5, expected none' simulate good.yaml -o x.h5 --maps m.h5
expect 2 'solver.flip: does nothing here' simulate good.yaml -o x.h5 --set solver.flip=1
expect 2 'would overwrite its own input' simulate good.yaml -o good.yaml --quiet
"$bin/simulate" restless.yaml -o rest.h5 --quiet 2>err.txt
[ $? = 1 ] || fail "a phase that times out: $(cat err.txt)"
grep -q 'phase go timed out after 0.1 s' err.txt || fail "a phase that times out: $(cat err.txt)"
printf 'not a file of HDF5' >broken.h5
expect 2 'broken.h5' simulate --restart broken.h5 -o x.h5
refuses_damage run.checkpoint.h5.1 cem.fluid_checkpoint 1 99

# A checkpoint belongs to the shapes of its run.
sed 's|^fill: .*|fill: [{shape: {file: u.wkt, radius: 0.08, position: [0.1, 0.09]}}]|' good.yaml >u.yaml
state=$(state_of u.yaml -o u.h5)
[ "$(state_of --restart u.checkpoint.h5.1 -o again.h5)" = "$state" ] || fail "a filled shape, restart: $(cat err.txt)"
printf 'POLYGON ((0 0, 3 0, 3 3, 2 3, 2 1, 1 1, 1 3, 0 3, 0 0))\n' >u.wkt
expect 2 'shapes of .*u.yaml are not those of the run' simulate --restart u.checkpoint.h5.1 -o x.h5

finish
