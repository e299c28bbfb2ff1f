#!/bin/bash
# The Python example of README.md reads one of each kind of file: made here with small sizes, under the names it uses.
# $1: folder of the commands; $2: folder of the project; $3: python with h5py.
set -u
bin=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
python=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() {
    echo "FAILED: $*"
    exit 1
}
mkdir out
"$bin/sdfgen" "$source/shapes/hash.wkt" -o out --quiet >/dev/null || fail "sdfgen"
"$bin/csample" out/hash.sdf.h5 -o out/hash__hash.samples.h5 --samples 2000 --quiet >/dev/null || fail "csample"
"$bin/nntrain" out/hash__hash.samples.h5 -o out/hash.maps.h5 --epochs 1 --quiet >/dev/null || fail "nntrain"
"$bin/simulate" "$source/data/scenes/drum.yaml" --set output.contacts=true -o out/column.run.h5 --quiet || fail "simulate"
"$bin/simview" out/column.run.h5 -o out/column.xdmf --every 10 --quiet || fail "simview"
sed -n '/^    import h5py/,/^## /p' "$source/README.md" | grep '^    ' | sed 's/^    //' >example.py
"$python" example.py | tee printed.txt
[ "$(cut -d: -f1 printed.txt | tr '\n' ' ')" = "hash samples map run checkpoint polygons " ] || fail "the example printed $(cat printed.txt)"
grep -q '^hash: area 1.4934' printed.txt || fail "area of #"
# What ParaView would follow: every item of the XML is a data set of that size, every cell has the corners it announces.
"$python" - out/column.xdmf <<'END' || fail "XDMF"
import sys, h5py
import xml.etree.ElementTree as tree
def item(element):
    data = element.find("DataItem")
    file, path = data.text.split(":")
    value = h5py.File("out/" + file)[path][()]
    assert list(value.shape) == [int(n) for n in data.get("Dimensions").split()], path
    return value
count = 0
for grid in tree.parse(sys.argv[1]).getroot().iter("Grid"):
    if grid.get("GridType") != "Uniform":
        continue
    topology, cells, at, kind = grid.find("Topology"), item(grid.find("Topology")), 0, set()
    points = item(grid.find("Geometry"))
    for n in range(int(topology.get("NumberOfElements"))):
        kind.add(cells[at])
        corners = cells[at + 2:at + 2 + cells[at + 1]]
        assert len(corners) == cells[at + 1] and corners.min() >= 0 and corners.max() < len(points)
        at += 2 + cells[at + 1]
    assert at == len(cells) and kind == ({3} if grid.get("Name") == "grains" else {2})
    for attribute in grid.findall("Attribute"):
        assert len(item(attribute)) == int(topology.get("NumberOfElements"))
    count += 1
assert count == 10, count
END
echo "the example: all right"
