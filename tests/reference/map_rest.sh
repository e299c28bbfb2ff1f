#!/usr/bin/env bash
# Trains #-# and #-U on exact labels (recipe accurate), then sets a # and a U on a fixed #: both have to lie still (map_rest.c).
# $1: build folder.
set -euo pipefail
build=$(cd "$1" && pwd)
shapes=$(cd "$(dirname "$0")/../../shapes" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$build/bin/sdfgen" "$shapes/hash.wkt" "$shapes/u.wkt" -o . >/dev/null
for grain in hash u; do
    "$build/bin/csample" hash.sdf.h5 $grain.sdf.h5 -o $grain.samples.h5 --labels exact --samples 200000 --near-fraction 0.95 --quiet
done
"$build/bin/nntrain" hash.samples.h5 u.samples.h5 -o maps.h5 --recipe accurate --epochs 100 --threads 1 --quiet
"$build/tests/map_rest" maps.h5 hash 0 u 180 # the U on its legs: its back is round
