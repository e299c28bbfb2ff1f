# Figure 1: nine shapes in a drum that turns, built of a tenth.

about_fig1() { echo "rotating drum with nine shapes: 55 maps, surface angle, who ends where"; }

fig1_from=11 # s: frames from here to the end of the run, every half second, are the steady ones
fig1_half=0.14 # m: the surface is looked at between -.14 and .14, where the drum's radius is .28

# The run and what is measured of it: fig1_run COUNT MAPS OUTPUT.csv; beside it OUTPUT.poses.csv with the steady frames' poses
fig1_run() {
    local run=${3%.csv}.run.h5 end t
    echo "map: $2"
    "$bin/simulate" data/scenes/figures/fig1.yaml --set "pour[0].count=$1" --set "pour[0].rate=$(($1 / 2))" --maps "$2" -o "$run" --threads 1 || return
    end=$("$bin/simstat" "$run" --csv --overlap off | awk -F, 'NR == 2 { print int($4) }') || return
    { echo "time,grains,overlap_p99,overlap_max" && for t in $(seq $fig1_from 0.5 "$end"); do
        "$bin/simstat" "$run" --time "$t" --csv --poses "$3.poses.$t" >"$3.frame" || return
        echo "$t,$(csv_value "$3.frame" grains),$(csv_value "$3.frame" overlap_p99),$(csv_value "$3.frame" overlap_max)"
    done; } >"$3.part" || return
    cat "$3".poses.* | awk 'NR == 1 || !/^id/' >"${3%.csv}.poses.csv"
    rm -f "$3".poses.* "$3.frame"
    mv "$3.part" "$3"
}

plan_fig1() {
    local count=300 cost=100 csv=$out/fig1/runs/drum.$scale.csv run=$out/fig1/runs/drum.$scale.run.h5
    add_scene_map drum data/scenes/figures/fig1.yaml 55
    add run $cost "fig1 drum" "$csv" "data/scenes/figures/fig1.yaml $maps" fig1_run $count "$maps" "$csv"
    add draw 5 "fig1, picture" "$out/fig1/fig1.$scale.png" "$csv" "$bin/simview" "$run" -o "$out/fig1/fig1.$scale.png" \
        --time fill+0.4,fill+1.5,turn+2,turn+18 --width 1100 --quiet
    add_moving fig1 "$run" "$csv" fig1."$scale"
}

# Of a column of the runs' table: mean and standard deviation. fig1_column NAME
fig1_column() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } $c != "nan" { n++; s += $c; q += $c * $c }
        END { m = s / n; printf "%.4g %.2g %d\n", m, sqrt((q - n * m * m) / (n - 1)), n }' "$out/fig1/runs/drum.$scale.csv"
}

report_fig1() {
    local maps mean spread n worst
    table_head "Figure 1: drum ($scale)" "Nine shapes of equal hull area, wall of 54 bars; mu = 0.4, .6 rad/s. The choice of shapes, sizes and speed is ours."
    maps=$out/.steps/maps+drum.$scale.maps.h5.log
    read -r n mean worst spread < <(awk '$1 ~ /-/ && $2 ~ /x/ { n++; if ($11 > t) t = $11; if ($10 > b) b = $10; if ($3 > e) e = $3 } END { print n, t, b, e }' "$maps")
    row "pairs of ten types" "55, nets of 3x32" "$n" "$(within "$n" 55 0)"
    row "training of a pair, longest, core seconds" "< 25" "$mean" "$(below "$mean" 25)"
    row "map of a pair, largest, bytes" "< 20,000" "$worst" "$(below "$worst" 20000)"
    row "mean error of d, worst pair, R" "for information" "$spread" "-"
    read -r n mean spread worst < <(fig1_angles | awk '{ a[NR] = $1; s += $1; q += $1 * $1 }
        END { h = int(NR / 2); for (i = 1; i <= NR; i++) if (i <= h) f += a[i] / h; else l += a[i] / (NR - h)
            printf "%d %.1f %.1f %.1f\n", NR, s / NR, sqrt((q - s * s / NR) / (NR - 1)), l - f }')
    row "steady surface angle, degrees: $n frames from $fig1_from s on, abs(x) < $fig1_half m" "no trend beyond the scatter" \
        "$mean, standard deviation $spread; second half less first half: $worst" "$(within "$worst" 0 "$spread")"
    read -r mean spread n < <(fig1_column grains)
    row "grains in the drum" "all, always" "$mean" "$(within "$spread" 0 0)"
    read -r mean spread n < <(fig1_column overlap_p99)
    row "true overlap with each other and the drum, 99 %, R" "< 0.03" "$mean" "$(below "$mean" 0.03)"
    read -r mean spread n < <(fig1_column overlap_max)
    row "largest overlap, mean over the frames, R" "for information" "$mean" "-"
    echo
    echo "Who ends where: mean distance of the centres from the bed's centre of mass, by that of all grains, steady frames (below 1: inside; 1: mixed), +- standard error over the grains."
    echo
    fig1_places
}

# Angle of the surface in each steady frame, degrees, positive when it falls to the right: least squares through the highest centres in
# columns of 2 cm. (simstat's fit begins at 90 % of the height, which a grain in flight can take anywhere.)
fig1_angles() {
    awk -F, -v half=$fig1_half '
        function line(  k, n, x, y, sx, sy, sxx, sxy) {
            for (k in top) { x = k * 0.02; y = top[k]; n++; sx += x; sy += y; sxx += x * x; sxy += x * y }
            if (n > 2) printf "%.4f\n", -atan2(n * sxy - sx * sy, n * sxx - sx * sx) * 57.29578
            delete top }
        NR == 1 || $2 == "bar" { next }
        $1 < last { line() } # ids rise within a frame
        { last = $1; k = int(($3 + half) / 0.02); if ($3 > -half && $3 < half && (!(k in top) || $4 > top[k])) top[k] = $4 }
        END { line() }' "$out/fig1/runs/drum.$scale.poses.csv"
}

# Of each shape: number, mean relative distance from the centre of mass of all grains.
fig1_places() {
    echo "| shape | grains | relative distance |"
    echo "|---|---|---|"
    awk -F, 'NR == 1 { next }
        NR > 2 && $1 < last { frame++ } # ids rise within a frame
        { last = $1; if ($2 != "bar") { k = ++n; id[k] = $1; type[k] = $2; x[k] = $3; y[k] = $4; of[k] = frame; sx[frame] += $3; sy[frame] += $4; count[frame]++ } }
        END {
            for (k = 1; k <= n; k++) { f = of[k]; r[k] = sqrt((x[k] - sx[f] / count[f]) ^ 2 + (y[k] - sy[f] / count[f]) ^ 2); all += r[k] }
            for (k = 1; k <= n; k++) { g = type[k] "," id[k]; sum[g] += r[k] / (all / n); times[g]++ }
            for (g in sum) { split(g, p, ","); m = sum[g] / times[g]; c[p[1]]++; s[p[1]] += m; q[p[1]] += m * m }
            for (t in c) printf "| %s | %d | %.3f +- %.3f |\n", t, c[t], s[t] / c[t], sqrt((q[t] - s[t] * s[t] / c[t]) / (c[t] - 1) / c[t])
        }' "$out/fig1/runs/drum.$scale.poses.csv" | sort -t'|' -k4
}
