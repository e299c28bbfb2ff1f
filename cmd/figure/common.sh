# Sourced by cmd/figures: steps that are done once, several at a time, and the arithmetic of tables.

# ------------------------------------------------------------------------------------------------ steps

step_stage=() step_cost=() step_label=() step_output=() step_inputs=() step_command=()

# add STAGE COST LABEL OUTPUT "INPUT..." COMMAND [ARGUMENT...]: a step. STAGE: maps, run or draw; the steps of a stage wait for
# those of the stage before. COST: seconds on one idle core, for the time left. INPUTs: files that OUTPUT is made from, beside
# the program. COMMAND: a program or a function of these files; its messages go to OUTPUT.log.
add() {
    step_stage+=("$1") step_cost+=("$2") step_label+=("$3") step_output+=("$4") step_inputs+=("$5")
    shift 5
    step_command+=("$(printf '%q ' "$@")")
}

# What a step's output depends on: its command, the files it reads, the programs, and the functions of its figure.
fingerprint() {
    local command=${step_command[$1]} first
    first=${command%% *}
    {
        echo "$command"
        if declare -F "$first" >/dev/null; then cat "cmd/figure/${first%%_*}.sh"; fi
        # shellcheck disable=SC2086 # a list of files without spaces
        cat ${step_inputs[$1]} "$bin/simulate" "$bin/simview" "$bin/simstat" "$bin/mkmaps"
    } | sha256sum | cut -c1-64
}

# Where what is known of a step is kept: a name in .steps.
note() {
    local output=${step_output[$1]#"$out"/}
    echo "$out/.steps/${output//\//+}"
}

is_current() { [ -f "${step_output[$1]}" ] && [ "$(cat "$(note "$1").stamp" 2>/dev/null)" = "$(fingerprint "$1")" ]; }

# Runs a step. A stamp says that it was done, a status how it failed.
run_step() {
    local note status=0
    note=$(note "$1")
    rm -f "$note.stamp" "$note.status"
    eval "${step_command[$1]}" >"$note.log" 2>&1 || status=$?
    if [ $status = 0 ]; then fingerprint "$1" >"$note.stamp"; else echo $status >"$note.status"; fi
}

minutes() {
    if [ "$1" -ge 7200 ]; then
        echo "$(($1 / 3600)) h $(($1 / 60 % 60)) min"
    elif [ "$1" -ge 60 ]; then echo "$(($1 / 60)) min $(($1 % 60)) s"; else echo "$1 s"; fi
}

# Steps of one stage, `width` at a time.
run_stage() {
    local width=$2 i
    for i in "${!step_stage[@]}"; do
        if [ "${step_stage[$i]}" != "$1" ]; then continue; fi
        # Before it is asked what is current: a step of this stage may be about to change what this one reads. Jobs are counted, as
        # `wait -n` may come back for one of an earlier stage.
        while [ "$(jobs -rp | wc -l)" -ge "$width" ]; do wait -n || true; done
        if is_current "$i"; then
            skipped=$((skipped + 1)) total=$((total - step_cost[i]))
            continue
        fi
        local spent=$((SECONDS - started)) left=''
        if [ "$spent" -gt 5 ] && [ "$begun" -gt 0 ]; then
            left="; $(minutes $spent) gone, about $(minutes $((spent * (total - begun) / (begun + 1)))) left"
        fi
        echo "cmd/figures: $((count_begun + skipped + 1))/${#step_stage[@]} ${step_label[$i]}$left"
        begun=$((begun + step_cost[i])) count_begun=$((count_begun + 1))
        run_step "$i" &
    done
    wait
}

# What is to be done, and how long it takes on so many idle cores.
forecast() {
    local i todo=0 core=0
    for i in "${!step_stage[@]}"; do
        if is_current "$i"; then continue; fi
        todo=$((todo + 1)) core=$((core + step_cost[i]))
        if [ -n "${1:-}" ]; then echo "  ${step_stage[$i]}  $(minutes "${step_cost[$i]}")  ${step_label[$i]}"; fi
    done
    echo "cmd/figures: $todo of ${#step_stage[@]} steps to do, about $(minutes $core) on one idle core, $(minutes $((core / jobs))) on $jobs"
}

run_steps() {
    local cost i skipped=0 begun=0 count_begun=0 started=$SECONDS total=0
    for cost in "${step_cost[@]}"; do total=$((total + cost)); done
    forecast
    # A map is trained by as many processors as there are jobs; a run takes one.
    run_stage maps 1
    run_stage run "$jobs"
    run_stage draw 1
    echo "cmd/figures: $count_begun steps done in $(minutes $((SECONDS - started))), $skipped were current"
    local failed=0
    for i in "${!step_stage[@]}"; do
        if [ ! -e "$(note "$i").status" ]; then continue; fi
        failed=1
        echo "cmd/figures: FAILED: ${step_label[$i]}: $(tail -n 1 "$(note "$i").log")" >&2
    done
    return $failed
}

# ------------------------------------------------------------------------------------------------ maps and shapes

# The maps of NAME, shared by all figures; their file is left in `maps`: add_maps NAME PAIRS "INPUT..." SHAPE... or SCENE
# Quick: 200,000 samples, about eight core seconds a pair.
add_maps() {
    local name=$1 pairs=$2 inputs=$3 effort=(--samples 200000 --epochs 16) cost=8
    shift 3
    if [ "$scale" = full ]; then effort=(--samples 500000 --epochs 40) cost=48; fi
    maps=$out/maps/$name.$scale.maps.h5
    # Two figures may ask for one map.
    if [[ " ${step_output[*]} " = *" $maps "* ]]; then return; fi
    add maps $((pairs * cost)) "maps of $name: $pairs" "$maps" "$inputs" \
        common_mkmaps "$@" -o "$maps" --labels exact --recipe accurate "${effort[@]}" --quiet
}

# On so many processors as there may be runs: the maps do not depend on it.
common_mkmaps() { "$bin/mkmaps" "$@" --threads "$jobs"; }

# Of one shape with itself: add_map NAME FILE
add_map() { add_maps "$1" 1 "$2" "$2"; }

# Of all pairs of a scene: add_scene_map NAME SCENE PAIRS
add_scene_map() {
    local shapes
    shapes=$(sed -n 's/.*shape: *\([^,}]*\).*/\1/p' "$2" | sort -u | sed "s:^:${2%/*}/:")
    add_maps "$1" "$3" "$2 ${shapes//$'\n'/ }" "$2"
}

# Player and, where ffmpeg is installed, film of a run that a table says is done: add_moving FIGURE RUN TABLE NAME
add_moving() {
    add draw 5 "$1, player" "$out/$1/$4.html" "$3" "$bin/simview" "$2" -o "$out/$1/$4.html" --quiet
    if command -v ffmpeg >/dev/null; then
        add draw 30 "$1, film" "$out/$1/$4.mp4" "$3" "$bin/simview" "$2" -o "$out/$1/$4.mp4" --width 960 --quiet
    fi
}

# Circumradius (m) of a shape whose convex hull is to have the area of a disc of the diameter given: hull_radius FILE.wkt DIAMETER
hull_radius() {
    local drawn
    drawn=$("$bin/sdfgen" "$1" -o "$out/maps" | sed -n 's/.*circumradius \([0-9.]*\).*/\1/p')
    grep -o -E -- '-?[0-9.]+(e-?[0-9]+)? -?[0-9.]+(e-?[0-9]+)?' "$1" | sort -g -k1,1 -k2,2 -u |
        awk -v drawn="$drawn" -v diameter="$2" '
            function turn(a, b, c) { return (x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a]) }
            { x[NR] = $1; y[NR] = $2 }
            END { # lower chain, then upper chain of the points sorted by x
                for (i = 1; i <= NR; i++) { while (n >= 2 && turn(h[n - 1], h[n], i) <= 0) n--; h[++n] = i }
                low = n + 1
                for (i = NR - 1; i >= 1; i--) { while (n >= low && turn(h[n - 1], h[n], i) <= 0) n--; h[++n] = i }
                for (i = 1; i < n; i++) area += (x[h[i]] * y[h[i + 1]] - x[h[i + 1]] * y[h[i]]) / 2
                printf "%.8g\n", drawn * diameter / 2 * sqrt(3.14159265358979 / area)
            }'
}

# ------------------------------------------------------------------------------------------------ tables

# csv_value FILE NAME: of simstat --csv
csv_value() {
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR == 2 { print c ? $c : "nan" }' "$1"
}

# pose RUN TIME ROW: x y angle of a grain
pose() {
    "$bin/simstat" "$1" --time "$2" --overlap off --poses "$1.poses.csv" >/dev/null &&
        awk -F, -v row="$3" 'NR > 1 && $1 == row { print $3, $4, $5 }' "$1.poses.csv"
    rm -f "$1.poses.csv"
}

# Numbers on standard input: count, mean, standard error of the mean (nan with one).
statistics() {
    awk '$1 != "nan" { n++; s += $1; q += $1 * $1 }
        END { m = n ? s / n : 0; v = n > 1 ? (q - n * m * m) / (n - 1) : -1
              printf "%d %.4g %s\n", n, m, v < 0 ? (n > 1 ? 0 : "nan") : sprintf("%.2g", sqrt(v / n)) }'
}

# MEAN ERROR on standard input as "MEAN +- ERROR", the error with two digits and the mean with as many decimals.
plus_minus() {
    awk '{ if ($2 == "nan" || $2 == 0) { printf "%.3g%s\n", $1, $2 == "nan" ? "" : " +- 0"; next }
        split(sprintf("%.1e", $2), e, "e"); k = e[2] < 1 ? 1 - e[2] : 0
        printf "%.*f +- %.*f\n", k, $1, k, $2 }'
}

# A number with three digits.
rounded() { awk '{ printf $1 == "nan" ? "nan\n" : "%.3g\n", $1 }'; }

# Name of a shape in titles and tables: # for hash, a capital for a single letter.
shape_title() {
    case $1 in hash) echo "#" ;; ?) echo "${1^}" ;; *) echo "$1" ;; esac
}

table_head() {
    echo "# $1"
    echo
    echo "$2"
    echo
    echo "| claim | expected | measured | verdict |"
    echo "|---|---|---|---|"
}

# row CLAIM EXPECTED MEASURED VERDICT
row() {
    echo "| $1 | $2 | $3 | $4 |"
}

# within FOUND EXPECTED TOLERANCE, below FOUND LIMIT: "holds" or "does not hold"
within() {
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; print a != "" && a != "nan" && d <= t ? "holds" : "does not hold" }'
}
below() {
    awk -v a="$1" -v b="$2" 'BEGIN { print a != "" && a != "nan" && a < b ? "holds" : "does not hold" }'
}

# Means that are to rise, as "mean error" lines: holds if each step is larger than two standard errors of the difference; open if
# it is ordered, but not by as much; else it does not hold.
rising() {
    awk 'NR > 1 { d = $1 - m; e = 2 * sqrt($2 * $2 + s * s); if (d <= 0) bad = 1; else if ($2 == "nan" || s == "nan" || d <= e) open = 1 }
        { m = $1; s = $2 }
        END { print bad ? "does not hold" : open ? "ordered, within two standard errors" : "holds" }'
}
