#!/bin/sh
# test_mpi.sh SOURCE INTERIM INTERIM-MPI: a study, or one system, over ranks gives the same bytes, whoever dies.
. "$1/tests/shell.sh"
source=$1 interim=$2 program=$3

mpi() {
    timeout 120 mpirun --allow-run-as-root --oversubscribe "$@"
}

pendulum() {
    cat >study.yaml <<END
model: $source/examples/pendulum.yaml
set: {run.duration: $1}
factors:
  L: {from: 0.5 m, to: 2 m}
  start: {distribution: normal, mean: 60 deg, std: 10 deg}
design: {type: sobol, runs: 20, seed: 7}
responses:
  angle: {final: hinge.angle}
  error: {rms_difference: hinge.angle}
reference: {parameters.L: 1 m}
END
    expect 0 "$interim" study study.yaml -q -o whole.csv
}

same() {
    cmp whole.csv "$1.csv" && cmp whole.h5 "$1.h5"
}

# wait_for UNIT FILE COUNT: until a file has so many lines (-l) or bytes (-c), or the job ($pid) has ended
wait_for() {
    tries=0
    while [ "$(cat "$2" 2>/dev/null | wc "$1")" -lt "$3" ] && [ $tries -lt 3000 ] && kill -0 "$pid" 2>/dev/null; do
        sleep 0.02
        tries=$((tries + 1))
    done
}

# rank NUMBER: its process; children of mpirun are numbered as their ranks
rank() {
    for process in $(cat "/proc/$job/task/"*/children); do
        tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$1" && echo "$process"
    done
}

start() {
    mpirun --allow-run-as-root --oversubscribe --enable-recovery -n 4 "$program" study study.yaml -q -o cut.csv "$@" \
        >mpi.txt 2>err.txt &
    pid=$! job=$!
}

any_number_of_ranks_gives_the_same_tables() {
    pendulum "0.3 s"
    for n in 1 2 4; do
        mpi -n $n "$program" study study.yaml -q -o n$n.csv 2>err.txt || fail "$(cat err.txt)"
        same n$n
    done
    over="$source/examples/pendulum.yaml --until 0.3s --over parameters.L=0.5m:2m:9 --signals hinge.angle --no-costs -q"
    expect 0 "$interim" sweep $over -o sweep.csv
    mpi -n 3 "$program" sweep $over -o ranks.csv
    cmp sweep.csv ranks.csv
}

# kill_rank NUMBER LINES: when the journal has so many, and a rank that is not 0 while it executes a run
kill_rank() {
    wait_for -l cut.journal "$2"
    victim=$(rank "$1" || true) tries=0
    while [ "$1" -gt 0 ] && [ -z "$(cat "/proc/$victim/task/$victim/children")" ] && [ $tries -lt 500 ]; do
        sleep 0.01
        tries=$((tries + 1))
    done
    kill -KILL "$victim"
}

# wait_until_noticed RANK: within a second, of looks 20 ms apart
wait_until_noticed() {
    tries=0
    until grep -q "rank $1 on .* has died" err.txt; do
        [ $tries -lt 50 ] || { cat err.txt; fail "rank $1: not noticed within a second"; }
        sleep 0.02
        tries=$((tries + 1))
    done
}

a_dead_rank_s_runs_are_dealt_again_and_those_of_rank_0_resumed() {
    pendulum "20 s"
    start
    kill_rank 2 4
    wait_until_noticed 2
    kill_rank 3 12
    wait_until_noticed 3
    status=0
    wait "$pid" || status=$?
    pid=
    [ "$status" -eq 0 ] || { cat err.txt; fail "status $status"; }
    err_has "dealing again"
    same cut
    # costs and journal agree on how often a run was begun again
    again=$(awk -F, 'NR > 1 { sum += $2 - 1 } END { print sum }' cut.costs.csv)
    [ "$again" -gt 0 ] && [ "$again" -eq "$(grep -c '^{"repeated"' cut.journal)" ] || fail "$again runs begun again"

    rm -f cut.*
    start
    kill_rank 0 10
    wait "$pid" || true
    pid=
    [ ! -e cut.h5 ] || fail "complete without rank 0"
    [ "$(wc -l <cut.journal)" -ge 10 ]
    mpi -n 2 "$program" study study.yaml -q -o cut.csv --resume 2>err.txt || fail "$(cat err.txt)"
    same cut
}

mistakes_are_said_once() {
    ! mpi -n 3 "$program" study nowhere.yaml >out.txt 2>err.txt
    [ "$(grep -c "nowhere.yaml" err.txt)" -eq 1 ] || { cat err.txt; fail "not once"; }
    ! mpi -n 2 "$program" check "$source/examples/pendulum.yaml" >out.txt 2>err.txt
    err_has "expected study, sweep or run"
    ! mpi -n 3 "$program" run nowhere.yaml >out.txt 2>err.txt
    [ "$(grep -c "nowhere.yaml" err.txt)" -eq 1 ] || { cat err.txt; fail "not once"; }
    ! mpi -n 2 "$program" run "$source/examples/crane-cut.yaml" --set cosim.placement.crane=0 --set cosim.placement.load=1 \
        >out.txt 2>err.txt
    err_has "must be on the same rank"
}

one_system_over_ranks_has_the_bytes_of_one_process() {
    "$source/examples/cranes.sh" 6 >cranes.yaml
    expect 0 "$interim" run cranes.yaml --until 1s -q -o one.csv
    mpi --mca btl tcp,self -n 3 "$program" run cranes.yaml --until 1s -o ranks.csv >out.txt 2>err.txt || fail "$(cat err.txt)"
    grep -q "ranks  *3, [2468] of 12 parts on rank 0; per communication point" out.txt || { cat out.txt; fail "no cost of messages, or cranes are not spread"; }
    cmp one.csv ranks.csv
    # a crane on one rank, its circuit on the other
    mpi --mca btl tcp,self -n 2 "$program" run cranes.yaml --until 1s -q -o apart.csv --set cosim.placement.crane1=1 \
        --set cosim.placement.hydraulics1=0 2>err.txt || fail "$(cat err.txt)"
    cmp one.csv apart.csv
}

a_dead_rank_ends_the_run_with_a_checkpoint() {
    "$source/examples/cranes.sh" 4 >cranes.yaml
    expect 0 "$interim" run cranes.yaml --until 20s -q -o one.csv
    rm -f cut.*
    mpirun --allow-run-as-root --oversubscribe --enable-recovery -n 3 "$program" run cranes.yaml --until 20s -q \
        -o cut.csv >mpi.txt 2>err.txt &
    pid=$! job=$!
    wait_for -c cut.checkpoint.rows 20000
    kill -KILL $(rank 1)
    wait "$pid" || true
    pid=
    err_has "rank 1"
    err_has "has died"
    [ -s cut.checkpoint ] || fail "no checkpoint"
    # any number of ranks continues it, one process too
    mpi -n 2 "$program" run cranes.yaml --until 20s -q -o cut.csv --resume 2>err.txt || fail "$(cat err.txt)"
    cmp one.csv cut.csv
}

# The memory of rank 1 is full while a file exists: no message can be sent, and rank 0 must not wait for one.
a_rank_that_fails_but_lives_ends_the_run_with_a_checkpoint() {
    "$source/examples/cranes.sh" 2 >cranes.yaml
    library=$(dirname "$program")/tests/libfail_allocation.so
    rm -f cut.* full
    # as separate programs of a job, of which only the second has the library
    set -- "$program" run cranes.yaml --until 2000s -q -o cut.csv
    mpi -n 1 "$@" : -n 1 env "FAIL_WHILE=$PWD/full" "LD_PRELOAD=$library" "$@" >mpi.txt 2>err.txt &
    pid=$!
    wait_for -c cut.checkpoint.rows 5000
    touch full
    status=0
    wait "$pid" || status=$?
    pid=
    [ "$status" -eq 2 ] || { cat err.txt; fail "status $status"; }
    err_has "has failed: out of memory"
    [ -s cut.checkpoint ] || fail "no checkpoint"
}

if command -v mpirun >/dev/null; then
    run_case any_number_of_ranks_gives_the_same_tables
    run_case a_dead_rank_s_runs_are_dealt_again_and_those_of_rank_0_resumed
    run_case mistakes_are_said_once
    run_case one_system_over_ranks_has_the_bytes_of_one_process
    run_case a_dead_rank_ends_the_run_with_a_checkpoint
    if [ -e "$(dirname "$program")/tests/libfail_allocation.so" ]; then
        run_case a_rank_that_fails_but_lives_ends_the_run_with_a_checkpoint
    else
        skip_case a_rank_that_fails_but_lives_ends_the_run_with_a_checkpoint "no libfail_allocation.so: sanitizers have allocators of their own"
    fi
else
    skip_case any_number_of_ranks_gives_the_same_tables "no mpirun"
fi
finish
