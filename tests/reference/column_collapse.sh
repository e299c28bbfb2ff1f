#!/usr/bin/env bash
# The main scene at full length with freshly trained maps: accuracy of the map, true overlap of the outlines, rest at the end, and the
# same bits for 1 and 2 threads. Usage: column_collapse.sh BIN SOURCE
set -u
bin=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
scene=$source/data/scenes/column_collapse.yaml
failures=0
# at_most WHAT FOUND EXPECTED
at_most() {
    echo "$1: found $2, expected at most $3"
    awk -v f="$2" -v e="$3" 'BEGIN { exit !(f != "nan" && f + 0 <= e + 0) }' || failures=$((failures + 1))
}
"$bin/mkmaps" "$scene" -o maps.h5 --quiet >table.txt || exit 1
cat table.txt
read -r _ _ mean _ _ sign _ _ _ bytes _ < <(grep '^hash-hash' table.txt)
at_most "mean error of d, R" "$mean" 0.003
at_most "wrong signs, %" "$sign" 0.5
at_most "bytes of both nets" "$bytes" 20000
for threads in 1 2; do
    "$bin/simulate" "$scene" --maps maps.h5 -o run$threads.h5 --threads $threads --quiet | tail -n 1 >state$threads.txt || exit 1
done
cmp state1.txt state2.txt || failures=$((failures + 1))
"$bin/simstat" run2.h5 --csv >numbers.csv || exit 1
value() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR == 2 { print $c }' numbers.csv; }
at_most "true overlap, 99 % of pairs, R" "$(value overlap_p99)" 0.03
at_most "mean kinetic energy per grain, m g R" "$(value kinetic_per_mgr)" 1e-3
echo "largest true overlap: $(value overlap_max) R; run-out $(value run_out); repose $(value repose_angle) rad"
exit $((failures > 0))
