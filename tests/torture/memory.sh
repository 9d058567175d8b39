#!/bin/sh
# Allocation failures: every STRIDE-th allocation of run, check, sweep, study and report of some examples fails, one per trial (see
# fail_allocation.c).
#   memory.sh SOURCE INTERIM LIBRARY STRIDE [FIRST [REPEATS]]
# Prints a line per command: injected, answered (status 1 or 2 with a message), unaffected (same result), libfyaml, failed; status 1 if
# any failed.
set -u
source=$1 interim=$2 library=$3 stride=$4 first=${5:-1} repeats=${6:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
examples=$source/examples
total=0 failures=0

# campaign NAME COMMAND...
campaign() {
    name=$1; shift
    FAIL_EACH="$first $stride $repeats" LD_PRELOAD="$library" "$interim" "$@" >figures.txt 2>&1 || failures=$((failures + 1))
    sed '$d' figures.txt
    echo "memory: $name: $(tail -n 1 figures.txt)"
    injected=$(sed -n 's/.*injected \([0-9]*\),.*/\1/p' figures.txt)
    total=$((total + ${injected:-0}))
}

for example in ${MEMORY_EXAMPLES:-crane-single grasp flexible-mast}; do
    for command in ${MEMORY_COMMANDS:-run check sweep study report report-hdf5}; do
        case $command in
            run) campaign "run $example" run "$examples/$example.yaml" -q --until 0.02s -o result.csv ;;
            check) campaign "check $example" check "$examples/$example.yaml" --budget 60 ;;
            sweep) campaign "sweep $example" sweep "$examples/$example.yaml" -q -j 1 --until 0.01s --over "run.step=1ms,0.5ms" -o result.table.csv ;;
            study)
                # -j 1 executes the runs in children, one after the other
                printf 'model: %s\nset: {run.duration: 10 ms}\nfactors: {run.step: {values: [1 ms, 0.5 ms]}}\ndesign: {type: grid}\nresponses: {end: {final: energy.balance}}\n' \
                    "$examples/$example.yaml" >"$work/study.yaml"
                campaign "study $example" study "$work/study.yaml" -q -j 1 -o result.table.csv ;;
            report)
                "$interim" run "$examples/$example.yaml" -q --until 0.05s -o given.csv 2>/dev/null
                campaign "report $example" report "$work/given.csv" -q -o result.html ;;
            report-hdf5)
                "$interim" run "$examples/$example.yaml" -q --until 0.05s -o given.h5 2>/dev/null
                campaign "report $example, HDF5" report "$work/given.h5" -q -o result.html ;;
        esac
    done
done
echo "memory: injected $total, commands with failures $failures"
[ "$failures" -eq 0 ]
