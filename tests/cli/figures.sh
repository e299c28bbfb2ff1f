#!/bin/bash
# cmd/figures: usage, the two figures that take seconds with every verdict, that nothing current is made again and what is not is,
# a step that fails, and the arithmetic of its tables. $1: folder of the commands; $2: folder of the project.
source=$(cd "$2" && pwd)
. "$(dirname "$0")/common.sh"
out=$work
same() { [ "$2" = "$3" ] || fail "$1: found \"$2\", expected \"$3\""; }
figures() { "$source/cmd/figures" "$@" --bin "$bin" --out "$out" >"$out/said.txt" 2>&1; }

# Usage.
for arguments in "fig99" "--fast" "--seeds 0" "--seeds x" "--jobs" "--seeds"; do
    # shellcheck disable=SC2086 # several words
    "$source/cmd/figures" $arguments >"$out/said.txt" 2>&1
    same "cmd/figures $arguments" $? 2
done
"$source/cmd/figures" --list | grep -q '^fig4  column' || fail "--list"
"$source/cmd/figures" --help | grep -q -- '--quick' || fail "--help"

# A plan runs nothing.
figures fig2 fig3 --plan || fail "--plan"
grep -q '15 of 15 steps to do, about 48 s on one idle core' "$out/said.txt" || fail "--plan: $(tail -n 1 "$out/said.txt")"
same "steps of the plan" "$(grep -c '^  \(run\|draw\)  2* *[0-9]* s  fig[23] ' "$out/said.txt")" 15
[ -e "$out/fig2/table.md" ] && fail "--plan has run something"

# Two figures whose claims are closed forms: every verdict holds.
figures fig2 fig3 table1 || fail "fig2 fig3 table1: $(tail -n 3 "$out/said.txt")"
same "rows of table 1" "$(grep -c '^| fig3, [^|]* | [12] | [12] | [1-3] | 0.[0-9]* | [0-9.e-]* | [0-9.]* | [0-9.e-]* | [0-9.]* | [0-9.e-]* | exact |' "$out/table1/table.md")" 10
same "verdicts that do not hold" "$(grep -h 'does not hold' "$out"/fig?/table.md)" ""
same "verdicts of figure 3" "$(grep -c '| holds |' "$out/fig3/table.md")" 14
same "verdicts of figure 2" "$(grep -c '| holds |' "$out/fig2/table.md")" 4
for picture in fig2/fig2.svg fig3/incline.png fig3/triangle.png fig3/leaning.png; do
    [ -s "$out/$picture" ] || fail "no $picture"
done
# Nothing is made again; after a loss exactly what is lost and what depends on it.
figures fig2 fig3
grep -q ' 0 steps done .* 15 were current' "$out/said.txt" || fail "second call: $(grep steps "$out/said.txt")"
rm "$out/fig3/runs/incline.0.28.run.h5" "$out/fig2/fig2.svg"
figures fig2 fig3
grep -q ' 2 steps done .* 13 were current' "$out/said.txt" || fail "third call: $(grep steps "$out/said.txt")"
# A step that fails is named with its reason, and the exit status is 1.
rm "$out/fig3/leaning.png"
mkdir "$out/fig3/leaning.png"
figures fig3
same "a step that fails" $? 1
grep -q 'FAILED: fig3 leaning, picture: .*is a folder' "$out/said.txt" || fail "failed step: $(tail -n 2 "$out/said.txt")"

# Arithmetic.
. "$source/cmd/figure/common.sh"
same "statistics" "$(printf '1\n2\n3\nnan\n' | statistics)" "3 2 0.58"
same "statistics of one" "$(echo 7 | statistics)" "1 7 nan"
same "rising" "$(printf '1 0.1\n2 0.1\n3 0.1\n' | rising)" "holds"
same "rising within errors" "$(printf '1 0.5\n2 0.5\n' | rising)" "ordered, within two standard errors"
same "rising with one seed" "$(printf '1 nan\n2 nan\n' | rising)" "ordered, within two standard errors"
same "not rising" "$(printf '1 0.1\n3 0.1\n2 0.1\n' | rising)" "does not hold"
same "plus_minus" "$(printf '13.912 0.62\n0.0123 0.00056\n123.4 12\n5.25 nan\n3 0\n1.5 0.996\n' | plus_minus | paste -sd ';')" \
    "13.91 +- 0.62;0.01230 +- 0.00056;123 +- 12;5.25;3 +- 0;1.5 +- 1.0"
same "titles of shapes" "$(shape_title hash) $(shape_title s) $(shape_title comma)" "# S comma"
same "minutes" "$(minutes 59), $(minutes 61), $(minutes 7260)" "59 s, 1 min 1 s, 2 h 1 min"
same "within" "$(within 1.05 1 0.1)$(within 1.2 1 0.1)$(within nan 1 9)" "holdsdoes not holddoes not hold"
same "below" "$(below 1 2)$(below 2 1)$(below '' 1)" "holdsdoes not holddoes not hold"
. "$source/cmd/figure/continuum.sh"
# Two particles side by side on the area of a column of height .5; the third is of the base. On both sides of the middle: half each.
printf 'id,type,x,y,angle\n0,grain,0.05,0,0\n1,grain,0.15,0,0\n2,base,5,0,0\n' >"$out/one.csv"
printf 'id,type,x,y,angle\n0,sand,1.95,0,0\n1,sand,2.15,0,0\n' >"$out/two.csv"
same "profile" "$(continuum_profile "$out/one.csv" "$out/one.csv" 1 0.5 0 0.1 | paste -sd ';')" "0.05 2.50000;0.15 2.50000;0.25 0.00000"
same "profile of two sides" "$(continuum_profile "$out/two.csv" "$out/two.csv" 1 0.5 2 0.1 | paste -sd ';')" "0.05 2.50000;0.15 2.50000;0.25 0.00000"
same "front and height" "$(printf '0.05 0.5\n0.15 0.05\n0.25 0\n' | continuum_front)" "0.2 0.5"
mkdir -p "$out/maps"
# An octagon in the unit circle has the area 2 sqrt 2; a hollow ring has the hull of its outer circle.
same "hull of an octagon" "$(cd "$source" && hull_radius shapes/octagon.wkt 2 | cut -c1-7)" "1.05390"
same "hull of O" "$(cd "$source" && hull_radius shapes/o.wkt 2 | cut -c1-6)" "1.0003"

finish
