#!/bin/sh
# FMUs in processes of their own: many instances created, stepped and destroyed; kill -9 of the host and of the master at random times. No process,
# zombie or folder may be left, and the rows written before the end can be read.
#   fmus.sh SOURCE BUILD INSTANCES KILLS [SEED]
set -u
source=$1 build=$2 instances=$3 kills=$4 seed=${5:-1}
interim=$build/interim
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp"
export TMPDIR="$work/tmp" INTERIM_FMU_HOST="$build/interim-fmu-host"
cd "$work" || exit 1
failed=0

bad() {
    echo "    $*"
    failed=$((failed + 1))
}

# A number from 1 to the limit, by seed and count.
random() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    number=$((seed / 65536 % $1 + 1))
}

# Hosts of this folder: their working directory is ours.
find_hosts() {
    hosts=
    for exe in /proc/[0-9]*/exe; do
        pid=${exe#/proc/} pid=${pid%/exe}
        case $(readlink "$exe" 2>/dev/null) in
            */interim-fmu-host) [ "$(readlink "/proc/$pid/cwd" 2>/dev/null)" = "$work" ] && hosts="$hosts $pid" ;;
        esac
    done
}

ITM_FMU_MANY=$instances "$build/tests/fmi/test_fmu" >many.txt 2>&1 || { cat many.txt; bad "$instances instances"; }
grep "instances:" many.txt

# the crane with its hydraulics in an FMU, long enough to be killed
start() {
    rm -f run.*
    "$interim" run "$source/examples/fmu/crane.yaml" --set subsystems.hydraulics.file="$build/examples/fmu/hydraulics.fmu" \
        --until 100000s -e 10ms -q -o run.csv >out.txt 2>err.txt &
    master=$!
    # rows are written in blocks
    while kill -0 $master 2>/dev/null && [ -z "$(find run.part.csv -size +200k 2>/dev/null)" ]; do sleep 0.01; done
    random 200
    sleep "$(awk "BEGIN { print $number / 1000 }")"
}

check_end() {
    result=run.csv
    [ -s run.csv ] || result=run.part.csv
    "$interim" compare $result $result >cmp.txt 2>&1
    [ $? -le 1 ] && ! grep -q "no rows" cmp.txt || bad "$1: the rows cannot be read: $(cat cmp.txt)"
    tries=0
    find_hosts
    while [ -n "$hosts" ] && [ $tries -lt 100 ]; do
        sleep 0.02
        tries=$((tries + 1))
        find_hosts
    done
    [ -z "$hosts" ] || bad "$1: a host is left:$hosts"
}

# The folder of a master that was killed is removed by the next run.
check_folders() {
    [ "$(ls tmp | wc -l)" -le "$1" ] || { bad "$2: folders are left: $(ls tmp)"; rm -rf tmp/*; }
}

i=0
while [ $i -lt "$kills" ]; do
    start
    find_hosts
    # the last host is that of the run; others test claims
    for pid in $hosts; do kill -9 "$pid" 2>/dev/null; done
    wait $master 2>/dev/null
    status=$?
    [ $status -eq 2 ] && grep -q "signal 9" err.txt || bad "kill -9 of host $i: status $status, $(head -n 1 err.txt)"
    check_end "kill -9 of host $i"
    check_folders 0 "kill -9 of host $i"
    start
    kill -9 $master 2>/dev/null
    wait $master 2>/dev/null
    check_end "kill -9 of master $i"
    check_folders 1 "kill -9 of master $i"
    i=$((i + 1))
done
"$interim" run "$source/examples/fmu/crane.yaml" --set subsystems.hydraulics.file="$build/examples/fmu/hydraulics.fmu" --until 0.1s -q -o last.csv
check_folders 0 "after the last run"
echo "fmus: $instances instances, $kills kill -9 of the host and $kills of the master, $failed failed"
[ $failed -eq 0 ]
