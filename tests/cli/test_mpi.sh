#!/bin/sh
# test_mpi.sh SOURCE INTERIM INTERIM-MPI: a study, or one system, over ranks gives the same bytes, whoever dies.
. "$1/tests/shell.sh"
source=$1 interim=$2 program=$3

mpi() {
    timeout 120 mpirun --allow-run-as-root --oversubscribe "$@"
}

# wait_for_bytes FILE COUNT: until a file has so many, or the job ($pid) has ended
wait_for_bytes() {
    tries=0
    while [ "$(cat "$1" 2>/dev/null | wc -c)" -lt "$2" ] && [ $tries -lt 3000 ] && kill -0 "$pid" 2>/dev/null; do
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

# The campaign of ./do torture with fewer and shorter runs: ranks, shards, TCP and kills.
studies_have_the_same_tables_whoever_dies() {
    DURATION="30 s" "$source/tests/torture/cluster.sh" "$source" "$(dirname "$program")" 20 here >out.txt 2>&1 || fail "$(cat out.txt)"
    out_has "tables identical"
}

# The same over two machines.
studies_have_the_same_tables_over_two_namespaces() {
    DURATION="30 s" "$source/tests/torture/cluster.sh" "$source" "$(dirname "$program")" 20 spaces >out.txt 2>&1 || fail "$(cat out.txt)"
    out_has "tables identical"
}

sweeps_have_the_same_table_on_any_number_of_ranks() {
    over="$source/examples/pendulum.yaml --until 0.3s --over parameters.L=0.5m:2m:9 --signals hinge.angle --no-costs -q"
    expect 0 "$interim" sweep $over -o sweep.csv
    for n in 1 3; do
        mpi -n $n "$program" sweep $over -o ranks.csv
        cmp sweep.csv ranks.csv
    done
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
    for n in 2 4; do
        mpi --mca btl tcp,self -n $n "$program" run cranes.yaml --until 1s -o n$n.csv >out.txt 2>err.txt || fail "$(cat err.txt)"
        grep -q "ranks  *$n, .* per communication point" out.txt || fail "no cost of messages"
        cmp one.csv n$n.csv
    done
    # a crane on one rank, its circuit on the other
    mpi --mca btl tcp,self -n 2 "$program" run cranes.yaml --until 1s -q -o apart.csv --set cosim.placement.crane1=1 \
        --set cosim.placement.hydraulics1=0 2>err.txt || fail "$(cat err.txt)"
    cmp one.csv apart.csv
}

a_dead_rank_ends_the_run_with_a_checkpoint() {
    "$source/examples/cranes.sh" 4 >cranes.yaml
    expect 0 "$interim" run cranes.yaml --until 30s -q -o one.csv
    rm -f cut.*
    mpirun --allow-run-as-root --oversubscribe --enable-recovery -n 3 "$program" run cranes.yaml --until 30s -q \
        -o cut.csv >mpi.txt 2>err.txt &
    pid=$! job=$!
    wait_for_bytes cut.checkpoint.rows 20000
    kill -KILL $(rank 1)
    wait "$pid" || true
    pid=
    err_has "rank 1"
    err_has "has died"
    [ -s cut.checkpoint ] || fail "no checkpoint"
    # any number of ranks continues it, one process too
    mpi -n 2 "$program" run cranes.yaml --until 30s -q -o cut.csv --resume 2>err.txt || fail "$(cat err.txt)"
    cmp one.csv cut.csv
}

if command -v mpirun >/dev/null; then
    run_case sweeps_have_the_same_table_on_any_number_of_ranks
    run_case studies_have_the_same_tables_whoever_dies
    if [ "$(id -u)" -eq 0 ] && unshare --net true 2>/dev/null && command -v ip >/dev/null; then
        run_case studies_have_the_same_tables_over_two_namespaces
    else
        skip_case studies_have_the_same_tables_over_two_namespaces "no right to create network namespaces, or no ip"
    fi
    run_case mistakes_are_said_once
    run_case one_system_over_ranks_has_the_bytes_of_one_process
    run_case a_dead_rank_ends_the_run_with_a_checkpoint
else
    skip_case studies_have_the_same_tables_whoever_dies "no mpirun"
fi
finish
