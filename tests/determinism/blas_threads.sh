#!/bin/bash
# Training with OPENBLAS_NUM_THREADS unset, 1 and 8, in one thread and in two: the same bits, and no time in more threads than were
# asked for: BLAS does not start threads of its own inside ours. Training and simulating take the same processor time.
# $1: folder of the commands; $2: the project's folder.
. "$(dirname "$0")/../cli/common.sh"
root=$2
# others PID N: per cent of the processor's time so far that the process's tasks took beyond the N busiest, once it is half a
# second: a thread that OpenBLAS starts when it is loaded spins for some hundredths of a second before it sleeps.
others() {
    cat /proc/"$1"/task/*/stat 2>/dev/null | sed 's/.*) //' | awk '{print $12 + $13}' | sort -rn |
        awk -v n="$2" '{all += $1} NR > n {rest += $1} END {print all < 50 ? -1 : int(100 * rest / all)}'
}

"$bin/sdfgen" "$root/shapes/u.wkt" -o . --resolution 64 --quiet >/dev/null || fail sdfgen
"$bin/csample" u.sdf.h5 -o u.samples.h5 --samples 20000 --held-out 500 --labels exact --threads 1 --quiet || fail csample
first=
for blas in unset 1 8; do
    for threads in 1 2; do
        unset OPENBLAS_NUM_THREADS
        [ $blas = unset ] || export OPENBLAS_NUM_THREADS=$blas
        "$bin/nntrain" u.samples.h5 -o u.maps.h5 --epochs 8 --layers 2 --width 128 --threads $threads --quiet >/dev/null 2>err.txt &
        pid=$!
        most=-1
        while kill -0 $pid 2>/dev/null; do
            now=$(others $pid $threads)
            [ "$now" -le $most ] || most=$now
            sleep 0.1
        done
        wait $pid || fail "nntrain: $(cat err.txt)"
        hash=$(h5dump -a content_hash u.maps.h5 | sed -n 's/.*(0): "\([0-9a-f]*\).*/\1/p')
        [ ${#hash} = 16 ] || fail "no content hash: \"$hash\""
        first=${first:-$hash}
        [ "$hash" = "$first" ] || fail "OPENBLAS_NUM_THREADS $blas, $threads threads: found $hash, expected $first"
        [ $most -ge 0 ] || fail "the training was too short to be looked at"
        [ $most -le 33 ] || fail "OPENBLAS_NUM_THREADS $blas, $threads threads: $most % of the time in other threads"
        rm -f u.maps.h5*
    done
done
# cost NAME COMMAND...: of three rounds with each setting, the least processor time, in ms; a fifth more is too much.
cost() {
    local name=$1 blas round ms least
    shift
    for round in 1 2 3; do
        for blas in unset 1 8; do
            unset OPENBLAS_NUM_THREADS
            [ $blas = unset ] || export OPENBLAS_NUM_THREADS=$blas
            TIMEFORMAT='%U %S'
            { time "$@" >/dev/null 2>err.txt; } 2>time.txt || fail "$name: $(cat err.txt)"
            awk -v b=$blas '{print b, int(1000 * ($1 + $2) + .5)}' time.txt >>"$name.txt"
            rm -f u.maps.h5* run.h5 run.checkpoint.h5*
        done
    done
    awk -v name="$name" '!($1 in least) || $2 < least[$1] {least[$1] = $2}
        END {low = high = least["unset"]; for (b in least) {if (least[b] < low) low = least[b]; if (least[b] > high) high = least[b]}
            printf "%s: %d ms unset, %d with 1, %d with 8\n", name, least["unset"], least[1], least[8]; exit !(low > 200 && high <= 1.2 * low)}' \
        "$name.txt" || fail "$name: OPENBLAS_NUM_THREADS changes the time: $(tr '\n' ' ' <"$name.txt")"
}
cost training "$bin/nntrain" u.samples.h5 -o u.maps.h5 --epochs 8 --layers 2 --width 64 --threads 1 --quiet
cost simulation "$bin/simulate" "$root/data/scenes/column_collapse.yaml" -o run.h5 --maps "$root/tests/fixtures/plain.maps.h5" --threads 1 \
    --set fill[0].count=150 --set phases[0].timeout=0.12 --set phases[0].on_timeout=continue --set phases[1].timeout=0.02 \
    --set phases[1].on_timeout=continue --quiet
finish
