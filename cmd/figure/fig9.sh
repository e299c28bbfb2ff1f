# Figure 9: a chain of ball-and-socket links hangs, then it is lowered on the floor; figure 9b: it is dropped.

about_fig9() { echo "chain of ball-and-socket links: loads while it hangs, lowered on the floor"; }
about_fig9b() { echo "the same chain dropped from 0.2 m, beyond the paper"; }

fig9_links=10 fig9_hang=0.58

# The map of a link with itself, of both figures, of the minimiser's distance: the exact depth leaps when a joint is bent beyond its
# stop (libsim/README.md, "Joints").
fig9_map() {
    maps=$out/maps/fig9.maps.h5
    if [[ " ${step_output[*]} " = *" $maps "* ]]; then return; fi
    add maps 15 "map link" "$maps" shapes/link.wkt \
        "$bin/mkmaps" shapes/link.wkt -o "$maps" --labels minimiser --samples 300000 --epochs 30 --quiet
}

# plan_chain NAME TIMES: run, picture and player of a figure.
plan_chain() {
    local run=$out/$1/runs/chain.run.h5
    fig9_map
    add run 10 "$1 chain" "$run" "data/scenes/figures/$1.yaml shapes/link.wkt $maps" \
        "$bin/simulate" "data/scenes/figures/$1.yaml" --maps "$maps" -o "$run" --threads 1
    add draw 3 "$1 picture" "$out/$1/$1.png" "$run" "$bin/simview" "$run" -o "$out/$1/$1.png" --time "$2" --width 900 --quiet
    add draw 3 "$1 player" "$out/$1/$1.html" "$run" "$bin/simview" "$run" -o "$out/$1/$1.html" --quiet
}
plan_fig9() { plan_chain fig9 hang,lower,lower+0.4,lower+60; }
plan_fig9b() { plan_chain fig9b drop,drop+0.16,drop+0.22,drop+60; }

# Largest distance of a ball's centre from the centre of the socket around it, m, at a time; links are rows 0 .. 9 from above, the
# hook is the row behind them: fig9_gap RUN TIME FIRST, FIRST 1 without the hook's own ball.
fig9_gap() {
    local poses=$1.poses.csv
    "$bin/simstat" "$1" --time "$2" --overlap off --poses "$poses" >/dev/null
    awk -F, -v n=$fig9_links -v first="$3" 'NR > 1 { x[$1] = $3; y[$1] = $4; a[$1] = $5 }
        END { for (k = first; k < n; k++) { j = k ? k - 1 : n # the ball of j is in the socket of k
                dx = x[j] + .0047827 * cos(a[j]) - x[k] + .0067173 * cos(a[k]); dy = y[j] + .0047827 * sin(a[j]) - y[k] + .0067173 * sin(a[k])
                d = sqrt(dx * dx + dy * dy); if (d > m) m = d }
              printf "%.3g\n", m }' "$poses"
    rm -f "$poses"
}

# Largest of the gaps at the times given: fig9_worst RUN FIRST TIME...
fig9_worst() {
    local run=$1 first=$2 t
    shift 2
    for t in "$@"; do fig9_gap "$run" "$t" "$first"; done | sort -g | tail -n 1
}

# Deepest overlap of the whole run, as its frames hold it, m.
fig9_deepest() {
    "$bin/simstat" "$1" --overlap off --quiet --series "$1.series.csv" >/dev/null
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "penetration_max") c = i } NR > 1 && $c > m { m = $c } END { printf "%.2g\n", m }' "$1.series.csv"
    rm -f "$1.series.csv"
}

report_fig9() {
    local run=$out/fig9/runs/chain.run.h5 contacts=$out/fig9/runs/contacts.csv load worst
    table_head "Figure 9: chain" "Ten links on the minimiser's map. Loads: vertical forces on the socket of each link, by the weight below it."
    "$bin/simstat" "$run" --time $fig9_hang --overlap off --contacts "$contacts" >/dev/null
    # A link weighs area x radius^2 x density x g; rows are a,b,...,force_y on b. Link 0 hangs on the hook (row 10), which is the b of their pair.
    load=$(awk -F, -v n=$fig9_links 'NR > 1 { if ($2 == n && $1 == 0) f[0] -= $11; else if ($2 == $1 + 1) f[$2] += $11 }
        END { w = 0.54722 * 0.0103858 ^ 2 * 2500 * 9.81
              for (k = 0; k < n; k++) { e = f[k] / ((n - k) * w) - 1; if (e < 0) e = -e; if (e > m) m = e }
              printf "%.2g\n", m }' "$contacts")
    row "hanging: link k carries (n - k) m g, largest relative deviation" "< 0.01" "$load" "$(below "$load" 0.01)"
    worst=$(fig9_worst "$run" 0 0.58 0.7 0.8 0.9 1 1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8)
    row "lowered: no link separates; largest distance of a ball from its socket, m" "< 0.0034 (inner radius)" "$worst" "$(below "$worst" 0.0034)"
    row "deepest overlap of all frames, m" "reported" "$(fig9_deepest "$run")" ""
}

report_fig9b() {
    local run=$out/fig9b/runs/chain.run.h5 worst
    table_head "Figure 9b: chain, dropped" "The paper's chain snaps. What it takes: a distance that goes on when a joint is bent to its stop, two contact planes, kn from the speed of the impact (contact.speed), and a run that stops where a ball would get through (contact.deepest)."
    worst=$(fig9_worst "$run" 1 0.5 0.6 0.68 0.7 0.72 0.74 0.76 0.8 0.85 0.9 1 1.1 1.2 1.3)
    row "dropped from 0.2 m: no link separates; largest distance of a ball from its socket, m" "< 0.0034 (inner radius)" "$worst" "$(below "$worst" 0.0034)"
    row "deepest overlap of all frames, m" "reported" "$(fig9_deepest "$run")" ""
}
