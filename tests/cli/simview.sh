#!/bin/bash
# simview on good and bad input: exit status, one clear message, nothing under a final name after a failure.
# $1: folder of the commands; make_run is in tests/ beside it.
. "$(dirname "$0")/common.sh"
make_run=$bin/../tests/make_run
# expect STATUS PATTERN NAME ARGS...: runs simview; the message must match; NAME must not exist afterwards (- : no check).
expect() {
    local status=$1 pattern=$2 name=$3
    shift 3
    "$bin/simview" "$@" >out.txt 2>err.txt </dev/null
    local got=$?
    [ "$got" = "$status" ] || fail "simview $*: exit $got, expected $status: $(head -c 300 err.txt)"
    grep -q -e "$pattern" err.txt || fail "simview $*: \"$(head -c 300 err.txt)\" does not match \"$pattern\""
    [ "$(grep -c '^[^ ]*simview: ' err.txt)" = 1 ] || fail "simview $*: expected one message: $(cat err.txt)"
    [ "$name" = - ] || [ ! -e "$name" ] || fail "simview $*: left $name"
    [ -z "$(find . -name '*tmp*' -o -name '.*.part*' | head -1)" ] || fail "simview $*: left $(find . -name '*tmp*')"
}

"$make_run" run.h5 40 12 several || exit 1
"$make_run" "run mit Wänden.h5" 40 12 one || exit 1
"$make_run" none.h5 5 0 one || exit 1
head -c 3000 run.h5 >truncated.h5
: >empty.h5
echo "no HDF5 at all" >text.h5
mkdir folder.h5 locked
chmod 555 locked

# What works.
"$bin/simview" run.h5 -o a.png --quiet 2>err.txt || fail "one picture: $(cat err.txt)"
[ -s err.txt ] && fail "--quiet is not quiet: $(cat err.txt)"
"$bin/simview" run.h5 -o b.png --quiet && cmp -s a.png b.png || fail "the same picture twice differs"
"$bin/simview" "run mit Wänden.h5" -o "Bild ü.png" --time 0,0.5,1 --width 400 --colour speed --quiet || fail "panels"
"$bin/simview" run.h5 "run mit Wänden.h5" -o two.png --region=-0.01,-0.01,0.2,0.1 --colour rotation --quiet || fail "two runs"
"$bin/simview" run.h5 -o a.svg --time 0,1 --quiet && "$bin/simview" run.h5 -o b.svg --time 0,1 --quiet && cmp -s a.svg b.svg ||
    fail "the same SVG twice differs"
[ "$(grep -c '<use ' a.svg)" = 80 ] || fail "SVG of two panels of 40 grains: $(grep -c '<use ' a.svg) grains"
"$bin/simview" run.h5 -o a.html --quiet && "$bin/simview" run.h5 -o b.html --quiet && cmp -s a.html b.html ||
    fail "the same page twice differs"
"$bin/simview" run.h5 -o c.html --time 0.2,0.6 --every 2 --colour speed --quiet || fail "page of a part of a run"
[ "$(grep -c '"pose":' a.html)/$(grep -c '"pose":' c.html)" = 12/3 ] ||
    fail "pages of 12 and 3 frames have $(grep -c '"pose":' a.html) and $(grep -c '"pose":' c.html)"
"$bin/simview" "run mit Wänden.h5" -o "a & ü.xdmf" --every 4 --quiet || fail "XDMF"
[ "$(grep -c '<Time' "a & ü.xdmf")" = 3 ] && grep -q '>a &amp; ü.xdmf.h5:/frames/0/grains/points<' "a & ü.xdmf" ||
    fail "XDMF: $(head -c 600 "a & ü.xdmf")"
"$bin/simview" run.h5 -o frames/all --every 5 --width 200 --quiet || fail "folder"
[ "$(ls frames/all | tr '\n' ' ')" = "frame_000000.png frame_000001.png frame_000002.png " ] ||
    fail "folder: found $(ls frames/all)"
LC_ALL=de_DE.UTF-8 "$bin/simview" run.h5 -o c.png --time 0.5 --quiet || fail "decimal point in another locale"
"$bin/simview" --help | grep -q Examples || fail "--help without an example"
"$bin/simview" --version | grep -q simview || fail "--version"
if command -v ffmpeg >/dev/null; then
    "$bin/simview" run.h5 -o -film.mp4 --width 320 --rate 0.5 --quiet || fail "film"
    frames=$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 file:-film.mp4)
    [ "$frames" = 46 ] || fail "film of 11/12 s at rate 0.5: $frames frames, expected 46"
    expect 1 'folder nowhere does not exist' nowhere/a.mp4 run.h5 -o nowhere/a.mp4
    (ulimit -f 2 && "$bin/simview" run.h5 -o limit.mp4 --width 1280 --quiet 2>err.txt)
    [ $? = 1 ] && [ ! -e limit.mp4 ] || fail "no room for a film: $(cat err.txt)"
fi
mkdir no_programs
PATH=$work/no_programs "$bin/simview" run.h5 -o x.mp4 --quiet 2>err.txt
[ $? = 1 ] || fail "without ffmpeg: expected exit 1"
grep -q 'ffmpeg could not be started.*apt-get install ffmpeg' err.txt || fail "without ffmpeg: $(cat err.txt)"
[ ! -e x.mp4 ] || fail "without ffmpeg: left x.mp4"

# A time of a phase is the time of its first frame and what is added.
"$bin/simview" run.h5 -o phase.png --time collapse+0.5 --quiet || fail "time of a phase"
"$bin/simview" run.h5 -o seconds.png --time 0.66667 --quiet && cmp -s phase.png seconds.png || fail "collapse+0.5 is not 0.667 s"

# Input that cannot be used.
expect 1 'missing.h5' x.png missing.h5 -o x.png
expect 1 'folder.h5' x.png folder.h5 -o x.png
expect 2 'truncated.h5' x.png truncated.h5 -o x.png
expect 2 'empty.h5' x.png empty.h5 -o x.png
expect 2 'text.h5' x.png text.h5 -o x.png
expect 2 'no frames' x.png none.h5 -o x.png
# Usage.
expect 2 'run file' x.png -o x.png
expect 2 'o is missing' - run.h5
for name in x.vtk x.jpg; do expect 2 'found "x\..*expected OUT ending in .png' $name run.h5 -o $name; done
expect 2 'unrecognized option\|unbekannte Option' x.png run.h5 -o x.png --force-chains
expect 2 'run.h5: the run has no contact rows.*contacts: true' x.png run.h5 -o x.png --forces
expect 2 'run.h5: the run has no contact rows' x.svg run.h5 -o x.svg --colour force
expect 2 'x.html": shows one run' x.html run.h5 "run mit Wänden.h5" -o x.html
expect 2 'x.html": shows one run, without' x.html run.h5 -o x.html --forces
expect 2 'x.html": shows one run, without' x.html run.h5 -o x.html --width 500
expect 2 'x.xdmf": shows one run' x.xdmf run.h5 "run mit Wänden.h5" -o x.xdmf
expect 2 'x.xdmf": holds the whole scene' x.xdmf run.h5 -o x.xdmf --colour speed
expect 2 'x.xdmf": holds the whole scene' x.xdmf run.h5 -o x.xdmf --region 0,0,1,1
expect 1 'nowhere' nowhere run.h5 -o nowhere/x.xdmf
expect 2 '--rate: only for' x.html run.h5 -o x.html --rate 2
expect 1 'nowhere' nowhere run.h5 -o nowhere/x.html
expect 2 '--every: only for' x.svg run.h5 -o x.svg --every 2
expect 2 '--time: .*abc' x.png run.h5 -o x.png --time abc
expect 2 '--time' x.png run.h5 -o x.png --time 0,,1
expect 2 '--time' x.png run.h5 -o x.png --time nan
expect 2 '--time: .*"colapse".*a phase of' x.png run.h5 -o x.png --time colapse+0.1
expect 2 '--time' x.png run.h5 -o x.png --time collapse+x
expect 2 'FROM,TO' x run.h5 -o x --time 1,0
expect 2 '--every' x run.h5 -o x --every 0
expect 2 '--every: only for' x.png run.h5 -o x.png --every 2
expect 2 '--rate: only for' x.png run.h5 -o x.png --rate 2
expect 2 '--rate' x.mp4 run.h5 -o x.mp4 --rate 0
expect 2 '--width' x.png run.h5 -o x.png --width 10
expect 2 '--width' x.png run.h5 -o x.png --width 1e3x
expect 2 'even number' x.mp4 run.h5 -o x.mp4 --width 321
expect 2 '--colour: .*size.*force' x.png run.h5 -o x.png --colour size
for region in 0,0,1 0,0,1,1,1 1,0,0,1 0,0,0,0 a,b,c,d 0,0,inf,1 ""; do
    expect 2 '--region' x.png run.h5 -o x.png --region "$region"
done
# Output that cannot be written.
expect 1 'nowhere' nowhere run.h5 -o nowhere/x.png
mkdir folder.png
expect 1 'is a folder' - run.h5 -o folder.png
cp run.h5 named.png
expect 2 'same file' - named.png -o ./named.png
cmp -s run.h5 named.png || fail "the run was overwritten"
expect 1 'a.png' a.png/b run.h5 -o a.png/b
if [ "$(id -u)" != 0 ]; then
    expect 1 'locked' locked/x.png run.h5 -o locked/x.png
    expect 1 'locked' locked/x.mp4 run.h5 -o locked/x.mp4
    expect 1 'locked' locked/x run.h5 -o locked/x
fi
(ulimit -f 2 && "$bin/simview" run.h5 -o limit.svg --quiet 2>err.txt)
[ $? = 1 ] && [ ! -e limit.svg ] || fail "no room for an SVG: $(cat err.txt)"
(ulimit -f 2 && "$bin/simview" run.h5 -o limit.png --width 1280 --quiet 2>err.txt)
[ $? = 1 ] && [ ! -e limit.png ] || fail "no room for a picture: $(cat err.txt)"

[ $failures = 0 ] && echo "simview: all right"
exit $((failures > 0))
