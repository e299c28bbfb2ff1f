#!/bin/bash
# Installs into a prefix and moves it; the installed command and a user's program that was built with pkg-config run a scene of
# the installed ones to the same state. $1: folder of the commands; $2: build folder; $3: compiler; $4: more flags.
. "$(dirname "$0")/../cli/common.sh"
build=$(cd "$2" && pwd)
compiler=$3
flags=(${4:-})
source=$(cd "$tests" && pwd)/install/user.c

cmake --install "$build" --prefix "$work/first" >out.txt 2>err.txt || fail "cmake --install: $(cat err.txt)"
mv first "a prefix" # nothing may remember where it was
prefix="$work/a prefix"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
for library in core sdf nn cspace sim fluid; do
    pkg-config --print-errors --exists cem-$library || fail "pkg-config cem-$library"
    for header in "$prefix"/include/cem/$library*.h; do
        eval "$compiler -std=c17 -Wall -Werror -fsyntax-only $(pkg-config --cflags cem-$library) -x c '$header'" || fail "$header alone"
    done
done
eval "$compiler -std=c17 -Wall -Wextra -Werror ${flags[*]} '$source' -o user $(pkg-config --cflags --libs cem-sim)" ||
    fail "the user's program cannot be built"
echo '#include <fluid.h>
int main(void) { return fluid_default_def().dim != 2; }' >continuum.c
eval "$compiler -std=c17 ${flags[*]} continuum.c -o continuum $(pkg-config --cflags --libs cem-fluid)" && ./continuum ||
    fail "a program with cem-fluid"
scene="$prefix/share/cem/data/scenes/place.yaml"
./user "$scene" user.h5 >user.txt || fail "the user's program"
"$prefix/bin/simulate" "$scene" -o command.h5 2>err.txt | grep '^state' >command.txt
[ -s user.txt ] && cmp user.txt command.txt || fail "other states: $(cat user.txt command.txt)"
for command in sdfgen csample nntrain mkmaps mapquery simulate simview simstat; do
    "$prefix/bin/$command" --version >/dev/null || fail "$command --version"
done
finish
