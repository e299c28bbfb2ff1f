#!/usr/bin/env bash
# sdfgen on good and bad input. Usage: sdfgen.sh BIN_FOLDER
# Bad input: exit status 1 or 2 as said, one message on stderr that names the file, nothing left under a final or a temporary name.
set -u
export LC_ALL=C
sdfgen=$1/sdfgen
here=$(cd "$(dirname "$0")/.." && pwd)
shapes=$here/../shapes
fixtures=$here/fixtures
work=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# good NAME ARGUMENTS...: must succeed without a word on stderr.
good() {
    local name=$1
    shift
    "$sdfgen" "$@" > "$work/stdout" 2> "$work/stderr"
    local status=$?
    [ $status -eq 0 ] || fail "$name: exit status $status: $(cat "$work/stderr")"
    [ -s "$work/stderr" ] && fail "$name: stderr: $(cat "$work/stderr")"
    echo "ok: $name"
}

# bad NAME STATUS LINES PATTERN ARGUMENTS...: must fail with that status, that many lines on stderr (2: the hint at --help) and the pattern in the first.
bad() {
    local name=$1 status=$2 lines=$3 pattern=$4
    shift 4
    rm -rf "$work/out"
    timeout 60 "$sdfgen" "$@" > "$work/stdout" 2> "$work/stderr"
    local found=$?
    [ $found -eq "$status" ] || fail "$name: exit status $found, expected $status: $(cat "$work/stderr")"
    [ "$(wc -l < "$work/stderr")" -eq "$lines" ] || fail "$name: expected $lines line(s) on stderr: $(cat "$work/stderr")"
    head -n 1 "$work/stderr" | grep -q -- "sdfgen: .*$pattern" || fail "$name: expected \"$pattern\": $(cat "$work/stderr")"
    [ -s "$work/stdout" ] && fail "$name: stdout: $(cat "$work/stdout")"
    [ -d "$work/out" ] && [ -n "$(ls -A "$work/out")" ] && fail "$name: left behind: $(ls -A "$work/out")"
    echo "ok: $name: $(head -n 1 "$work/stderr")"
}

# --- what must work

good "several shapes, a new folder" "$shapes/hash.wkt" "$shapes/o.wkt" -o "$work/new/folder" --preview "$work/new preview ä.png"
for file in "$work/new/folder/hash.sdf.h5" "$work/new/folder/o.sdf.h5" "$work/new preview ä.png"; do
    [ -s "$file" ] || fail "$file was not written"
done
[ "$(wc -l < "$work/stdout")" -eq 2 ] || fail "expected a line per shape: $(cat "$work/stdout")"
grep -q "^hash: 32 vertices, 1 hole, area 1.49344, circumradius 1 (as drawn), grid 513 x 513 -> .*/hash.sdf.h5$" "$work/stdout" ||
    fail "line about hash: $(cat "$work/stdout")"

ln -s "$shapes/hash.wkt" "$work/hash.wkt"
good "a file named three times counts once" "$shapes/hash.wkt" "$work/hash.wkt" "$shapes/hash.wkt" -o "$work/once" --resolution 64
[ "$(wc -l < "$work/stdout")" -eq 1 ] || fail "expected one line: $(cat "$work/stdout")"

good "quiet" "$shapes/u.wkt" -o "$work/quiet" --quiet --resolution 64 --margin 0.3 --threads 2
[ -s "$work/stdout" ] && fail "quiet: stdout: $(cat "$work/stdout")"

good "a silhouette" "$fixtures/f.png" "$fixtures/f_clear.png" -o "$work/png" --resolution 64
[ "$(grep -c "area 65.5," "$work/stdout")" -eq 2 ] || fail "area of the letter F: $(cat "$work/stdout")"

good "the largest of two islands" "$fixtures/islands.png" -o "$work/png" --resolution 64 --largest
grep -q "area 15.5,.*, 1 smaller part left out" "$work/stdout" || fail "largest island: $(cat "$work/stdout")"

good "a simplified silhouette" "$fixtures/f.png" -o "$work/png" --resolution 64 --simplify 0.5
grep -q "outline moved by at most 0.[345][0-9]* pixels (0.0[0-9]* circumradii)" "$work/stdout" || fail "stated outline error: $(cat "$work/stdout")"

printf 'P5\n6 4\n255\n\377\377\377\377\377\377\377\0\0\0\0\377\377\0\0\0\0\377\377\377\377\377\377\377' > "$work/bar.pgm"
good "a PGM" "$work/bar.pgm" -o "$work/png" --resolution 64
grep -q "^bar: .*area 7.5," "$work/stdout" || fail "area of the bar: $(cat "$work/stdout")"

# Greys 200 around 40: the middle of the gap. A name with a dot keeps it.
printf 'P5\n6 4\n255\n\310\310\310\310\310\310\310\50\50\50\50\310\310\50\50\50\50\310\310\310\310\310\310\310' > "$work/b1.5.pgm"
good "an automatic threshold, a dot in the name" "$work/b1.5.pgm" -o "$work/png" --resolution 64 --threshold auto --outline
grep -q "^b1.5: .*area 7.4[0-9]*,.*, automatic threshold 120, .*/b1.5.sdf.h5$" "$work/stdout" || fail "automatic threshold: $(cat "$work/stdout")"
[ -s "$work/png/b1.5.sdf.h5" ] && [ -s "$work/png/b1.5.wkt" ] || fail "b1.5.sdf.h5 or b1.5.wkt was not written"
good "a blur" "$work/bar.pgm" -o "$work/png" --resolution 64 --blur 0.5
grep -q "^bar: .*area [67][.]" "$work/stdout" || fail "blurred bar: $(cat "$work/stdout")"
grep -q "threshold" "$work/stdout" && fail "a threshold was told that was given: $(cat "$work/stdout")"
good "opacity needs no threshold" "$fixtures/f_clear.png" -o "$work/png" --resolution 64 --threshold auto
grep -q "threshold" "$work/stdout" && fail "opacity has no grey: $(cat "$work/stdout")"

printf 'P5\n6 4\n255\n\377\377\377\377\377\377\377\0\0\0\0\0\377\0\0\0\0\0\377\377\377\377\377\377' > "$work/cut off.pgm"
"$sdfgen" "$work/cut off.pgm" -o "$work/png" --resolution 64 > "$work/stdout" 2> "$work/stderr" || fail "cut off: $(cat "$work/stderr")"
[ "$(wc -l < "$work/stderr")" -eq 1 ] && grep -q "^sdfgen: warning: .*cut off.pgm: the figure touches the image's border over 2 pixels: .*(--invert)$" "$work/stderr" ||
    fail "a figure at the border: $(cat "$work/stderr")"
awk 'BEGIN { printf "POLYGON (("; for (i = 0; i <= 320; i++) printf "%s%.9f %.9f", i ? ", " : "", cos(i % 320 * .019634954), sin(i % 320 * .019634954); print "))" }' > "$work/fine.wkt"
"$sdfgen" "$work/fine.wkt" -o "$work/png" --resolution 64 > "$work/stdout" 2> "$work/stderr" || fail "many vertices: $(cat "$work/stderr")"
grep -q "^sdfgen: warning: .*fine.wkt: 320 vertices: exact labels .* get slow with so many; " "$work/stderr" || fail "many vertices: $(cat "$work/stderr")"

echo "POLYGON ((0 0, 1 0, 2 0, 2 0, 2 2, 0 2, 0 0))" > "$work/cleaned.wkt"
good "cleaned points are counted" "$work/cleaned.wkt" -o "$work/png" --resolution 64
grep -q "^cleaned: 4 vertices.*, 2 duplicate or collinear points removed," "$work/stdout" || fail "cleaned: $(cat "$work/stdout")"

good "an outline as WKT" "$fixtures/f.png" "$shapes/o.wkt" -o "$work/wkt" --resolution 64 --outline
grep -q "^POLYGON ((-*[0-9].*))$" "$work/wkt/f.wkt" || fail "f.wkt: $(cat "$work/wkt/f.wkt")"
good "which is read as the same shape" "$work/wkt/f.wkt" "$work/wkt/o.wkt" -o "$work/wkt/again" --resolution 64
grep -q "^f: 20 vertices, 0 holes, .*circumradius 1 (as drawn), grid" "$work/stdout" || fail "f again: $(cat "$work/stdout")"
grep -q "^o: 192 vertices, 1 hole, .*circumradius 1 (as drawn), grid" "$work/stdout" || fail "o again: $(cat "$work/stdout")"

# Walls of 0.028 circumradii: 1.8 cells at resolution 128.
echo "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0), (.2 .2, .2 9.8, 9.8 9.8, 9.8 .2, .2 .2))" > "$work/frame.wkt"
"$sdfgen" "$work/frame.wkt" -o "$work/thin" --resolution 128 > "$work/stdout" 2> "$work/stderr" || fail "thin walls: $(cat "$work/stderr")"
grep -q "^sdfgen: warning: .*frame.wkt: a wall of 0.028 circumradii is 1.8 cells wide at resolution 128: .*; resolution 224 would give it 3$" "$work/stderr" ||
    fail "thin walls: $(cat "$work/stderr")"
good "resolution by the thinnest wall" "$work/frame.wkt" -o "$work/thin" --resolution auto
grep -q "grid 865 x 865" "$work/stdout" || fail "automatic resolution: $(cat "$work/stdout")"
good "automatic resolution is no coarser than usual" "$shapes/hash.wkt" -o "$work/thin" --resolution auto
grep -q "grid 513 x 513" "$work/stdout" || fail "automatic resolution: $(cat "$work/stdout")"

mkdir "$work/a folder ü" && cp "$shapes/n.wkt" "$work/a folder ü/großes n.wkt"
good "blanks and letters beyond ASCII in paths" "$work/a folder ü/großes n.wkt" -o "$work/a folder ü" --resolution 64
[ -s "$work/a folder ü/großes n.sdf.h5" ] || fail "großes n.sdf.h5 was not written"

"$sdfgen" --help > "$work/stdout" 2>&1 && grep -q "Examples: sdfgen" "$work/stdout" || fail "--help without an example"
"$sdfgen" --version | grep -q "sdfgen" || fail "--version"

# --- what is refused: the file

: > "$work/empty.wkt"
: > "$work/empty.png"
: > "$work/empty.json"
echo "POLYGON ((0 0, 1 nan, 0 1, 0 0))" > "$work/nan.wkt"
echo "POLYGON ((0 0, 1 0, 0 1, 0 0)) trailing" > "$work/trailing.wkt"
echo "POLYGON ((0 0, 2 2, 2 0, 0 2, 0 0))" > "$work/crossing.wkt"
echo "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((5 5, 7 5, 7 7, 5 5)))" > "$work/parts.wkt"
echo "POLYGON ((0 0, 1 0, 0 1))" > "$work/open.wkt"
echo "POINT (1 2)" > "$work/point.wkt"
echo '{"type": "Polygon", "coordinates": [[[],[],[],[]]]}' > "$work/hollow.geojson"
head -c 60 "$fixtures/f.png" > "$work/cut.png"
cp "$shapes/hash.wkt" "$work/text.png"
printf 'P2\n2 2\n255\n0 0 0 255\n' > "$work/plain.pgm"
printf 'P5\n2 2\n255\n\0\0\0' > "$work/cut.pgm"
printf '\377\330\377\340\0\020JFIF' > "$work/cut.jpg"
printf 'BM\0\0\0\0' > "$work/cut.bmp"
: > "$work/empty.jpg"
cp "$fixtures/f.png" "$work/image.wkt"
cp "$fixtures/f.png" "$work/image.svg"
{ printf "POLYGON \200"; head -c 100000 "$sdfgen"; } > "$work/noise.wkt" # binary; the same bytes every time, so the same complaint
truncate -s 1G "$work/huge.wkt"
mkdir "$work/folder.wkt"

bad "missing file" 1 1 "missing.wkt" "$work/missing.wkt" -o "$work/out"
bad "folder instead of a file" 1 1 "folder.wkt" "$work/folder.wkt" -o "$work/out"
bad "empty file" 2 1 "empty.wkt: the file is empty" "$work/empty.wkt" -o "$work/out"
bad "empty image" 2 1 "empty.png: the file is empty" "$work/empty.png" -o "$work/out"
bad "empty GeoJSON" 2 1 "empty.json: the file is empty" "$work/empty.json" -o "$work/out"
bad "NaN" 2 1 "nan.wkt: line 1: found \"nan\"" "$work/nan.wkt" -o "$work/out"
bad "trailing text" 2 1 "trailing.wkt: line 1: found \"trailing\"" "$work/trailing.wkt" -o "$work/out"
bad "self-crossing" 2 1 "crossing.wkt: Self-intersection at (1, 1)" "$work/crossing.wkt" -o "$work/out"
printf 'P5\n2 2\n255\n\7\7\7\7' > "$work/flat.pgm"
bad "no figure" 2 1 "flat.pgm: every pixel has the same grey level" "$work/flat.pgm" -o "$work/out" --threshold auto
bad "several parts" 2 1 "parts.wkt: 2 separate parts (areas 0.5, 2)" "$work/parts.wkt" -o "$work/out"
bad "open ring" 2 1 "open.wkt: a ring is not closed" "$work/open.wkt" -o "$work/out"
bad "a point" 2 1 "point.wkt: found a Point" "$work/point.wkt" -o "$work/out"
bad "GeoJSON without numbers" 2 1 "hollow.geojson: line 1" "$work/hollow.geojson" -o "$work/out"
bad "thin walls" 2 1 "frame.wkt: a wall of 0.028 circumradii is 0.91 cells wide at resolution 64, expected at least 1; resolution 224 would give it 3$" "$work/frame.wkt" -o "$work/out" --resolution 64
bad "islands" 2 1 "islands.png: 2 separate islands (areas 15.5, 14.5 pixels).*--largest" "$fixtures/islands.png" -o "$work/out"
bad "truncated image" 2 1 "cut.png: truncated PNG" "$work/cut.png" -o "$work/out"
bad "text renamed to .png" 2 1 "text.png: not an image: found text that begins with \"MULTIPOLYGON" "$work/text.png" -o "$work/out"
bad "PGM written as text" 2 1 "plain.pgm: found a PGM written as text (P2)" "$work/plain.pgm" -o "$work/out"
bad "truncated PGM" 2 1 "cut.pgm: truncated PGM: its pixels need 4 bytes, 3 are there" "$work/cut.pgm" -o "$work/out"
bad "truncated JPEG" 2 1 "cut.jpg: truncated JPEG" "$work/cut.jpg" -o "$work/out"
bad "truncated BMP" 2 1 "cut.bmp: truncated BMP" "$work/cut.bmp" -o "$work/out"
bad "empty JPEG" 2 1 "empty.jpg: the file is empty" "$work/empty.jpg" -o "$work/out"
bad "image renamed to .wkt" 2 1 "image.wkt: byte 0x" "$work/image.wkt" -o "$work/out"
bad "unknown kind" 2 1 "image.svg: unknown kind" "$work/image.svg" -o "$work/out"
bad "noise" 2 1 "noise.wkt: byte 0x" "$work/noise.wkt" -o "$work/out"
bad "huge file" 2 1 "huge.wkt" "$work/huge.wkt" -o "$work/out"
bad "a bad file behind a good one" 2 1 "crossing.wkt" "$shapes/hash.wkt" "$work/crossing.wkt" -o "$work/out"
cp "$shapes/u.wkt" "$work/o.wkt"
bad "two shapes of one name" 2 1 "two shapes named \"o\"" "$shapes/o.wkt" "$work/o.wkt" -o "$work/out"

# --- what is refused: the command line

bad "unknown option" 2 2 "unrecognized option '--resolutoin=3'" "$shapes/o.wkt" -o "$work/out" --resolutoin=3
bad "tolerance below zero" 2 2 "--simplify" "$shapes/o.wkt" -o "$work/out" --simplify=-1
bad "no files" 2 2 "no shape files given" -o "$work/out"
bad "no folder" 2 2 "no output folder given" "$shapes/o.wkt"
bad "resolution too small" 2 2 "--resolution" "$shapes/o.wkt" -o "$work/out" --resolution 15
bad "resolution not a number" 2 2 "--resolution" "$shapes/o.wkt" -o "$work/out" --resolution 64x
bad "margin NaN" 2 2 "--margin" "$shapes/o.wkt" -o "$work/out" --margin nan
bad "threshold not a level" 2 2 "--threshold" "$shapes/o.wkt" -o "$work/out" --threshold automatic
bad "blur below zero" 2 2 "--blur" "$shapes/o.wkt" -o "$work/out" --blur=-1
bad "blur too large" 2 2 "--blur" "$shapes/o.wkt" -o "$work/out" --blur 51
bad "threshold too large" 2 2 "--threshold" "$shapes/o.wkt" -o "$work/out" --threshold 256
bad "preview of another kind" 2 2 "--preview" "$shapes/o.wkt" -o "$work/out" --preview p.jpg
cp "$fixtures/f.png" "$work/image.png"
bad "preview over a shape" 2 1 "same file" "$work/image.png" -o "$work/out" --preview "$work/./image.png"
cmp -s "$fixtures/f.png" "$work/image.png" || fail "a shape was overwritten"
cp "$shapes/o.wkt" "$work/keep.wkt"
"$sdfgen" "$work/keep.wkt" -o "$work" --resolution 64 --outline > "$work/stdout" 2> "$work/stderr" && fail "an outline was written over its shape"
grep -q "keep.wkt: input and output are the same file" "$work/stderr" || fail "outline over a shape: $(cat "$work/stderr")"
cmp -s "$shapes/o.wkt" "$work/keep.wkt" || fail "a shape was overwritten"
bad "threads" 2 2 "--threads" "$shapes/o.wkt" -o "$work/out" --threads 0

# --- what the operating system refuses

: > "$work/in the way"
bad "a file where the folder should be" 1 1 "in the way" "$shapes/o.wkt" -o "$work/in the way"
mkdir -p "$work/taken/o.sdf.h5"
bad "a folder where the file should be" 1 1 "o.sdf.h5" "$shapes/o.wkt" -o "$work/taken"
[ "$(ls -A "$work/taken")" = o.sdf.h5 ] || fail "left behind: $(ls -A "$work/taken")"
bad "preview into a missing folder" 1 1 "nowhere/p.png" --quiet "$shapes/o.wkt" -o "$work/once" --preview "$work/nowhere/p.png"

mkdir "$work/locked" && chmod a-w "$work/locked"
if touch "$work/locked/probe" 2> /dev/null; then
    rm -f "$work/locked/probe"
    bad "folder not writable" 1 1 "/proc/o.sdf.h5" "$shapes/o.wkt" -o /proc
else
    bad "folder not writable" 1 1 "locked" "$shapes/o.wkt" -o "$work/locked"
    bad "folder cannot be made" 1 1 "locked/sub" "$shapes/o.wkt" -o "$work/locked/sub"
fi

# full WHERE ADVICE: a file of 100 kB does not fit; an old file of that name stays as it is.
full() {
    local folder=$1 status
    echo old > "$folder/hash.sdf.h5"
    "$sdfgen" "$shapes/hash.wkt" -o "$folder" > "$work/stdout" 2> "$work/stderr"
    status=$?
    [ $status -eq 1 ] || fail "$2: exit status $status"
    [ "$(wc -l < "$work/stderr")" -eq 1 ] || fail "$2: stderr: $(cat "$work/stderr")"
    grep -q "hash.sdf.h5" "$work/stderr" || fail "$2: stderr: $(cat "$work/stderr")"
    [ "$(cat "$folder/hash.sdf.h5")" = old ] || fail "$2: the old file was touched"
    [ "$(ls -A "$folder")" = hash.sdf.h5 ] || fail "$2: left behind: $(ls -A "$folder")"
    echo "ok: $2: $(cat "$work/stderr")"
    return "$failures"
}

mkdir "$work/limited"
(ulimit -f 100; full "$work/limited" "file size limit") || failures=$((failures + 1))

mkdir "$work/small"
export -f full fail
export sdfgen shapes work
if unshare -rm true 2> /dev/null && unshare -rm mount -t tmpfs -o size=100k tmpfs "$work/small" 2> /dev/null; then
    unshare -rm bash -c 'failures=0; mount -t tmpfs -o size=100k tmpfs "$work/small" && full "$work/small" "full disk"' ||
        failures=$((failures + 1))
elif mount -t tmpfs -o size=100k tmpfs "$work/small" 2> /dev/null; then
    full "$work/small" "full disk"
    umount "$work/small"
else
    echo "skipped: full disk: a tmpfs cannot be mounted here"
fi

[ "$failures" -eq 0 ] || echo "$failures failure(s)"
exit $((failures > 0))
