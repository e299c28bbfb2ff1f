# Figure 4: columns of O, U, N and # collapse.

about_fig4() { echo "column collapse of O, U, N and #: slope, run-out and the front of the deposit by shape"; }

fig4_quick=0.03 fig4_full=0.0096 # m, diameter of the disc that has the hull's area

fig4_shapes() { grep -v '^#' data/scenes/figures/fig4.shapes; }

# One run and its numbers: fig4_run WKT RADIUS COUNT MAPS SEED OUTPUT.csv
fig4_run() {
    local run=${6%.csv}.run.h5 front count hull
    echo "map: $4"
    "$bin/simulate" data/scenes/figures/fig4.yaml --set "types.grain.shape=$PWD/$1" --set "types.grain.radius=$2" \
        --set "fill[0].count=$3" --set "seed=$5" \
        --set "title=\"$(shape_title "$(basename "$1" .wkt)"), seed $5\"" --maps "$4" -o "$run" \
        --threads 1 || return
    "$bin/simstat" "$run" --csv --poses "$6.poses" >"$6.part" || return
    # The front third of the deposit, from two thirds of front_99 on: its share of the grains, and the part of its lowest hull diameter
    # that is solid. The slope of the triangle with the deposit's centre of mass: it does not depend on where a surface is fitted.
    front=$(csv_value "$6.part" front_99)
    count=$("$bin/simstat" "$run" --csv --overlap off --region "$(awk -v f="$front" 'BEGIN { printf "%.6g,-1,%.6g,10", f * 2 / 3, f + 100 }')" |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "grains") c = i } NR == 2 { print $c }') || return
    hull=$([ "$scale" = full ] && echo $fig4_full || echo $fig4_quick)
    "$bin/simstat" "$run" --csv --overlap off --region "$(awk -v f="$front" -v h="$hull" 'BEGIN { printf "%.6g,0,%.6g,%.6g", f * 2 / 3, f, h }')" >"$6.front" || return
    awk -v k="$count" -v solid="$(csv_value "$6.front" packing_fraction)" -v poses="$6.poses" -F, '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "grains") c = i; print $0 ",front_third,front_solid,mass_slope" }
        NR == 2 { line = $0; n = $c; getline < poses; while ((getline < poses) > 0) { x += $3; y += $4 }; print line "," k / n "," solid "," atan2(y, x) * 57.29578 }' \
        "$6.part" >"$6.all" || return
    # Height of the column before it collapses.
    "$bin/simstat" "$run" --csv --overlap off --time collapse >"$6.part" || return
    awk -v h="$(csv_value "$6.part" height_99)" '{ print $0 "," (NR == 1 ? "height_before" : h) }' "$6.all" >"$6"
    rm -f "$6.part" "$6.all" "$6.front" "$6.poses"
}

plan_fig4() {
    local name file radius seed diameter=$fig4_quick count=420 cost=20 list firsts=()
    if [ "$scale" = full ]; then diameter=$fig4_full count=4100 cost=3000; fi
    while read -r name file; do
        add_map "$name" "$file"
        radius=$(hull_radius "$file" $diameter)
        list=()
        for seed in $(seq "$seeds"); do
            list+=("$out/fig4/runs/$name.$scale.$seed.csv")
            add run $cost "fig4 $name, seed $seed" "$out/fig4/runs/$name.$scale.$seed.csv" \
                "data/scenes/figures/fig4.yaml $file" fig4_run "$file" "$radius" $count "$maps" "$seed" "$out/fig4/runs/$name.$scale.$seed.csv"
        done
        firsts+=("${list[0]%.csv}.run.h5")
        add draw 3 "fig4 $name, picture" "$out/fig4/$name.$scale.png" "${list[0]}" "$bin/simview" "${list[0]%.csv}.run.h5" \
            -o "$out/fig4/$name.$scale.png" --time collapse,collapse+0.3,collapse+60 --width 900 --quiet
        add draw 5 "fig4 $name, player" "$out/fig4/$name.$scale.html" "${list[0]}" "$bin/simview" "${list[0]%.csv}.run.h5" \
            -o "$out/fig4/$name.$scale.html" --quiet
    done < <(fig4_shapes)
    add draw 5 "fig4, deposits" "$out/fig4/fig4.$scale.png" "${firsts[*]}" "$bin/simview" "${firsts[@]}" -o "$out/fig4/fig4.$scale.png" \
        --time collapse+60 --width 1200 --quiet
}

# Mean and standard error of a quantity of a shape over the seeds: fig4_mean NAME QUANTITY
fig4_mean() {
    local seed
    for seed in $(seq "$seeds"); do csv_value "$out/fig4/runs/$1.$scale.$seed.csv" "$2"; done | statistics | cut -d' ' -f2,3
}

# A quantity of the four shapes as a row; the order asked for is that of the shapes given: fig4_row CLAIM EXPECTED QUANTITY NAME...
fig4_row() {
    local claim=$1 expected=$2 quantity=$3 name text='' mean error
    shift 3
    for name; do
        read -r mean error < <(fig4_mean "$name" "$quantity")
        text+="${text:+, }$(shape_title "$name") $(echo "$mean $error" | plus_minus)"
    done
    row "$claim" "$expected" "$text" "$(for name; do fig4_mean "$name" "$quantity"; done | rising)"
}

report_fig4() {
    local name file a b text quantity
    table_head "Figure 4: column collapse ($scale, $seeds seeds)" \
        "mu = 0.4, box and height trimmed alike in hull diameters, means and standard errors over the seeds. Box, sizes and stiffness are ours. Slope: line through the surface (\`repose_angle\`)."
    fig4_row "slope of the deposit, degrees: O < U < N < #" "rising" repose_angle o u n hash
    fig4_row "the same by the triangle that has the deposit's centre of mass" "rising" mass_slope o u n hash
    fig4_row "run-out falls: # < N < U < O" "rising" run_out hash n u o
    for a in o u; do
        for b in n hash; do fig4_row "share of the grains in the front third: $(shape_title $b) < $(shape_title $a)" "rising" front_third "$b" "$a"; done
    done
    for a in o u; do
        for b in n hash; do fig4_row "solid part of the lowest hull diameter of the front third: $(shape_title $b) < $(shape_title $a)" "rising" front_solid "$b" "$a"; done
    done
    echo
    echo "| shape | grains | height before, m | slope, degrees | by centre of mass | run-out | front third | solid there | true overlap, 99 %, R | largest, R |"
    echo "|---|---|---|---|---|---|---|---|---|---|"
    while read -r name file; do
        text="$(shape_title "$name") ($file) | $(fig4_mean "$name" grains | awk '{ printf "%.0f", $1 }')"
        for quantity in height_before repose_angle mass_slope run_out front_third front_solid; do text+=" | $(fig4_mean "$name" $quantity | plus_minus)"; done
        for quantity in overlap_p99 overlap_max; do text+=" | $(fig4_mean "$name" $quantity | awk '{ printf "%.2g", $1 }')"; done
        echo "| $text |"
    done < <(fig4_shapes)
}
