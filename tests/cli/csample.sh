#!/usr/bin/env bash
# csample at the command line: a good run and its repetition with other threads, the order of a pair, and bad input - each exits with 1 or 2, says
# one thing that names the file or option, and leaves nothing half-written.
# Usage: csample.sh BIN_DIR
set -u
export LC_ALL=C
bin=$(cd "$1" && pwd) || exit 1
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 1
mounted=
cleanup() {
    [ -z "$mounted" ] || umount "$mounted"
    rm -rf "$work"
}
trap cleanup EXIT
cd "$work" || exit 1
failures=0

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# refuse NAME CODE WORD... -- ARGUMENTS: csample must exit with CODE (or "1|2"), name every WORD and leave no new file behind.
refuse() {
    local name=$1 codes=$2 words=()
    shift 2
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    shift
    ls -A "$work" "$work/out" >before
    "$bin/csample" "$@" >stdout 2>stderr
    local code=$?
    ls -A "$work" "$work/out" >after
    [[ "|$codes|" == *"|$code|"* ]] || fail "$name: exit status $code, expected $codes"
    for word in "${words[@]}"; do
        grep -qF -- "$word" stderr || fail "$name: message does not name $word: $(cat stderr)"
    done
    [ "$(grep -vc '^Try ' stderr)" -eq 1 ] || fail "$name: expected one message, found: $(cat stderr)"
    [ -s stdout ] && fail "$name: wrote to standard output"
    cmp -s before after || fail "$name: left something behind: $(diff before after)"
}

mkdir out
touch before after stdout stderr
"$bin/sdfgen" "$here/shapes/hash.wkt" "$here/shapes/u.wkt" -o . --resolution 64 --quiet >/dev/null || fail "sdfgen"

# ---- a run, and the same bits with another number of threads and another file name
small=(--samples 2000 --held-out 300 --quiet)
"$bin/csample" hash.sdf.h5 u.sdf.h5 -o one.samples.h5 --threads 1 "${small[@]}" >stdout 2>stderr || fail "a good run: $(cat stderr)"
[ -s stdout ] || [ -s stderr ] && fail "--quiet prints: $(cat stdout stderr)"
"$bin/csample" hash.sdf.h5 u.sdf.h5 -o "two ä.samples.h5" --threads 3 --samples 2000 --held-out 300 >stdout 2>stderr || fail "a good run, 3 threads"
grep -q 'acceptance rate' stdout && grep -q 'samples/s' stdout && grep -q 'negative' stdout || fail "summary: $(cat stdout)"
hash_of() { h5dump -a content_hash "$1" | grep -o '"[0-9a-f]\{16\}"'; }
if command -v h5dump >/dev/null; then
    [ "$(hash_of one.samples.h5)" = "$(hash_of "two ä.samples.h5")" ] && [ -n "$(hash_of one.samples.h5)" ] || fail "threads change the content"
    h5dump -a a one.samples.h5 | grep -q '"hash"' || fail "attribute a"
    h5dump -H one.samples.h5 | grep -q held_out || fail "held-out rows"
fi
# the pair is stored by name, whichever way it is given, and the user is told
"$bin/csample" u.sdf.h5 hash.sdf.h5 -o three.samples.h5 --ratio 0.5 --samples 2000 --held-out 300 >stdout 2>stderr || fail "the other order: $(cat stderr)"
grep -q 'hash-u' stderr && grep -q 'ratio 2' stderr || fail "the exchange is not told: $(cat stderr)"
"$bin/csample" hash.sdf.h5 u.sdf.h5 -o four.samples.h5 --ratio 2 "${small[@]}" >stdout 2>stderr || fail "ratio 2"
if command -v h5dump >/dev/null; then
    [ "$(hash_of three.samples.h5)" = "$(hash_of four.samples.h5)" ] || fail "the order changes the content"
fi
# a finished file stays what it is when the next run fails
cp one.samples.h5 out/kept.samples.h5
"$bin/csample" hash.sdf.h5 no.sdf.h5 -o out/kept.samples.h5 "${small[@]}" 2>/dev/null && fail "a missing file is accepted"
cmp -s one.samples.h5 out/kept.samples.h5 || fail "a failed run touched the old file"
"$bin/csample" --help | grep -q 'Example' || fail "--help has no example"
"$bin/csample" --version | grep -q 'csample' || fail "--version"

# ---- files
o=(-o out/x.samples.h5 --quiet)
: >empty.sdf.h5
head -c 20000 hash.sdf.h5 >cut.sdf.h5
head -c 100 hash.sdf.h5 >stub.sdf.h5
cp hash.sdf.h5 nan.sdf.h5
printf '\377%.0s' {1..64} | dd of=nan.sdf.h5 bs=1 seek=40000 conv=notrunc status=none
echo 'POLYGON((0 0,1 0,1 1,0 0))' >text.sdf.h5
mkdir dir.sdf.h5
refuse "missing file" 1 missing.sdf.h5 -- missing.sdf.h5 "${o[@]}"
refuse "missing second file" 1 missing.sdf.h5 -- hash.sdf.h5 missing.sdf.h5 "${o[@]}"
refuse "directory" 1 dir.sdf.h5 -- dir.sdf.h5 "${o[@]}"
refuse "empty file" 2 empty.sdf.h5 -- empty.sdf.h5 "${o[@]}"
refuse "truncated file" 2 cut.sdf.h5 -- cut.sdf.h5 "${o[@]}"
refuse "truncated header" 2 stub.sdf.h5 -- hash.sdf.h5 stub.sdf.h5 "${o[@]}"
refuse "NaN in the grid" 2 nan.sdf.h5 -- nan.sdf.h5 "${o[@]}"
refuse "not HDF5" 2 text.sdf.h5 -- text.sdf.h5 "${o[@]}"
refuse "another kind of HDF5" 2 one.samples.h5 cem.samples cem.sdf -- one.samples.h5 "${o[@]}"
mkdir other
cp "$here/shapes/n.wkt" other/hash.wkt
"$bin/sdfgen" other/hash.wkt -o other --resolution 64 --quiet >/dev/null || fail "sdfgen, another hash"
refuse "two shapes of one name" 2 hash other/hash.sdf.h5 -- hash.sdf.h5 other/hash.sdf.h5 "${o[@]}"

# ---- usage
refuse "no files" 2 sdf.h5 -- "${o[@]}"
refuse "three files" 2 third -- hash.sdf.h5 u.sdf.h5 hash.sdf.h5 "${o[@]}"
refuse "no output" 2 -o -- hash.sdf.h5 --quiet
refuse "unknown option" 2 --smoothest -- hash.sdf.h5 --smoothest "${o[@]}"
refuse "unknown labels" 2 --labels minimiser exact -- hash.sdf.h5 --labels exactly "${o[@]}"
refuse "smoothing" 2 --smooth 0.1 -- hash.sdf.h5 --smooth 0.2 "${o[@]}"
refuse "negative smoothing" 2 --smooth -0.1 -- hash.sdf.h5 --smooth=-0.1 "${o[@]}"
for kind in minimiser exact; do
    "$bin/csample" hash.sdf.h5 u.sdf.h5 --labels $kind --smooth 0.001 --samples 1000 --held-out 100 -o smooth.samples.h5 >smooth.txt || fail "smoothed $kind labels"
    grep -q 'acceptance rate 0\.[0-9]*[1-9]' smooth.txt || fail "$kind: no acceptance rate: $(cat smooth.txt)"
    if command -v h5dump >/dev/null; then
        h5dump -a smoothing smooth.samples.h5 | grep -q '0\.001' || fail "$kind: smoothing is not in the file"
        h5dump -a smoothing one.samples.h5 >/dev/null 2>&1 && fail "plain labels say they are smoothed"
    fi
done
"$bin/csample" hash.sdf.h5 u.sdf.h5 --labels exact --samples 2000 --held-out 100 -o exact.samples.h5 >exact.txt || fail "exact labels"
grep -q 'exact.samples.h5: 2000 samples of hash-u' exact.txt || fail "exact labels: $(cat exact.txt)"
for option in samples held-out near-fraction band ratio seed threads; do
    for value in 1e999 nan inf 0x10 --5 '1 2' '0,5' '' abc 1e5x -1; do
        refuse "--$option=$value" 2 "--$option" -- hash.sdf.h5 "--$option=$value" "${o[@]}"
    done
done
refuse "samples 999" 2 --samples 1000 -- hash.sdf.h5 --samples 999 "${o[@]}"
refuse "samples 1.5" 2 --samples -- hash.sdf.h5 --samples 1000.5 "${o[@]}"
refuse "band 0" 2 --band -- hash.sdf.h5 --band 0 "${o[@]}"
refuse "ratio 100" 2 --ratio -- hash.sdf.h5 --ratio 100 "${o[@]}"
refuse "near fraction 2" 2 --near-fraction -- hash.sdf.h5 --near-fraction 2 "${o[@]}"
refuse "threads 0" 2 --threads -- hash.sdf.h5 --threads 0 "${o[@]}"

# ---- output
refuse "output folder missing" 1 absent/x.samples.h5 -- hash.sdf.h5 -o absent/x.samples.h5 --quiet
cp hash.sdf.h5 kept.sdf.h5
ln -s hash.sdf.h5 link.sdf.h5
for file in hash.sdf.h5 ./hash.sdf.h5 "$work/hash.sdf.h5" link.sdf.h5; do
    refuse "output is an input" 2 "$file" same -- u.sdf.h5 hash.sdf.h5 -o "$file" --quiet
done
cmp -s hash.sdf.h5 kept.sdf.h5 || fail "an input was overwritten"
refuse "output is a folder" 1 dir.sdf.h5 -- hash.sdf.h5 -o dir.sdf.h5 --quiet
if [ "$(id -u)" -ne 0 ]; then
    chmod 500 out
    refuse "output folder not writable" 1 out/x.samples.h5 -- hash.sdf.h5 "${o[@]}"
    chmod 700 out
fi
mkdir full
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
    mounted=$work/full
    refuse "full disk" 1 full/x.samples.h5 -- hash.sdf.h5 -o full/x.samples.h5 --samples 5000 --held-out 0 --quiet
    [ -z "$(ls -A full)" ] || fail "full disk: left $(ls -A full)"
else
    echo "full disk: not tried (no tmpfs may be mounted here)"
fi

[ "$failures" -eq 0 ] && echo "csample: all as expected"
exit "$((failures > 0))"
