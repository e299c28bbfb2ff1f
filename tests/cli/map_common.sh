# Sourced by nntrain.sh, mkmaps.sh and mapquery.sh: common.sh and small inputs. $1: folder of the commands.
. "$(dirname "$0")/common.sh"
shapes=$(cd "$tests/../shapes" && pwd)
tiny="--resolution 32 --samples 1000 --held-out 300 --epochs 1 --layers 1 --width 8 --threads 1 --quiet"

# Damaged copies of an HDF5 file: truncated.h5, nan.h5 (all-ones bits in the middle of its data).
damage() {
    head -c $(($(wc -c <"$1") / 2)) "$1" >truncated.h5
    cp "$1" nan.h5
    printf '\377%.0s' $(seq 64) | dd of=nan.h5 bs=1 seek=$(($(wc -c <"$1") / 2)) conv=notrunc status=none
}

: >empty.h5
echo "no HDF5 at all" >text.h5
mkdir folder.h5
