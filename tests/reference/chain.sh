#!/usr/bin/env bash
# The chain of figures 9 and 9b: every verdict holds, dropped with its hook at other speeds, too; with a stiffness for half the speed of the impact the run
# stops where a ball would get through the lips of its socket, and names both links.
# $1: folder of the commands; $2: folder of the project.
. "$(dirname "$0")/../cli/common.sh"
cd "$2" || exit 1
cmd/figures fig9 fig9b --bin "$bin" --out "$work" | grep '^| '
[ "$(cat "$work"/fig9/table.md "$work"/fig9b/table.md | grep -c '| holds |')" = 3 ] || fail "verdicts"

. cmd/figure/common.sh
. cmd/figure/fig9.sh
drop() { "$bin/simulate" data/scenes/figures/fig9b.yaml --maps "$work/maps/fig9.maps.h5" -o "$work/run.h5" --threads 1 --quiet "$@" >/dev/null 2>"$work/said.txt"; }
for speed in 0.15 0.3; do
    drop --set "boundaries[1].motion.velocity=[$speed, 0]" || fail "hook at $speed m/s: $(cat "$work/said.txt")"
    worst=$(fig9_worst "$work/run.h5" 1 0.5 0.7 0.74 0.8 1 1.3)
    echo "dropped with the hook at $speed m/s: largest distance of a ball from its socket $worst m, deepest overlap $(fig9_deepest "$work/run.h5") m"
    [ "$(below "$worst" 0.0034)" = holds ] || fail "hook at $speed m/s: a link separates"
done
drop --set contact.speed=1
[ $? = 1 ] && grep -q 'too deep: grains [0-9]* and [0-9]* at step [0-9]* .*contact.deepest' "$work/said.txt" || fail "half the speed: $(cat "$work/said.txt")"
echo "for half the speed: $(tail -n 1 "$work/said.txt")"
finish
