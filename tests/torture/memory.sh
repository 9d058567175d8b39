#!/bin/sh
# Allocation failures: every STRIDE-th allocation of run, check, sweep, study and report of some examples fails, one per process. The
# command must end with status 1 or 2 and a message, or do without that memory and produce exactly the undisturbed result.
#   memory.sh SOURCE INTERIM LIBRARY STRIDE [FIRST]
# Prints a line per command: injected, answered (status 1 or 2 with a message), unaffected (same result), libfyaml, failed; status 1 if
# any failed. "libfyaml": libfyaml 0.7 crashes where the two small blocks of fy_input_create fail. We hold more than these bytes right
# before it asks for them, so that only an injected failure can hit them.
set -u
source=$1 interim=$2 library=$3 stride=$4 first=${5:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
examples=$source/examples
total=0 failures=0

# Columns of a sweep's table without the times and the message, which may be one of a library that a run loads (GnuTLS, under HDF5)
# and does without; status 3 if a run failed, or crashed in its own process, and the row has a message.
strip_times() {
    awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) {gone[i] = $i ~ /^(wall_time|cpu_time|real_time_factor|message)$/; if ($i == "verdict") v = i}; n = NF}
        {line = ""; for (i = 1; i < n; i++) if (!gone[i]) line = line "," $i; print line; if (v && $v ~ /^(failed|crashed)$/ && $n != "") told = 1}
        END {exit told ? 3 : 0}' "$1" >"$2"
}

# Note a failure under the addresses of its stack, so that failures at one place are counted together.
note_failure() {
    failed=$((failed + 1))
    echo "$1: $2$(sed -n '4,12s/.*\/\([^/]*\)(\([^)]*\)).*/ \1 \2/p' trace.txt 2>/dev/null | tr '\n' ';')" >>failures.txt
    echo "    $1: allocation $n: $2"
}

# once N COMMAND...: run it with the N-th allocation failing. What it produced is in out.txt and err.txt and in result.*
once() {
    n=$1; shift
    rm -rf result.* keep trace.txt
    timeout 60 env FAIL_AT="$n" FAIL_TRACE="$work/trace.txt" LD_PRELOAD="$library" "$interim" "$@" >out.txt 2>err.txt
}

# What counts of the output: the table of a run or a sweep, else standard output and the page.
collect() {
    if [ -e result.table.csv ]; then
        strip_times result.table.csv "$1"
    elif [ -e result.csv ]; then
        cp result.csv "$1"
    else
        cat out.txt result.html >"$1" 2>/dev/null || cp out.txt "$1"
    fi
}

# campaign NAME COMMAND...
campaign() {
    name=$1; shift
    rm -f count.txt
    FAIL_COUNT=$work/count.txt once 0 "$@" || { cat err.txt >&2; failures=$((failures + 1)); return; }
    collect want.txt
    number=$(sort -n count.txt | tail -n 1)
    injected=0 answered=0 unaffected=0 known=0 failed=0
    n=$first
    while [ "$n" -le "$number" ]; do
        injected=$((injected + 1))
        once "$n" "$@"
        status=$?
        if { [ $status -eq 1 ] || [ $status -eq 2 ]; } && [ -s err.txt ]; then
            answered=$((answered + 1))
        elif [ $status -eq 139 ] && grep -q fy_input_create trace.txt; then
            known=$((known + 1))
        elif [ $status -ne 0 ]; then
            note_failure "$name" "status $status, $(wc -c <err.txt) bytes of message"
        else
            told=0
            collect got.txt || told=1
            if cmp -s got.txt want.txt; then
                unaffected=$((unaffected + 1))
            elif [ $told -eq 1 ] || grep -q memory err.txt; then
                answered=$((answered + 1))
            else
                note_failure "$name" "status 0 with another result"
            fi
        fi
        n=$((n + stride))
    done
    echo "memory: $name: $number allocations, injected $injected, answered $answered, unaffected $unaffected, libfyaml $known, failed $failed"
    [ $injected -gt 0 ] || { echo "    $name: nothing was injected"; failed=1; }
    total=$((total + injected)) failures=$((failures + failed))
}

for example in ${MEMORY_EXAMPLES:-crane-single grasp flexible-mast}; do
    for command in ${MEMORY_COMMANDS:-run check sweep study report}; do
        case $command in
            run) campaign "run $example" run "$examples/$example.yaml" -q --until 0.02s -o result.csv ;;
            check) campaign "check $example" check "$examples/$example.yaml" --budget 60 ;;
            sweep) campaign "sweep $example" sweep "$examples/$example.yaml" -q -j 1 --until 0.01s --over "run.step=1ms,0.5ms" -o result.table.csv ;;
            study)
                # -j 1 executes the runs in children, one after the other
                printf 'model: %s\nset: {run.duration: 10 ms}\nfactors: {run.step: {values: [1 ms, 0.5 ms]}}\ndesign: {type: grid}\nresponses: {end: {final: energy.balance}}\n' \
                    "$examples/$example.yaml" >study.yaml
                campaign "study $example" study study.yaml -q -j 1 -o result.table.csv ;;
            report)
                "$interim" run "$examples/$example.yaml" -q --until 0.05s -o "given.csv" 2>/dev/null
                campaign "report $example" report given.csv -q -o result.html
                "$interim" run "$examples/$example.yaml" -q --until 0.05s -o "given.h5" 2>/dev/null
                campaign "report $example, HDF5" report given.h5 -q -o result.html ;;
        esac
    done
done
[ ! -e failures.txt ] || { echo "failures by place:"; sort failures.txt | uniq -c; }
echo "memory: injected $total, failed $failures"
[ "$failures" -eq 0 ]
