#!/bin/bash
# What surrounds a command: closed standard streams, few descriptors, little memory and stack, odd environments, names that
# lead to inputs. Nothing that was there is lost, and what is refused is refused in words.
# $1: folder of the commands.
. "$(dirname "$0")/run_common.sh"

scene() {
    falling 4 0.04
    echo "phases: [{name: first, time: $1}, {name: second, time: $1}]"
    echo 'output: {every: 0.002, checkpoint: 0.005}'
}
scene 0.01 >scene.yaml
scene 0.2 >long.yaml
state() { grep -o 'state [0-9a-f]*' "$1"; }
"$bin/simulate" scene.yaml -o whole.h5 >whole.txt 2>err.txt || fail "whole run: $(cat err.txt)"
[ -n "$(state whole.txt)" ] || fail "no state: $(cat whole.txt)"

# A closed standard stream: its number must not become that of a file, into which messages would then go.
for closed in '<&-' '>&-' '2>&-' '>&- 2>&-' '<&- 2>&-' '<&- >&- 2>&-'; do
    rm -f x.h5 x.checkpoint.h5*
    eval "(\"\$bin/simulate\" scene.yaml -o x.h5 $closed)" >out.txt 2>err.txt
    status=$?
    case $closed in
    *'>&- '* | '>&-') [ $status = 1 ] || fail "$closed: exit status $status, though the result could not be told" ;;
    *) [ $status = 0 ] || fail "$closed: exit status $status: $(cat err.txt)" ;;
    esac
    for file in x.h5 x.checkpoint.h5 x.checkpoint.h5.1; do
        grep -q 'phase 1/2' $file && fail "$closed: messages in $file"
    done
    "$bin/simstat" x.h5 --overlap off --series x.csv >/dev/null 2>err.txt || fail "$closed: simstat: $(cat err.txt)"
    "$bin/simstat" whole.h5 --overlap off --series whole.csv >/dev/null || fail "simstat whole.h5"
    cmp -s x.csv whole.csv || fail "$closed: another run"
done
"$bin/simstat" whole.h5 | head -n 1 >/dev/null
[ "${PIPESTATUS[0]}" != 139 ] || fail "a closed pipe"

# Names that lead to inputs: as run file, as checkpoint, as the checkpoint before.
for name in scene.yaml u.wkt; do
    for as in x.h5 x.checkpoint.h5 x.checkpoint.h5.1; do
        rm -f x.h5 x.checkpoint.h5*
        cp $name kept
        ln -f $name $as
        "$bin/simulate" scene.yaml -o x.h5 --quiet >/dev/null 2>err.txt
        [ $? = 2 ] && grep -q "$as: the run would overwrite its own input" err.txt || fail "$as is $name: $(cat err.txt)"
        cmp -s kept $as && cmp -s kept $name || fail "$as is $name: lost"
    done
done
rm -f x.h5 x.checkpoint.h5*

# Links stay: the files that they lead to are written, also those that are not there yet.
ln -s nowhere/x.h5 x.h5
expect 1 'nowhere/x.h5: cannot write: No such file' simulate scene.yaml -o x.h5
mkdir nowhere
ln -s nowhere/kept.h5 x.checkpoint.h5
for i in 1 2; do
    "$bin/simulate" scene.yaml -o x.h5 >out.txt 2>err.txt || fail "through links: $(cat err.txt)"
    [ "$(state out.txt)" = "$(state whole.txt)" ] || fail "through links: another state"
    [ -L x.h5 ] && [ -L x.checkpoint.h5 ] || fail "a link was replaced"
    "$bin/simstat" nowhere/x.h5 >/dev/null || fail "through links: no run file"
    [ "$(ls nowhere | tr '\n' ' ')" = "kept.h5 kept.h5.1 x.h5 " ] || fail "through links: $(ls nowhere)"
done
ln -s loop loop
expect 1 'loop: cannot write: is a link that leads back to itself' simulate scene.yaml -o loop
rm -rf x.h5 x.checkpoint.h5 loop nowhere

# Two runs into one file: one is refused, the other is whole.
"$bin/simulate" long.yaml -o two.h5 >first.txt 2>first.err &
pid=$!
"$bin/simulate" long.yaml -o two.h5 >second.txt 2>second.err
second=$?
wait $pid
first=$?
[ $first = 0 ] || [ $second = 0 ] || fail "two runs: both refused"
if [ $first = 0 ] && [ $second = 0 ]; then
    [ "$(state first.txt)" = "$(state second.txt)" ] || fail "two runs: different states"
else
    cat first.err second.err | grep -q 'another program is writing this file' || fail "two runs: $(cat first.err second.err)"
fi
"$bin/simstat" two.h5 --overlap off >/dev/null || fail "two runs: the file"

# Limits: it runs to the same state, or says what is missing; what was there stays.
limited() {
    rm -f x.h5 x.checkpoint.h5*
    cp whole.h5 x.h5
    (ulimit "$1" "$2" && "$bin/simulate" scene.yaml -o x.h5) >out.txt 2>err.txt
    local status=$?
    if [ $status = 0 ]; then
        [ "$(state out.txt)" = "$(state whole.txt)" ] || fail "ulimit $1 $2: another state"
    else
        # 127: not even the program could be loaded
        { [ $status -le 2 ] || [ $status = 127 ]; } && grep -q '\(cannot\|memory\)' err.txt || fail "ulimit $1 $2: exit status $status: $(tail -3 err.txt)"
        "$bin/simstat" x.h5 --overlap off >/dev/null 2>&1 || fail "ulimit $1 $2: the file is lost"
    fi
}
for n in 16 8 7 6 5 4; do limited -n $n; done
limited -s 256
if ! grep -qa __asan_init "$bin/simulate"; then # the sanitizers reserve terabytes
    for n in 400000 60000 38000 36000 35000 34000 33000 32000; do limited -v $n; done
fi

# Environments.
for setting in LC_ALL=tr_TR.UTF-8 TZ=:/nowhere TZ=XYZ-99:99 TMPDIR=/nowhere HOME=/nowhere OPENBLAS_NUM_THREADS=-3 HDF5_DRIVER=core \
    HDF5_USE_FILE_LOCKING=BEST; do
    rm -f x.h5 x.checkpoint.h5*
    env "$setting" "$bin/simulate" scene.yaml -o x.h5 >out.txt 2>err.txt || fail "$setting: $(cat err.txt)"
    [ "$(state out.txt)" = "$(state whole.txt)" ] || fail "$setting: another state"
done
(umask 777 && "$bin/simulate" scene.yaml -o hidden.h5) >out.txt 2>err.txt
if [ $? = 0 ]; then # only root may read what it wrote
    [ "$(state out.txt)" = "$(state whole.txt)" ] || fail "umask 777: another state"
else
    grep -q 'hidden.*cannot' err.txt || fail "umask 777: $(cat err.txt)"
fi

finish
