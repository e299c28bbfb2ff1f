#!/bin/bash
# The scenes of data/scenes, shortened, end in the stored state to the last bit: with 1, 2, 3 and 8 threads, other output
# intervals, checkpoints, restarts, and on a processor without vector instructions. Scenes with maps use the bundles of
# tests/fixtures, which are not trained anew.
#   golden.sh BIN PROJECT SCALAR           compares; SCALAR: simulate for processors without vector instructions
#   golden.sh BIN PROJECT SCALAR --renew   writes tests/determinism/golden.txt anew, after a change that is meant to change bits
set -u
bin=$(cd "$1" && pwd)
root=$(cd "$2" && pwd)
scalar=$(realpath "$3")
renew=${4:-}
table=$root/tests/determinism/golden.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# state PROGRAM ARGS...: the hash that a run prints, or its message.
state() {
    "$@" 2>err.txt | sed -n 's/^state //p' | grep . || head -c 300 err.txt
}
# same NAME WHAT FOUND: compares with the stored hash.
same() {
    [ "$3" = "$hash" ] && return
    echo "FAILED: $1, $2: found $3, expected $hash"
    failures=$((failures + 1))
}

count=0
while read -r name hash scene options; do
    case $name in '' | '#'*)
        [ -z "$renew" ] || echo "${name:+$name $hash $scene $options}" | sed 's/ *$//' >>new.txt
        continue
        ;;
    esac
    count=$((count + 1))
    scene_file=$root/data/scenes/$scene
    args=(${options//FIXTURES/$root/tests/fixtures})
    first=$(state "$bin/simulate" "$scene_file" -o a.h5 --threads 1 "${args[@]}")
    [ -z "$renew" ] || hash=$first
    same "$name" "1 thread" "$first"
    same "$name" "2 threads, output every .0037 s, checkpoints" "$(state "$bin/simulate" "$scene_file" -o b.h5 --threads 2 \
        "${args[@]}" --set output.every=0.0037 --set output.checkpoint=0.02)"
    maps=()
    [[ $options != *--maps* ]] || maps=(--maps "${args[1]}")
    same "$name" "restarted with 3 threads" "$(state "$bin/simulate" --restart b.checkpoint.h5.1 -o c.h5 --threads 3 "${maps[@]}")"
    same "$name" "8 threads" "$(state "$bin/simulate" "$scene_file" -o a.h5 --threads 8 "${args[@]}")"
    same "$name" "no vector instructions" "$(state "$scalar" "$scene_file" -o a.h5 --threads 1 "${args[@]}")"
    echo "$name $hash $scene $options" >>new.txt
done <"$table"
[ $count -ge 10 ] || { echo "FAILED: $count scenes in $table" && failures=1; }
if [ -n "$renew" ] && [ $failures = 0 ]; then
    cp new.txt "$table"
    echo "golden: wrote $table"
fi
[ $failures = 0 ] && echo "golden: all right, $count scenes"
exit $((failures > 0))
