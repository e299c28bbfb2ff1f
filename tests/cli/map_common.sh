# Sourced by nntrain.sh, mkmaps.sh and mapquery.sh: a folder to work in, small inputs, checks. $1: folder of the commands.
set -u
bin=$(cd "$1" && pwd)
shapes=$(cd "$(dirname "$0")/../../shapes" && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
tiny="--resolution 32 --samples 1000 --held-out 300 --epochs 1 --layers 1 --width 8 --threads 1 --quiet"

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# expect STATUS PATTERN COMMAND ARGS... : exit status, one message that matches, nothing on standard output, no new file. Standard input: the file stdin.
expect() {
    local status=$1 pattern=$2 command=$3 before after got
    shift 3
    before=$(find . ! -name out.txt ! -name err.txt | sort)
    "$bin/$command" "$@" >out.txt 2>err.txt <"${stdin:-/dev/null}"
    got=$?
    after=$(find . ! -name out.txt ! -name err.txt | sort)
    [ "$got" = "$status" ] || fail "$command $*: exit $got, expected $status: $(head -c 400 err.txt)"
    grep -q -e "$pattern" err.txt || fail "$command $*: \"$(head -c 400 err.txt)\" does not match \"$pattern\""
    [ "$(grep -c "^[^ ]*$command: " err.txt)" = 1 ] || fail "$command $*: expected one message: $(cat err.txt)"
    [ ! -s out.txt ] || fail "$command $*: printed something: $(head -c 300 out.txt)"
    [ "$before" = "$after" ] || fail "$command $*: left files behind: $(diff <(echo "$before") <(echo "$after"))"
}

# Damaged copies of an HDF5 file: truncated.h5, nan.h5 (all-ones bits in the middle of its data).
damage() {
    head -c $(($(wc -c <"$1") / 2)) "$1" >truncated.h5
    cp "$1" nan.h5
    printf '\377%.0s' $(seq 64) | dd of=nan.h5 bs=1 seek=$(($(wc -c <"$1") / 2)) conv=notrunc status=none
}

finish() {
    [ "$failures" = 0 ] || exit 1
    echo "ok"
}

: >empty.h5
echo "no HDF5 at all" >text.h5
mkdir folder.h5
