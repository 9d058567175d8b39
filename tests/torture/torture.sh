#!/bin/sh
# The campaigns of ./do torture, or their short forms for ./do test. Every campaign prints what was injected, answered and failed.
#   [TIME=0.3] [SEED=1] torture.sh SOURCE BUILD OUT          all of them, for hours; the figures go to OUT
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

# memory stays flat over a long run: the peak after ten times the time is not a tenth larger
soak() {
    command -v /usr/bin/time >/dev/null || { echo "soak: no /usr/bin/time"; return 0; }
    for until in 60 600; do
        /usr/bin/time -f %M -o "$out/soak-$until.txt" "$interim" run "$source/examples/log-crane.yaml" -q --until ${until}s \
            -e 100ms -o "$out/soak.csv" 2>/dev/null || [ $? -le 3 ] || return 1
    done
    early=$(tail -n 1 "$out/soak-60.txt") late=$(tail -n 1 "$out/soak-600.txt")
    echo "soak: peak of $early kB after 60 s, $late kB after 600 s"
    [ $((10 * late)) -lt $((11 * early)) ]
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
    campaign soak soak
    campaign cluster "$tests/cluster.sh" "$source" "$build" 500
fi
[ "$failed" -eq 0 ]
