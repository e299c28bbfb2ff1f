#!/bin/bash
# simulate on good and bad input: exit status, one clear message, an old run file untouched by a scene that is refused.
# $1: folder of the commands; make_maps is in tests/ beside it.
. "$(dirname "$0")/common.sh"
make_maps=$bin/../tests/make_maps
# scene NAME SED: a copy of the good scene, changed.
scene() { sed -e "$2" good.yaml >"$1"; }

echo "POLYGON ((-0.6 -0.7, 0.6 -0.7, 0.6 0.7, 0.3 0.7, 0.3 -0.4, -0.3 -0.4, -0.3 0.7, -0.6 0.7, -0.6 -0.7))" >u.wkt
echo "POLYGON ((-0.6 -0.7, 0.6 -0.7, 0.6 0.7, 0.3 0.7, 0.3 -0.3, -0.3 -0.3, -0.3 0.7, -0.6 0.7, -0.6 -0.7))" >changed.wkt
echo "POLYGON ((0 0, 2 0, 2 1, 0 1, 0 0))" >bar.wkt
"$make_maps" maps.h5 u.wkt || exit 1
cat >good.yaml <<'END'
title: A few grains
types:
  u: {shape: u.wkt, radius: 0.02, density: 2500}
contact:
  default: {kn: 2.0e4, restitution: 0.3, mu: 0.4}
boundaries:
  - {name: floor, plane: {point: [0, 0], normal: [0, 1]}}
fill:
  - {type: u, count: 8, region: [0, 0, 0.2, 0.2]}
phases:
  - {name: fall, time: 0.02}
maps: maps.h5
output: {every: 0.005}
END

# What works.
"$bin/simulate" good.yaml -o run.h5 >out.txt 2>err.txt || fail "a good scene: $(cat err.txt)"
grep -q '8 grains, 1 boundaries, neural, dt' err.txt || fail "no line about the scene: $(cat err.txt)"
grep -q 'phase 1/1 fall' err.txt || fail "no progress: $(cat err.txt)"
grep -q 'run.h5: 5 frames' out.txt || fail "no summary: $(cat out.txt)"
"$bin/simulate" good.yaml -o quiet.h5 --quiet --threads 2 >out.txt 2>&1 || fail "--quiet: $(cat out.txt)"
[ -s out.txt ] && fail "--quiet is not quiet: $(cat out.txt)"
"$bin/simulate" good.yaml --check >out.txt 2>err.txt || fail "--check: $(cat err.txt)"
grep -q 'good.yaml: no errors found' out.txt || fail "--check: $(cat out.txt)"
mkdir "ein Ördner" && cp good.yaml u.wkt "ein Ördner/"
"$bin/simulate" "ein Ördner/good.yaml" --maps maps.h5 -o "ein Ördner/läuft.h5" --quiet || fail "spaces and letters"
"$bin/simulate" good.yaml -o set.h5 --set output.every=0.001 --set contact.default.mu=0 >out.txt 2>/dev/null || fail "--set"
grep -q 'set.h5: 21 frames' out.txt || fail "--set output.every: $(cat out.txt)"
LC_ALL=de_DE.UTF-8 "$bin/simulate" good.yaml -o locale.h5 --quiet || fail "decimal point in another locale"
"$bin/simulate" --help-scene | grep -q 'contact.default.kn' || fail "--help-scene"
"$bin/simulate" --help | grep -q Examples || fail "--help without an example"
"$bin/simulate" --version | grep -q simulate || fail "--version"
for numeric in minimiser exact; do
    sed -e "s/^maps:.*/narrow_phase: $numeric/; s/time: 0.02/time: 0.002/; s/count: 8/count: 2/" good.yaml >$numeric.yaml
    "$bin/simulate" $numeric.yaml -o $numeric.h5 --quiet || fail "$numeric"
done
# poses that simstat wrote are grains of another scene, the same to the bit
"$bin/simstat" exact.h5 --overlap off --poses end.csv >/dev/null || fail "simstat --poses"
sed -e '/^fill:/,/^phases:/c\poses: [{file: end.csv}]\nphases:' exact.yaml >again.yaml
"$bin/simulate" again.yaml -o again.h5 --quiet || fail "poses of simstat: $(cat again.yaml)"
"$bin/simstat" again.h5 --time 0 --overlap off --poses start.csv >/dev/null || fail "simstat --time 0 --poses"
[ "$(wc -l <start.csv)" = 3 ] && cmp -s start.csv end.csv || fail "poses of simstat: $(cat end.csv start.csv)"
# an old run is replaced by a good one
cp run.h5 old.h5
"$bin/simulate" good.yaml -o run.h5 --quiet --set seed=9 || fail "replacing a run"
cmp -s run.h5 old.h5 && fail "run.h5 was not replaced"
cp run.h5 old.h5

# Command line.
expect 2 'SCENE.yaml is missing' simulate -o run.h5
expect 2 '-o RUN.h5 is missing' simulate good.yaml
expect 2 'second scene' simulate good.yaml good.yaml -o run.h5
expect 2 'frobnicate' simulate good.yaml -o run.h5 --frobnicate
expect 2 'restart' simulate good.yaml -o run.h5 --restart x.h5
expect 2 'threads' simulate good.yaml -o run.h5 --threads 0
expect 2 'threads' simulate good.yaml -o run.h5 --threads two
expect 2 'KEY=VALUE' simulate good.yaml -o run.h5 --set mu
expect 2 'contact.default.mu' simulate good.yaml -o run.h5 --set contact.default.mu=-1
expect 2 'unknown key "mv"; nearest known key: "mu"' simulate good.yaml -o run.h5 --set contact.default.mv=1

# Scenes.
expect 1 'missing.yaml' simulate missing.yaml -o run.h5
mkdir folder.yaml
expect 1 'folder.yaml' simulate folder.yaml -o run.h5
: >empty.yaml
expect 2 'empty.yaml' simulate empty.yaml -o run.h5
head -c 4096 "$bin/simulate" >noise.yaml
expect 2 'noise.yaml' simulate noise.yaml -o run.h5
scene key.yaml 's/density/densty/'
expect 2 'density' simulate key.yaml -o run.h5
scene nan.yaml 's/radius: 0.02/radius: .nan/'
expect 2 'nan.yaml:3' simulate nan.yaml -o run.h5
scene shape.yaml 's/u.wkt/nowhere.wkt/'
expect 1 'nowhere.wkt' simulate shape.yaml -o run.h5
scene crowd.yaml 's/count: 8/count: 800/'
expect 2 'crowd.yaml: fill.0.: .*fit' simulate crowd.yaml -o run.h5
scene nobody.yaml '/^fill/,/count/d'
expect 2 'no grains' simulate nobody.yaml -o run.h5
scene step.yaml '$a dt: 0.01'
expect 2 'dt: found 0.01 s, expected at most' simulate step.yaml -o run.h5
for tiny in 1e-320 1e-300 1e-15; do expect 2 'good.yaml: phase fall: found .* steps of dt' simulate good.yaml --check --set dt=$tiny; done
expect 2 'good.yaml: phase fall: found .* steps of dt' simulate good.yaml --check --set 'phases[0].time=1e300'
expect 2 'good.yaml: dt: found 0 s for the stiffest pair' simulate good.yaml --check --set contact.default.gamma_t=1e300
scene weightless.yaml 's/time: 0.02/until: rest/; $a gravity: [0, 0]'
expect 2 'rest without gravity' simulate weightless.yaml -o run.h5
scene later.yaml 's/^output/checkpoint: {every: 1}\noutput/'
expect 2 'checkpoint' simulate later.yaml -o run.h5
scene exakt.yaml '$a narrow_phase: exakt'
expect 2 'exakt' simulate exakt.yaml -o run.h5
for s in key nan crowd step; do
    "$bin/simulate" $s.yaml --check >/dev/null 2>&1 && fail "--check passes $s.yaml"
done

# Maps.
scene nomaps.yaml '/^maps/d'
expect 2 'mkmaps nomaps.yaml' simulate nomaps.yaml -o run.h5
expect 1 'absent.h5: no such file.*mkmaps good.yaml -o absent.h5' simulate good.yaml --maps absent.h5 -o run.h5
"$bin/simulate" good.yaml -o from.h5 --quiet >/dev/null 2>err.txt || fail "a run to go on from: $(cat err.txt)"
expect 1 'absent.h5: no such file.*folder where the run was started.*--maps' simulate --restart from.checkpoint.h5 \
    --maps absent.h5 -o x.h5
expect 2 'old.h5' simulate good.yaml --maps old.h5 -o run.h5
expect 2 'cem.run' simulate good.yaml --maps old.h5 -o run.h5
head -c 2000 maps.h5 >truncated.h5
expect 2 'truncated.h5' simulate good.yaml --maps truncated.h5 -o run.h5
expect 2 'u.wkt' simulate good.yaml --maps u.wkt -o run.h5
expect 1 'folder.yaml' simulate good.yaml --maps folder.yaml -o run.h5
scene pair.yaml 's/^contact/  bar: {shape: bar.wkt, radius: 0.02, density: 1}\ncontact/'
expect 2 'shapes u and bar.*mkmaps pair.yaml -o' simulate pair.yaml -o run.h5
mkdir other && cp changed.wkt other/u.wkt && cp good.yaml maps.h5 other/
expect 2 'shape u of type u.*Rebuild it with: [^ ]*mkmaps' simulate other/good.yaml -o run.h5
expect 2 'mkmaps' simulate other/good.yaml --check
# A scene is checked before its maps are there, too; then the command that makes them is named.
"$bin/simulate" nomaps.yaml --check >out.txt 2>err.txt || fail "--check without maps: $(cat err.txt)"
grep -q 'nomaps.yaml: no errors found' out.txt && grep -qxF "$bin/mkmaps nomaps.yaml -o nomaps.maps.h5" out.txt ||
    fail "--check without maps: $(cat out.txt)"
"$bin/simulate" good.yaml --maps absent.h5 --check >out.txt 2>err.txt || fail "--check, absent maps: $(cat err.txt)"
grep -qxF "$bin/mkmaps good.yaml -o absent.h5" out.txt || fail "--check, absent maps: $(cat out.txt)"
expect 2 'nomaps.yaml: .*kn' simulate nomaps.yaml --check --set contact.default.kn=-1
expect 2 'nomaps.yaml: phase fall: found .* steps of dt' simulate nomaps.yaml --check --set dt=1e-300

# Output.
expect 1 'nowhere' simulate good.yaml -o nowhere/run.h5
expect 1 'folder.yaml' simulate good.yaml -o folder.yaml
expect 2 'overwrite' simulate good.yaml -o good.yaml
ln -s good.yaml link.yaml
cp u.wkt kept.wkt
cp good.yaml kept.yaml
for o in ./good.yaml link.yaml "$PWD/good.yaml" u.wkt ./maps.h5; do expect 2 'overwrite' simulate good.yaml -o "$o"; done
cmp -s good.yaml kept.yaml && cmp -s u.wkt kept.wkt || fail "an input was overwritten"
printf 'type,x,y\nu,0.05,0.5\n' >poses.csv
printf 't,x\n0,0\n1,0.001\n' >motion.csv
cp poses.csv kept.csv
sed 's/^boundaries:/&\n  - {name: shaken, plane: {point: [-1, 0], normal: [1, 0]}, motion: {table: motion.csv}}/' good.yaml >csv.yaml
echo 'poses: [{file: poses.csv}]' >>csv.yaml
"$bin/simulate" csv.yaml --check >/dev/null 2>err.txt || fail "csv.yaml: $(cat err.txt)"
for o in poses.csv ./motion.csv; do expect 2 'overwrite' simulate csv.yaml -o "$o"; done
cmp -s poses.csv kept.csv || fail "the poses were overwritten"
cp maps.h5 kept.h5
expect 2 'overwrite' simulate good.yaml --maps maps.h5 -o maps.h5
cmp -s maps.h5 kept.h5 || fail "the maps were overwritten"
if [ "$(id -u)" != 0 ]; then
    mkdir locked && chmod 555 locked
    expect 1 'locked' simulate good.yaml -o locked/run.h5
fi
(ulimit -f 8 && "$bin/simulate" good.yaml -o limit.h5 --quiet --set output.every=1e-4 >out.txt 2>err.txt)
[ $? = 1 ] || fail "no room for the run: expected exit 1"
[ "$(grep -c '^[^ ]*simulate: ' err.txt)" = 1 ] || fail "no room for the run: $(cat err.txt)"

for k in 0 1 4 8; do # a file that cannot even be begun leaves the old one
    (ulimit -f $k && "$bin/simulate" good.yaml -o run.h5 --quiet >out.txt 2>err.txt)
    [ $? = 1 ] && cmp -s run.h5 old.h5 || fail "no room to begin the run: run.h5 was touched: $(cat err.txt)"
done
[ -z "$(ls | grep tmp-)" ] || fail "no room to begin the run: left $(ls)"
# Two runs into one file: the second is refused, the first goes on; after a kill the name is free again.
"$bin/simulate" good.yaml -o busy.h5 --quiet --set 'gravity=[0, 0]' --set 'phases[0].time=1000' --set output.every=0.1 &
first=$!
for _ in {1..300}; do "$bin/simstat" busy.h5 >out.txt 2>err.txt && break; sleep 0.1; done # until it has a frame
kill -STOP $first # so that its file stays as it is
expect 1 'busy.h5: cannot write: another program is writing this file' simulate good.yaml -o busy.h5
kill -9 $first
wait $first 2>/dev/null
"$bin/simstat" busy.h5 >out.txt 2>err.txt || fail "frames of a killed run: $(cat err.txt)"
"$bin/simulate" good.yaml -o busy.h5 --quiet || fail "replacing a killed run"

# What was lost and to what: the same in the table and in the last row of the series, and a sum that stays.
scene lossy.yaml 's/^maps.*/narrow_phase: exact/; s/time: 0.02/time: 0.4/; s/every: 0.005/every: 0.05/'
"$bin/simulate" lossy.yaml -o lossy.h5 --quiet || fail "lossy.h5"
"$bin/simstat" lossy.h5 --overlap off --csv --quiet --series lossy.csv >last.csv || fail "simstat lossy.h5"
awk -F, 'FNR == 1 {for (i = 1; i <= NF; ++i) at[FILENAME, $i] = i; next}
    {for (k in names) value[FILENAME, names[k]] = $(at[FILENAME, names[k]])}
    FNR == 2 {start = $(at[FILENAME, "energy_balance"])}
    BEGIN {split("dissipated_damping dissipated_friction energy_balance", names, " ")}
    END {
        for (k in names) bad = bad || value["last.csv", names[k]] + 0 != value["lossy.csv", names[k]] + 0
        damping = value["lossy.csv", "dissipated_damping"]
        friction = value["lossy.csv", "dissipated_friction"]
        lost = $(at[FILENAME, "dissipated_normal"]) + $(at[FILENAME, "dissipated_tangential"])
        residual = $(at[FILENAME, "energy_balance"]) - start
        rest = damping + friction - lost
        bad = bad || !(damping > 0 && friction > 0 && rest ^ 2 < (1e-9 * lost) ^ 2 && residual ^ 2 < (.005 * lost) ^ 2)
        if (bad) print damping, friction, lost, residual
        exit bad
    }' last.csv lossy.csv || fail "losses: $(cut -c -300 last.csv)"

# Runs that cannot finish keep their frames.
scene timeout.yaml 's/time: 0.02/until: rest, timeout: 0.02/'
"$bin/simulate" timeout.yaml -o timeout.h5 --quiet 2>err.txt
[ $? = 1 ] && grep -q 'phase fall timed out after 0.02 s: found mean kinetic energy' err.txt || fail "timeout: $(cat err.txt)"
"$bin/simstat" timeout.h5 >out.txt 2>err.txt || fail "frames of a timed-out run: $(cat err.txt)"
scene boom.yaml 's/^fill.*/place:/; s/count: 8, region.*/position: [0, 0.5], velocity: [5000, 0]}/'
"$bin/simulate" boom.yaml -o boom.h5 --quiet 2>err.txt
[ $? = 1 ] && grep -q 'blow-up: grain 0 at step 1' err.txt || fail "blow-up: $(cat err.txt)"
"$bin/simstat" boom.h5 >out.txt 2>err.txt || fail "frames of an exploded run: $(cat err.txt)"

finish
