# Figure 9: a chain of ball-and-socket links hangs, then it is lowered on the floor.

about_fig9() { echo "chain of ball-and-socket links: loads while it hangs, lowered on the floor"; }

fig9_links=10 fig9_hang=0.58

plan_fig9() {
    local run=$out/fig9/runs/chain.run.h5
    add run 60 "fig9 chain" "$run" "data/scenes/figures/fig9.yaml shapes/link.wkt" \
        "$bin/simulate" data/scenes/figures/fig9.yaml -o "$run" --threads 1
    add draw 3 "fig9 picture" "$out/fig9/fig9.png" "$run" "$bin/simview" "$run" -o "$out/fig9/fig9.png" --time hang,lower,lower+0.4,lower+60 \
        --width 900 --quiet
    add draw 3 "fig9 player" "$out/fig9/fig9.html" "$run" "$bin/simview" "$run" -o "$out/fig9/fig9.html" --quiet
}

# Largest distance of a ball's centre from the centre of the socket around it, m, at a time; links are rows 0 .. 9 from above, the
# hook is the row behind them: fig9_gap TIME
fig9_gap() {
    local poses=$out/fig9/runs/poses.csv
    "$bin/simstat" "$out/fig9/runs/chain.run.h5" --time "$1" --overlap off --poses "$poses" >/dev/null
    awk -F, -v n=$fig9_links 'NR > 1 { x[$1] = $3; y[$1] = $4; a[$1] = $5 }
        END { for (k = 0; k < n; k++) { j = k ? k - 1 : n # the ball of j is in the socket of k
                dx = x[j] + .0047827 * cos(a[j]) - x[k] + .0067173 * cos(a[k]); dy = y[j] + .0047827 * sin(a[j]) - y[k] + .0067173 * sin(a[k])
                d = sqrt(dx * dx + dy * dy); if (d > m) m = d }
              printf "%.3g\n", m }' "$poses"
}

report_fig9() {
    local contacts=$out/fig9/runs/contacts.csv load worst=0 t gap
    table_head "Figure 9: chain" "Ten links, exact narrow phase. Loads: vertical forces on the socket of each link, by the weight below it."
    "$bin/simstat" "$out/fig9/runs/chain.run.h5" --time $fig9_hang --overlap off --contacts "$contacts" >/dev/null
    # A link weighs area x radius^2 x density x g; rows are a,b,...,force_y on b. Link 0 hangs on the hook (row 10), which is the b of their pair.
    load=$(awk -F, -v n=$fig9_links 'NR > 1 { if ($2 == n && $1 == 0) f[0] -= $11; else if ($2 == $1 + 1) f[$2] += $11 }
        END { w = 0.54722 * 0.0103858 ^ 2 * 2500 * 9.81
              for (k = 0; k < n; k++) { e = f[k] / ((n - k) * w) - 1; if (e < 0) e = -e; if (e > m) m = e }
              printf "%.2g\n", m }' "$contacts")
    row "hanging: link k carries (n - k) m g, largest relative deviation" "< 0.01" "$load" "$(below "$load" 0.01)"
    for t in 0.7 0.8 0.9 1 1.1 1.2 1.3 1.4 1.5 1.6; do
        gap=$(fig9_gap $t)
        worst=$(awk -v a="$worst" -v b="$gap" 'BEGIN { print (a > b ? a : b) }')
    done
    row "lowered: no link separates; largest distance of a ball from its socket, m" "< 0.0034 (inner radius)" "$worst" "$(below "$worst" 0.0034)"
    echo
    echo "Not examined further; a pair has one contact with one normal, and where a joint is bent to its stop, the ball in its socket and the stem at the lip are two."
}
