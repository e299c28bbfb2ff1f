# Figure 7: columns of arcs of 25, 50, 75 and 100 % of a circle.

about_fig7() { echo "packing of arcs of 25, 50, 75 and 100 % of a circle: heights and nesting index"; }

# Share of a circle, circumradius of the arc of a circle of radius 1 (shapes/README.md).
fig7_arcs="25:0.71504 50:1.15358 75:1.20702 100:1.0"
fig7_circle=0.01 fig7_width=0.2

# One run and its numbers: fig7_run SHARE RADIUS COUNT MAPS SEED OUTPUT.csv
fig7_run() {
    local run=${6%.csv}.run.h5 shape=shapes/arc$1.wkt
    echo "map: $4"
    "$bin/simulate" data/scenes/figures/fig7.yaml --set "types.arc.shape=$PWD/$shape" --set "types.arc.radius=$2" \
        --set "fill[0].count=$3" --set "seed=$5" --set "title=Arcs of $1 %" --maps "$4" -o "$run" --threads 1 || return
    "$bin/simstat" "$run" --csv --poses "$run.poses.csv" >"$6.part" || return
    # The column's height without its ragged top: twice the mean height of the centres.
    awk -F, -v part="$6.part" 'NR > 1 { s += $4; n++ }
        END { while ((getline line < part) > 0) print line "," (k++ ? 2 * s / n : "column") }' "$run.poses.csv" >"$6.all" || return
    mv "$6.all" "$6"
    rm -f "$6.part" "$run.poses.csv"
}

plan_fig7() {
    local arc share radius seed count=150 cost=15 last shown=()
    fig7_seeds=$((seeds > 3 ? 3 : seeds))
    if [ "$scale" = full ]; then count=1500 cost=1500; fi
    for arc in $fig7_arcs; do
        share=${arc%:*} radius=$(awk -v r="${arc#*:}" -v c=$fig7_circle 'BEGIN { print r * c }')
        add_map "arc$share" "shapes/arc$share.wkt"
        for seed in $(seq $fig7_seeds); do
            last=$out/fig7/runs/arc$share.$scale.$seed.csv
            if [ "$seed" = 1 ]; then shown+=("$last"); fi
            add run $cost "fig7 arcs of $share %, seed $seed" "$last" "data/scenes/figures/fig7.yaml shapes/arc$share.wkt $maps" \
                fig7_run "$share" "$radius" $count "$maps" "$seed" "$last"
        done
    done
    add draw 3 "fig7, picture" "$out/fig7/fig7.$scale.png" "${shown[*]}" "$bin/simview" "${shown[@]/%.csv/.run.h5}" \
        -o "$out/fig7/fig7.$scale.png" --width 1000 --quiet
}

# Mean and standard error: fig7_mean SHARE QUANTITY
fig7_mean() {
    local seed
    for seed in $(seq $fig7_seeds); do csv_value "$out/fig7/runs/arc$1.$scale.$seed.csv" "$2"; done | statistics | cut -d' ' -f2,3
}

# Nesting index (W H/n) 0.82/hull area of a circle's segment: 1 for discs at random, below where arcs nest. fig7_nesting SHARE
fig7_nesting() {
    local column grains
    column=$(fig7_mean "$1" column | cut -d' ' -f1) grains=$(fig7_mean "$1" grains | cut -d' ' -f1)
    awk -v f="$1" -v h="$column" -v n="$grains" -v w=$fig7_width -v r=$fig7_circle 'BEGIN { p = 2 * 3.14159265358979 * f / 100
        printf "%.3g\n", w * h / n * 0.82 / (r * r / 2 * (p - sin(p))) }'
}

report_fig7() {
    local share text='' a b verdict=holds n
    table_head "Figure 7: packing of arcs ($scale, $fig7_seeds seeds)" "Equal circles, equal numbers, one box; height: twice the mean height of the centres. Means and standard errors."
    for share in 25 50 75 100; do text+="${text:+, }$share %: $(fig7_mean $share column | sed 's/ / +- /')"; done
    a=$(fig7_mean 25 column | cut -d' ' -f1) b=$(fig7_mean 50 column | cut -d' ' -f1)
    if [ "$(awk -v a="$a" -v b="$b" 'BEGIN { print a <= b }')" = 0 ]; then verdict="does not hold"; fi
    n=$(for share in 50 75 100; do fig7_mean $share column; done | rising)
    if [ "$verdict" = holds ]; then verdict=$n; fi
    row "heights, m: 25 % <= 50 % < 75 % < 100 %" "rising" "$text" "$verdict"
    n=$(fig7_nesting 100)
    row "nesting index of full circles" "0.92 .. 1.05" "$n" "$(within "$n" 0.985 0.065)"
    n=$(fig7_nesting 75)
    row "nesting index of 75 %" "0.95 .. 1.15" "$n" "$(within "$n" 1.05 0.1)"
    n=$(fig7_nesting 50)
    row "nesting index of 50 %" "< 0.9" "$n" "$(below "$n" 0.9)"
    row "true overlap, largest, R: 25, 50, 75, 100 %" "far below half the thickness" \
        "$(for share in 25 50 75 100; do fig7_mean $share overlap_max | cut -d' ' -f1; done | paste -sd ' ')" "for information"
}
