# Figure 5: silos with octagons and #, several openings.

about_fig5() { echo "silo with octagons and #: clogging by the width of the opening"; }

fig5_diameter=0.02                # of the disc that has the hull's area
fig5_openings="3 5 7 9" # diameters; up to 5 octagons arched too (one seed)

# One run and its numbers: fig5_run WKT RADIUS COUNT MAPS SEED OPENING OUTPUT.csv
fig5_run() {
    local run=${7%.csv}.run.h5 half
    half=$(awk -v d=$fig5_diameter -v w="$6" 'BEGIN { printf "%.6g", d * w / 2 + 0.005 }') # the wall is 0.01 thick
    echo "map: $4"
    "$bin/simulate" data/scenes/figures/fig5.yaml --set "types.grain.shape=$PWD/$1" --set "types.grain.radius=$2" \
        --set "fill[0].count=$3" --set "seed=$5" --set "title=Silo, $(basename "${7%.csv}")" \
        --set "boundaries[1].polyline.points=[-0.12, 0.7, -0.12, 0.1, -$half, 0.01]" \
        --set "boundaries[2].polyline.points=[0.12, 0.7, 0.12, 0.1, $half, 0.01]" --maps "$4" -o "$run" --threads 1 || return
    "$bin/simstat" "$run" --csv --overlap off --time drain >"$7.before" || return
    "$bin/simstat" "$run" --csv --overlap off >"$7.after" || return
    # What is left of the grains, and whether it still moves (above 1e-2 m g R a grain).
    { echo "left,kinetic" && echo "$(awk -v a="$(csv_value "$7.after" grains)" -v b="$(csv_value "$7.before" grains)" 'BEGIN { print a / b }'),$(csv_value "$7.after" kinetic_per_mgr)"; } >"$7.all" || return
    mv "$7.all" "$7"
    rm -f "$7.before" "$7.after"
}

plan_fig5() {
    local name radius seed opening count=120 cost=15 csv list
    if [ "$scale" = full ]; then count=180; fi
    for name in octagon hash; do
        add_map $name shapes/$name.wkt
        radius=$(hull_radius shapes/$name.wkt $fig5_diameter)
        list=()
        for opening in $fig5_openings; do
            for seed in $(seq "$seeds"); do
                csv=$out/fig5/runs/$name.$scale.$opening.$seed.csv
                if [ "$seed" = 1 ]; then list+=("$csv"); fi
                add run $cost "fig5 $name, opening $opening, seed $seed" "$csv" "data/scenes/figures/fig5.yaml shapes/$name.wkt $maps" \
                    fig5_run shapes/$name.wkt "$radius" $count "$maps" "$seed" "$opening" "$csv"
            done
        done
        add draw 3 "fig5 $name, picture" "$out/fig5/$name.$scale.png" "${list[*]}" "$bin/simview" "${list[@]/%.csv/.run.h5}" \
            -o "$out/fig5/$name.$scale.png" --forces --width 1000 --quiet
    done
}

# Seeds in which more than a tenth of the grains is left and does not fall: fig5_clogged NAME OPENING
fig5_clogged() {
    local seed
    for seed in $(seq "$seeds"); do
        echo "$(csv_value "$out/fig5/runs/$1.$scale.$2.$seed.csv" left) $(csv_value "$out/fig5/runs/$1.$scale.$2.$seed.csv" kinetic)"
    done | awk '{ if ($1 > 0.1 && $2 < 0.05) n++ } END { print n + 0 }'
}

report_fig5() {
    local opening o h found='' last
    table_head "Figure 5: silo ($scale, $seeds seeds)" "Hull diameters alike; walls are polylines. Clogged: more than a tenth of the grains is left 3 s after the plug, and rests."
    for opening in $fig5_openings; do
        o=$(fig5_clogged octagon "$opening") h=$(fig5_clogged hash "$opening") last="octagons $o, # $h of $seeds"
        row "opening $opening diameters: clogged" "for information" "$last" "-"
        if [ $((10 * h)) -ge $((9 * seeds)) ] && [ $((10 * o)) -le "$seeds" ]; then found+="${found:+, }$opening"; fi
    done
    row "there is an opening where # clogs in >= 90 % of the seeds and octagons in <= 10 %" "one" "${found:-none of these}" \
        "$([ -n "$found" ] && echo holds || echo "does not hold")"
    row "both drain at the widest" "0 clogged" "$last" "$([ "$o$h" = 00 ] && echo holds || echo "does not hold")"
}
