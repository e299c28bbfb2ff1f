#!/usr/bin/env bash
# Trains the maps of the blocks of the method's static examples on exact labels, once for a build folder, and asks them for the thresholds and
# accelerations of friction (map_figure3.c).
# $1: build folder.
set -euo pipefail
build=$(cd "$1" && pwd)
work=$build/tests/figure3
mkdir -p "$work"
for thickness in 20 40; do
    maps=$work/block$thickness.maps.h5
    # 1 long, 1/thickness thick
    awk -v b="$thickness" 'BEGIN { x = .5 / b; printf "POLYGON ((%.12g -0.5, %.12g -0.5, %.12g 0.5, %.12g 0.5, %.12g -0.5))\n", -x, x, x, -x, -x }' \
        >"$work/block$thickness.wkt"
    "$build/bin/mkmaps" "$work/block$thickness.wkt" -o "$maps" --labels exact --samples 300000 --epochs 60 --gradient-weight 0.1 \
        --threads 1 --quiet
done
"$build/tests/map_figure3" "$work/block20.maps.h5" "$work/block40.maps.h5"
