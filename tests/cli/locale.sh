#!/bin/bash
# The whole pipeline in a German locale (decimal comma) and in folders with spaces, quotes and letters that are not ASCII: the
# same bytes and numbers as in the C locale. The locale is made here. $1: folder of the commands.
. "$(dirname "$0")/common.sh"
mkdir locales
localedef -i de_DE -f UTF-8 "$work/locales/de_DE.UTF-8" >out.txt 2>&1
[ "$(LOCPATH="$work/locales" LC_ALL=de_DE.UTF-8 bash -c 'printf %.1f 0,5')" = 0,5 ] || fail "no locale: $(cat out.txt)"

# With LOCPATH set glibc makes a list of folders for libraries that ask for locales (no code here does) and loses it; nothing
# else may leak.
echo 'leak:argz_add_sep' >leaks.txt
export LSAN_OPTIONS="suppressions=$PWD/leaks.txt:print_suppressions=0"

# pipeline FOLDER: everything from a shape to numbers and pictures, in that folder.
pipeline() {
    local tiny="--resolution 48 --samples 2000 --held-out 300 --epochs 1 --layers 1 --width 8 --labels exact --threads 1 --quiet"
    mkdir -p "$1/Szene" && cp "$tests/../shapes/u.wkt" "$1/ü \"1.5\" it's.wkt"
    cat >"$1/Szene/s.yaml" <<'END'
types: {u: {shape: "../ü \"1.5\" it's.wkt", radius: 0.01, density: 2500.5}}
contact: {default: {kn: 2.0e4, restitution: 0.3, mu: 0.4}}
boundaries: [{name: floor, plane: {point: [0, 0], normal: [0, 1]}}]
fill: [{type: u, count: 5, region: [0, 0, 0.1, 0.2]}]
phases: [{name: fall, time: 0.02}]
output: {every: 0.005, contacts: true}
END
    "$bin/sdfgen" "$1/ü \"1.5\" it's.wkt" -o "$1" --resolution 48 --preview "$1/p.png" --quiet >/dev/null &&
        "$bin/mkmaps" "$1/Szene/s.yaml" -o "$1/m ü.h5" $tiny >"$1/table.txt" &&
        "$bin/simulate" "$1/Szene/s.yaml" --maps "$1/m ü.h5" -o "$1/run '1'.h5" --threads 1 --set contact.default.mu=0.45 2>"$1/log.txt" |
        sed -n 's/^state //p' >"$1/state.txt" &&
        "$bin/simulate" --restart "$1/run '1'.checkpoint.h5" --maps "$1/m ü.h5" -o "$1/again.h5" --quiet >/dev/null &&
        "$bin/simstat" "$1/run '1'.h5" --csv --poses "$1/poses \"q\".csv" --series "$1/series.csv" | sed 's/^.*\.h5"*,//' >"$1/stat.txt" &&
        "$bin/simstat" "$1/run '1'.h5" --json | grep -v '"run":' >"$1/json.txt" &&
        "$bin/simstat" "$1/run '1'.h5" --recover "$1/ganz.h5" --quiet &&
        "$bin/simview" "$1/run '1'.h5" -o "$1/bild ü.svg" --forces --quiet &&
        "$bin/simview" "$1/run '1'.h5" -o "$1/bild.png" --quiet &&
        printf 'theta,x,y\n0.5,1.5,0.25\n' | "$bin/mapquery" "$1/m ü.h5" 'ü "1.5" it'\''s' 'ü "1.5" it'\''s' >"$1/query.csv"
}
# in_locale NAME FOLDER: in a shell that has started with it
in_locale() {
    LOCPATH="$work/locales" LC_ALL=$1 LANGUAGE=de bash -c "$(declare -f pipeline); pipeline \"\$1\"" pipeline "$2"
}
export bin tests
in_locale C plain || fail "pipeline in the C locale"
odd="Ordner mit ü, \"Anführung\" und 'Strich'; \$x"
in_locale de_DE.UTF-8 "$odd" || fail "pipeline in the German locale"
for file in p.png "poses \"q\".csv" series.csv stat.txt json.txt state.txt "bild ü.svg" bild.png query.csv; do
    [ -s "plain/$file" ] && cmp "plain/$file" "$odd/$file" || fail "$file differs between the locales"
done
grep -q '0\.45' "plain/Szene/s.yaml" && fail "the scene was changed"
LOCPATH="$work/locales" LC_ALL=de_DE.UTF-8 "$bin/simulate" plain/Szene/s.yaml -o x.h5 --set contact.default.mu=0,5 2>err.txt
[ $? = 2 ] && grep -q '0,5' err.txt && [ ! -e x.h5 ] || fail "decimal comma: $(cat err.txt)"
finish
