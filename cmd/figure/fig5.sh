# Figure 5: silos with octagons and #, several openings, walls of polylines and of grains.

about_fig5() { echo "silo with octagons and #: clogging by the width of the opening, outflow"; }

fig5_diameter=0.02         # m, of the disc that has the hull's area
fig5_openings="5 6 7 8 9"  # diameters
fig5_built=6               # of the silo that is built of grains, too
fig5_seeds=4 fig5_built_seeds=2

# For an opening (diameters): where the funnel ends below, half the opening and half a wall from the middle; where it begins above, so
# that it is 58 degrees steep whatever the opening.
fig5_lip() { awk -v d=$fig5_diameter -v w="$1" 'BEGIN { x = d * w / 2 + 0.0029592; printf "%.6g %.6g\n", x, 0.01 + 1.6 * (0.12 - x) }'; }

# The scene with bars for walls, on standard output: fig5_built_scene WKT RADIUS OPENING
fig5_built_scene() {
    local lip top
    read -r lip top < <(fig5_lip "$3")
    awk -v root="$PWD" -v wkt="$1" -v radius="$2" -v lip="$lip" -v top="$top" '
        # Bars of 35.5 mm from one point to another, end to end or overlapping a little.
        function wall(name, x0, y0, x1, y1,   n, k, l, t) {
            l = sqrt((x1 - x0) ^ 2 + (y1 - y0) ^ 2); n = int(l / 0.0355) + 1
            for (k = 0; k < n; k++) { t = (0.01775 + (l - 0.0355) * (n > 1 ? k / (n - 1) : 0.5)) / l
                printf "  - {name: %s%d, grain: {type: bar, position: [%.6f, %.6f], angle: %.6f}}\n", name, k + 1,
                    x0 + t * (x1 - x0), y0 + t * (y1 - y0), atan2(y1 - y0, x1 - x0) } }
        /^ *grain:/ { printf "  grain: {shape: %s/%s, radius: %s, density: 2500}\n  bar: {shape: %s/shapes/bar.wkt, radius: 0.018, density: 2500}\n", root, wkt, radius, root; next }
        /name: left/ { wall("left", -0.12, 1.5, -0.12, top); wall("left_funnel", -0.12, top, -lip, 0.01); next }
        /name: right/ { wall("right", 0.12, 1.5, 0.12, top); wall("right_funnel", 0.12, top, lip, 0.01); next }
        { print }' data/scenes/figures/fig5.yaml
}

# One run and its numbers: fig5_run SCENE WKT RADIUS COUNT MAPS SEED OPENING OUTPUT.csv
fig5_run() {
    local run=${8%.csv}.run.h5 lip top walls=()
    read -r lip top < <(fig5_lip "$7")
    if [ "$1" = data/scenes/figures/fig5.yaml ]; then
        walls=(--set "boundaries[1].polyline.points=[-0.12, 1.5, -0.12, $top, -$lip, 0.01]"
            --set "boundaries[2].polyline.points=[0.12, 1.5, 0.12, $top, $lip, 0.01]")
    fi
    echo "map: $5"
    "$bin/simulate" "$1" --set "types.grain.shape=$PWD/$2" --set "types.grain.radius=$3" --set "fill[0].count=$4" --set "seed=$6" \
        --set "title=\"$(shape_title "$(basename "$2" .wkt)"), opening $7 diameters, seed $6\"" "${walls[@]}" --maps "$5" -o "$run" --threads 1 || return
    fig5_measure "$8"
}

# The numbers of a run: fig5_measure OUTPUT.csv
fig5_measure() {
    local run=${1%.csv}.run.h5
    "$bin/simstat" "$run" --csv --overlap off --time drain >"$1.before" || return
    "$bin/simstat" "$run" --csv --series "$1.series" >"$1.after" || return
    # Share that is left, whether it still moves (kinetic energy in m g R a grain), true overlap at the end (of none: none), and the
    # outflow, grains a second, while the second fifth to the fourth leaves.
    awk -F, -v all="$(csv_value "$1.before" grains)" -v kinetic="$(csv_value "$1.after" kinetic_per_mgr)" -v deep="$(csv_value "$1.after" overlap_p99)" '
        NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "time") t = i; if ($i == "out_drained") c = i }; next }
        { left = 1 - $c / all; if (left > 0.8) a = $t; if (left > 0.2) b = $t }
        END { print "left,kinetic,overlap_p99,outflow"
            flow = left < 0.2 && b > a ? 0.6 * all / (b - a) : "nan"
            printf "%.6g,%s,%s,%s\n", left, kinetic, deep, flow }' "$1.series" >"$1.all" || return
    mv "$1.all" "$1"
    rm -f "$1.before" "$1.after" "$1.series"
}

# Runs of one shape and kind of wall: fig5_runs NAME SCENE MAPS OPENING KIND SEEDS; kind: polyline or built
fig5_runs() {
    local seed csv count=240 cost=12
    if [ "$scale" = full ]; then count=800 cost=60; fi
    for seed in $(seq "$6"); do
        csv=$out/fig5/runs/$1.$5.$scale.$4.$seed.csv
        if [ "$seed" = 1 ] && [ "$5" = polyline ]; then list+=("$csv"); fi
        add run $cost "fig5 $1, $5, opening $4, seed $seed" "$csv" "data/scenes/figures/fig5.yaml shapes/$1.wkt $3" \
            fig5_run "$2" "shapes/$1.wkt" "$radius" $count "$3" "$seed" "$4" "$csv"
    done
}

plan_fig5() {
    local name radius opening list scene
    if [ "$scale" = full ] || [ "$seeds" -lt $fig5_seeds ]; then fig5_seeds=$seeds; fi
    fig5_built_seeds=$((seeds < fig5_built_seeds ? seeds : fig5_built_seeds))
    for name in octagon hash; do
        add_map $name shapes/$name.wkt
        radius=$(hull_radius shapes/$name.wkt $fig5_diameter)
        list=()
        for opening in $fig5_openings; do
            fig5_runs $name data/scenes/figures/fig5.yaml "$maps" "$opening" polyline "$fig5_seeds"
        done
        scene=$out/fig5/runs/$name.built.yaml
        fig5_built_scene shapes/$name.wkt "$radius" $fig5_built >"$scene"
        add_maps "${name}_bar" 3 "shapes/$name.wkt shapes/bar.wkt $scene" "$scene"
        fig5_runs $name "$scene" "$maps" $fig5_built built "$fig5_built_seeds"
        # .4 s after the plug: what flows and what does not.
        add draw 3 "fig5 $name, picture" "$out/fig5/$name.$scale.png" "${list[*]}" "$bin/simview" "${list[@]/%.csv/.run.h5}" \
            -o "$out/fig5/$name.$scale.png" --forces --region=-0.14,-0.1,0.14,0.6 --time drain+0.4 --width 1600 --quiet
    done
    list=()
    for opening in $fig5_built ${fig5_openings##* }; do
        for name in octagon hash; do list+=("$out/fig5/runs/$name.polyline.$scale.$opening.1.csv"); done
    done
    add draw 3 "fig5, picture" "$out/fig5/fig5.$scale.png" "${list[*]}" "$bin/simview" "${list[@]/%.csv/.run.h5}" \
        -o "$out/fig5/fig5.$scale.png" --region=-0.14,-0.1,0.14,0.42 --time drain+0.4 --width 700 --quiet
}

# Values of a quantity over the seeds: fig5_values NAME KIND OPENING SEEDS QUANTITY
fig5_values() {
    local seed
    for seed in $(seq "$4"); do csv_value "$out/fig5/runs/$1.$2.$scale.$3.$seed.csv" "$5"; done
}

# Seeds in which more than a tenth of the grains is left and rests: fig5_clogged NAME KIND OPENING SEEDS
fig5_clogged() {
    paste <(fig5_values "$1" "$2" "$3" "$4" left) <(fig5_values "$1" "$2" "$3" "$4" kinetic) | awk '{ if ($1 > 0.1 && $2 < 0.01) n++ } END { print n + 0 }'
}

# Exponent of outflow ~ (D - k d)^n of the octagons, k = 1.4, and its standard error, over the openings where all seeds drain.
fig5_exponent() {
    local opening
    for opening in $fig5_openings; do
        fig5_values octagon polyline "$opening" "$fig5_seeds" outflow | awk -v w="$opening" '$1 == "nan" { bad = 1 } { v[NR] = $1 } END { if (!bad) for (i = 1; i <= NR; i++) print w, v[i] }'
    done | awk '{ x = log($1 - 1.4); y = log($2); n++; sx += x; sy += y; sxx += x * x; sxy += x * y; syy += y * y; w[$1] = 1 }
        END { k = 0; for (i in w) k++
            if (k < 2 || n < 3) { print "nan nan " k + 0; exit }
            d = sxx - sx * sx / n; b = (sxy - sx * sy / n) / d; r = syy - sy * sy / n - b * b * d
            printf "%.4f %.4f %d\n", b, sqrt((r > 0 ? r : 0) / (n - 2) / d), k }'
}

report_fig5() {
    local opening o h found='' last exponent error n
    table_head "Figure 5: silo ($scale, $fig5_seeds seeds)" "Silo 12 diameters wide, funnel of 58 degrees, mu = 0.4, hull diameters alike. Clogged: more than a tenth of the grains is left 3 s after the plug, and rests."
    for opening in $fig5_openings; do
        o=$(fig5_clogged octagon polyline "$opening" "$fig5_seeds") h=$(fig5_clogged hash polyline "$opening" "$fig5_seeds") last="octagons $o, # $h of $fig5_seeds"
        row "opening $opening diameters: clogged" "for information" "$last; left: $(fig5_values octagon polyline "$opening" "$fig5_seeds" left | statistics | awk '{ printf "%.2f", $2 }'), $(
            fig5_values hash polyline "$opening" "$fig5_seeds" left | statistics | awk '{ printf "%.2f", $2 }')" "-"
        if [ $((10 * h)) -ge $((9 * fig5_seeds)) ] && [ $((10 * o)) -le "$fig5_seeds" ]; then found+="${found:+, }$opening"; fi
    done
    row "there is an opening where # clogs in >= 90 % of the seeds and octagons in <= 10 %" "one" "${found:-none of these}" \
        "$([ -n "$found" ] && echo holds || echo "does not hold")"
    row "both drain at the widest" "0 clogged" "$last" "$([ "$o$h" = 00 ] && echo holds || echo "does not hold")"
    o=$(fig5_clogged octagon built $fig5_built "$fig5_built_seeds") h=$(fig5_clogged hash built $fig5_built "$fig5_built_seeds")
    row "walls of grains, opening $fig5_built: # clogs where octagons drain" "0 and $fig5_built_seeds of $fig5_built_seeds" "octagons $o, # $h of $fig5_built_seeds" \
        "$([ "$o" = 0 ] && [ "$h" = "$fig5_built_seeds" ] && echo holds || echo "does not hold")"
    read -r exponent error n < <(fig5_exponent)
    row "outflow of octagons as (D - 1.4 d)^n over $n openings: n" "1.5, within two standard errors" "$(echo "$exponent $error" | plus_minus)" \
        "$(within "$exponent" 1.5 "$(awk -v e="$error" 'BEGIN { print 2 * e }')")"
    row "outflow of octagons, grains a second, by opening" "for information" "$(for opening in $fig5_openings; do
        echo "$opening: $(fig5_values octagon polyline "$opening" "$fig5_seeds" outflow | statistics | cut -d' ' -f2,3 | plus_minus)"; done | paste -sd ';' | sed 's/;/; /g')" "-"
    row "true overlap of what is left, 99 %, largest of the runs, R" "< 0.03" "$(for opening in $fig5_openings; do for n in octagon hash; do
        fig5_values $n polyline "$opening" "$fig5_seeds" overlap_p99; done; done | sort -g | tail -n 1 | rounded)" "-"
}
