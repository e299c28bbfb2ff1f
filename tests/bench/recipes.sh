#!/usr/bin/env bash
# Accuracy of the training recipes: trained and tested on held-out poses within .1 of contact, mean of several seeds without choosing among them.
#   tests/bench/recipes.sh BUILD WORK [--seeds N] [--labels exact|minimiser] [--recipes "paper default accurate"] [--pairs "hash:hash ..."] [--samples N]
# WORK keeps samples and results: a second call goes on where the first one was stopped. One training at a time, one thread. CPU seconds of a
# training include reading the samples (about one).
set -euo pipefail
export LC_ALL=C
build=$(cd "${1:?BUILD folder}" && pwd)
work=${2:?WORK folder}
shift 2
seeds=5 labels=exact samples=500000
recipes="accurate default paper"
pairs="hash:hash hash:n u:u o:o pebble:pebble comma:comma"
while [ $# -gt 0 ]; do
    case "$1" in
    --seeds) seeds=$2 ;;
    --labels) labels=$2 ;;
    --recipes) recipes=$2 ;;
    --pairs) pairs=$2 ;;
    --samples) samples=$2 ;;
    *)
        echo "recipes.sh: unknown argument \"$1\"" >&2
        exit 2
        ;;
    esac
    shift 2
done
shapes=$(cd "$(dirname "$0")/../../shapes" && pwd)
mkdir -p "$work"
cd "$work"
TIMEFORMAT='%U %S'

# $1, $2: shapes. Samples of the pair, once.
sample() {
    local file=$1__$2.$labels.samples.h5
    [ -f "$1.sdf.h5" ] && [ -f "$2.sdf.h5" ] || "$build/bin/sdfgen" "$shapes/$1.wkt" "$shapes/$2.wkt" -o . >/dev/null
    [ -f "$file" ] || nice -n 10 "$build/bin/csample" "$1.sdf.h5" "$2.sdf.h5" -o "$file" --labels "$labels" --samples "$samples" --threads 1 --quiet
}

# $1, $2: shapes, $3: recipe, $4: seed. One line of numbers: d mean, p99, sign errors %, normal p50, arm p50, bytes, CPU s.
train() {
    local file=$1__$2.$labels.$3.$4.txt row cpu
    if [ ! -s "$file" ]; then
        cpu=$( { time nice -n 10 "$build/bin/nntrain" "$1__$2.$labels.samples.h5" -o map.h5 --recipe "$3" --seed "$4" --samples "$samples" \
            --threads 1 --quiet >row.txt 2>failure.txt; } 2>&1) || { echo "$1-$2 $3, seed $4: $(cat failure.txt)" >&2; return; }
        sed "s/^/$1-$2 $3, seed $4: /" failure.txt >&2 # warnings
        row=$(tail -n 1 row.txt)
        echo "$row $cpu" | awk '{print $3, $4, $6, $8, $9, $10, $(NF - 1) + $NF}' >"$file"
    fi
    cat "$file"
}

printf '%-16s %-9s %5s %9s %9s %8s %8s %9s %7s %7s\n' pair recipe seeds 'd mean' 'd p99' 'sign %' 'n p50' 'arm p50' bytes 'cpu s'
for pair in $pairs; do
    a=${pair%:*} b=${pair#*:}
    sample "$a" "$b"
    for recipe in $recipes; do
        for seed in $(seq "$seeds"); do train "$a" "$b" "$recipe" "$seed"; done |
            awk -v pair="$a-$b" -v recipe="$recipe" '{for (i = 1; i <= NF; i++) sum[i] += $i}
                END {if (NR == 0) {printf "%-16s %-9s     0 no training ended well\n", pair, recipe; exit}
                     printf "%-16s %-9s %5d %9.5f %9.5f %8.3f %8.2f %9.5f %7d %7.1f\n", pair, recipe, NR, sum[1] / NR, sum[2] / NR, sum[3] / NR,
                     sum[4] / NR, sum[5] / NR, sum[6] / NR, sum[7] / NR}'
    done
done
