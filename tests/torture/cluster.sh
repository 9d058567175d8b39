#!/bin/sh
# cluster.sh SOURCE BUILD RUNS: a study over two machines that are two network namespaces joined by a pair of virtual cables, with ranks that
# are killed with signal 9 now and then, gives the same bytes as in one process. Root only.
set -u
source=$1 build=$2 runs=$3
if [ "$(id -u)" -ne 0 ] || [ ! -x "$build/interim-mpi" ] || ! command -v mpirun ip unshare >/dev/null; then
    echo "cluster: skipped: needs root, interim-mpi, mpirun, ip and unshare"
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
ip netns add $left && ip netns add $right && ip link add il$$ type veth peer name ir$$ || { echo "cluster: skipped: no network namespaces"; exit 0; }
ip link set il$$ netns $left && ip link set ir$$ netns $right
ip -n $left addr add 10.99.0.1/24 dev il$$ && ip -n $right addr add 10.99.0.2/24 dev ir$$
for pair in $left:il$$ $right:ir$$; do
    ip -n "${pair%:*}" link set "${pair#*:}" up
    ip -n "${pair%:*}" link set lo up
done

# what ssh would do
cat >"$work/agent.sh" <<END
#!/bin/sh
case \$1 in 10.99.0.1) space=$left ;; *) space=$right ;; esac
shift
exec ip netns exec \$space unshare --uts sh -c "hostname \$space; \$*"
END
chmod +x "$work/agent.sh"
cd "$work" || exit 1
cat >study.yaml <<END
model: $source/examples/pendulum.yaml
set: {run.duration: 10 s}
factors:
  L: {from: 0.5 m, to: 2 m}
  start: {distribution: normal, mean: 60 deg, std: 10 deg}
design: {type: latin-hypercube, runs: $runs, seed: 7}
responses:
  angle: {final: hinge.angle}
  error: {rms_difference: hinge.angle}
reference: {run.step: 0.5 ms, parameters.L: 1 m}
END
"$build/interim" study study.yaml -q -o whole.csv || exit 1

# launch OPTION...: four ranks, two on each side; the command runs on
launch() {
    ip netns exec $left unshare --uts sh -c "hostname $left; exec mpirun --allow-run-as-root --oversubscribe --enable-recovery \
        --mca plm_rsh_agent '$work/agent.sh' --mca btl tcp,self --mca btl_tcp_if_include 10.99.0.0/24 \
        --mca oob_tcp_if_include 10.99.0.0/24 --host 10.99.0.1:2,10.99.0.2:2 -n 4 '$build/interim-mpi' study study.yaml -q $*" 2>>err.txt
}

# rank NUMBER: its process, the oldest of those that have its environment: runs are its children
rank() {
    for environ in /proc/[0-9]*/environ; do
        (tr '\0' '\n' <"$environ") 2>/dev/null >environ.txt
        grep -qx "OMPI_COMM_WORLD_RANK=$1" environ.txt && [ "$(readlink "${environ%environ}cwd")" = "$work" ] &&
            echo "$environ" | cut -d/ -f3
    done | sort -n | head -n 1
}

launch -o net.csv && cmp whole.csv net.csv && cmp whole.h5 net.h5 || { cat err.txt; exit 1; }
hosts=$(tail -n +2 net.costs.csv | cut -d, -f3 | sort -u | wc -l)
[ "$hosts" -eq 2 ] || { echo "runs on $hosts machines"; exit 1; }

# kill_at NAME LINES RANK: launch a study, kill a rank with signal 9 when the journal has that many lines
kill_at() {
    launch -o "$1.csv" &
    pid=$!
    while [ "$(cat "$1.journal" 2>/dev/null | wc -l)" -lt "$2" ] && kill -0 $pid; do sleep 0.05; done
    kill -9 "$(rank "$3")" || exit 1
    wait $pid
}

# a rank of the other machine: its runs are dealt again
kill_at lost $((runs / 4)) 3
cmp whole.csv lost.csv && cmp whole.h5 lost.h5 || { cat err.txt; exit 1; }
again=$(awk -F, 'NR > 1 && $2 > 1' lost.costs.csv | wc -l)
[ "$again" -gt 0 ] || { echo "no run was begun again"; exit 1; }
# rank 0: the others end, and the study is continued
kill_at cut $((runs / 2)) 0
launch -o cut.csv --resume && cmp whole.csv cut.csv && cmp whole.h5 cut.h5 || { cat err.txt; exit 1; }
echo "cluster: $runs runs over two namespaces, 2 ranks killed, $again runs begun again, tables identical"
