# Grains against continuum: two-sided columns of discs and of sand beside published contact dynamics (Staron & Hinch 2005; Lagree, Staron
# & Popinet 2011). Then a bridge: the friction that grains show in one collapse is given to the sand, which predicts another one of theirs.
# a: height H0 over half width R0. Times in sqrt(H0/g), lengths in R0. The front is where the material, spread over its column of .1 R0,
# is R0/40 high.

about_continuum() { echo "columns of grains and of sand as a continuum, a = 0.5, 1.42, 6.26; friction measured on grains predicts another collapse"; }

continuum_shapes="disc octagon u hash"
continuum_runs=2
continuum_diameter=0.02                   # m, of the disc that has the hull's area
continuum_rise="--set material.friction_rise=0.28 --set material.grain_size=0.025" # of discs of R0/40, as in the published continuum
continuum_trial="0.2 0.3 0.4 0.55 0.75 1" # M of the sand that says which M gives which run-out at a = 0.5

# Half width of a column in diameters: continuum_half SHAPE ASPECT
continuum_half() {
    case $scale.$1.$2 in
    full.*.0.5) echo 40 ;;
    quick.disc.0.5) echo 30 ;;
    full.*.1.42) echo 46 ;;
    full.*.6.26) echo 24 ;;
    quick.disc.1.42) echo 20 ;;
    quick.disc.6.26) echo 10 ;;
    quick.*.0.5) echo 20 ;;
    quick.*.1.42) echo 12 ;;
    esac
}

# Seeds of a column: the tall one is run once.
continuum_seeds() { if [ "$1" = 6.26 ]; then echo 1; else seq "$continuum_runs"; fi; }

# Seconds a run takes.
continuum_cost() {
    case $scale.$1.$2 in
    full.*) echo 2000 ;;
    quick.disc.0.5) echo 25 ;;
    quick.disc.1.42) echo 45 ;;
    quick.disc.6.26) echo 72 ;;
    *) echo 6 ;;
    esac
}

# ------------------------------------------------------------------------------------------------ runs

# The outline of a disc: 480 corners. The 96 of shapes/disc.wkt would hold it when it rolls.
continuum_disc() {
    awk 'BEGIN { printf "POLYGON (("
        for (k = 0; k <= 480; k++) printf "%s%.12f %.12f", k ? ", " : "", cos((k % 480) * 3.14159265358979 / 240), sin((k % 480) * 3.14159265358979 / 240)
        print "))" }'
}

# Scene of a column of grains, on standard output: continuum_grains_scene SHAPE WKT RADIUS ASPECT
# Discs have diameters 1.5 : 1 in three steps.
continuum_grains_scene() {
    awk -v shape="$1" -v wkt="$(realpath "$2")" -v radius="$3" -v a="$4" -v half="$(continuum_half "$1" "$4")" -v d=$continuum_diameter '
        BEGIN { L = half * d; H = a * L; reach = a < 1 ? 2.7 : a < 2 ? 5.7 : 16 }
        /^title:/ { printf "title: \"Column of %s, H0 = %s R0\"\n", shape == "disc" ? "discs" : shape == "hash" ? "#" : shape, a; next }
        /^  (grain|base):/ { spread = sprintf("radii: [%.10g, %.10g], sizes: 3", radius / sqrt(1.5), radius * sqrt(1.5))
            printf "  %s {shape: \"%s\", %s, density: 2500}\n", $1, wkt, ($1 == "grain:" && shape == "disc") ? spread : "radius: " radius; next }
        /kn: auto/ { sub(/auto/, sprintf("%.3g", 1.4e6 * H)) } # .03 R under the weight of the column
        /name: gate/ { printf "  - {name: gate, plane: {point: [%.6g, 0], normal: [-1, 0]}}\n", L; next }
        /name: base/ { for (i = -1; i < reach * half; i++) printf "  - {name: base%d, grain: {type: base, position: [%.6g, %.6g], angle: %.4f}}\n", i + 1, (i + 0.5) * d, -d / 2, i * 2.4 % 6.2832; next }
        /type: grain, count/ { printf "  - {type: grain, count: %d, region: [0, 0, %.6g, %.6g]}\n", 1.1 * H * L / (3.14159265 / 4 * d * d), L, 4 * H + 10 * d; next }
        /name: trimmed/ { printf "  - {name: trimmed, line: {point: [0, %.6g], normal: [0, -1]}}\n", H - d / 4; next }
        /name: collapse/ { printf "  - {name: collapse, stop: [trimmed], remove: [gate], time: %.6g}\n", 8 * sqrt(H / 9.81); next }
        /^output:/ { printf "output: {every: %.6g}\n", 0.02 * sqrt(H / 9.81); next }
        { print }' data/scenes/figures/continuum_grains.yaml
}

# Height of the material at the middle of columns .1 R0 wide, as lines "x height" in R0, from the poses of a frame; the material keeps its
# area, H0 R0 on each side. continuum_profile START FRAME R0 ASPECT MIDDLE WIDTH: poses at the start and of the frame, x of the middle,
# width over which a particle's share is spread (m). Discs count by their area. What lies left of the middle is turned to the right.
continuum_profile() {
    awk -F, -v R="$3" -v a="$4" -v middle="$5" -v width="$6" '
        function weight(type) { return type ~ /~1$/ ? 1 / 1.5 : type ~ /~3$/ ? 1.5 : 1 }
        FNR == 1 { files++; next }
        $2 == "base" { next }
        files == 1 { all += weight($2); if ($3 < middle) left = 1; next }
        {
            x = $3 - middle; if (left && x < 0) x = -x
            low = (x - width / 2) / R / 0.1; high = (x + width / 2) / R / 0.1
            for (i = int(low + 100) - 100; i < high; i++)
                area[i < 0 ? -1 - i : i] += weight($2) * ((i + 1 < high ? i + 1 : high) - (i > low ? i : low)) / (high - low)
            if (high > last) last = high
        }
        END { for (i = 0; i < last + 1; i++) printf "%.2f %.5f\n", (i + 0.5) * 0.1, area[i] / all * a / 0.1 }' "$1" "$2"
}

# Front and greatest height of a profile on standard input.
continuum_front() {
    awk '{ x[NR] = $1; h[NR] = $2; if ($2 > top) top = $2 }
        END { for (i = 1; i <= NR && h[i] >= 0.025; i++);
            print (i == 1 ? 0 : i > NR ? x[NR] : x[i - 1] + (x[i] - x[i - 1]) * (h[i - 1] - 0.025) / (h[i - 1] - h[i])), top }'
}

# What is measured of a run: continuum_measure RUN OUTPUT.csv R0 ASPECT MIDDLE WIDTH; profiles in OUTPUT.1.52 and OUTPUT.8
continuum_measure() {
    local unit time top=() front=() height tick
    unit=$(awk -v R="$3" -v a="$4" 'BEGIN { print sqrt(a * R / 9.81) }')
    # The top lies half a grain, or half a cell of sand, above the highest particle.
    for time in 0 0.3 0.5 0.7 1.52 8; do
        tick=collapse+$(awk -v t=$time -v u="$unit" 'BEGIN { print t * u }')
        "$bin/simstat" "$1" --time "$tick" --csv --overlap off --poses "$2.poses.$time" >"$2.frame" || return
        top+=("$(awk -F, -v R="$3" -v width="$6" 'NR > 1 && $2 != "base" && $4 > y { y = $4 } END { print (y + width / 2) / R }' "$2.poses.$time")")
        if [ $time = 1.52 ] || [ $time = 8 ]; then
            continuum_profile "$2.poses.0" "$2.poses.$time" "$3" "$4" "$5" "$6" >"$2.$time" || return
            read -r tick height < <(continuum_front <"$2.$time")
            front+=("$tick")
        fi
    done
    "$bin/simstat" "$1" --overlap off --series "$2.series" --csv >/dev/null || return
    {
        echo "grains,top03,top05,top07,front152,run_out,height,speed_max,kinetic"
        echo "$(grep -c '^[0-9]*,[^b]' "$2.poses.0"),${top[1]},${top[2]},${top[3]},${front[0]},$(awk -v f="${front[1]}" 'BEGIN { print f - 1 }'),$height,$(
            awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { if ($i == "speed_max") s = i; if ($i == "kinetic_energy") k = i } }
                END { print (s ? $s : "nan") "," $k }' "$2.series")"
    } >"$2.part"
    rm -f "$2".poses.* "$2.frame" "$2.series"
    mv "$2.part" "$2"
}

# Grains: continuum_grains_run SCENE MAPS SHAPE ASPECT SEED OUTPUT.csv
continuum_grains_run() {
    local run=${6%.csv}.run.h5
    echo "map: $2"
    "$bin/simulate" "$1" --maps "$2" --set "seed=$5" -o "$run" --threads 1 || return
    continuum_measure "$run" "$6" "$(awk -v h="$(continuum_half "$3" "$4")" -v d=$continuum_diameter 'BEGIN { print h * d }')" "$4" 0 $continuum_diameter
}

# Sand: continuum_sand_run ASPECT CELLS M OUTPUT.csv [--set...]; R0 = 1 m, so many cells over it. M "paper": the paper's mode with the
# angle whose flowing stress has M = 0.32.
continuum_sand_run() {
    local run=${4%.csv}.run.h5 scene=data/scenes/figures/continuum.yaml half sets aspect=$1 cells=$2 output=$4
    local law=(--set "material.friction=$3")
    if [ "$3" = paper ]; then
        scene=$run.yaml law=()
        sed 's/^  friction: 0.32.*/  mode: paper\n  friction_angle: 0.2643/' data/scenes/figures/continuum.yaml >"$scene"
    fi
    shift 4
    half=$(awk -v a="$aspect" 'BEGIN { print a < 1 ? 4 : a < 2 ? 8 : 22 }')
    mapfile -t sets < <(awk -v a="$aspect" -v n="$cells" -v half="$half" 'BEGIN {
        rows = int(a * n + 0.5)
        printf "grid.cell=%.10g\ngrid.region=[0, 0, %g, %.10g]\n", 1 / n, 2 * half, int(1.05 * rows + 1) / n
        printf "fill[0].box=[%g, 0, %g, %.10g]\nphases[0].time=%.6g\noutput.every=%.6g\n", half - 1, half + 1, rows / n, 8 * sqrt(a / 9.81), 0.02 * sqrt(a / 9.81) }')
    "$bin/simulate" "$scene" "${sets[@]/#/--set=}" --set "title=\"Column of sand, H0 = $aspect R0\"" "${law[@]}" "$@" \
        -o "$run" --threads 1 || return
    continuum_measure "$run" "$output" 1 "$aspect" "$half" "$(awk -v n="$cells" 'BEGIN { print 1 / n }')"
}

# Friction of a shape by the run-outs of its columns at a = 0.5: "effective M [<|>]", the first H0/(Lf - L0), the second the M of the sand
# that runs out as far: linear between the trials; beyond them the nearest trial, and on which side of it M lies. continuum_friction SHAPE
continuum_friction() {
    local m
    {
        for m in $continuum_trial; do echo "$m $(csv_value "$out/continuum/runs/trial.$m.csv" run_out)"; done
        echo "grains $(continuum_mean "$1" 0.5 run_out | cut -d' ' -f1)"
    } | awk '$1 == "grains" {
            found = $2 > r[1] ? m[1] : m[n]
            beyond = $2 > r[1] ? " <" : $2 < r[n] ? " >" : ""
            for (i = 2; i <= n; i++) if ((r[i - 1] - $2) * (r[i] - $2) <= 0) { found = m[i - 1] + (m[i] - m[i - 1]) * (r[i - 1] - $2) / (r[i - 1] - r[i]); break }
            printf "%.3f %.3f%s\n", 0.5 / $2, found, beyond }
        { m[++n] = $1; r[n] = $2 }'
}

# The sand's collapse at a = 1.42 with the friction measured on a shape: continuum_predict SHAPE 1|2 OUTPUT.csv; 1: effective friction,
# 2: the M that fits
continuum_predict() {
    local m
    m=$(continuum_friction "$1" | cut -d' ' -f"$2")
    continuum_sand_run 1.42 30 "$m" "$3"
}

# ------------------------------------------------------------------------------------------------ plan

continuum_csv() { echo "$out/continuum/runs/$1.csv"; }

plan_continuum() {
    local shape a seed m csv scene radius wkt all=() first=() kind
    local effort=(--samples 200000 --epochs 16)
    if [ "$seeds" -lt $continuum_runs ]; then continuum_runs=$seeds; fi
    # Grains. Maps of discs are held to be round by the weight of the gradient's error.
    continuum_disc >"$out/continuum/disc.wkt"
    for shape in $continuum_shapes; do
        wkt=shapes/$shape.wkt
        if [ "$shape" = disc ]; then
            wkt=$out/continuum/disc.wkt radius=$(awk -v d=$continuum_diameter 'BEGIN { print d / 2 }')
            continuum_grains_scene disc "$wkt" "$radius" 0.5 >"$out/continuum/runs/disc.0.5.$scale.yaml"
            maps=$out/maps/discs.$scale.maps.h5
            add maps 60 "maps of discs: 3" "$maps" "$wkt" common_mkmaps "$out/continuum/runs/disc.0.5.$scale.yaml" -o "$maps" --labels exact \
                --recipe accurate "${effort[@]}" --gradient-weight 10 --quiet
        else
            add_map "$shape" "$wkt"
            radius=$(hull_radius "$wkt" $continuum_diameter)
        fi
        for a in 0.5 1.42 6.26; do
            if [ "$shape" != disc ] && [ $a = 6.26 ]; then continue; fi
            scene=$out/continuum/runs/$shape.$a.$scale.yaml
            continuum_grains_scene "$shape" "$wkt" "$radius" $a >"$scene"
            for seed in $(continuum_seeds $a); do
                csv=$(continuum_csv $shape.$a.$scale.$seed)
                add run "$(continuum_cost $shape $a)" "continuum, $shape, a = $a, seed $seed" "$csv" "$scene $maps data/scenes/figures/continuum_grains.yaml" \
                    continuum_grains_run "$scene" "$maps" $shape $a "$seed" "$csv"
                all+=("$csv")
            done
        done
    done
    # Sand: the law of discs, without and with the rise in fast flow; two sizes of the cells; the paper's mode; trials of M.
    for kind in '0.5 32' '0.5 64' '1.42 30' '6.26 12'; do
        for m in constant rising; do
            csv=$(continuum_csv "sand.${kind/ /.}.$m")
            add run 10 "continuum, sand, a = ${kind% *}, ${kind#* } cells over R0, friction $m" "$csv" data/scenes/figures/continuum.yaml \
                continuum_sand_run "${kind% *}" "${kind#* }" 0.32 "$csv" $([ $m = constant ] || echo $continuum_rise)
            all+=("$csv")
        done
    done
    csv=$(continuum_csv sand.0.5.128.rising)
    add run 60 "continuum, sand, a = 0.5, 128 cells over R0, friction rising" "$csv" data/scenes/figures/continuum.yaml \
        continuum_sand_run 0.5 128 0.32 "$csv" $continuum_rise
    all+=("$csv")
    csv=$(continuum_csv sand.0.5.32.paper)
    add run 2 "continuum, sand, a = 0.5, the paper's mode" "$csv" data/scenes/figures/continuum.yaml continuum_sand_run 0.5 32 paper "$csv"
    all+=("$csv")
    for m in $continuum_trial; do
        csv=$(continuum_csv "trial.$m")
        add run 2 "continuum, sand, a = 0.5, M = $m" "$csv" data/scenes/figures/continuum.yaml continuum_sand_run 0.5 32 "$m" "$csv"
        all+=("$csv")
    done
    # What stands on the runs.
    for shape in $continuum_shapes; do
        for kind in 1 2; do
            csv=$(continuum_csv "predicted.$shape.$scale.$kind")
            add draw 5 "continuum, prediction for $shape, $([ $kind = 1 ] && echo effective friction || echo fitted M)" "$csv" "${all[*]}" \
                continuum_predict $shape $kind "$csv"
            first+=("$csv")
        done
    done
    add draw 1 "continuum, picture of the columns" "$out/continuum/columns.$scale.svg" "${all[*]}" continuum_draw_columns "$out/continuum/columns.$scale.svg"
    add draw 1 "continuum, picture of the predictions" "$out/continuum/bridge.$scale.svg" "${all[*]} ${first[*]}" continuum_draw_bridge "$out/continuum/bridge.$scale.svg"
    for kind in "disc.1.42.$scale.1" sand.1.42.30.rising; do
        add draw 5 "continuum, player of $kind" "$out/continuum/$kind.html" "$(continuum_csv "$kind")" "$bin/simview" "$out/continuum/runs/$kind.run.h5" \
            -o "$out/continuum/$kind.html" --every 4 --quiet
    done
}

# ------------------------------------------------------------------------------------------------ pictures

# A picture of profiles, as SVG, from lines on standard input:
#     panel TITLE XMAX YMAX
#     mark X LABEL             a tick on the floor of the last panel
#     steps|line COLOUR DASH FILE LABEL   "x height" in FILE; DASH: an SVG dash pattern or none
# Words with spaces have _ instead.
continuum_svg() {
    awk '
        function text(s) { gsub(/_/, " ", s); return s }
        function px(x) { return sprintf("%.1f", left + x / xmax * width) }
        function py(y) { return sprintf("%.1f", bottom - y / ymax * high) }
        BEGIN { width = 760; high = 130; left = 60 }
        $1 == "panel" {
            bottom = 40 + panels * 200 + high; panels++; rows = 0; xmax = $3; ymax = $4
            body = body sprintf("<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>\n", left, bottom - high - 12, text($2))
            body = body sprintf("<path d=\"M%d %d V%d H%d\" fill=\"none\" stroke=\"#444\"/>\n", left, bottom - high, bottom, left + width)
            step = xmax > 8 ? 2 : xmax > 4 ? 1 : 0.5
            for (x = 0; x <= xmax + 1e-9; x += step) body = body sprintf("<path d=\"M%s %d v5\" stroke=\"#444\"/><text x=\"%s\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", px(x), bottom, px(x), bottom + 18, x)
            step = ymax > 1.6 ? 0.5 : ymax > 0.8 ? 0.25 : 0.2
            for (y = 0; y <= ymax + 1e-9; y += step) body = body sprintf("<path d=\"M%d %s h-5\" stroke=\"#444\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", left, py(y), left - 8, py(y) + 4, y)
            body = body sprintf("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">x/R0</text><text x=\"8\" y=\"%d\">y/R0</text>\n", left + width, bottom + 34, bottom - high - 12)
        }
        $1 == "mark" { body = body sprintf("<path d=\"M%s %d v-24\" stroke=\"#000\"/><path d=\"M%s %d l-4 -9 h8 z\"/><text x=\"%s\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", px($2), bottom, px($2), bottom, px($2), bottom - 29, text($3)) }
        $1 == "steps" || $1 == "line" {
            path = ""; n = 0
            while ((getline row < $4) > 0) { split(row, v, " "); if (v[1] > xmax) break
                if (v[2] <= 0 && n > 0 && !tail) { tail = 1 } else if (v[2] <= 0) continue
                if ($1 == "steps") path = path sprintf("%s%s %s H%s", n ? "V" : "M", n ? py(v[2]) : px(v[1] - 0.05), n ? "" : py(v[2]), px(v[1] + 0.05))
                else path = path sprintf("%s%s %s", n ? "L" : "M", px(v[1]), py(v[2]))
                n++ }
            close($4); tail = 0
            dash = $3 == "none" ? "" : sprintf(" stroke-dasharray=\"%s\"", $3)
            body = body sprintf("<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%s\"%s/>\n", path, $2, $1 == "steps" ? 1.6 : 2, dash)
            if ($5 != "-") { y = bottom - high + 4 + 17 * rows++
                body = body sprintf("<path d=\"M%d %d h28\" stroke=\"%s\" stroke-width=\"2\"%s/><text x=\"%d\" y=\"%d\">%s</text>\n", left + width - 330, y, $2, dash, left + width - 296, y + 4, text($5)) }
        }
        END { printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"860\" height=\"%d\" viewBox=\"0 0 860 %d\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n%s</svg>\n", 40 + 200 * panels, 40 + 200 * panels, body }' >"$1"
}

continuum_draw_columns() {
    local a cells published seed
    for a in 0.5 1.42 6.26; do
        case $a in 0.5) cells=64 published=1.93 && echo "panel a_=_0.5 3 0.6" ;; 1.42) cells=30 published=4.5 && echo "panel a_=_1.42 7 1.2" ;; *) cells=12 published=13.4 && echo "panel a_=_6.26 18 2" ;; esac
        echo "mark $published front,_published"
        for seed in $(continuum_seeds $a); do echo "steps #999 none $(continuum_csv disc.$a.$scale.$seed).8 $([ "$seed" = 1 ] && echo discs_at_rest || echo -)"; done
        if [ $a = 6.26 ]; then echo "steps #888 3,2 $(continuum_csv disc.$a.$scale.1).1.52 discs_at_t*_=_1.52"; fi
        echo "line #c33 7,4 $(continuum_csv sand.$a.$cells.constant).8 sand,_M_=_.32"
        echo "line #36c none $(continuum_csv sand.$a.$cells.rising).8 sand,_M(I)_=_.32_+_.28/(1_+_.4/I)"
        if [ $a = 6.26 ]; then echo "line #36c 3,2 $(continuum_csv sand.$a.$cells.rising).1.52 sand,_M(I),_at_t*_=_1.52"; fi
    done | continuum_svg "$1"
}

continuum_draw_bridge() {
    local shape seed m e beyond
    for shape in $continuum_shapes; do
        echo "panel $(shape_title $shape),_a_=_1.42 7 1.5"
        read -r e m beyond < <(continuum_friction $shape)
        for seed in $(continuum_seeds 1.42); do echo "steps #999 none $(continuum_csv $shape.1.42.$scale.$seed).8 $([ "$seed" = 1 ] && echo grains || echo -)"; done
        echo "line #c33 7,4 $(continuum_csv predicted.$shape.$scale.1).8 sand,_M_=_H0/(Lf_-_L0)_at_a_=_0.5:_$e"
        echo "line #36c none $(continuum_csv predicted.$shape.$scale.2).8 sand,_M_that_fits_a_=_0.5:_${beyond:+beyond_}$m"
    done | continuum_svg "$1"
}

# ------------------------------------------------------------------------------------------------ table

# Mean and standard error of a quantity of a shape over the seeds: continuum_mean SHAPE ASPECT QUANTITY
continuum_mean() {
    local seed
    for seed in $(continuum_seeds "$2"); do csv_value "$(continuum_csv "$1.$2.$scale.$seed")" "$3"; done | statistics | cut -d' ' -f2,3
}

# Integral of the difference of two profiles over H0 R0, at a = 1.42, mean over the seeds: continuum_distance SHAPE PROFILE
continuum_distance() {
    local seed
    for seed in $(continuum_seeds 1.42); do
        awk 'FNR == 1 { file++ } { h[file, FNR] = $2; if (FNR > n) n = FNR } END { for (i = 1; i <= n; i++) { d = h[1, i] - h[2, i]; s += d < 0 ? -d : d } print s * 0.1 / 1.42 }' \
            "$(continuum_csv "$1.1.42.$scale.$seed").8" "$2"
    done | statistics | cut -d' ' -f2,3
}

# Rows of one quantity: of discs, of sand with constant and with rising friction, each with its verdict.
# continuum_rows CLAIM EXPECTED ASPECT CELLS QUANTITY VALUE TOLERANCE
continuum_rows() {
    local mean error m v
    read -r mean error < <(continuum_mean disc "$3" "$5")
    row "$1: discs" "$2" "$(echo "$mean $error" | plus_minus)" "$(within "$mean" "$6" "$7")"
    for m in constant rising; do
        v=$(csv_value "$(continuum_csv "sand.$3.$4.$m")" "$5")
        row "$1: sand, friction $m" "$2" "$(echo "$v" | rounded)" "$(within "$v" "$6" "$7")"
    done
}

report_continuum() {
    local t fall m v w shape e k
    table_head "Grains against continuum ($scale, $continuum_runs seeds, a = 6.26 one)" \
        "Two-sided columns, published: contact dynamics of discs. Discs: mu = 0.5, e = 0.5, 1.5 : 1, on a row of fixed discs, R0 = $(continuum_half disc 0.5), $(continuum_half disc 1.42), $(continuum_half disc 6.26) diameters. Sand: M = 0.32, constant or with a rise of 0.28 in fast flow (I0 = 0.4, grains of R0/40); cells over R0: 64, 30, 12. Front: where the material is R0/40 high."
    for t in 3 5 7; do
        fall=$(awk -v t=0.$t 'BEGIN { print 6.26 * (1 - t * t / 2) }')
        continuum_rows "a = 6.26, top at t* = 0.$t, free fall" "$(echo "$fall" | rounded) +- 5 %" 6.26 12 top0$t "$fall" "$(awk -v f="$fall" 'BEGIN { print 0.05 * f }')"
    done
    continuum_rows "a = 0.5, run-out" "0.93 +- 20 %" 0.5 64 run_out 0.93 0.186
    continuum_rows "a = 0.5, height" "0.50 +- 5 %" 0.5 64 height 0.5 0.025
    continuum_rows "a = 1.42, run-out" "3.5 +- 25 %" 1.42 30 run_out 3.5 0.875
    continuum_rows "a = 1.42, height" "0.75 +- 25 %" 1.42 30 height 0.75 0.1875
    continuum_rows "a = 6.26, front at t* = 1.52" "6.1 +- 15 %" 6.26 12 front152 6.1 0.915
    continuum_rows "a = 6.26, run-out" "12.4, -20 to +40 %" 6.26 12 run_out 13.64 3.72
    for m in '32 64 constant' '32 64 rising' '64 128 rising'; do
        read -r v w m <<<"$m"
        t=$(paste <(csv_value "$(continuum_csv "sand.0.5.$v.$m")" run_out) <(csv_value "$(continuum_csv "sand.0.5.$w.$m")" run_out) |
            awk '{ d = $2 / $1 - 1; print 100 * (d < 0 ? -d : d) }')
        row "a = 0.5, change of the run-out from $v to $w cells, friction $m" "< 8 %" "$(echo "$t" | rounded) %" "$(below "$t" 8)"
    done
    for m in constant rising; do
        v=$(csv_value "$(continuum_csv sand.0.5.64.$m)" kinetic)
        t=$(awk -v k="$v" 'BEGIN { print k / (1500 * 9.81 * 0.5) }')
        row "a = 0.5, kinetic energy at t* = 8 over m g H0, friction $m" "< 5e-5" "$(echo "$t" | rounded)" "$(below "$t" 5e-5)"
        v=$(csv_value "$(continuum_csv sand.0.5.64.$m)" speed_max)
        t=$(awk -v v="$v" 'BEGIN { print v / sqrt(9.81 / 64) }')
        row "a = 0.5, fastest particle at t* = 8 over sqrt(g dx), friction $m" "< 0.01" "$(echo "$t" | rounded)" "$(below "$t" 0.01)"
    done
    v=$(csv_value "$(continuum_csv sand.0.5.32.paper)" run_out)
    row "a = 0.5, run-out in the paper's mode, flowing friction 0.32, 32 cells" "for information" "$(echo "$v" | rounded)" "-"
    echo
    echo "The friction that a shape shows at a = 0.5 is given to the sand, which predicts its collapse at a = 1.42. Distance: area between the profiles over H0 R0."
    echo
    echo "| shape | run-out at a = 0.5 | H0/(Lf - L0) | distance | M that fits | distance | run-out at a = 1.42: grains | predicted by the fit |"
    echo "|---|---|---|---|---|---|---|---|"
    for shape in $continuum_shapes; do
        read -r e m beyond < <(continuum_friction $shape)
        t=()
        for k in 1 2; do t+=("$(continuum_distance $shape "$(continuum_csv predicted.$shape.$scale.$k).8" | plus_minus)"); done
        echo "| $(shape_title $shape) | $(continuum_mean $shape 0.5 run_out | plus_minus) | $e | ${t[0]} | ${beyond:+$beyond }$m | ${t[1]} | $(continuum_mean $shape 1.42 run_out | plus_minus) | $(csv_value "$(continuum_csv predicted.$shape.$scale.2)" run_out | rounded) |"
    done
}
