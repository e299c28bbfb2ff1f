# Sourced by the tests of commands: a folder to work in, a count of failures, checks. $1: folder of the commands.
set -u
bin=$(cd "$1" && pwd)
tests=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# Every folder, and every file with what is in it; but for those that expect writes.
listing() { find . ! -name out.txt ! -name err.txt \( -type f -exec cksum {} + -o -print \) | sort; }

# expect STATUS PATTERN COMMAND ARGS... : exit status, one message that matches, nothing on standard output, no file new or changed. Standard input: the
# file stdin.
expect() {
    local status=$1 pattern=$2 command=$3 before after got
    shift 3
    before=$(listing)
    "$bin/$command" "$@" >out.txt 2>err.txt <"${stdin:-/dev/null}"
    got=$?
    after=$(listing)
    [ "$got" = "$status" ] || fail "$command $*: exit $got, expected $status: $(head -c 400 err.txt)"
    grep -q -e "$pattern" err.txt || fail "$command $*: \"$(head -c 400 err.txt)\" does not match \"$pattern\""
    [ "$(grep -c "^[^ ]*$command: " err.txt)" = 1 ] || fail "$command $*: expected one message: $(cat err.txt)"
    [ ! -s out.txt ] || fail "$command $*: printed something: $(head -c 300 out.txt)"
    [ "$before" = "$after" ] || fail "$command $*: left or changed files: $(diff <(echo "$before") <(echo "$after"))"
}

finish() {
    [ "$failures" = 0 ] || exit 1
    echo "ok"
}
