#!/bin/bash
# simstat on good and bad input: values in all three forms, exit status, one clear message, nothing left after a failure.
# $1: folder of the commands; make_run is in tests/ beside it.
. "$(dirname "$0")/common.sh"
make_run=$bin/../tests/make_run

"$make_run" run.h5 60 12 several || exit 1
"$make_run" 'other, "run".h5' 30 12 one || exit 1
"$make_run" none.h5 5 0 one || exit 1
head -c 3000 run.h5 >truncated.h5
: >empty.h5
echo "no HDF5 at all" >text.h5
mkdir folder.h5 locked
chmod 555 locked

# What works.
"$bin/simstat" run.h5 >table.txt 2>err.txt || fail "table: $(cat err.txt)"
[ -s err.txt ] && fail "a single run gives messages: $(cat err.txt)"
grep -q '^grains  *60$' table.txt || fail "table: no 60 grains"
grep -q '^height  *m  *0\.[0-9]*$' table.txt || fail "table: no height"
cp run.h5 long.h5
/usr/bin/python3 - <<'PY' || fail "h5py"
import h5py
with h5py.File("long.h5", "r+") as f:
    f["/particles/grains/position/step"][-1] = 1234567
PY
"$bin/simstat" long.h5 --overlap off | grep -q '^step  *1234567$' || fail "table: a number of seven digits is not whole"
"$bin/simstat" run.h5 'other, "run".h5' --csv --quiet >two.csv || fail "csv"
[ "$(wc -l <two.csv)" = 3 ] || fail "csv: $(wc -l <two.csv) lines"
grep -q '^"other, ""run"".h5",11,1100,' two.csv || fail "csv: name not quoted: $(tail -1 two.csv)"
awk -F, 'NR == 1 {n = NF} NR == 2 && NF != n {exit 1}' two.csv || fail "csv: rows of different length"
"$bin/simstat" run.h5 'other, "run".h5' --json --quiet >two.json || fail "json"
if command -v python3 >/dev/null; then
    python3 - <<'PY' || fail "json and csv"
import csv, json
runs = json.load(open("two.json"))["runs"]
rows = list(csv.DictReader(open("two.csv")))
assert len(runs) == len(rows) == 2
assert runs[1]["run"] == rows[1]["run"] == 'other, "run".h5'
for run, row in zip(runs, rows):
    for name, value in run.items():
        if name != "run":
            assert (row[name] == "nan") if value is None else float(row[name]) == value, name
assert runs[0]["grains"] == 60 and runs[0]["contacts"] == 120 and runs[0]["time"] == 11 / 12
PY
fi
"$bin/simstat" run.h5 --time 0 --json >first.json || fail "--time"
grep -q '"run_out": null' first.json || fail "--time 0: a run-out before the last phase"
"$bin/simstat" run.h5 --overlap off | grep -q '^overlap_max  *R  *-$' || fail "--overlap off"
"$bin/simstat" run.h5 --region=-1,-1,0.05,1 | grep -q '^grains  *60$' && fail "--region has no effect"
"$bin/simstat" run.h5 --poses "Posen ü.csv" >/dev/null || fail "--poses"
[ "$(head -1 "Posen ü.csv")" = id,type,x,y,angle ] && [ "$(wc -l <"Posen ü.csv")" = 61 ] || fail "--poses: $(head -2 "Posen ü.csv")"
"$bin/simstat" run.h5 --time collapse --csv >phase.csv || fail "--time collapse"
[ "$(sed -n 2p phase.csv | cut -d, -f2)" = 2 ] || fail "--time collapse: $(sed -n 2p phase.csv | cut -c -40)"
"$bin/simstat" run.h5 --time collapse+0.3 --csv | sed -n 2p | grep -q '^run.h5,6,' || fail "--time collapse+0.3: not frame 6"
"$bin/simstat" run.h5 --region 0,0,0.1,0.1 | grep -q '^packing_fraction  *0\.[1-9]' || fail "no packing fraction"
"$bin/simstat" run.h5 --series "Reihe ü.csv" >/dev/null || fail "--series"
[ "$(wc -l <"Reihe ü.csv")" = 13 ] || fail "--series: $(wc -l <"Reihe ü.csv") lines"
head -1 "Reihe ü.csv" | grep -q '^step,time,phase,present,gone,kinetic_energy,' || fail "--series: $(head -1 "Reihe ü.csv")"
sed -n 4p "Reihe ü.csv" | grep -q '^200,0.1666[0-9]*,collapse,60,0,' || fail "--series: $(sed -n 4p "Reihe ü.csv")"
"$bin/simstat" --help | grep -q Examples || fail "--help without an example"
"$bin/simstat" run.h5 >/dev/full 2>err.txt
[ $? = 1 ] || fail "full standard output: expected exit 1"
[ "$(wc -l <err.txt)" = 1 ] || fail "full standard output: expected one message: $(cat err.txt)"

# Input that cannot be used.
expect 1 'missing.h5' simstat missing.h5
expect 1 'missing.h5' simstat run.h5 missing.h5 --quiet
expect 1 'folder.h5' simstat folder.h5
expect 2 'truncated.h5' simstat truncated.h5
expect 2 'empty.h5' simstat empty.h5
expect 2 'text.h5' simstat text.h5
expect 2 'no frames' simstat none.h5
# Usage.
expect 2 'run file' simstat
expect 2 '--recover: .*--json' simstat run.h5 --recover x.h5 --json
expect 2 '--recover: .*--poses' simstat run.h5 --recover x.h5 --poses x.csv
expect 2 '--recover: found 2' simstat run.h5 run.h5 --recover x.h5
expect 2 'same file' simstat run.h5 --recover ./run.h5
expect 1 'nowhere' simstat run.h5 --recover nowhere/x.h5
expect 2 'truncated.h5' simstat truncated.h5 --recover x.h5
expect 2 '--time: .*abc.*phase of run.h5' simstat run.h5 --time abc
expect 2 '--time' simstat run.h5 --time settle+x
expect 2 '--rattler-contacts' simstat run.h5 --rattler-contacts 0
expect 2 'no contact rows.*output.contacts' simstat run.h5 --orientations o.csv
expect 2 'no contact rows' simstat run.h5 --boundaries b.csv
expect 2 'no contact rows' simstat run.h5 --contacts c.csv
expect 2 '--time' simstat run.h5 --time nan
expect 2 '--overlap: .*maybe' simstat run.h5 --overlap maybe
expect 2 'exclude' simstat run.h5 --json --csv
for file in poses series orientations boundaries; do expect 2 "--$file" simstat run.h5 run.h5 --$file x.csv; done
for region in 0,0,1 0,0,1,1,1 1,0,0,1 0,0,0,0 a,b,c,d 0,0,inf,1 ""; do expect 2 '--region' simstat run.h5 --region "$region"; done
# Output that cannot be written.
expect 1 'nowhere' simstat run.h5 --poses nowhere/x.csv
expect 1 'folder.h5' simstat run.h5 --poses folder.h5
cp run.h5 kept.h5
for file in poses series orientations boundaries; do expect 2 'same file' simstat run.h5 --$file ./run.h5; done
expect 2 'the file of --poses too' simstat run.h5 --poses x.csv --series ./x.csv
cmp -s run.h5 kept.h5 || fail "the run was overwritten"
if [ "$(id -u)" != 0 ]; then
    expect 1 'locked' simstat run.h5 --poses locked/x.csv
fi
[ "$("$bin/simstat" run.h5 --recover "ganz ü.h5")" = "ganz ü.h5: 12 frames" ] || fail "--recover"
"$bin/simstat" "ganz ü.h5" --overlap off --series whole.csv >/dev/null && cmp -s whole.csv "Reihe ü.csv" || fail "--recover: other frames"
[ ! -e x.h5 ] && [ ! -e x.csv ] && [ ! -e o.csv ] && [ ! -e b.csv ] || fail "left a file"

finish
