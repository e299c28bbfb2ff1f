#!/usr/bin/env bash
# Trains the maps of the blocks of the method's static examples on exact labels, once for a build folder, and asks them for the thresholds and
# accelerations of friction (map_figure3.c).
# $1: build folder.
set -euo pipefail
build=$(cd "$1" && pwd)
work=$build/tests/figure3
mkdir -p "$work"
# block NAME LENGTH THICKNESS
block() {
    awk -v y="$2" -v x="$3" 'BEGIN { x /= 2; y /= 2; printf "POLYGON ((%.12g %.12g, %.12g %.12g, %.12g %.12g, %.12g %.12g, %.12g %.12g))\n", -x, -y, x, -y, x, y, -x, y, -x, -y }' \
        >"$work/$1.wkt"
}
block block20 1 0.05
block block40 1 0.025
block block40b 1.001 0.025
cd "$work"
options=(--labels exact --samples 300000 --epochs 60 --gradient-weight 0.1 --threads 1 --quiet)
"$build/bin/mkmaps" block20.wkt -o block20.maps.h5 "${options[@]}"
"$build/bin/mkmaps" block40.wkt -o block40.maps.h5 "${options[@]}"
"$build/bin/mkmaps" block40.wkt block40b.wkt -o unlike.maps.h5 --smooth 0.01 --activation qrelu "${options[@]}"
"$build/tests/map_figure3" block20.maps.h5 block40.maps.h5 unlike.maps.h5
