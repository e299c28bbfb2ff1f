#!/bin/bash
# Checkpoints: runs that go on from one are the same, digit for digit; damaged or foreign ones are refused, nothing is lost.
# $1: folder of the commands.
. "$(dirname "$0")/run_common.sh"

# Everything that has a state: a pour, an outlet, a moving grain and plane, springs, rest.
mkdir -p "Ordner ü"
cp u.wkt "Ordner ü/"
printf 't,x\n0,0\n0.3,0.001\n' >"Ordner ü/wall.csv"
cat >"Ordner ü/scene.yaml" <<'END'
title: everything that has a state
types:
  u: {shape: u.wkt, radius: 0.01, density: 2500}
contact:
  default: {kn: 1.0e5, restitution: 0.3, mu: 0.4}
boundaries:
  - {name: floor, plane: {point: [0, 0], normal: [0, 1]}}
  - {name: left, plane: {point: [0, 0], normal: [1, 0]}}
  - {name: right, plane: {point: [0.1, 0], normal: [-1, 0]}, motion: {amplitude: [0.002, 0], frequency: 5, table: wall.csv}}
fill:
  - {type: u, count: 9, region: [0.0, 0.0, 0.09, 0.09]}
pour:
  - {name: feed, type: u, count: 6, region: [0.0, 0.1, 0.09, 0.16], rate: 60}
outlets:
  - {name: corner, region: [0.0, 0.0, 0.02, 0.012]}
phases:
  - {name: feeding, time: 0.12}
  - {name: calm, until: rest, timeout: 0.15, on_timeout: continue, stop: [right]}
  - {name: last, time: 0.05}
narrow_phase: exact
smoothing: 0
output: {every: 0.01, checkpoint: 0.02}
END
"$bin/simulate" "Ordner ü/scene.yaml" -o whole.h5 --quiet >whole.txt 2>err.txt || fail "whole run: $(cat err.txt)"
[ -s whole.checkpoint.h5 ] && [ -s whole.checkpoint.h5.1 ] || fail "no checkpoints: $(ls)"
"$bin/simstat" whole.h5 --overlap off --series whole.csv --poses whole.poses >/dev/null || fail "simstat whole.h5"
# Checkpoints of earlier moments: of runs that stop early, by a phase that times out or by their end.
cp whole.checkpoint.h5.1 last.h5
cp whole.checkpoint.h5 end.h5
# A kill in the middle leaves one that is whole.
"$bin/simulate" "Ordner ü/scene.yaml" -o killed.h5 --quiet >/dev/null 2>&1 &
pid=$!
wait_for killed.checkpoint.h5 $pid
cp killed.checkpoint.h5 early.h5 2>/dev/null || cp killed.checkpoint.h5.1 early.h5 2>/dev/null || fail "no early checkpoint"
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
cp killed.checkpoint.h5 middle.h5 2>/dev/null || cp killed.checkpoint.h5.1 middle.h5
for from in early middle last end; do
    cp $from.h5 kept.h5
    "$bin/simulate" --restart $from.h5 -o $from.run.h5 --quiet --threads 2 >$from.txt 2>err.txt || fail "--restart $from.h5: $(cat err.txt)"
    "$bin/simstat" $from.run.h5 --overlap off --series $from.csv --poses $from.poses >/dev/null || fail "simstat $from.run.h5"
    cmp -s whole.poses $from.poses || fail "$from: other poses at the end"
    # every row but the column of grains gone, which counts from the run's first frame
    cut -d, -f1-4,6- $from.csv | tail -n +2 | while read -r row; do
        cut -d, -f1-4,6- whole.csv | grep -qxF -e "$row" || echo "$row"
    done >other.txt
    [ ! -s other.txt ] || fail "$from: rows that the whole run has not: $(head -2 other.txt)"
    cmp -s $from.h5 kept.h5 || fail "$from: the checkpoint was changed"
done
[ "$(wc -l <early.csv)" -gt "$(wc -l <end.csv)" ] || fail "the early restart has no more frames than the last"

# What cannot be used.
expect 2 'beside it' simulate --restart last.h5 "Ordner ü/scene.yaml" -o x.h5
expect 2 'beside it' simulate --restart last.h5 --set seed=2 -o x.h5
expect 1 'missing.h5' simulate --restart missing.h5 -o x.h5
expect 2 'whole.h5' simulate --restart whole.h5 -o x.h5
expect 2 'overwrite' simulate --restart last.h5 -o last.h5
cp last.h5 run.checkpoint.h5
expect 2 'overwrite' simulate --restart run.checkpoint.h5 -o run.h5
mv run.checkpoint.h5 run.checkpoint.h5.1
expect 2 'overwrite' simulate --restart run.checkpoint.h5.1 -o run.h5
cmp -s last.h5 run.checkpoint.h5.1 && [ ! -e run.h5 ] || fail "a checkpoint was overwritten"
refuses_damage end.h5 cem.checkpoint 1 99
printf 't,x\n0,0\n0.3,0.002\n' >"Ordner ü/wall.csv"
expect 2 'shapes, maps or CSV' simulate --restart end.h5 -o x.h5
printf 't,x\n0,0\n0.3,0.001\n' >"Ordner ü/wall.csv"
"$bin/simulate" --restart end.h5 -o x.h5 --quiet >/dev/null 2>err.txt || fail "the table is as it was: $(cat err.txt)"
rm -f x.h5 x.checkpoint.h5*
printf 'POLYGON ((0 0, 3 0, 3 3, 2 3, 2 1, 1 1, 1 3, 0 3, 0 0))\n' >"Ordner ü/u.wkt"
expect 2 'shapes, maps or CSV' simulate --restart end.h5 -o x.h5
[ ! -e x.h5 ] && [ ! -e x.checkpoint.h5 ] || fail "left x.h5"

# A settled silo that is taken up again gets no kick: its kinetic energy stays below what counts as rest.
cat >silo.yaml <<'END'
title: a settled silo
types:
  disc: {shape: disc.wkt, radius: 0.01, density: 2500}
contact:
  default: {kn: 1.0e5, restitution: 0.2, mu: 0.5}
boundaries:
  - {name: floor, plane: {point: [0, 0], normal: [0, 1]}}
  - {name: left, plane: {point: [0, 0], normal: [1, 0]}}
  - {name: right, plane: {point: [0.065, 0], normal: [-1, 0]}}
fill:
  - {type: disc, count: 15, region: [0, 0, 0.065, 0.3]}
phases:
  - {name: settle, until: rest, timeout: 3}
  - {name: stand, time: 0.1}
narrow_phase: exact
smoothing: 0
output: {every: 0.002}
END
cp "$tests/../shapes/disc.wkt" .
"$bin/simulate" silo.yaml -o silo.h5 --quiet >/dev/null 2>err.txt || fail "silo: $(cat err.txt)"
"$bin/simulate" --restart silo.checkpoint.h5.1 -o stand.h5 --quiet >/dev/null 2>err.txt || fail "silo, restart: $(cat err.txt)"
for run in silo stand; do
    "$bin/simstat" $run.h5 --overlap off --series $run.csv >/dev/null || fail "simstat $run.h5"
    awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) column[$i] = i; next} $column["phase"] == "stand" {print $column["kinetic_energy"]}' \
        $run.csv >$run.energy
done
[ "$(wc -l <stand.energy)" -ge 45 ] || fail "silo: $(wc -l <stand.energy) frames after the restart"
tail -n "$(wc -l <stand.energy)" silo.energy | cmp -s - stand.energy || fail "silo: another energy after the restart"
# 15 grains of 2500 kg/m^3 pi R^2, each with 1e-3 m g R on average at most
awk '{if ($1 > most) most = $1} END {limit = 15 * 1e-3 * 2500 * 3.1416e-4 * 9.81 * 0.01; print most, limit; exit !(most > 0 && most < limit)}' \
    stand.energy >kick.txt || fail "silo: a kick after the restart: $(cat kick.txt)"

finish
