#!/usr/bin/env bash
# Trains the maps of #, square and U on exact labels, once for a build folder, and asks them for their physics (map_physics.c).
# $1: build folder.
set -euo pipefail
build=$(cd "$1" && pwd)
shapes=$(cd "$(dirname "$0")/../../shapes" && pwd)
maps=$build/tests/physics.maps.h5
"$build/bin/mkmaps" "$shapes/hash.wkt" "$shapes/square.wkt" "$shapes/u.wkt" -o "$maps" --labels exact --samples 300000 --epochs 60 --quiet
"$build/tests/map_physics" "$maps"
