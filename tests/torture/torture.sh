#!/bin/sh
# The campaigns of ./do torture, or their short forms for ./do test. Every campaign prints what was injected, answered and failed.
#   [TIME=0.3] [SEED=1] [SOAK=3600] torture.sh SOURCE BUILD OUT   all of them, for hours; the figures go to OUT. SOAK: of the long run, s
#   torture.sh SOURCE BUILD OUT --short                      a few seconds each
set -u
source=$(cd "$1" && pwd) build=$(cd "$2" && pwd) short=${4:-}
mkdir -p "$3"
out=$(cd "$3" && pwd)
interim=$build/interim tests=$source/tests/torture seed=${SEED:-1} time=${TIME:-0.3}
library=$(ls "$build"/tests/libfail_allocation.so "$build"/tests/fail_allocation.so 2>/dev/null | head -n 1)
failed=0

# campaign NAME COMMAND...
campaign() {
    name=$1; shift
    if "$@" >"$out/$name.txt" 2>&1; then
        tail -n 1 "$out/$name.txt"
    else
        cat "$out/$name.txt"
        echo "$name FAILED"
        failed=$((failed + 1))
    fi
}

# no error, no leak, in short runs of some examples
memcheck() {
    for example in pendulum crane-single grasp; do
        valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite "$interim" run \
            "$source/examples/$example.yaml" -q --until 0.02s -o "$out/valgrind.csv" || return 1
    done
    echo "valgrind: 3 examples, 0 errors, 0 leaks"
}

if [ "$short" = --short ]; then
    export MEMORY_EXAMPLES=crane-single
    campaign memory "$tests/memory.sh" "$source" "$interim" "$library" 499 "$seed"
    campaign flips "$tests/flips.sh" "$source" "$interim" "$build/tests/flip" 2 "$seed"
    campaign endings "$tests/endings.sh" "$source" "$interim" 1 "$seed"
    campaign models "$build/tests/torture_models" 60 "$seed"
    campaign fmus "$tests/fmus.sh" "$source" "$build" 20 1 "$seed"
else
    campaign memory "$tests/memory.sh" "$source" "$interim" "$library" 1
    campaign flips "$tests/flips.sh" "$source" "$interim" "$build/tests/flip" 500 "$seed"
    campaign endings "$tests/endings.sh" "$source" "$interim" 50 "$seed"
    campaign models "$build/tests/torture_models" 20000 "$seed"
    campaign fmus "$tests/fmus.sh" "$source" "$build" 1000 200 "$seed"
    campaign matrix "$build/tests/torture_matrix" "$time" "$source"/examples/*.yaml
    campaign valgrind memcheck
    campaign soak "$tests/soak.sh" "$source/examples/log-crane.yaml" "$interim" "${SOAK:-3600}" "$out/soak-memory.txt"
    campaign cluster "$tests/cluster.sh" "$source" "$build" 500
fi
[ "$failed" -eq 0 ]
