# Table 1: what the runs of the other figures were: it reads them and runs nothing.

about_table1() { echo "grains, types, steps, friction, maps and wall time of the runs that are there"; }

plan_table1() { :; }

# Last line of a log that a pattern matches: table1_find FILE PATTERN
table1_find() { grep -h -E "$2" "$1" 2>/dev/null | tail -n 1; }

# Size, error and time of the map that a run was made with: table1_map LOG-OF-THE-RUN
table1_map() {
    local table
    table=$(sed -n 's/^map: //p' "$1" 2>/dev/null | tail -n 1)
    table=$out/.steps/maps+$(basename "${table:-none}").log
    awk '$1 ~ /-/ && $2 ~ /x/ { printf "%s | %s | %s | %s", $2, $3, $10, $11; found = 1 } END { if (!found) printf "exact | - | - | -" }' "$table" 2>/dev/null ||
        printf "exact | - | - | -"
}

report_table1() {
    local log name run
    echo "# Table 1: the runs"
    echo
    echo "One run of each scene; the net and the mean error of d (R), bytes and core seconds of its map."
    echo
    echo "| run | grains | frames, steps, dt, time simulated and taken | net | error | bytes | core s |"
    echo "|---|---|---|---|---|---|---|"
    for log in "$out"/.steps/fig*+runs+*.log; do
        name=$(basename "$log" .log) run=$out/${name//+//}
        run=${run%.run.h5} run=${run%.csv}.run.h5
        case $name in *.[2-9].csv | *.[1-9][0-9].csv | *gradients*) continue ;; esac
        if [ ! -f "$run" ]; then continue; fi
        echo "| ${name//+runs+/, } | $("$bin/simstat" "$run" --csv --overlap off | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "grains") c = i } NR == 2 { print $c }') | $(
            table1_find "$log" ' frames, .* steps of ' | sed 's/^[^:]*: //') | $(table1_map "$log") |"
    done
}
