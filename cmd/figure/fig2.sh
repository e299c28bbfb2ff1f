# Figure 2: two contacts of one pair. A corner (A) and a triangle (B) that touches its wall and its floor with two corners; both
# shapes are ours, chosen so that everything can be worked out by hand:
#   contact with the wall:  normal (1, 0), point (-.6, -.3) from B's centroid, d_theta = .3
#   contact with the floor: normal (0, 1), point (.5, -.6), d_theta = .5
# In the space of configurations the free side of the tie is a corner between two planes. d is the smaller distance there; where
# both contacts overlap, the way out is the shortest translation, to the corner's edge. Of the six poses of the smoothing (plus and
# minus along x, y and the turn) three have the wall's gradient, two the floor's, and the one turned back overlaps in both by .3 and .5
# parts of the turn: its gradient is (.3, .5)/|(.3, .5)|, its d_theta |(.3, .5)|. The mean of the six:
#   gradient (3 + .5145, 2 + .8575)/6 = (.5858, .4763), 39.1 degrees from the first normal; d_theta (3 x .3 + 2 x .5 + .5831)/6 = .4138
# The paper's rule for the limit (Appendix B): the direction (1, 1)/sqrt 2, and of rotations of one sign the smallest, .3.

about_fig2() { echo "two contacts of one pair: slice of the configuration space, normals, smoothed gradient"; }

# The corner's centroid is (fig2_c, fig2_c), its circumradius fig2_r (union of two rectangles); the triangle's centroid is its origin.
fig2_c=0.34545454545454546
fig2_r=1.814723985
fig2_ratio=0.4989951758

plan_fig2() {
    add draw 20 "fig2 slice" "$out/fig2/fig2.svg" "data/scenes/figures/corner.wkt data/scenes/figures/wedge.wkt" fig2_draw
    add draw 2 "fig2 gradients" "$out/fig2/runs/gradients.csv" "data/scenes/figures/corner.wkt data/scenes/figures/wedge.wkt" fig2_ask
}

# Poses as drawn (theta,x,y of B's centroid) on standard input; theta,x,y,d,d_theta,gx,gy as drawn on standard output.
fig2_query() {
    "$bin/sdfgen" data/scenes/figures/corner.wkt data/scenes/figures/wedge.wkt -o "$out/fig2/runs" --quiet >/dev/null || return
    awk -F, -v c=$fig2_c -v r=$fig2_r 'NR == 1 { print; next } { printf "%s,%.12g,%.12g\n", $1, ($2 - c) / r, ($3 - c) / r }' |
        "$bin/mapquery" --numeric "$out/fig2/runs/corner.sdf.h5" "$out/fig2/runs/wedge.sdf.h5" --exact --ratio $fig2_ratio |
        awk -F, -v c=$fig2_c -v r=$fig2_r 'NR > 1 { printf "%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", $1, $2 * r + c, $3 * r + c, $4 * r, $5 * r, $6, $7 }'
}

# The tie, then the six poses of the smoothing (sigma .01, equal lengths along x, y and the turned circumradius).
fig2_ask() {
    awk -v w=0.0173205 -v r=$fig2_r 'BEGIN { print "theta,x,y"; print "0,0.6,0.6"
        for (s = -1; s <= 1; s += 2) printf "0,%.9g,0.6\n0,0.6,%.9g\n%.9g,0.6,0.6\n", 0.6 + s * w, 0.6 + s * w, s * w / r }' |
        fig2_query >"$out/fig2/runs/gradients.csv"
}

# Left: the pair; right: the slice theta = 0 of d over the place of B's centroid, contours every .2, obstacle grey.
fig2_draw() {
    awk 'BEGIN { print "theta,x,y"; for (j = 0; j <= 80; j++) for (i = 0; i <= 80; i++) printf "0,%.6g,%.6g\n", -1 + i * .05, -1 + j * .05 }' |
        fig2_query | awk -F, '
        function sx(x) { return 520 + (x + 1) * 110 }
        function sy(y) { return 470 - (y + 1) * 110 }
        function px(x) { return 60 + (x + .6) * 150 }
        function py(y) { return 450 - (y + .6) * 150 }
        function arrow(x0, y0, x1, y1, colour, text) {
            a = atan2(y1 - y0, x1 - x0)
            printf "<path d=\"M%.1f %.1fL%.1f %.1fM%.1f %.1fL%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"2.5\" fill=\"none\"/>\n", x0, y0, x1, y1,
                x1 - 9 * cos(a - .4), y1 - 9 * sin(a - .4), x1, y1, x1 - 9 * cos(a + .4), y1 - 9 * sin(a + .4), colour
            # A white edge, painted first, keeps the letters off what they lie on.
            printf "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\" stroke=\"#ffffff\" stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\">%s</text>\n",
                x1 + 6, y1 - 6, colour, text
        }
        function cut(i0, j0, i1, j1) { # where the level is on an edge of the grid
            a = d[i0 + 81 * j0] - level; b = d[i1 + 81 * j1] - level
            if ((a < 0) == (b < 0)) return
            t = a / (a - b); n++
            cx[n] = sx(-1 + .05 * (i0 + t * (i1 - i0))); cy[n] = sy(-1 + .05 * (j0 + t * (j1 - j0)))
        }
        { d[NR - 1] = $4 }
        END {
            print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1000\" height=\"520\" viewBox=\"0 0 1000 520\" font-family=\"sans-serif\" font-size=\"15\">"
            print "<rect width=\"1000\" height=\"520\" fill=\"#ffffff\"/>"
            printf "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fZ\" fill=\"#d9dadd\" stroke=\"#464a52\"/>\n",
                px(-.4), py(-.4), px(2), py(-.4), px(2), py(0), px(0), py(0), px(0), py(2), px(-.4), py(2)
            printf "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fZ\" fill=\"#80b9d9\" stroke=\"#003f62\"/>\n", px(0), py(.3), px(1.1), py(0), px(.7), py(1.5)
            printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#003f62\"/>\n", px(.6), py(.6)
            arrow(px(0), py(.3), px(.5), py(.3), "#d55e00", "n1")
            arrow(px(1.1), py(0), px(1.1), py(.5), "#d55e00", "n2")
            arrow(px(.6), py(.6), px(.6 + .65 * .5858), py(.6 + .65 * .4763), "#96101f", "smoothed gradient")
            printf "<text x=\"%.1f\" y=\"20\">B touches A at two points</text>\n<text x=\"520\" y=\"20\">d over the centroid of B at theta = 0, lines every 0.2</text>\n", px(-.4)
            printf "<text x=\"%.1f\" y=\"%.1f\">A</text>\n<text x=\"%.1f\" y=\"%.1f\">B</text>\n", px(1.6), py(-.23), px(.64), py(.95)
            for (j = 0; j < 81; j++) for (i = 0; i < 81; i++) if (d[i + 81 * j] < 0) {
                for (k = i; k < 80 && d[k + 1 + 81 * j] < 0;) k++ # a run of cells in the obstacle
                printf "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.1f\" height=\"5.6\" fill=\"#d9dadd\" shape-rendering=\"crispEdges\"/>\n", sx(-1.025 + .05 * i), sy(-.975 + .05 * j), 5.5 * (k - i) + 5.6
                i = k
            }
            for (l = -2; l <= 5; l++) {
                level = l * .2; path = ""
                for (j = 0; j < 80; j++) for (i = 0; i < 80; i++) {
                    n = 0; cut(i, j, i + 1, j); cut(i + 1, j, i + 1, j + 1); cut(i + 1, j + 1, i, j + 1); cut(i, j + 1, i, j)
                    for (k = 1; k + 1 <= n; k += 2) path = path sprintf("M%.1f %.1fL%.1f %.1f", cx[k], cy[k], cx[k + 1], cy[k + 1])
                }
                printf "<path d=\"%s\" stroke=\"%s\" stroke-width=\"%s\" fill=\"none\"/>\n", path, l ? "#8f939c" : "#202228", l ? 1 : 2.5
            }
            printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#96101f\"/>\n", sx(.6), sy(.6)
            arrow(sx(.6), sy(.6), sx(1.1), sy(.6), "#d55e00", "n1")
            arrow(sx(.6), sy(.6), sx(.6), sy(1.1), "#d55e00", "n2")
            arrow(sx(.6), sy(.6), sx(.6 + .65 * .5858), sy(.6 + .65 * .4763), "#96101f", "smoothed")
            print "</svg>"
        }' >"$out/fig2/fig2.svg"
}

report_fig2() {
    local gx gy turn angle d
    table_head "Figure 2: two contacts of one pair" "Exact geometry, smoothing over six poses of sigma = 0.01; lengths as drawn. Shapes, place and the calculation by hand are ours (cmd/figure/fig2.sh)."
    d=$(head -n 1 "$out/fig2/runs/gradients.csv" | cut -d, -f4)
    row "both contacts touch: d" "0 +- 1e-6" "$d" "$(within "$d" 0 1e-6)"
    # The gradient of the mean is the mean of the gradients.
    read -r turn gx gy < <(awk -F, 'NR > 1 { t += $5 / 6; x += $6 / 6; y += $7 / 6 } END { printf "%.4g %.4g %.4g\n", t, x, y }' "$out/fig2/runs/gradients.csv")
    angle=$(awk -v x="$gx" -v y="$gy" 'BEGIN { printf "%.4g", atan2(y, x) * 57.29578 }')
    row "translation: the smoothed gradient is between the normals, degrees from the first" "> 0 and < 90 (Appendix B: 45)" "$angle" \
        "$(if [ "$(below 0 "$angle")" = holds ]; then below "$angle" 90; else echo "does not hold"; fi)"
    row "its components, by hand" "0.5858, 0.4763 +- 0.005" "$gx, $gy" \
        "$(if [ "$(within "$gx" 0.5858 0.005)" = holds ]; then within "$gy" 0.4763 0.005; else echo "does not hold"; fi)"
    row "rotation: smoothed d_theta, by hand" "0.4138 +- 0.004" "$turn" "$(within "$turn" 0.4138 0.004)"
    row "rotation: Appendix B's smallest magnitude, beside it" "0.3" \
        "$(awk -F, 'NR > 1 { a = $5 < 0 ? -$5 : $5; if (m == "" || a < m) m = a } END { printf "%.4g", m }' "$out/fig2/runs/gradients.csv")" \
        "another definition: smoothing gives a mean of all contacts"
}
