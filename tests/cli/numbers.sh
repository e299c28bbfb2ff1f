#!/bin/bash
# Every option and every scene key that wants a number, with what is none: refused with a message that names it. The lists come
# from --help and --help-scene. $1: folder of the commands; needs tests/make_run beside it.
. "$(dirname "$0")/common.sh"
values=(1e999 nan 0x10 --5 "1 2" 0,5 "")
tried=0

# refused COMMAND NAME ARGS...: exit 2, one message that names NAME, nothing printed, no file.
refused() {
    local command=$1 name=$2 got
    shift 2
    "$bin/$command" "$@" >out.txt 2>err.txt </dev/null
    got=$?
    tried=$((tried + 1))
    [ $got = 2 ] && [ ! -s out.txt ] && grep -qF -e "$name" err.txt && [ "$(grep -c "^[^ ]*$command: " err.txt)" = 1 ] ||
        fail "$command $*: exit $got, expected 2 and \"$name\": $(head -c 300 err.txt)"
}

"$bin/../tests/make_run" run.h5 5 3 one || fail make_run
for command in sdfgen csample nntrain mkmaps mapquery simulate simview simstat; do
    input=none output=(-o out)
    case $command in simview | simstat) input=run.h5 ;; esac
    case $command in mapquery | simstat) output=() ;; esac
    [ $command != mapquery ] || input="none a b"
    count=0
    for option in $("$bin/$command" --help | sed -nE 's/^ +(-[a-z], )?--([a-z-]+)=(N|X|T|E|S|SIGMA|PIXELS|SIZES|N\|auto|X0,Y0,X1,Y1)( .*)?$/\2/p'); do
        count=$((count + 1))
        for value in "${values[@]}"; do refused $command "--$option" $input --$option="$value" "${output[@]}"; done
    done
    [ $count -ge 1 ] || fail "$command: no numeric options in --help"
done

# Keys: everything a scene can have is in these, so that each key is reached.
cp "$tests"/../shapes/square.wkt .
cat >grains.yaml <<'END'
gravity: [0, -9.81]
types: {g: {shape: square.wkt, radius: 0.01, density: 2500}}
contact: {default: {kn: 1.0e5, restitution: 0.3, mu: 0.4}, pairs: [{a: g, b: g, mu: 0.2}]}
boundaries: [{name: floor, plane: {point: [0, 0], normal: [0, 1]}}]
fill: [{type: g, count: 2, region: [0, 0, 1, 1]}]
phases: [{name: a, time: 0.01}]
narrow_phase: exact
END
cat >continuum.yaml <<'END'
model: continuum
gravity: [0, -9.81]
grid: {cell: 0.1, region: [0, 0, 1, 1]}
material: {kind: sand, density: 1500}
boundaries: [{name: gate, plane: {point: [0.5, 0], normal: [-1, 0]}}]
fill: [{box: [0, 0, 0.5, 0.5]}]
phases: [{name: a, time: 0.01}]
END
"$bin/simulate" --help-scene >help.txt
sed '/^With model: continuum/,$d' help.txt >grains.txt
sed '1,/^With model: continuum/d' help.txt >continuum.txt

# numbers MODEL MIN: the keys of MODEL.yaml, of which there are at least MIN.
numbers() {
    local scene=$1.yaml keys=0 key kind path name value n text got
    "$bin/simulate" "$scene" --check --quiet >/dev/null || fail "$scene itself"
    while read -r key kind; do
        path=$(sed 's/\[\]/[0]/g; s/{}/.g/' <<<"$key")
        keys=$((keys + 1))
        # what other keys a block must have may be missed first: then the block is named
        name=${path##*.}
        for value in "${values[@]}"; do
            case $kind in
            list*)
                [ "$value" != 0,5 ] && [ -n "$value" ] || continue # two numbers, none
                n=${kind#list}
                text="[$value$(for ((i = 1; i < ${n:-4}; i++)); do printf ', %s' "$value"; done)]"
                ;;
            *) text=$value ;;
            esac
            "$bin/simulate" "$scene" --check --quiet --set "$path=$text" >out.txt 2>err.txt
            got=$?
            tried=$((tried + 1))
            [ $got = 2 ] && [ ! -s out.txt ] && [ "$(wc -l <err.txt)" = 1 ] &&
                { grep -qF "$name" err.txt || grep -q 'is missing' err.txt; } ||
                fail "$scene --set $path=$text: exit $got: $(head -c 300 err.txt)"
        done
    done < <(sed -nE 's/^([a-z_.{}[]+(\[\])?[]a-z_.{}[]*) +a list of ([0-9]+) numbers.*/\1 list\3/p
        t; s/^([]a-z_.{}[]+) +a list of numbers.*/\1 list/p; t; s/^([]a-z_.{}[]+) +(auto or )?a (whole )?number.*/\1 number/p' "$1.txt")
    [ $keys -ge "$2" ] || fail "only $keys numeric keys of $scene in --help-scene"
    echo "$scene: $keys keys"
}
numbers grains 60
numbers continuum 30
[ -z "$(ls | grep -vxE '(grains|continuum).(yaml|txt)|help.txt|square.wkt|run.h5|out.txt|err.txt|kept.h5')" ] || fail "left $(ls)"
echo "$tried values tried"
finish
