# Table 1: what the runs of the other figures were: it reads them and runs nothing.

about_table1() { echo "grains, types, boundaries, step, friction, maps, times and memory of the runs that are there"; }

plan_table1() { :; }

# The part of a log's last line that a sed pattern keeps: table1_find LOG PATTERN
table1_find() { sed -n "s/$2/\\1/p" "$1" 2>/dev/null | tail -n 1; }

# Nets, largest mean error of d, bytes and core seconds of a pair of the maps that a run was made with: table1_map LOG-OF-THE-RUN
table1_map() {
    local table
    table=$(table1_find "$1" '^map: \(.*\)')
    table=$out/.steps/maps+$(basename "${table:-none}").log
    awk '$1 ~ /-/ && $2 ~ /x/ { n++; net = $2; if ($3 > e) e = $3; if ($10 > b) b = $10; if ($11 > t) t = $11 }
        END { if (n) printf "%d of %s | %s | %s | %s", n, net, e + 0, b, t; else printf "exact | - | - | -" }' "$table" 2>/dev/null ||
        printf "exact | - | - | -"
}

# Friction of a run: its scene's, or what its name says (figure 3): table1_mu NAME
table1_mu() {
    case $1 in
    fig3+*) echo "$1" | grep -o '0\.[0-9]*' ;;
    *) sed -n 's/.*default:.*mu: *\([0-9.]*\).*/\1/p' "data/scenes/figures/${1%%+*}.yaml" ;;
    esac
}

report_table1() {
    local log name run poses
    echo "# Table 1: the runs"
    echo
    echo "One run of each scene. Grains (moving ones) and types (boundaries too): at the end. Maps: pairs and net; of the worst pair mean error of d (R), bytes, core seconds of training. Time: processor seconds a simulated second on this machine. Overlap: true, 99 %, R, at the end."
    echo
    echo "| run | grains | types | boundaries | mu | dt, s | simulated, s | time | MB | overlap | maps | error | bytes | core s |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    poses=$out/table1/poses.csv
    for log in "$out"/.steps/fig*+runs+*.log; do
        name=$(basename "$log" .log) run=$out/${name//+//}
        run=${run%.run.h5} run=${run%.csv}.run.h5
        case $name in *.[2-9].csv | *.[1-9][0-9].csv | *gradients*) continue ;; esac
        if [ ! -f "$run" ]; then continue; fi
        "$bin/simstat" "$run" --csv --poses "$poses" >"$poses.frame" || continue
        name=${name%.run.h5} name=${name%.csv}
        echo "| ${name//+runs+/, } | $(csv_value "$poses.frame" grains) | $(tail -n +2 "$poses" | cut -d, -f2 | sort -u | wc -l) | $(
            table1_find "$log" '.* grains, \([0-9]*\) boundaries.*') | $(table1_mu "$name") | $(table1_find "$log" '.*steps of \([^ ]*\) s,.*') | $(
            table1_find "$log" '.* \([0-9.e+-]*\) s simulated in.*') | $(awk -v c="$(table1_find "$log" '.*(\([^ ]*\) s of processor time.*')" \
            -v s="$(table1_find "$log" '.* \([0-9.e+-]*\) s simulated in.*')" 'BEGIN { if (c != "" && s > 0) printf "%.3g", c / s }') | $(
            table1_find "$log" '.*processor time, \([^ ]*\) MB.*') | $(csv_value "$poses.frame" overlap_p99 | awk '{ printf $1 == "nan" ? "-" : "%.2g", $1 }') | $(table1_map "$log") |"
    done
    rm -f "$poses" "$poses.frame"
}
