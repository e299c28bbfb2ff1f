# Sourced by the tests of many discs (discs_*.sh): a folder to work in, maps of discs, lines of a report. $1: build folder.
set -u
build=$(cd "$1" && pwd)
bin=$build/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# Diameters from .01633 to .02449 m, 1.5 : 1, in three steps; the middle one, .02 m, is the unit of length d.
radii="[0.0081649658092772, 0.012247448713915891]"
types="types:
  disc: {shape: round.wkt, radii: $radii, sizes: 3, density: 2500}
  base: {shape: round.wkt, radius: 0.01, density: 2500}
"
# 480 corners: a polygon's corners hold it when it rolls. The 96 of shapes/disc.wkt resist with up to .05 R times the force, which steepens slopes.
awk 'BEGIN {
    printf "POLYGON (("
    for (k = 0; k <= 480; k++) printf "%s%.12f %.12f", k ? ", " : "", cos((k % 480) * 3.14159265358979 / 240), sin((k % 480) * 3.14159265358979 / 240)
    print "))"
}' >round.wkt

# row NAME EXPECTED FOUND TOLERANCE: a line of the report.
row() {
    printf '%-66s expected %-9s found %-9.4g tolerance %s\n' "$1" "$2" "$3" "$4"
    awk -v e="$2" -v f="$3" -v t="$4" 'BEGIN { exit !(f != "" && f != "nan" && f - e <= t && e - f <= t) }' || {
        echo "FAILED: $1"
        failures=$((failures + 1))
    }
}

# mean FILE COLUMN: mean and standard deviation of a column of numbers.
mean() { awk -v c="$2" '{ n++; s += $c; q += $c * $c } END { m = s / n; v = q / n - m * m; printf "%.6g %.2g\n", m, sqrt(v > 0 ? v : 0) }' "$1"; }

# value RUN NAME ARGS...: one number that simstat measures.
value() {
    local run=$1 name=$2
    shift 2
    "$bin/simstat" "$run" --csv --quiet --overlap off "$@" |
        awk -F, -v name="$name" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR == 2 { print $c }'
}

# last RUN NAME: a number of the last frame, from the series.
last() {
    "$bin/simstat" "$1" --quiet --overlap off --series series.csv >/dev/null &&
        awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } { x = $c } END { print x }' series.csv
}

# Maps of all pairs of discs, trained once for a build folder. What a map of discs has to learn is |t| - R_A - R_B.
maps=$build/tests/round.maps.h5
train() {
    printf '%s' "$types" >maps.yaml
    cat >>maps.yaml <<'END'
contact: {default: {kn: 1.0e6, restitution: 0.5, mu: 0.5}}
place: [{type: base, position: [0, 0]}]
phases: [{name: none, time: 1.0e-3}]
END
    "$bin/mkmaps" maps.yaml -o "$maps" --samples 100000 --layers 2 --width 16 --epochs 40 --learning-rate 0.003 --quiet || exit 1
}

finish() {
    echo "$failures failures"
    exit $((failures > 0))
}
