#!/bin/bash
# Runs that cannot come to their end: SIGINT and SIGTERM, a file-size limit, a folder that is removed or read-only. Each ends
# with a message; the frames so far are there; the command that is printed goes on to the same bits.
# $1: folder of the commands.
. "$(dirname "$0")/run_common.sh"
chmod 755 "$work"

# prefix RUN: its frames, at least one, are the first of the whole run's.
prefix() {
    rows "$1" >part.csv || fail "$1: simstat"
    [ -s part.csv ] || fail "$1: no frames"
    begins part.csv || fail "$1: other frames than the whole run"
}

{ falling 12 0.2 && cat; } >scene.yaml <<'END'
phases:
  - {name: fall, time: 0.06}
  - {name: calm, until: rest, timeout: 0.06, on_timeout: continue}
output: {every: 1.0e-3}
END
"$bin/simulate" scene.yaml -o whole.h5 --quiet >/dev/null 2>err.txt || fail "whole run: $(cat err.txt)"
rows whole.h5 >whole.csv

# A signal: the message is the command that goes on.
for signal in INT TERM; do
    name="it's $signal"
    "$bin/simulate" scene.yaml -o "$name.h5" --quiet >out.txt 2>err.txt &
    pid=$!
    wait_for "$name.h5" $pid
    sleep 0.05
    kill -$signal $pid
    wait $pid
    got=$?
    [ $got = 1 ] || fail "SIG$signal: exit $got, expected 1: $(cat err.txt)"
    grep -q "stopped by SIG$signal after step [0-9]*, 0.[0-9]* s; nothing is lost" err.txt || fail "SIG$signal: $(cat err.txt)"
    prefix "$name.h5"
    command=$(grep '^[^ ]*/simulate --restart' err.txt) # the program is named as it was called here
    [ -n "$command" ] || fail "SIG$signal: no command to go on: $(cat err.txt)"
    eval "$command --quiet" >/dev/null 2>err2.txt || fail "$command: $(cat err2.txt)"
    { cat part.csv && rows "$name.2.h5"; } | cmp -s - whole.csv || fail "SIG$signal: both parts are not the whole run"
done
# The third part is called 3, and a number that is taken is passed over.
cp whole.h5 part.3.h5
"$bin/simulate" scene.yaml -o part.2.h5 --quiet >out.txt 2>err.txt &
pid=$!
while [ ! -e part.2.h5 ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
kill -TERM $pid
wait $pid
grep -q -- '-o part.4.h5$' err.txt || fail "the part after part.2.h5, with part.3.h5 there: $(cat err.txt)"
# Two signals: the second one ends it at once.
"$bin/simulate" scene.yaml -o twice.h5 --quiet >/dev/null 2>&1 &
pid=$!
wait_for twice.h5 $pid
kill -STOP $pid
kill -TERM $pid
kill -INT $pid
kill -CONT $pid
wait $pid

# A file-size limit, in units of 1024 bytes: refused before the first frame or between two.
size=$(($(stat -c %s whole.h5) / 1024))
for limit in 1 8 40 $((size * 3 / 4)) $((size - 1)); do
    rm -f limit.*
    (ulimit -f $limit && "$bin/simulate" scene.yaml -o limit.h5 --quiet) >out.txt 2>err.txt
    got=$?
    [ $got = 1 ] || fail "limit of $limit KiB: exit $got: $(cat err.txt)"
    [ "$(grep -c 'limit.*: .*File too large' err.txt)" = 1 ] || fail "limit of $limit KiB: $(cat err.txt)"
    [ ! -e limit.h5 ] || [ $limit -lt $((size - 1)) ] || prefix limit.h5
    [ -z "$(ls | grep tmp-)" ] || fail "limit of $limit KiB: left $(ls | grep tmp-)"
done
[ -e limit.h5 ] || fail "a limit of $limit KiB left no run"

# A folder that is removed while the run is in it.
mkdir gone
"$bin/simulate" scene.yaml -o gone/run.h5 --quiet >/dev/null 2>err.txt &
pid=$!
wait_for gone/run.h5 $pid
mv gone elsewhere
wait $pid
got=$?
[ $got = 1 ] && grep -q 'gone/run.*No such file' err.txt || fail "removed folder: exit $got: $(cat err.txt)"
prefix elsewhere/run.h5

# A read-only folder, as a user whom permissions stop.
mkdir locked
chmod 555 locked
cp "$bin/simulate" .
as_user=()
[ "$(id -u)" != 0 ] || as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
"${as_user[@]}" ./simulate scene.yaml -o locked/run.h5 --quiet >out.txt 2>err.txt
got=$?
[ $got = 1 ] && grep -q 'locked/run.h5: cannot write: Permission denied' err.txt || fail "read-only folder: exit $got: $(cat err.txt)"
# One that becomes read-only: the checkpoint cannot be written, the frames are there.
mkdir later
[ "$(id -u)" != 0 ] || chown 65534 later
"${as_user[@]}" ./simulate scene.yaml -o later/run.h5 --quiet >out.txt 2>err.txt &
pid=$!
wait_for later/run.h5 $pid
chmod 555 later
wait $pid
got=$?
[ $got = 1 ] && grep -q 'later/run.checkpoint.h5.*Permission denied' err.txt || fail "folder that became read-only: exit $got: $(cat err.txt)"
prefix later/run.h5

finish
