#!/bin/sh
# cluster.sh SOURCE BUILD RUNS [PART]...: a study of so many runs gives the same bytes however it is executed. Parts, all without names:
#   here    1, 2 and 4 ranks, by shared memory and by TCP; 5 shards; ranks and the whole job killed with signal 9 now and then
#   spaces  two machines that are two network namespaces joined by a pair of virtual cables (root only), ranks killed too
# DURATION: simulated time of a run (10 s).
set -u
source=$(realpath "$1") build=$(realpath "$2") runs=$3
shift 3
parts=${*:-here spaces}
if [ ! -x "$build/interim-mpi" ] || ! command -v mpirun >/dev/null; then
    echo "cluster: skipped: needs interim-mpi and mpirun"
    exit 0
fi
work=$(mktemp -d)
left=itm-left-$$ right=itm-right-$$
clean_up() {
    ip netns del $left 2>/dev/null
    ip netns del $right 2>/dev/null
    rm -rf "$work"
}
trap clean_up EXIT
cd "$work" || exit 1
cat >study.yaml <<END
model: $source/examples/pendulum.yaml
set: {run.duration: ${DURATION:-10 s}}
factors:
  L: {from: 0.5 m, to: 2 m}
  start: {distribution: normal, mean: 60 deg, std: 10 deg}
design: {type: latin-hypercube, runs: $runs, seed: 7}
responses:
  angle: {final: hinge.angle}
  error: {rms_difference: hinge.angle}
reference: {parameters.L: 1 m}
signals: {names: [hinge.angle], points: 20}
END
lines=$((2 * runs))  # of a whole journal, behind the signature: runs and as many references
ways=0 killed=0 repeated=0

give_up() {
    echo "cluster: $*"
    tail -n 40 err.txt
    exit 1
}

# same NAME: its tables and effects have the bytes of the study in one process
same() {
    for ending in csv h5 effects.csv; do cmp "whole.$ending" "$1.$ending" || give_up "$1.$ending differs"; done
    ways=$((ways + 1))
}

# launch_here COUNT OPTION...: that many ranks on this machine
launch_here() {
    count=$1; shift
    exec timeout 900 mpirun --allow-run-as-root --oversubscribe --enable-recovery -n "$count" ${FABRIC:-} "$build/interim-mpi" study study.yaml -q \
        "$@" 2>>err.txt
}

# launch_spaces 4 OPTION...: four ranks, two in each namespace
launch_spaces() {
    shift
    ip netns exec $left unshare --uts sh -c "hostname $left; exec mpirun --allow-run-as-root --oversubscribe --enable-recovery \
        --mca plm_rsh_agent '$work/agent.sh' --mca btl tcp,self --mca btl_tcp_if_include 10.99.0.0/24 \
        --mca oob_tcp_if_include 10.99.0.0/24 --host 10.99.0.1:2,10.99.0.2:2 -n 4 '$build/interim-mpi' study study.yaml -q $*" 2>>err.txt
}

# rank NUMBER: its process, the oldest of those that have its environment: runs are its children
rank() {
    for process in /proc/[0-9]*; do
        [ "$process/cwd" -ef "$work" ] && (tr '\0' '\n' <"$process/environ") 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$1" && echo "${process#/proc/}"
    done | sort -n | head -n 1
}

# wait_for_lines NAME COUNT: until its journal has so many, or the job ($pid) has ended
wait_for_lines() {
    while [ "$(cat "$1.journal" 2>/dev/null | wc -l)" -lt "$2" ]; do
        kill -0 "$pid" 2>/dev/null || give_up "$1 ended before it had $2 lines"
        sleep 0.02
    done
}

# kill_rank NAME COUNT RANK: when the journal has so many lines, and a rank that is not 0 while it executes a run
kill_rank() {
    wait_for_lines "$1" 1
    victim=$(rank "$3")
    wait_for_lines "$1" "$2"
    tries=0
    while [ "$3" -gt 0 ] && [ -z "$(cat "/proc/$victim/task/$victim/children")" ] && [ $tries -lt 500 ]; do
        sleep 0.01
        tries=$((tries + 1))
    done
    [ -n "$victim" ] && kill -9 "$victim" || give_up "no rank $3"
    killed=$((killed + 1))
}

# notice RANK: rank 0 says within a second that it has died, of looks 20 ms apart
notice() {
    tries=0
    until grep -q "rank $1 on .* has died" err.txt; do
        [ $tries -lt 50 ] || give_up "rank $1 has died, which is not noticed within a second"
        sleep 0.02
        tries=$((tries + 1))
    done
}

# dead_ranks LAUNCH NAME RANK...: kill them one after the other; their runs are dealt again, and the costs tell which
dead_ranks() {
    how=$1 name=$2 done=0; shift 2
    (launch_"$how" 4 -o "$name.csv") &
    pid=$!
    for number; do
        done=$((done + lines / 5))
        : >err.txt
        kill_rank "$name" $done "$number"
        notice "$number"
    done
    wait $pid || give_up "$name: status $?"
    same "$name"
    # a run may be begun more than twice: the table counts attempts, the journal has a line for each that was lost
    again=$(awk -F, 'NR > 1 { sum += $2 - 1 } END { print sum }' "$name.costs.csv")
    [ "$again" -gt 0 ] && [ "$again" -eq "$(grep -c '^{"repeated"' "$name.journal")" ] || give_up "$name: $again runs begun again"
    repeated=$((repeated + again))
}

# dead_dealer LAUNCH NAME: kill rank 0 in the middle; the other ranks end, and the study is continued
dead_dealer() {
    (launch_"$1" 4 -o "$2.csv") &
    pid=$!
    kill_rank "$2" $((lines / 2)) 0
    wait $pid
    [ ! -e "$2.h5" ] || give_up "$2: complete without rank 0"
    [ -z "$(rank 1)$(rank 2)$(rank 3)" ] || give_up "$2: ranks outlive rank 0"
    (launch_"$1" 4 -o "$2.csv" --resume) || give_up "$2: status $?"
    same "$2"
    # nothing that was there is executed again
    [ "$(grep -vc '^{"repeated"' "$2.journal")" -eq $((lines + 1)) ] || give_up "$2: $(wc -l <"$2.journal") lines in the journal"
}

# Everything at once, with signal 9, several times.
dead_job() {
    resume=
    for quarter in 1 2 3; do
        setsid sh -c "echo \$\$ >group; exec '$build/interim' study study.yaml -q -j 3 -o job.csv $resume" 2>>err.txt &
        pid=$!
        wait_for_lines job $((quarter * lines / 4))
        kill -9 "-$(cat group)" || give_up "no job"
        wait $pid
        killed=$((killed + 1)) resume=--resume
    done
    "$build/interim" study study.yaml -q -o job.csv --resume 2>>err.txt || give_up "job: status $?"
    same job
}

shards() {
    for part in 1 2 3 4 5; do
        "$build/interim" study study.yaml -q -o parts.csv --shard $part/5 2>>err.txt || give_up "shard $part: status $?"
    done
    "$build/interim" study merge parts.csv -q 2>>err.txt || give_up "merge: status $?"
    same parts
}

test_here() {
    for count in 1 2 4; do
        (launch_here $count -o ranks$count.csv) || give_up "$count ranks: status $?"
        same ranks$count
    done
    (FABRIC="--mca btl tcp,self" launch_here 4 -o tcp.csv) || give_up "TCP: status $?"
    same tcp
    shards
    dead_ranks here lost 2 3
    dead_dealer here cut
    dead_job
}

join_spaces() {
    ip netns add $left && ip netns add $right && ip link add il$$ type veth peer name ir$$ || return 1
    ip link set il$$ netns $left && ip link set ir$$ netns $right
    ip -n $left addr add 10.99.0.1/24 dev il$$ && ip -n $right addr add 10.99.0.2/24 dev ir$$ || return 1
    for pair in $left:il$$ $right:ir$$; do
        ip -n "${pair%:*}" link set "${pair#*:}" up
        ip -n "${pair%:*}" link set lo up
    done
    # what ssh would do
    cat >agent.sh <<END
#!/bin/sh
case \$1 in 10.99.0.1) space=$left ;; *) space=$right ;; esac
shift
exec ip netns exec \$space unshare --uts sh -c "hostname \$space; \$*"
END
    chmod +x agent.sh
}

test_spaces() {
    if [ "$(id -u)" -ne 0 ] || ! command -v ip >/dev/null || ! command -v unshare >/dev/null || ! join_spaces 2>>err.txt; then
        echo "cluster: two namespaces skipped: needs root, ip and unshare, and the right to create network namespaces"
        return
    fi
    launch_spaces 4 -o net.csv || give_up "namespaces: status $?"
    same net
    hosts=$(tail -n +2 net.costs.csv | cut -d, -f3 | sort -u | wc -l)
    [ "$hosts" -eq 2 ] || give_up "runs on $hosts machines"
    dead_ranks spaces far 3
    dead_dealer spaces gone
}

"$build/interim" study study.yaml -q -j 1 -o whole.csv 2>>err.txt || give_up "status $?"
for part in $parts; do test_"$part"; done
echo "cluster: $runs runs executed in $ways other ways ($parts), $killed kills, $repeated runs begun again, tables identical"
