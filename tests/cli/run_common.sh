# Sourced by killed.sh, interrupted.sh, restart.sh, surroundings.sh and simulate_continuum.sh: common.sh, a scene, its frames as text, damage to
# checkpoints. $1: folder of the commands.
. "$(dirname "$0")/common.sh"
cp "$tests/../shapes/u.wkt" .

# falling COUNT HEIGHT: the part of a scene that says what falls; phases and output are to be added.
falling() {
    cat <<END
types:
  u: {shape: u.wkt, radius: 0.01, density: 2500}
contact:
  default: {kn: 1.0e5, restitution: 0.3, mu: 0.4}
boundaries:
  - {name: floor, plane: {point: [0, 0], normal: [0, 1]}}
fill:
  - {type: u, count: $1, region: [0.0, 0.0, 0.09, $2]}
narrow_phase: exact
smoothing: 0
END
}
# rows RUN: its frames as CSV on standard output, without the column of grains gone, which counts from the run's first frame.
rows() {
    "$bin/simstat" "$1" --overlap off --series rows.csv >/dev/null && tail -n +2 rows.csv | cut -d, -f1-4,6-
}
# begins ROWS: they are the first of the whole run's, in whole.csv.
begins() {
    head -n "$(wc -l <"$1")" whole.csv | cmp -s - "$1"
}
# wait_for FILE PID: until it is there, or the process is not any more.
wait_for() {
    while [ ! -s "$1" ] && kill -0 "$2" 2>/dev/null; do sleep 0.01; done
}
# state_of ARGS...: the hash of its last state that simulate prints.
state_of() {
    "$bin/simulate" "$@" 2>err.txt | sed -n 's/^state //p'
}
# refuses_damage CHECKPOINT FORMAT VERSION...: cut off at ten lengths, with another version, and with one bit of each of 100 bytes
# flipped it is refused in words, within 2 s of processor time; a bit that means nothing (padding, provenance) changes nothing.
refuses_damage() {
    local checkpoint=$1 format=$2 size part version k at byte got state
    shift 2
    size=$(stat -c %s "$checkpoint")
    for part in 1 2 3 4 5 6 7 8 9 10; do
        head -c $((size * part / 11)) "$checkpoint" >cut.h5
        expect 2 'cut.h5' simulate --restart cut.h5 -o x.h5
    done
    for version in "$@"; do
        cp "$checkpoint" version.h5
        /usr/bin/python3 - version.h5 "$version" <<'END' || fail "h5py"
import h5py, numpy, sys
with h5py.File(sys.argv[1], "r+") as f:
    f.attrs.modify("format_version", numpy.int64(sys.argv[2]))
END
        expect 2 "version.h5: found $format version $version, expected" simulate --restart version.h5 -o x.h5
    done
    state=$(state_of --restart "$checkpoint" -o flipped.run.h5)
    [ ${#state} = 16 ] || fail "$checkpoint: no state at the end: $(cat err.txt)"
    for k in $(seq 1 100); do
        cp "$checkpoint" flipped.h5
        at=$((size * k / 101))
        byte=$(od -An -tu1 -j$at -N1 "$checkpoint")
        printf "\\x$(printf %02x $((byte ^ 1 << k % 8)))" | dd of=flipped.h5 bs=1 seek=$at conv=notrunc 2>/dev/null
        (ulimit -t 2 && exec "$bin/simulate" --restart flipped.h5 -o flipped.run.h5) >out.txt 2>err.txt
        got=$?
        if [ $got = 0 ]; then
            [ "$(sed -n 's/^state //p' out.txt)" = "$state" ] || fail "$checkpoint, flipped byte $at: accepted, and the run differs"
        else
            [ $got = 2 ] && grep -q 'flipped.h5' err.txt || fail "$checkpoint, flipped byte $at: exit $got: $(head -c 200 err.txt)"
        fi
    done
}
