#!/bin/bash
# nntrain on good and bad input: table, same result for any number of threads, exit status, one clear message, nothing left after a failure.
. "$(dirname "$0")/map_common.sh"

"$bin/mkmaps" "$shapes/square.wkt" "$shapes/u.wkt" -o all.h5 $tiny >/dev/null || exit 1
cp all.h5.cache/square__u.samples.h5 su.h5
cp all.h5.cache/u__u.samples.h5 "u u, é.h5"
cp all.h5.cache/u.sdf.h5 grid.h5
damage su.h5
few="--layers 1 --width 8 --epochs 2"

# What works.
"$bin/nntrain" su.h5 "u u, é.h5" -o maps.h5 $few --threads 1 >table.txt 2>err.txt || fail "training: $(cat err.txt)"
[ "$(wc -l <table.txt)" = 4 ] || fail "expected two lines of heading and two rows: $(cat table.txt)"
grep -q '^square-u  *1x8  *0\.[0-9]* ' table.txt || fail "no row of square-u: $(cat table.txt)"
awk 'NR > 2 && (NF != 12 || $10 != 4 * 2 * (7 * 8 + 8 + 8 + 1)) {exit 1}' table.txt || fail "columns or bytes: $(cat table.txt)"
grep -q 'training u-u' err.txt || fail "no progress: $(cat err.txt)"
"$bin/nntrain" su.h5 -o quiet.h5 --seconds 0.4 --quiet >table.txt 2>err.txt || fail "--seconds: $(cat err.txt)"
[ -s err.txt ] && fail "--quiet is not: $(cat err.txt)"
awk 'NR == 3 && ($11 > 5 || $12 <= 0) {exit 1}' table.txt || fail "--seconds: $(cat table.txt)"
"$bin/nntrain" su.h5 -o part.h5 $few --samples 500 --recipe paper --fold on --encoding sincos --quiet >/dev/null || fail "parts of a recipe"
"$bin/nntrain" su.h5 -o part.h5 $few --recipe accurate --heads 2 --tries 2 --target 0.001 --quiet >table.txt || fail "accurate"
grep -q '^square-u  *1x8 ' table.txt || fail "accurate: $(cat table.txt)"
"$bin/nntrain" su.h5 -o part.h5 $few --activation qrelu --optimiser soap --quiet >/dev/null || fail "parts of accurate"
"$bin/nntrain" su.h5 "u u, é.h5" -o maps2.h5 $few --threads 2 --quiet >/dev/null || fail "two threads"
printf 'theta,x,y\n0.3,1.2,0.1\n1,0.2,-1.1\n' >poses.csv
for m in maps maps2; do "$bin/mapquery" $m.h5 square u <poses.csv >$m.csv || fail "mapquery $m"; done
cmp -s maps.csv maps2.csv || fail "one and two threads give different maps"
"$bin/nntrain" --help | grep -q 'Example' || fail "--help has no example"

# Usage.
expect 2 'no files' nntrain -o x.h5
expect 2 '-o MAPS.h5' nntrain su.h5
expect 2 'nonsense' nntrain su.h5 -o x.h5 --nonsense
for option in --layers=0 --layers=9 --layers=2.5 --width=x --epochs=nan --epochs=0 --epochs=1e9 --seconds=-1 --batch=0 --learning-rate=0 \
    --learning-rate=inf --gradient-weight=-1 --far-weight=2 --seed=-1 --threads=0 --samples=0 --samples= --recipe=fast --encoding=fourframe --fold=maybe \
    --schedule=linear --activation=tanh --optimiser=sgd --heads=0 --heads=9 --tries=0 --target=-1; do
    expect 2 "${option%%=*}" nntrain su.h5 -o x.h5 $option
done
expect 2 'one of them' nntrain su.h5 -o x.h5 --epochs 1 --seconds 1
expect 2 'same file' nntrain su.h5 -o su.h5
expect 2 'same file' nntrain su.h5 -o ./su.h5

# Files.
expect 1 'missing.h5' nntrain missing.h5 -o x.h5
expect 1 'folder.h5' nntrain folder.h5 -o x.h5
expect 2 'empty.h5' nntrain empty.h5 -o x.h5
expect 2 'text.h5' nntrain text.h5 -o x.h5
expect 2 'truncated.h5' nntrain truncated.h5 -o x.h5
expect 2 'nan.h5' nntrain nan.h5 -o x.h5
expect 2 'grid.h5.*cem.sdf' nntrain grid.h5 -o x.h5
expect 2 'su.h5.*1001' nntrain su.h5 -o x.h5 --samples 1001
expect 1 'nowhere' nntrain su.h5 -o nowhere/x.h5
expect 1 'folder.h5' nntrain su.h5 -o folder.h5

# A later file that fails, or a full disk: no bundle, an old one untouched.
cp maps.h5 old.h5
"$bin/nntrain" su.h5 missing.h5 -o old.h5 $few --quiet >/dev/null 2>err.txt && fail "a missing second file was not noticed"
cmp -s maps.h5 old.h5 || fail "the old bundle was touched"
"$bin/nntrain" su.h5 su.h5 -o x.h5 $few --quiet >/dev/null 2>err.txt && fail "the same pair twice was not noticed"
grep -q 'already' err.txt || fail "the same pair twice: $(cat err.txt)"
(ulimit -f 4 && "$bin/nntrain" su.h5 -o old.h5 $few --quiet >/dev/null 2>err.txt)
[ $? = 1 ] || fail "no room for the bundle: $(cat err.txt)"
grep -q 'old.h5' err.txt || fail "no room for the bundle: $(cat err.txt)"
cmp -s maps.h5 old.h5 || fail "no room: the old bundle was touched"
[ -z "$(find . -name 'x.h5*' -o -name '*tmp*')" ] || fail "files left behind: $(ls)"
finish
