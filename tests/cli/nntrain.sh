#!/bin/bash
# nntrain on good and bad input: table, same result for any number of threads, exit status, one clear message, nothing left after a failure.
. "$(dirname "$0")/map_common.sh"

"$bin/mkmaps" "$shapes/square.wkt" "$shapes/u.wkt" -o all.h5 $tiny >/dev/null || exit 1
cp all.h5.cache/square__u.samples.h5 su.h5
cp all.h5.cache/u__u.samples.h5 "u u, é.h5"
cp all.h5.cache/u.sdf.h5 grid.h5
damage su.h5
cp "u u, é.h5" broken.h5
printf '\377%.0s' $(seq 64) | dd of=broken.h5 bs=1 seek=$(($(wc -c <broken.h5) / 2)) conv=notrunc status=none
few="--layers 1 --width 8 --epochs 2"

# What works.
"$bin/nntrain" su.h5 "u u, é.h5" -o maps.h5 $few --threads 1 >table.txt 2>err.txt || fail "training: $(cat err.txt)"
[ "$(wc -l <table.txt)" = 4 ] || fail "expected two lines of heading and two rows: $(cat table.txt)"
grep -q '^square-u  *1x8  *0\.[0-9]* ' table.txt || fail "no row of square-u: $(cat table.txt)"
awk 'NR > 2 && (NF != 12 || $10 != 4 * 2 * (7 * 8 + 8 + 8 + 1)) {exit 1}' table.txt || fail "columns or bytes: $(cat table.txt)"
grep -q 'training u-u 1x8: 100 %, [0-9.k]*/' err.txt || fail "no progress: $(cat err.txt)"
[ "$(grep -c '100 %' err.txt)" = 2 ] || fail "one line of progress a pair: $(cat err.txt)"
"$bin/nntrain" su.h5 -o part.h5 $few --recipe accurate --tries 2 --threads 1 >/dev/null 2>err.txt || fail "progress: $(cat err.txt)"
[ "$(grep -c 'training square-u 1x8: 100 %' err.txt)" = 1 ] || fail "one line for both nets and tries: $(cat err.txt)"
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

# Several sizes: one row each, smallest first; nothing is written, or the first that meets the target.
"$bin/nntrain" su.h5 --sweep 1x8,2x4,1x4 --epochs 2 --quiet >table.txt 2>err.txt || fail "--sweep: $(cat err.txt)"
[ "$(awk 'NR > 2 {printf "%s %s;", $2, $9}' table.txt)" = "1x4 296;2x4 456;1x8 584;" ] || fail "--sweep: $(cat table.txt)"
awk 'NR > 2 && (NF != 11 || $3 <= 0 || $10 < 0 || $11 <= 1 || $11 > 1e6) {exit 1}' table.txt || fail "--sweep: $(cat table.txt)"
target=$(awk 'NR > 2 {print $3}' table.txt | sort -g | head -1)
first=$(awk -v t="$target" 'NR > 2 && $3 <= t {print $2; exit}' table.txt)
"$bin/nntrain" su.h5 --sweep 1x8,2x4,1x4 --target-error "$(awk -v t="$target" 'BEGIN {print t + 1e-5}')" --epochs 2 --quiet -o chosen.h5 >table.txt || fail "--target-error"
[ "$(awk 'END {print $2}' table.txt)" = "$first" ] || fail "--target-error $target: $(cat table.txt)"
"$bin/mapquery" chosen.h5 square u --error | grep -q "nets $first," || fail "--target-error: another net than $first is in the bundle"
"$bin/nntrain" su.h5 --target-error 0.9 --epochs 1 --quiet -o ladder.h5 >table.txt || fail "--target-error alone"
[ "$(awk 'NR > 2 {print $2}' table.txt)" = 1x16 ] || fail "the ladder: $(cat table.txt)"
"$bin/nntrain" su.h5 --sweep 1x4,1x8 --target-error 1e-6 --epochs 1 --quiet -o chosen.h5 >table.txt 2>err.txt
[ $? = 1 ] || fail "a target out of reach"
grep -q 'su.h5: no size reaches.*1e-06.*1x[48]' err.txt || fail "a target out of reach: $(cat err.txt)"
"$bin/mapquery" chosen.h5 square u --error | grep -q "nets $first," || fail "a target out of reach: the old bundle is gone"

# An interrupted sweep goes on: sizes that were done are not trained again, the one at hand goes on to the same bits.
sizes="--sweep 1x8,2x32 --target-error 1e-6 --epochs 300 --threads 1"
"$bin/nntrain" su.h5 -o swept.h5 $sizes --quiet >whole.txt 2>/dev/null
"$bin/nntrain" su.h5 -o swept.h5 $sizes --quiet >/dev/null 2>&1 &
job=$!
for _ in $(seq 600); do
    [ -e swept.h5.square__u.2x32.training.h5 ] && break
    sleep 0.05
done
kill -9 $job 2>/dev/null
wait $job 2>/dev/null
[ -e swept.h5.square__u.1x8.training.h5 ] && [ -e swept.h5.square__u.2x32.training.h5 ] || fail "no states of a sweep were left: $(ls)"
rm -f swept.h5.*tmp* .swept.h5*
"$bin/nntrain" su.h5 -o swept.h5 $sizes >killed.txt 2>err.txt && fail "an interrupted sweep reaches 1e-6"
[ "$(grep -c 'going on with swept.h5.square__u' err.txt)" = 2 ] || fail "an interrupted sweep: $(cat err.txt)"
for f in whole killed; do awk '{print $1, $2, $3, $4, $5, $6, $7, $8, $9}' $f.txt >$f.columns; done
cmp -s whole.columns killed.columns || fail "an interrupted sweep ends elsewhere: $(cat whole.txt killed.txt)"
[ -z "$(find . -name '*.training.h5')" ] || fail "states of a sweep stay behind: $(ls)"

# Update: what is current is reused, other pairs stay, a pair whose shape changed goes.
"$bin/nntrain" su.h5 "u u, é.h5" --update maps.h5 $few --quiet >table.txt 2>err.txt || fail "--update: $(cat err.txt)"
grep -q '^maps.h5: 0 maps trained, 2 reused, 0 of other pairs kept, 0 left out' table.txt || fail "--update: $(cat table.txt)"
[ "$(wc -l <table.txt)" = 5 ] || fail "--update: two lines of heading, two rows, the sum: $(cat table.txt)"
"$bin/nntrain" su.h5 --update maps.h5 -o updated.h5 $few --seed 2 --quiet >table.txt || fail "--update with another seed"
grep -q '^updated.h5: 1 maps trained, 0 reused, 1 of other pairs kept, 0 left out' table.txt || fail "--update, another seed: $(cat table.txt)"
for m in maps updated; do "$bin/mapquery" $m.h5 u u <poses.csv >$m.csv || fail "mapquery $m"; done
cmp -s maps.csv updated.csv || fail "--update: the pair that was kept has changed"
"$bin/mapquery" maps.h5 square u <poses.csv >maps.csv
"$bin/mapquery" updated.h5 square u <poses.csv >updated.csv
cmp -s maps.csv updated.csv && fail "--update: another seed gave the same map"
mkdir changed
echo 'POLYGON ((-0.6 -0.7, 0.6 -0.7, 0.6 0.7, 0.2 0.7, 0.2 -0.3, -0.2 -0.3, -0.2 0.7, -0.6 0.7, -0.6 -0.7))' >changed/u.wkt
"$bin/mkmaps" changed/u.wkt -o changed/u.h5 $tiny >/dev/null || fail "a changed u"
"$bin/nntrain" changed/u.h5.cache/u__u.samples.h5 --update maps.h5 -o updated.h5 $few --quiet >table.txt 2>err.txt || fail "--update, changed: $(cat err.txt)"
grep -q '^updated.h5: 1 maps trained, 0 reused, 0 of other pairs kept, 1 left out' table.txt || fail "--update, changed: $(cat table.txt)"
grep -q 'square-u is left out: .*u' err.txt || fail "--update, changed: $(cat err.txt)"

# The report: one well-formed page that asks for nothing outside, a section a pair, the same pictures for the other order of a pair.
"$bin/nntrain" su.h5 "u u, é.h5" -o reported.h5 $few --quiet --report "a report.html" >/dev/null 2>err.txt || fail "--report: $(cat err.txt)"
[ "$(grep -c '<h2>' 'a report.html')" = 2 ] || fail "--report: two pairs"
[ "$(grep -o '<image ' 'a report.html' | wc -l)" = 12 ] || fail "--report: six slices a pair"
grep -q 'class="curve"' "a report.html" || fail "--report: no loss curve"
grep -oE '(href|src|url)[=(]["'"'"']?.{4}' "a report.html" | grep -v 'href="data' && fail "--report: asks for something outside"
grep -oE 'https?:|<script|@import' "a report.html" && fail "--report: asks for something outside"
if command -v xmllint >/dev/null; then xmllint --noout "a report.html" || fail "--report: not well-formed"; fi
"$bin/nntrain" su.h5 "u u, é.h5" --update reported.h5 $few --quiet --report again.html >/dev/null || fail "--report of reused maps"
cmp -s "a report.html" again.html || fail "--report: a reused map is reported differently"
expect 2 '--report' nntrain su.h5 --sweep 1x4 --report x.html
expect 2 'input and report' nntrain su.h5 -o x.h5 --report su.h5
for same in x.h5 ./x.h5 "$PWD/x.h5"; do expect 2 'output and report' nntrain su.h5 -o x.h5 --report "$same"; done
expect 2 'twice' nntrain su.h5 ./su.h5 -o x.h5
# refused before anything is trained: nothing may come out
for full in /dev/full ""; do
    "$bin/nntrain" su.h5 -o x.h5 $few --quiet --report "$full" >table.txt 2>err.txt && fail "--report '$full'"
    [ ! -s table.txt ] && [ -s err.txt ] || fail "--report '$full': found out late: $(cat table.txt err.txt)"
done
expect 1 'folder.h5' nntrain su.h5 -o x.h5 --report folder.h5
expect 1 'nowhere/x.html' nntrain su.h5 --update reported.h5 -o reported.h5 $few --quiet --report nowhere/x.html

# A killed training goes on to the same bits: killed behind the first net, as soon as its state is there.
long="--layers 2 --width 32 --epochs 300 --threads 1"
"$bin/nntrain" su.h5 -o whole.h5 $long --quiet >/dev/null || fail "a longer training"
"$bin/nntrain" su.h5 -o killed.h5 $long --quiet >/dev/null 2>&1 &
job=$!
for _ in $(seq 600); do
    [ -e killed.h5.square__u.training.h5 ] && break
    sleep 0.05
done
kill -9 $job 2>/dev/null
wait $job 2>/dev/null
[ -e killed.h5 ] && fail "killed too late to test anything"
[ -e killed.h5.square__u.training.h5 ] || fail "no state was left: $(ls)"
rm -f killed.h5.*tmp* .killed.h5*
expect 2 'killed.h5.square__u.training.h5: an unfinished training of other' nntrain su.h5 -o killed.h5 $long --seed 5 --quiet
"$bin/nntrain" su.h5 -o killed.h5 $long >/dev/null 2>err.txt || fail "going on: $(cat err.txt)"
grep -q 'going on with' err.txt || fail "going on: $(cat err.txt)"
for m in whole killed; do
    "$bin/mapquery" $m.h5 square u <poses.csv >$m.csv || fail "mapquery $m"
    "$bin/mapquery" $m.h5 square u --error --json </dev/null >$m.json || fail "mapquery --error $m"
done
cmp -s whole.csv killed.csv && cmp -s whole.json killed.json || fail "a killed training ends elsewhere: $(cat whole.csv killed.csv)"
[ -e killed.h5.square__u.training.h5 ] && fail "the state stays behind"
cp truncated.h5 whole.h5.square__u.training.h5
expect 2 'whole.h5.square__u.training.h5' nntrain su.h5 -o whole.h5 $long --quiet
rm whole.h5.square__u.training.h5

# A training that goes wrong: step and cause, the best weights beside an old bundle that stays.
cp whole.h5 old.h5
"$bin/nntrain" su.h5 -o old.h5 $few --learning-rate 10 --schedule constant --quiet >out.txt 2>err.txt
[ $? = 1 ] || fail "an exploding loss: $(cat err.txt)"
grep -q 'su.h5: training: .* at step [0-9]* of' err.txt || fail "an exploding loss: $(cat err.txt)"
grep -q 'kept in old.h5.square__u.best.h5' err.txt || fail "an exploding loss: $(cat err.txt)"
cmp -s whole.h5 old.h5 || fail "an exploding loss: the old bundle was touched"
"$bin/mapquery" old.h5.square__u.best.h5 square u <poses.csv >/dev/null || fail "the best weights cannot be asked"
rm old.h5.square__u.best.h5
"$bin/nntrain" su.h5 -o old.h5 $few --epochs 3 --recipe accurate --learning-rate 10 --schedule constant --quiet >out.txt 2>err.txt
[ $? = 1 ] || fail "accurate, an exploding loss: $(cat err.txt)"
grep -q 'kept in old.h5.square__u.best.h5' err.txt || fail "accurate, an exploding loss: $(cat err.txt)"
"$bin/mapquery" old.h5.square__u.best.h5 square u <poses.csv >best.csv || fail "accurate: the best weights cannot be asked"
awk -F, 'NR > 1 && ($8 + $9 > 1e-12 || $8 + $9 < -1e-12) {exit 1}' best.csv || fail "accurate: arms of a net that was not trained: $(cat best.csv)"
rm old.h5*

# Usage.
for option in --sweep= --sweep=2 --sweep=2y16 --sweep=2x16, --sweep=0x4 --sweep=1x1000 --sweep=2x16,2x16 --sweep=1x1,1x2,1x3,1x4,1x5,1x6,1x7,1x8,1x9,1x10,1x11,1x12,1x13,1x14,1x15,1x16,1x17; do
    expect 2 '--sweep' nntrain su.h5 $option
done
for e in 0 -1 nan x 2; do expect 2 '--target-error' nntrain su.h5 -o x.h5 --target-error=$e; done
expect 2 'writes no bundle' nntrain su.h5 -o x.h5 --sweep 1x4
expect 2 '-o MAPS.h5 is missing' nntrain su.h5 --target-error 0.1
expect 2 '--layers and --width' nntrain su.h5 --sweep 1x4 --width 8
expect 2 '--update goes with neither' nntrain su.h5 --update maps.h5 --target-error 0.1
expect 1 'missing.h5' nntrain su.h5 --update missing.h5
expect 2 'grid.h5' nntrain su.h5 --update grid.h5
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
cp su.h5 copy.h5
expect 2 'copy.h5: the pair square-u is in su.h5 already' nntrain su.h5 copy.h5 -o x.h5 $few --quiet
expect 1 'missing.h5' nntrain su.h5 missing.h5 -o x.h5 $few --quiet
expect 2 'truncated.h5' nntrain su.h5 truncated.h5 -o x.h5 $few --quiet
(ulimit -f 4 && "$bin/nntrain" su.h5 -o old.h5 $few --quiet >/dev/null 2>err.txt)
[ $? = 1 ] || fail "no room for the bundle: $(cat err.txt)"
grep -q 'old.h5' err.txt || fail "no room for the bundle: $(cat err.txt)"
cmp -s maps.h5 old.h5 || fail "no room: the old bundle was touched"
"$bin/nntrain" su.h5 broken.h5 -o x.h5 $few --quiet >/dev/null 2>err.txt && fail "a second file with NaN was not noticed"
[ -e x.h5.square__u.training.h5 ] || fail "the first of two trainings is lost"
rm x.h5.square__u.training.h5
[ -z "$(find . -name 'x.h5*' -o -name '*tmp*')" ] || fail "files left behind: $(ls)"
finish
