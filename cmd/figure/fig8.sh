# Figure 8: a box of U, D, O and N is tipped over a bowl.

about_fig8() { echo "cereal: U, D, O and N tipped from a box into a bowl of boundary grains"; }

# The bowl's middle line: a half circle about (0, fig8_y).
fig8_y=0.258 fig8_r=0.253

# The run, what is measured at its end, and how often a grain has gone through the bowl: fig8_run COUNT MAPS OUTPUT.csv
fig8_run() {
    local run=${3%.csv}.run.h5 t end
    echo "map: $2"
    "$bin/simulate" data/scenes/figures/fig8.yaml --set "fill[0].count=$1" --maps "$2" -o "$run" --threads 1 || return
    "$bin/simstat" "$run" --csv --poses "$3.poses" >"$3.part" || return
    # Where all are at the end: in the bowl, or on the table (beside it or under its curve, the centre less than 5 cm up).
    awk -F, -v y=$fig8_y -v r=$fig8_r -v part="$3.part" 'NR > 1 && $2 != "bar" {
            if ($3 ^ 2 + ($4 - y) ^ 2 < r * r && $4 < y || $4 >= y && $4 < y + 0.15 && $3 > -r && $3 < r) bowl++; else if ($4 < 0.05) table++; else other++ }
        END { while ((getline line < part) > 0) print line "," (k++ ? bowl + 0 "," table + 0 "," other + 0 : "bowl,table,elsewhere") }' "$3.poses" >"$3.all" || return
    # Through the bowl: inside in one look and outside in the next, or the other way round, 5 cm or more below the rim. A grain that
    # goes over the rim in between would have to fall or climb as far in .04 s.
    end=$("$bin/simstat" "$run" --csv --overlap off | awk -F, 'NR == 2 { print $4 }') || return
    for t in $(seq 1.5 0.04 "$end"); do
        "$bin/simstat" "$run" --time "$t" --overlap off --poses "$3.poses" >"$3.part" || return
        cat "$3.poses"
    done | awk -F, -v y=$fig8_y -v r=$fig8_r '$1 == "id" || $2 == "bar" { next } {
            low = $4 < y - 0.05; inside = low && $3 ^ 2 + ($4 - y) ^ 2 < r * r
            if (low && $1 in was && was[$1] != inside) through++
            if (low) was[$1] = inside; else delete was[$1] }
        END { print through + 0 }' >"$3.through" || return
    awk -v k="$(cat "$3.through")" '{ print $0 "," (NR == 1 ? "through" : k) }' "$3.all" >"$3"
    rm -f "$3.part" "$3.all" "$3.poses" "$3.through"
}

plan_fig8() {
    local count=180 cost=60 csv=$out/fig8/runs/cereal.$scale.csv run=$out/fig8/runs/cereal.$scale.run.h5
    add_scene_map cereal data/scenes/figures/fig8.yaml 15
    add run $cost "fig8 cereal" "$csv" "data/scenes/figures/fig8.yaml data/scenes/figures/fig8_box.csv $maps" fig8_run $count "$maps" "$csv"
    add draw 5 "fig8, picture" "$out/fig8/fig8.$scale.png" "$csv" "$bin/simview" "$run" -o "$out/fig8/fig8.$scale.png" \
        --time tip,tip+1.4,tip+2,come_to_rest+60 --width 1200 --quiet
    add_moving fig8 "$run" "$csv" fig8."$scale"
}

report_fig8() {
    local csv=$out/fig8/runs/cereal.$scale.csv grains bowl table elsewhere through found
    table_head "Figure 8: cereal ($scale)" "U, D, O and N of equal hull area, mu = 0.4; box, bowl and sizes are ours."
    grains=$(csv_value "$csv" grains) bowl=$(csv_value "$csv" bowl) table=$(csv_value "$csv" table) elsewhere=$(csv_value "$csv" elsewhere)
    row "all grains end in the bowl or on the table" "none elsewhere" "$bowl in the bowl, $table on the table, $elsewhere elsewhere, of $grains" "$(within "$elsewhere" 0 0)"
    through=$(csv_value "$csv" through)
    row "none goes through the bowl" 0 "$through" "$(within "$through" 0 0)"
    found=$(csv_value "$csv" overlap_max | rounded)
    row "none inside another or the bowl: largest true overlap at the end, R" "< 0.17, the thinnest half-width" "$found" "$(below "$found" 0.17)"
    found=$(csv_value "$csv" overlap_p99 | rounded)
    row "true overlap, 99 %, R" "< 0.03" "$found" "$(below "$found" 0.03)"
}
