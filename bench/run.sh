#!/bin/sh
# run.sh [arm|flexible|chain|loop|wall|floor|pile|mlcp|contact|hydraulics|clearance|rim|cosim|fmu|stand|threads|results|commands|study|ranks|logcrane]...   measure Interim and its peers side by side; without names, everything.
# BENCH_ROUNDS rounds (5): programs run in turn in every round, one thread each, CPU time. Peers come from
# Debian's packages (installed here only if root); a peer that cannot be had is left out of the table.
# Figures of every round and the table stay in out/bench; figures.json has all of them, for bench/compare A.json B.json.
set -eu
cd "$(dirname "$0")/.."
rounds=${BENCH_ROUNDS:-5}
jobs=${BENCH_JOBS:-2}
out=out/bench
peers="libmujoco-dev libbullet-dev libode-dev libsimbody-dev libdart-dev libdart-external-ikfast-dev
    libsiconos-numerics-dev libnlopt-dev"
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

has_package() {
    dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

install_peers() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    for package in $peers; do
        has_package "$package" && continue
        echo "bench: installing $package" >&2
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$package" \
            >/dev/null 2>&1 || echo "bench: $package cannot be had; continuing without" >&2
    done
}

# Other flags may bring other warnings, which must not stop a measurement.
build_all() {
    cmake --preset bench && cmake --build build -j "$jobs" &&
        cmake --preset bench-native -DINTERIM_WERROR=OFF && cmake --build build-native -j "$jobs" --target bench_multibody
}

build() {
    build_all >"$out/build.log" 2>&1 && return 0
    tail -n 20 "$out/build.log" >&2
    echo "bench: the build failed, see $out/build.log" >&2
    exit 1
}

# run_program ROUND LABEL PROGRAM: lines "subject scene n metric value" into out/bench/ROUND-LABEL.txt
run_program() {
    [ -x "$3" ] || return 0
    # shellcheck disable=SC2086  # the scene names are words
    timeout 600 "$3" $scenes >"$out/$1-$2.txt" 2>"$out/$1-$2.err" ||
        echo "bench: $2 failed in round $1, see $out/$1-$2.err" >&2
}

run_rounds() {
    rm -f "$out"/*-*.txt "$out"/*-*.err
    round=1
    while [ "$round" -le "$rounds" ]; do
        run_program "$round" interim build/bench/bench_multibody
        run_program "$round" native build-native/bench/bench_multibody
        sed -i 's/^interim-/native-/' "$out/$round-native.txt"
        for peer in mujoco bullet ode simbody dart; do
            run_program "$round" "$peer" "build/bench/peer_$peer"
        done
        round=$((round + 1))
    done
}

# wants NAME [ARGUMENT]...: whether the arguments ask for it; none ask for everything
wants() {
    [ $# -eq 1 ] && return 0
    wanted=$1
    shift
    for name in "$@"; do [ "$name" = "$wanted" ] && return 0; done
    return 1
}

# 100 cranes, each with a circuit, in one process and over two ranks: the lines of the summaries that show the costs
measure_ranks() {
    if [ ! -x build/interim-mpi ] || ! command -v mpirun >/dev/null; then
        echo "bench: ranks are left out: no interim-mpi or no mpirun" >&2
        return
    fi
    examples/cranes.sh 100 >"$out/cranes.yaml"
    echo "100 cranes, 4 s, 400 communication points"
    build/interim run "$out/cranes.yaml" -o "$out/cranes.csv" | sed -n 's/^  wall time  /  one process/p'
    mpirun --allow-run-as-root --oversubscribe --bind-to none --mca btl tcp,self -n 2 build/interim-mpi run "$out/cranes.yaml" -o "$out/ranks.csv" |
        sed -n 's/^  wall time  /  two ranks  /p; /^  ranks /p'
    cmp "$out/cranes.csv" "$out/ranks.csv" && echo "  results      the same bytes"
    rm -f "$out"/cranes.* "$out"/ranks.csv "$out"/ranks.json
}

# scenes that are run beside peers, of those asked for
scenes=
for scene in arm flexible chain loop wall floor pile; do
    if wants "$scene" "$@"; then scenes="$scenes $scene"; fi
done

mkdir -p "$out"
install_peers
build
if [ -n "$scenes" ]; then
    run_rounds
    awk -f bench/table.awk "$out"/[0-9]*-*.txt | tee "$out/table.txt"
fi
# complementarity problems beside Siconos, collision, circuits, joints with clearance, interface models, coupled systems and FMUs by themselves, ten seconds of a wall, a second thread, result files, commands: programs with a table of their own
for program in mlcp contact hydraulics clearance rim cosim fmu stand threads results commands study; do
    if wants "$program" "$@"; then "build/bench/bench_$program" | tee "$out/$program.txt"; fi
done
if wants ranks "$@"; then measure_ranks | tee "$out/ranks.txt"; fi
if wants logcrane "$@"; then build/bench/bench_cosim logcrane | tee "$out/logcrane.txt"; fi
# goals of all tables: the words "yes" and "NO"
find "$out" -name '*.txt' ! -name '[0-9]*-*.txt' ! -name goals.txt -exec cat {} + |
    awk '{ for (i = 1; i <= NF; i++) { gsub(/[(),]/, "", $i); met += $i == "yes"; missed += $i == "NO" } }
         END { printf "%d of %d goals of all tables met\n", met, met + missed }' | tee "$out/goals.txt"
# all figures in one file, for bench/compare
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
find "$out" -name '*.txt' ! -name table.txt ! -name goals.txt | sort | xargs awk -v commit="$commit" -f bench/json.awk >"$out/figures.json"
echo "figures: $out/figures.json"
