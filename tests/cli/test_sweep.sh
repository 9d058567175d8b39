#!/bin/sh
# test_sweep.sh SOURCE INTERIM: `interim sweep` as a user meets it.
. "$1/tests/shell.sh"
source=$1 interim=$2
model=$source/examples/pendulum.yaml

# cell FILE ROW COLUMN: a value of a table without quoted commas; the column by name, the row counted from 1
cell() {
    awk -F, -v row="$2" -v name="$3" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) c = i}
        NR == row + 1 {print $c}' "$1"
}

# holds EXPRESSION: arithmetic of awk
holds() {
    awk "BEGIN {exit !($1)}" || fail "not true: $1"
}

left_nothing_behind() {
    [ -z "$(ls -A tmp)" ] || { ls tmp; fail "files were left in TMPDIR"; }
}

# ---------------------------------------------------------------------------- usage

wrong_usage_is_status_1_and_says_what_is_wrong() {
    expect 1 "$interim" sweep "$model"
    err_has "--over"
    expect 1 "$interim" sweep --over run.step=1ms
    err_has "missing model file"
    expect 1 "$interim" sweep "$model" --over run.step
    err_has "KEY=VALUE,VALUE"
    expect 1 "$interim" sweep "$model" --over run.step=1ms,,2ms
    err_has "missing value"
    expect 1 "$interim" sweep "$model" --over run.step=1ms --over run.step=2ms
    err_has "run.step"
    expect 1 "$interim" sweep "$model" --over run.step=-1ms:1ms:5log
    err_has "cannot cross zero"
    expect 1 "$interim" sweep "$model" --over run.step=1ms:2ms:1
    err_has "at least 2"
    expect 1 "$interim" sweep "$model" --over run.step=1ms:2ms:1000 --over run.duration=1:2:1000
    err_has "100000 combinations"
    for jobs in 0 -3 two 1x 5000; do
        expect 1 "$interim" sweep "$model" --over run.step=1ms --jobs=$jobs
        err_has "1 to 1024"
    done
    expect 1 "$interim" sweep "$model" --over run.step=1ms --timeout 3kg
    err_has "--timeout"
    expect 1 "$interim" sweep "$model" --over run.step=1ms --reference run.step=2ms
    err_has "--signals"
    expect 1 "$interim" sweep "$model" --over run.step=1ms --signals hinge.angle --reference nowhere.csv
    err_has "nowhere.csv"
    expect 1 "$interim" sweep "$model" --over run.step=1ms -o t.h5
    err_has ".csv"
    # a value is blamed on the option that gave it
    expect 1 "$interim" sweep "$model" --over parameters.L=1m,abc --set run.duration=1s
    err_has "--over parameters.L=abc:1:14: there is no parameter 'abc'"
    expect 1 "$interim" sweep "$model" --over parameters.L=1m,2m --set run.duration=abc
    err_has "--set run.duration=abc:1:14: there is no parameter 'abc'"
    expect 1 "$interim" sweep "$source/examples/crane-single.yaml" --over parameters.p_2=0,1
    err_has "'--over parameters.p_2=0' has no unit, the file has '2 MPa' there"
    [ ! -s out.txt ]
}

# What is misspelt shows at once, not after hours of running.
a_bad_value_is_found_before_anything_runs() {
    mkdir tmp
    export TMPDIR="$PWD/tmp"
    expect 1 "$interim" sweep "$model" --until 1e9s --over run.step=1ms,2ms,3kg
    err_has "expected s, got kg"
    expect 1 "$interim" sweep "$model" --until 1e9s --over run.step=1ms --over multibody.coordinates=joint,absolut
    err_has "absolute"
    expect 1 "$interim" sweep "$model" --until 1e9s --over run.stepp=1ms
    err_has "'step'"
    expect 1 "$interim" sweep "$model" --until 1e9s --over run.step=1ms --signals rod.positon.x
    err_has "did you mean 'rod.position.x'?"
    expect 1 "$interim" sweep "$model" --until 1e9s --over run.step=1ms --signals hinge.angle --reference run.stepp=1ms
    err_has "'step'"
    expect 1 "$interim" sweep "$model" --until 1e9s --over run.step=1ms -o nowhere/t.csv
    err_has "nowhere/t"
    expect 1 "$interim" sweep nowhere.yaml --over run.step=1ms
    err_has "nowhere.yaml"
    left_nothing_behind
}

# ---------------------------------------------------------------------------- tables

a_row_for_every_combination_the_last_key_fastest() {
    mkdir tmp
    export TMPDIR="$PWD/tmp"
    expect 0 "$interim" sweep "$model" --until 0.5s --over run.step=1ms,2ms --over multibody.coordinates=joint,absolute \
        -o t.csv -j 3
    cut -d, -f1-4 t.csv >heads.csv
    printf '%s\n' run.step,multibody.coordinates,verdict,end_time 0.001,joint,finished,0.5 0.001,absolute,finished,0.5 \
        0.002,joint,finished,0.5 0.002,absolute,finished,0.5 >want.csv
    cmp heads.csv want.csv
    out_has "4 runs: 4 finished"
    [ "$(grep -c '^[12]ms ' out.txt)" -eq 4 ]
    [ ! -s err.txt ]
    left_nothing_behind
}

ranges_are_even_in_the_value_or_its_logarithm() {
    expect 0 "$interim" sweep "$model" --until 0.1s --every 0 --over run.step=1:5ms:3,0.5ms,1ms:0.1s:3log -o t.csv
    cut -d, -f1 t.csv | tail -n +2 | tr '\n' ' ' >got.txt
    [ "$(cat got.txt)" = "0.001 0.003 0.005 0.0005 0.001 0.01 0.1 " ] || { cat got.txt; fail "other values"; }
    expect 0 "$interim" sweep "$model" --until 0.1s -o t.csv \
        --over 'multibody.joints.hinge.axis=[0, 1, 0],[1, 0, 0]' --signals rod.position.x
    grep -q '^"\[0, 1, 0\]",finished,' t.csv
    grep -q '^"\[1, 0, 0\]",finished,' t.csv
}

# The default stepper is of order 1: against a run at a step 64 times finer, the error doubles with the step up to
# (2 - 1/64)/(1 - 1/64) = 2.016 and a few per cent of second order.
errors_against_a_reference_run_show_the_order() {
    expect 0 "$interim" sweep "$model" --until 2s --every 0 --over run.step=1.6ms,3.2ms,6.4ms \
        --signals 'rod.position.?,hinge.angle' --reference run.step=25us -o t.csv
    for signal in rod.position.x rod.position.z hinge.angle; do
        for row in 2 3; do
            ratio="$(cell t.csv $row $signal.rms)/$(cell t.csv $((row - 1)) $signal.rms)"
            holds "$ratio > 1.9 && $ratio < 2.2"
        done
        holds "$(cell t.csv 1 $signal.rms) <= $(cell t.csv 1 $signal.max)"
    done
    holds "$(cell t.csv 1 rod.position.y.rms) < 1e-12"
}

# The reference of a run has the run's own values of the keys that --reference does not set.
each_combination_has_its_own_reference() {
    expect 0 "$interim" sweep "$model" --until 1s --over parameters.L=1m,2m --over run.step=1ms,2ms \
        --signals hinge.angle --reference run.step=1ms -o t.csv
    holds "$(cell t.csv 1 hinge.angle.max) == 0 && $(cell t.csv 3 hinge.angle.max) == 0"
    holds "$(cell t.csv 2 hinge.angle.max) > 0 && $(cell t.csv 4 hinge.angle.max) > 0"
    holds "$(cell t.csv 2 hinge.angle.max) != $(cell t.csv 4 hinge.angle.max)"
}

a_results_file_is_a_reference_too() {
    for ending in csv h5; do
        expect 0 "$interim" run "$model" --until 1s -q -o ref.$ending
        expect 0 "$interim" sweep "$model" --until 1s --over run.step=1ms,2ms --signals hinge.angle \
            --reference ref.$ending -o t.csv
        holds "$(cell t.csv 1 hinge.angle.max) == 0 && $(cell t.csv 2 hinge.angle.max) > 0"
    done
    expect 1 "$interim" sweep "$model" --until 1s --over run.step=1ms --signals hinge.angle --reference "$PWD/out.csv"
    printf 'time,hinge.angel\n0,1\n' >odd.csv
    expect 1 "$interim" sweep "$model" --until 1s --over run.step=1ms --signals hinge.angle --reference odd.csv
    err_has "did you mean 'hinge.angel'?"
}

last_and_peak_are_those_of_the_results() {
    expect 0 "$interim" sweep "$model" --until 1s --over run.step=1ms,2ms --signals hinge.angle_rate -o t.csv --keep kept
    expect 0 "$interim" run "$model" --until 1s -q -o r.csv --set run.step=2ms
    column=$(head -n 1 r.csv | tr ',' '\n' | grep -nx hinge.angle_rate | cut -d: -f1)
    last=$(tail -n 1 r.csv | cut -d, -f"$column")
    peak=$(tail -n +2 r.csv | cut -d, -f"$column" | awk '{a = $1 < 0 ? -$1 : $1} a > m {m = a; p = $1} END {printf "%.17g", p}')
    holds "$(cell t.csv 2 hinge.angle_rate.final) - $last < 1e-11 && $last - $(cell t.csv 2 hinge.angle_rate.final) < 1e-11"
    holds "$(cell t.csv 2 hinge.angle_rate.peak) - $peak < 1e-11 && $peak - $(cell t.csv 2 hinge.angle_rate.peak) < 1e-11"
    [ "$(cd kept && echo *)" = "run1.h5 run2.h5" ] || fail "kept: $(ls kept)"
}

the_page_shows_runs_over_time() {
    mkdir folder
    expect 0 env TMPDIR="$PWD/folder" "$interim" sweep "$model" --until 1s --over run.step=1ms,2ms --signals hinge.angle -o t.csv --report t.html
    grep -q "Over time" t.html || fail "the page shows no runs over time"
    [ -z "$(ls folder)" ] || fail "left: $(ls folder)"
    # an empty name is none; without a folder there is a page all the same, and it is said what it lacks
    expect 0 env TMPDIR= "$interim" sweep "$model" --until 1s --over run.step=1ms,2ms --signals hinge.angle -o t.csv --report t.html
    grep -q "Over time" t.html || fail "the page shows no runs over time with an empty TMPDIR"
    expect 0 env TMPDIR=/nowhere "$interim" sweep "$model" --until 1s --over run.step=1ms,2ms --signals hinge.angle -o t.csv --report t.html
    err_has "set TMPDIR to a folder that can be written"
}

the_number_of_processes_does_not_matter() {
    for jobs in 1 4; do
        expect 0 "$interim" sweep "$model" --until 1s --over parameters.start=10deg:90deg:9 --signals hinge.angle \
            --reference run.step=0.5ms -o $jobs.csv -j $jobs -q
        [ ! -s out.txt ]
        cut -d, -f1-7 $jobs.csv >$jobs.txt
    done
    cmp 1.txt 4.txt
}

# Couplings of a co-simulation: held forces break down where the interface model does not, and make energy before.
couplings_are_compared_with_the_monolithic_run() {
    expect 0 "$interim" sweep "$source/examples/crane-double.yaml" --until 1s --over cosim.macro_step=1ms,20ms \
        --over cosim.coupling=rim,zoh --signals crane.cyl1.length --reference cosim.coupling=monolithic \
        --reference cosim.macro_step=1ms -o t.csv
    [ "$(cut -d, -f3 t.csv | tail -n +2 | tr '\n' ' ')" = "finished finished finished broke-down " ]
    holds "$(cell t.csv 1 crane.cyl1.length.rms) < 1e-7 && $(cell t.csv 3 crane.cyl1.length.rms) < 1e-5"
    holds "$(cell t.csv 2 crane.cyl1.length.rms) > 100*$(cell t.csv 1 crane.cyl1.length.rms)"
    # the run that broke down has no error to rank it by
    [ -z "$(cell t.csv 4 crane.cyl1.length.rms)" ] && [ -z "$(cell t.csv 4 crane.cyl1.length.max)" ]
    grep -qE '^20ms +zoh +broke-down +[0-9.e-]+ +- +- ' out.txt || fail "$(cat out.txt)"
    holds "$(cell t.csv 2 bond.cyl1.coupling_error.final) > 0.01 && $(cell t.csv 1 bond.cyl1.coupling_error.final) < 1e-4"
}

# A joint that is locked and let go while forces are exchanged at large steps.
locking_works_in_a_co_simulation() {
    expect 0 "$interim" sweep "$source/examples/crane-double.yaml" --until 1.5s --every 20ms --over cosim.macro_step=4ms,20ms \
        --set 'multibody.events=[{at: 0.5 s, lock: tip}, {at: 1.2 s, release: tip}]' --signals crane.cyl1.length,crane.lock-tip.closed \
        --reference cosim.coupling=monolithic -o t.csv
    for row in 1 2; do
        holds "$(cell t.csv $row crane.cyl1.length.max) < 1e-6"
        holds "$(cell t.csv $row crane.lock-tip.closed.peak) == 1 && $(cell t.csv $row crane.lock-tip.closed.final) == 0"
        holds "$(cell t.csv $row crane.lock-tip.closed.max) == 0"
    done
}

# ---------------------------------------------------------------------------- trouble

a_breakdown_is_a_result() {
    expect 0 "$interim" sweep "$source/tests/cli/breaks-down.yaml" --over run.duration=40ms,1s --signals 'rail.*' -o t.csv
    [ "$(cell t.csv 1 verdict)" = finished ]
    [ "$(cell t.csv 2 verdict)" = broke-down ]
    holds "$(cell t.csv 2 end_time) >= 0.05 && $(cell t.csv 2 end_time) < 0.06"
    grep -q "broke down at 0.05" t.csv
    out_has "1 finished, 1 broke-down"
}

a_run_that_takes_too_long_is_stopped_and_keeps_its_results() {
    mkdir tmp
    export TMPDIR="$PWD/tmp"
    # long enough for the short run on a busy machine: several times what two of them take now
    begin=$(date +%s)
    expect 0 "$interim" sweep "$model" --over run.duration=0.1s,0.1s --signals hinge.angle -o t.csv
    timeout=$((2 + 3 * ($(date +%s) - begin)))
    expect 0 "$interim" sweep "$model" --over run.duration=0.1s,1e7s --timeout "${timeout}s" --signals hinge.angle -o t.csv
    [ "$(cell t.csv 1 verdict)" = finished ]
    [ "$(cell t.csv 2 verdict)" = timed-out ]
    holds "$(cell t.csv 2 end_time) > 0.1"
    [ -n "$(cell t.csv 2 hinge.angle.final)" ]
    left_nothing_behind
}

children_of() {
    cat "/proc/$1/task/$1/children"
}

# start COUNT ARGUMENT...: a sweep in the background, with signals as a terminal has them, until COUNT processes run
start() {
    wanted=$1; shift
    env --default-signal=INT,TERM,HUP "$interim" sweep "$@" >out.txt 2>err.txt &
    pid=$!
    tries=0
    while [ "$tries" -lt 1200 ]; do
        sleep 0.1
        children=$(children_of "$pid")
        # probes are short; the runs are there once the table has its head
        [ ! -e t.csv ] || [ "$(echo "$children" | wc -w)" -lt "$wanted" ] || return 0
        tries=$((tries + 1))
    done
    fail "no runs after two minutes"
}

# wait_for PATTERN: until there is a file of such a name, or the sweep has ended
wait_for() {
    tries=0
    while [ "$tries" -lt 1200 ] && kill -0 "$pid"; do
        for found in $1; do
            [ ! -e "$found" ] || return 0
        done
        sleep 0.1
        tries=$((tries + 1))
    done
    fail "no $1 after two minutes"
}

a_crash_of_one_run_does_not_touch_the_others() {
    mkdir tmp
    export TMPDIR="$PWD/tmp"
    start 1 "$model" --over run.duration=1e7s,0.1s,0.2s -j 1 --signals hinge.angle -o t.csv
    kill -KILL $children
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 0 ] || fail "status $status"
    [ "$(cell t.csv 1 verdict)" = crashed ]
    grep -q "signal 9" t.csv
    err_has "run 1: crashed"
    [ "$(cell t.csv 2 verdict)" = finished ]
    [ "$(cell t.csv 3 verdict)" = finished ]
    left_nothing_behind
}

an_interrupted_sweep_keeps_what_is_done() {
    mkdir tmp
    export TMPDIR="$PWD/tmp"
    for pair in INT:130 TERM:143; do
        rm -f t.csv
        start 2 "$model" --over run.duration=0.1s,1e7s,2e7s,0.1s -j 2 --signals hinge.angle -o t.csv --keep kept
        # the third run begins when the first is over, and the second has had as long as that
        wait_for "kept/run3*"
        sleep 0.5
        kill -"${pair%:*}" "$pid"
        status=0
        wait "$pid" || status=$?
        [ "$status" -eq "${pair#*:}" ] || { cat err.txt; fail "$pair: status $status"; }
        err_has "interrupted by signal"
        [ "$(cell t.csv 1 verdict)" = finished ]
        [ "$(cell t.csv 2 verdict)" = interrupted ]
        holds "$(cell t.csv 2 end_time) > 0"
        [ "$(rows t.csv)" -lt 4 ]
        left_nothing_behind
        rm -r kept
    done
}

on_a_terminal_a_bar_counts_the_runs() {
    # the bar shows once the probes are done: how soon is up to the machine
    for patience in 4 20 100; do
        script -qec "timeout -s INT $patience '$interim' sweep '$model' --over run.duration=0.1s,1e7s" /dev/null >out.txt 2>&1 \
            </dev/null || true
        ! grep -qF "of 2 runs, 1 running" out.txt || break
    done
    out_has "of 2 runs, 1 running"
    out_has "["
}

run_case wrong_usage_is_status_1_and_says_what_is_wrong
run_case a_bad_value_is_found_before_anything_runs
run_case a_row_for_every_combination_the_last_key_fastest
run_case ranges_are_even_in_the_value_or_its_logarithm
run_case errors_against_a_reference_run_show_the_order
run_case each_combination_has_its_own_reference
run_case a_results_file_is_a_reference_too
run_case last_and_peak_are_those_of_the_results
run_case the_page_shows_runs_over_time
run_case the_number_of_processes_does_not_matter
run_case couplings_are_compared_with_the_monolithic_run
run_case locking_works_in_a_co_simulation
run_case a_breakdown_is_a_result
run_case a_run_that_takes_too_long_is_stopped_and_keeps_its_results
run_case a_crash_of_one_run_does_not_touch_the_others
run_case an_interrupted_sweep_keeps_what_is_done
if script -qec true /dev/null >"$work/script.log" 2>&1 </dev/null; then
    run_case on_a_terminal_a_bar_counts_the_runs
else
    skip_case on_a_terminal_a_bar_counts_the_runs "script cannot open a terminal"
fi
finish
