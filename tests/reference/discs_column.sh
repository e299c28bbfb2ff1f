#!/usr/bin/env bash
# Columns of discs that collapse, on trained maps and by the commands alone: what test_discs_columns.c does with contacts in closed form. The
# difference is the share of the maps, which resist rolling a little (libsim/README.md). Published: contact-dynamics runs of Staron and Hinch (J. Fluid
# Mech. 545, 2005; their profiles: Lagree, Staron and Popinet, J. Fluid Mech. 686, 2011): friction 0.5, restitution 0.5, diameters spread 1.5 : 1, walls
# taken away at once, base of fixed discs of the mean diameter, side by side. Half of the column is simulated: its middle is a wall without friction.
# Usage: discs_column.sh BUILD [ASPECT [SEEDS [HALF]]]: 0.5 or 1.42 (both), number of seeds (5), L0 in d (40).
. "$(dirname "$0")/discs.sh"
aspects=${2:-"0.5 1.42"} seeds=${3:-5}
half=${4:-40}

# scene ASPECT SEED: heights in d that fill a column of this aspect ratio are known from the packing they settle in.
scene() {
    printf '%s' "$types"
    awk -v a="$1" -v seed="$2" -v L="$half" -v maps="$maps" 'BEGIN {
        d = .02
        packing = a < 1 ? .805 : .815 # of the whole column, rough surface, wall and base included
        area = 3.14159265 / 4 * d * d * (1 / 1.5 + 1 + 1.5) / 3
        reach = (a < 1 ? 2.7 : 5.7) * L # the fastest discs stop before, or fall off the end and are taken out
        print "contact:\n  default: {kn: " (a < 1 ? 1e6 : 2e6) ", restitution: 0.5, mu: 0.5}"
        print "  pairs: [{a: disc, b: middle, mu: 0}]"
        print "boundaries:"
        print "  - {name: middle, plane: {point: [0, 0], normal: [1, 0]}}"
        printf "  - {name: gate, plane: {point: [%g, 0], normal: [-1, 0]}}\n", L * d
        for (i = -1; i < reach; i++) printf "  - {name: base%d, grain: {type: base, position: [%.3f, -0.01]}}\n", i + 1, (i + .5) * d
        printf "fill: [{type: disc, count: %d, region: [0, 0, %g, %g]}]\n", packing * L * a * L * d * d / area, L * d, 2 + 4 * a * L * d
        print "outlets: [{name: end, line: {point: [0, -0.05], normal: [0, 1]}}]"
        print "phases:\n  - {name: settle, until: rest, timeout: 8}\n  - {name: collapse, remove: [gate], time: " (a < 1 ? 2 : 3.2) "}"
        print "maps: " maps "\noutput: {every: 0.05}\nseed: " seed
    }'
}

# profile POSES: surface in columns of 1.5 d from the middle on. Prints, in d: mean height of the innermost 10 d, height of the highest column, end of
# the columns without a gap, end of the last column, and the area under the surface.
profile() {
    awk -F, 'BEGIN { d = .02; w = 1.5 * d; split(".0081649658092772 .01 .012247448713915891", radius, " ") }
        $2 ~ /^disc/ {
            r = radius[substr($2, length($2))]
            for (i = int(($3 - r) / w + 9) - 9; i * w < $3 + r; i++) {
                off = $3 < i * w ? i * w - $3 : $3 > (i + 1) * w ? $3 - (i + 1) * w : 0
                if (i < 0 || off >= r) continue
                y = $4 + sqrt(r * r - off * off)
                if (!(i in top) || y > top[i]) top[i] = y
                if (i > last) last = i
            }
        }
        END {
            for (end = 0; end in top; end++);
            for (i = 0; i <= last; i++) {
                if (i * w < 10 * d) { n++; middle += top[i] }
                if (top[i] > highest) highest = top[i]
                area += top[i] * w
            }
            printf "%.4g %.4g %.4g %.4g %.5g\n", middle / n / d, highest / d, end * 1.5, (last + 1) * 1.5, area / d / d
        }' "$1"
}

train
for a in $aspects; do
    for seed in $(seq "$seeds"); do
        scene "$a" "$seed" >scene.yaml
        "$bin/simulate" scene.yaml -o run.h5 --threads 1 --quiet >/dev/null || exit 1
        start=$("$bin/simstat" run.h5 --time collapse --overlap off --poses start.csv >/dev/null && profile start.csv)
        "$bin/simstat" run.h5 --overlap off --poses end.csv >/dev/null || exit 1
        echo "$start $(profile end.csv) $(value run.h5 repose_angle) $(value run.h5 kinetic_per_mgr) $(last run.h5 gone)"
    done | tee "seeds$a" | awk -v L="$half" -v a="$a" '{
        printf "a = %s, seed %d: H0 %.1f d, plateau %.1f, highest %.1f, front %.1f, outermost %.1f d, flank %.2f degrees; kinetic energy %.1g m g R, %g discs lost\n",
            a, NR, $1, $6, $7, $8, $9, $11, $12, $13
        fflush() }'
    awk -v L="$half" '{ print $1 / L, $7 / L, $8 / L - 1, $9 / L - 1, $11 }' "seeds$a" >"numbers$a"
    set -- $(for c in 1 2 3 4 5; do mean "numbers$a" $c; done)
    echo "a = $a, $seeds seeds, mean and standard deviation: H0/L0 $1 $2, H_f/L0 $3 $4, run-out $5 $6 (outermost $7 $8), flank $9 ${10} degrees"
    expected="0.93 0.50 14.8" tolerances="0.112 0.04 1.18"
    [ "$a" = 0.5 ] || expected="3.5 0.75 10.0" tolerances="0.42 0.06 0.8"
    read -r run_out height flank <<<"$expected"
    read -r t_run_out t_height t_flank <<<"$tolerances"
    row "column of discs, a = $a: H0/L0 as built" "$a" "$1" 0.02
    row "column of discs, a = $a: run-out (L_f - L0)/L0" "$run_out" "$5" "$t_run_out"
    row "column of discs, a = $a: height H_f/L0" "$height" "$3" "$t_height"
    row "column of discs, a = $a: flank, degrees" "$flank" "$9" "$t_flank"
done
finish
