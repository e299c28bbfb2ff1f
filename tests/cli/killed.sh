#!/bin/bash
# kill -9 at random moments of a run that writes a frame every step and a checkpoint every few: no frame is lost, what is
# recovered is an ordinary file, a checkpoint is there, and the run goes on from it as if nothing had happened. Readers in a
# loop disturb nothing; a second writer is refused before it touches anything.
# $1: folder of the commands; $2: how many kills.
. "$(dirname "$0")/run_common.sh"
kills=$2

# open_plain RUN FRAMES: HDF5's own tools open it like any file.
open_plain() {
    h5dump -H "$1" >/dev/null 2>err.txt || fail "h5dump $1: $(head -c 300 err.txt)"
    /usr/bin/python3 - "$1" "$2" 2>err.txt <<'END' || fail "h5py $1: $(tail -n 1 err.txt)"
import h5py, sys
with h5py.File(sys.argv[1]) as f:
    n = len(f["/run/committed_frames"])
    assert n == int(sys.argv[2]) == len(f["/particles/grains/position/value"]), n
    assert len(f.attrs["content_hash"]) == 16
END
}

# rows_or_none RUN CSV: its frames; none if it was killed, or is looked at, before the first one, which simstat says.
rows_or_none() {
    rows "$1" >"$2" 2>look.txt || { grep -q "$1: the run has no frames yet" look.txt && : >"$2"; }
}

{ falling 6 0.09 && cat; } >scene.yaml <<'END'
phases:
  - {name: fall, time: 0.05}
output: {every: 1.0e-5, checkpoint: 2.0e-3, contacts: true}
END

# The whole run, and how long it takes; readers look at it all the while.
start=$(date +%s%N)
"$bin/simulate" scene.yaml -o whole.h5 --quiet >whole.txt 2>err.txt || fail "whole run: $(cat err.txt)"
nanoseconds=$(($(date +%s%N) - start))
rows whole.h5 >whole.csv || fail "simstat whole.h5"
"$bin/simulate" scene.yaml -o read.h5 --quiet >read.txt 2>err.txt &
pid=$!
wait_for read.h5 $pid
looks=0
while kill -0 $pid 2>/dev/null; do
    rows_or_none read.h5 read.csv || fail "simstat while it runs: $(cat look.txt)"
    begins read.csv || fail "while it runs: other frames"
    if [ -s read.csv ]; then # a picture needs a frame
        "$bin/simview" read.h5 -o look.svg --quiet >look.txt 2>&1 || fail "simview while it runs: $(cat look.txt)"
    fi
    looks=$((looks + 1))
    /usr/bin/python3 - read.h5 2>look.txt <<'END' || fail "h5py while it runs: $(tail -n 1 look.txt)"
import h5py, sys
with h5py.File(sys.argv[1], "r", swmr=True) as f:
    rows = f["/run/committed_frames"]
    n = rows[-1] if len(rows) else 0
    assert len(f["/particles/grains/position/value"]) >= n
END
    "$bin/simulate" scene.yaml -o read.h5 --quiet >second.txt 2>&1 && kill -0 $pid 2>/dev/null && fail "a second writer ran"
    grep -q 'another program is writing' second.txt || ! kill -0 $pid 2>/dev/null || fail "second writer: $(cat second.txt)"
done
wait $pid || fail "the run that was read: $(cat err.txt)"
rows read.h5 | cmp -s - whole.csv || fail "readers changed the run"
[ $looks -ge 1 ] || fail "nobody looked"
open_plain read.h5 "$(wc -l <whole.csv)"

# Between what moments the kills fell: before the run, while a frame or a checkpoint was being written, else.
RANDOM=1
before=0 in_frame=0 in_checkpoint=0 between=0 restarted=0
for k in $(seq 1 "$kills"); do
    rm -f killed.* recovered.h5 again.*
    "$bin/simulate" scene.yaml -o killed.h5 --quiet >/dev/null 2>&1 &
    pid=$!
    wait_ns=$((nanoseconds / 1000 * (RANDOM % 1000)))
    sleep "$((wait_ns / 1000000000)).$(printf %09d $((wait_ns % 1000000000)))"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    if [ ! -e killed.h5 ]; then
        before=$((before + 1))
        continue
    fi
    rows_or_none killed.h5 killed.csv || { fail "kill $k: simstat killed.h5: $(cat look.txt)" && continue; }
    frames=$(wc -l <killed.csv)
    torn=$(/usr/bin/python3 - killed.h5 2>err.txt <<'END'
import h5py, sys
with h5py.File(sys.argv[1], "r", swmr=True) as f:
    print(max(len(f[p]) for p in ("/particles/grains/position/step", "/run/phase/value")) - len(f["/run/committed_frames"]))
END
    ) || fail "kill $k: h5py: $(tail -n 1 err.txt)"
    if ls killed.checkpoint.h5.tmp-* >/dev/null 2>&1; then
        in_checkpoint=$((in_checkpoint + 1))
    elif [ "$torn" != 0 ]; then
        in_frame=$((in_frame + 1))
    else
        between=$((between + 1))
    fi
    begins killed.csv || fail "kill $k: other frames than the whole run"
    "$bin/simstat" killed.h5 --recover recovered.h5 --quiet || fail "kill $k: --recover"
    open_plain recovered.h5 "$frames"
    { rows_or_none recovered.h5 recovered.csv && cmp -s recovered.csv killed.csv; } || fail "kill $k: other frames in the recovered file"
    last=killed.checkpoint.h5
    [ -e $last ] || last=killed.checkpoint.h5.1
    [ -e $last ] || { [ "$frames" -lt 16 ] || fail "kill $k: $frames frames, no checkpoint"; continue; }
    "$bin/simulate" --restart $last -o again.h5 --quiet >/dev/null 2>err.txt || fail "kill $k: restart: $(cat err.txt)"
    restarted=$((restarted + 1))
    rows again.h5 >again.csv
    tail -n "$(wc -l <again.csv)" whole.csv | cmp -s - again.csv || fail "kill $k: the restarted run differs"
    # what has been computed again overlaps what was saved
    [ $(($(wc -l <again.csv) + frames)) -ge "$(wc -l <whole.csv)" ] || fail "kill $k: frames are missing between"
done
[ $before -le $((kills / 2)) ] || fail "$before of $kills kills met no run"
echo "$kills kills: $before before the run, $in_frame within a frame, $in_checkpoint within a checkpoint, $between at other times;" \
    "$restarted restarted; $looks looks of simstat, simview, h5py and a second writer at a run"
finish
