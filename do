#!/bin/sh
# Set-up, build, run and test of Interim, from nothing but a Debian 12 base system:  ./do help
# shellcheck disable=SC2086,SC3013  # lists of packages are meant to split; every sh of Debian has -ef
set -eu
export OPENBLAS_NUM_THREADS=1  # where another OpenBLAS than the serial one is installed: threads only get in the way of our small matrices
cd "$(dirname "$0")"

BUILD_PACKAGES="gcc libc6-dev cmake ninja-build pkg-config libfyaml-dev libxml2-dev libhdf5-dev zlib1g-dev libzip-dev libsundials-dev"
# liblzma-dev, libbz2-dev, libssl-dev: what pkg-config --static asks for on behalf of libxml2 and libzip; locales: a decimal comma to be robust against; LAPACK and SuiteSparse: second
# implementations to compare with
TEST_PACKAGES="libcmocka-dev libnlopt-dev libopenblas-serial-dev liblapacke-dev libsuitesparse-dev liblzma-dev libbz2-dev libssl-dev locales clang clang-format chromium"
# cffi reads the C headers at build time; the other three are for tests and tutorials, which skip what needs them where they are absent
PYTHON_PACKAGES="python3 python3-cffi python3-numpy"
PYTHON_TEST_PACKAGES="python3-pytest python3-setuptools python3-pip python3-wheel python3-scipy python3-matplotlib python3-pandas python3-jsonschema python3-yaml"
MPI_PACKAGES="libopenmpi-dev openmpi-bin"  # for interim-mpi, the program for clusters; without them it is not built
WEB_PACKAGES="nodejs npm"  # for the 3-D view of reports; without them reports have pictures only
JOBS="${JOBS:-$(nproc 2>/dev/null || echo 2)}"

usage() {
    cat <<END
./do setup           install what building and testing need (Debian packages)
./do run             build, compare three couplings of a crane, run the flagship example; pages in out/
./do test            build with gcc and clang, run all tests, plain and with sanitizers
./do reproduce [NAME] the papers' figures beside ours, in out/reproduce/index.html
./do docs            the documentation as a site, in out/docs/index.html
./do pictures [PART]...  run the commands of guide and tutorials, compare what they print with the pages, and make all pictures of
                     docs/images again, or some: plots, pages, film, gallery
./do bare [run|test|both] [--offline-npm]   run and test in a minimal Debian 12 with nothing installed (root only)
./do python          build the Python package, in out/python (for PYTHONPATH, or pip install ./python)
./do bench           print the table of speeds beside other simulators
./do fuzz [MINUTES [TARGET]]  feed every reader of files in turn with nonsense, each for MINUTES (1); finds stay in out/fuzz, processor
                     times in out/fuzz/hours.txt
./do fuzz hours      sum up these times and the inputs, per target
./do fuzz merge      choose small seeds for tests/seeds from all finds
./do threads         run the tests of threads under the thread sanitizer
./do crosscheck FOLDER  every FMU below a folder against its reference, in the layout of the FMI cross-check
./do torture [TIME [SEED]]  failing allocations, damaged files, full disks, signals, random models, every example with every
                     stepper, coupling and coordinates (TIME simulated seconds each, 0.3), valgrind, threads, an hour of one run: hours
./do clean           remove builds and results
END
}

# ---------------------------------------------------------------------------- packages

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

have() {
    for tool; do command -v "$tool" >/dev/null || return 1; done
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# need PACKAGE...: install those that are missing
need() {
    if ! have apt-get dpkg-query; then
        have cc clang cmake ninja pkg-config && return
        echo "This is not a Debian system. Please install what these Debian packages hold:" >&2
        echo "$@" >&2
        exit 1
    fi
    missing=
    for package; do is_installed "$package" || missing="$missing $package"; done
    [ -z "$missing" ] && return
    if [ "$(id -u)" -ne 0 ] && ! have sudo; then
        echo "Please run as root: apt-get install$missing" >&2
        exit 1
    fi
    echo "installing:$missing"
    as_root env DEBIAN_FRONTEND=noninteractive sh -c "apt-get update -qq &&
        apt-get install -y -qq --no-install-recommends $missing" >setup.log 2>&1 ||
        { tail -n 20 setup.log >&2; exit 1; }
    rm -f setup.log
}

# The 3-D view is worth having, but no reason to stop: WEB is ON where it can be built, else the reason is printed once.
WEB=OFF
want_web() {
    have node npm || (need $WEB_PACKAGES) || { echo "no npm: reports have plots as pictures and no 3-D view"; return; }
    if web/fetch.sh; then WEB=ON; fi
}

do_setup() {
    need $BUILD_PACKAGES $TEST_PACKAGES $PYTHON_PACKAGES $PYTHON_TEST_PACKAGES $MPI_PACKAGES
    want_web
}

# ---------------------------------------------------------------------------- building and testing

# quietly NAME COMMAND...: a line of progress; the end of what the command said only if it fails
quietly() {
    name=$1; shift
    started=$(date +%s)
    mkdir -p build
    if "$@" >build/do.log 2>&1; then
        printf '%-36s ok  %3d s\n' "$name" $(($(date +%s) - started))
    else
        printf '%-36s FAILED\n' "$name"
        tail -n "${TAIL:-60}" build/do.log
        return 1
    fi
}

# CMake refuses a build folder of another source tree: one that was moved or copied here is configured afresh.
drop_foreign_cache() {
    [ -e "$1/CMakeCache.txt" ] || return 0
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$1/CMakeCache.txt")
    [ "$home" -ef . ] && [ "$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$1/CMakeCache.txt")" -ef "$1" ] && return
    echo "$1 was configured for a source tree in ${home:-another folder}; this one is in $(pwd): configuring it afresh"
    rm -rf "$1/CMakeCache.txt" "$1/CMakeFiles"
}

# build PRESET FOLDER [CMAKE-OPTION...]: all of it, or what TARGETS names
TARGETS=
build() {
    preset=$1 folder=$2; shift 2
    drop_foreign_cache "$folder"
    quietly "$preset: configure" cmake --preset "$preset" -DINTERIM_WEB=$WEB "$@" &&
        quietly "$preset: build" cmake --build "$folder" -j "$JOBS" ${TARGETS:+--target $TARGETS}
}

passed=0 failed=0 skipped=0
QUICK_TESTS='^test_(base|blocks|eigen|expression|signal|program|mlcp|rim|cosim|threads|results|record|report|compare)$|^example_'

# One check that is no test program.
check() {
    if quietly "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

count() {
    grep -o "$1" "$2" | wc -l
}

# All tests of a build, or those that ctest selects by further options, counted case by case as they name themselves: [ RUN ] and [ OK ]
run_tests() {
    folder=$1 title=$2; shift 2
    log=$folder/Testing/Temporary/LastTest.log
    TAIL=200 quietly "$title" ctest --test-dir "$folder" -j "$JOBS" --output-on-failure --timeout 600 "$@" && status=0 ||
        status=1
    ran=$(count '\[ RUN      \]' "$log")
    good=$(count '\[       OK \]' "$log")
    left=$(($(count '\[  SKIPPED \] [A-Za-z0-9_]*$' "$log") / 2))
    bad=$((ran - good - left))
    [ "$status" -eq 0 ] || [ $bad -gt 0 ] || bad=1
    passed=$((passed + good)) failed=$((failed + bad)) skipped=$((skipped + left))
    # "skipped: CASE: REASON", counted by reason
    sed -n 's/^skipped: [A-Za-z0-9_]*: //p' "$log" | sort | uniq -c | while read -r cases reason; do
        echo "    skipped $cases: $reason"
    done
}

verdict() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}

do_test() {
    do_setup
    rm -f build/Testing/Temporary/LastTest.log build-asan/Testing/Temporary/LastTest.log build-clang/Testing/Temporary/LastTest.log
    if build release build -DINTERIM_BUILD_TESTS=ON -DINTERIM_BUILD_BENCH=OFF && build clang build-clang && build asan build-asan; then
        run_tests build "release: tests"
        run_tests build-asan "asan: tests"
        # without optimisation: the quick tests of every room
        run_tests build-clang "clang: tests" -R "$QUICK_TESTS"
        check "format" scripts/check-format.sh
        check "headers of the command" scripts/check-headers.sh
        check "references" scripts/check-references.sh
        check "equations" scripts/check-equations.sh
        check "notation" scripts/check-notation.sh
        check "keys of model files" scripts/check-model-file.sh
        check "schema of model files" scripts/check-schema.sh
        check "names of functions" scripts/check-names.sh
        check "comments of public functions" scripts/check-comments.sh
        check "words of the glossary" scripts/check-words.sh
    else
        failed=$((failed + 1))
    fi
    verdict
}

do_run() {
    need $BUILD_PACKAGES
    want_web
    build release build -DINTERIM_BUILD_TESTS=OFF -DINTERIM_BUILD_BENCH=OFF
    mkdir -p out
    show_couplings
    echo
    echo "The flagship: a hydraulic manipulator that pushes a block against a wall"
    build/interim run examples/manipulator.yaml -o out/manipulator.csv --report out/manipulator.html
    echo
    echo "open out/couplings.html and out/manipulator.html in a browser"
}

# One machine at one macro step, coupled in three ways: what the interface model is for, in a few seconds. The guard that ends a run
# whose energy comes from nowhere is off, so that one sees where it leads.
show_couplings() {
    echo
    echo "One crane, three couplings: data exchanged every 0.1 ms (monolithic, the reference), and every 10 ms with a"
    echo "reduced interface model (rim) or with zero-order hold, as in most tools (zoh)"
    for coupling in monolithic rim zoh; do
        build/interim run -q examples/crane-single.yaml --set cosim.coupling=$coupling --set run.bounds.breakdown=0 \
            -o out/crane-$coupling.csv 2>out/crane-$coupling.txt || [ $? -eq 2 ] || { cat out/crane-$coupling.txt; return 1; }
    done
    build/interim compare -q out/crane-monolithic.csv out/crane-rim.csv out/crane-zoh.csv \
        --signals crane.cyl1.length,crane.cyl1.force,energy.coupling_error --report out/couplings.html \
        --title "Crane, data exchanged every 10 ms: interface model (rim) and zero-order hold (zoh)"
}

# Pages are made by node; the viewer of reports is worth having in them.
build_for_pages() {
    need $BUILD_PACKAGES
    have node npm || need $WEB_PACKAGES
    want_web
    build release build -DINTERIM_BUILD_TESTS=OFF -DINTERIM_BUILD_BENCH=OFF
}

do_reproduce() {
    build_for_pages
    node scripts/reproduce.mjs build/interim out/reproduce "$@"
}

do_docs() {
    build_for_pages
    [ $WEB = ON ] || { echo "./do docs needs the packages of web/, which npm cannot fetch" >&2; exit 1; }
    node scripts/docs.mjs build/interim out/docs
    echo "see out/docs/index.html"
}

# Chromium shows the pages, img2webp (webp) makes films of them.
do_pictures() {
    build_for_pages
    need chromium webp
    node scripts/pictures.mjs build "$@"
}

# A folder as a wheel has it: interim/ with the library inside, and interim-VERSION.dist-info.
do_python() {
    need $BUILD_PACKAGES $PYTHON_PACKAGES python3-setuptools python3-pip python3-wheel
    build release build -DINTERIM_BUILD_TESTS=OFF -DINTERIM_BUILD_BENCH=OFF
    rm -rf out/python
    mkdir -p out
    quietly "python: package" /usr/bin/python3 -m pip install -q --no-index --no-deps --no-build-isolation --no-compile --root-user-action=ignore \
        --target out/python ./python
    rm -rf python/build python/interim.egg-info
    PYTHONPATH=out/python /usr/bin/python3 -c 'import interim; print("interim", interim.__version__, "in out/python: PYTHONPATH=out/python, or pip install ./python")'
}

do_bench() {
    need $BUILD_PACKAGES g++ libopenblas-serial-dev liblapacke-dev
    bench/run.sh
}

FUZZ_TARGETS="fuzz_file fuzz_override fuzz_urdf fuzz_archive fuzz_description fuzz_ssd fuzz_results fuzz_hdf5 fuzz_mesh fuzz_tables fuzz_checkpoint fuzz_study fuzz_expression fuzz_host fuzz_link"

# Folders of seeds of a target beside its own, tests/seeds/TARGET.
fuzz_seeds() {
    case $1 in
        fuzz_file) echo tests/corpus examples ;;
        fuzz_urdf) echo tests/urdf ;;
        fuzz_study) echo examples/studies ;;
        fuzz_archive | fuzz_description | fuzz_ssd) echo tests/fmi/corpus ;;
    esac
}

# note_hours TARGET: a line for the last run, of which the second line of `times` has the user and system time of all children
note_hours() {
    awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, "m"); sum += 60 * part[1] + part[2] } printf "%.1f\n", sum }' "out/fuzz/$1.times" |
        while read -r seconds; do
            inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "out/fuzz/$1.log")
            echo "$(date -u +%Y-%m-%dT%H:%M) $1 $seconds ${inputs:-0}" >>out/fuzz/hours.txt
            echo "$1: $seconds s of processor time, ${inputs:-0} inputs"
        done
    rm -f "out/fuzz/$1.times"
}

# Of all runs so far: date, target, processor time in s, inputs.
sum_hours() {
    [ -e out/fuzz/hours.txt ] || { echo "no fuzzer has run here"; return; }
    awk 'NF == 4 { time[$2] += $3; inputs[$2] += $4; all += $3; n += $4 }
         END { for (t in time) printf "%-18s %7.2f h %12.0f inputs\n", t, time[t] / 3600, inputs[t] | "sort"
               close("sort"); printf "%-18s %7.2f h %12.0f inputs\n", "all", all / 3600, n }' out/fuzz/hours.txt
}

# fuzz PROGRAM OPTION...: runs in memory (/dev/shm) where targets write files; new finds go to out/fuzz/PROGRAM, a crash stops it
fuzz() {
    name=$1; shift
    root=$(pwd)
    mkdir -p "out/fuzz/$name" "tests/seeds/$name"
    seeds="$root/tests/seeds/$name"
    for folder in $(fuzz_seeds "$name"); do seeds="$seeds $root/$folder"; done
    memory=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
    status=0
    (cd "$memory" || exit 1
        ended=0
        "$root/build-fuzz/tests/$name" -dict="$root/tests/fuzz_file.dict" -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 \
            -artifact_prefix="$root/out/fuzz/" "$@" "$root/out/fuzz/$name" $seeds || ended=$?
        times >"$root/out/fuzz/$name.times"
        exit $ended) >"out/fuzz/$name.log" 2>&1 || status=$?
    rm -rf "$memory"
    note_hours "$name"
    [ $status -eq 0 ] || { tail -n 40 "out/fuzz/$name.log"; return 1; }
}

# fuzz_merge: from everything found so far, a few small seeds per target that together reach as much, in tests/seeds
fuzz_merge() {
    rm -rf out/fuzz/merged
    mkdir -p out/fuzz/merged "tests/seeds/$1" "out/fuzz/$1"
    cp -r "tests/seeds/$1" out/fuzz/merged/given
    mkdir -p out/fuzz/merged/found
    find "out/fuzz/$1" -type f -size -2k -exec cp {} out/fuzz/merged/found \;
    mkdir -p out/fuzz/merged/best
    "build-fuzz/tests/$1" -merge=1 -timeout=20 out/fuzz/merged/best out/fuzz/merged/given out/fuzz/merged/found >"out/fuzz/$1.log" 2>&1
    # the smallest ones: a repository is no corpus
    ls -Sr out/fuzz/merged/best | head -n 40 | while read -r seed; do
        # libFuzzer names a file by the SHA-1 of its content
        sha1sum out/fuzz/merged/given/* | grep -q "^$seed" || cp "out/fuzz/merged/best/$seed" "tests/seeds/$1/found-$(echo "$seed" | cut -c 1-12)"
    done
    rm -rf out/fuzz/merged
    echo "$1: $(find "tests/seeds/$1" -type f | wc -l) seeds, $(du -sk "tests/seeds/$1" | cut -f 1) kB"
}

do_fuzz() {
    [ "$1" != hours ] || { sum_hours; return; }
    need $BUILD_PACKAGES $TEST_PACKAGES $MPI_PACKAGES
    TARGETS=${2:-$FUZZ_TARGETS}
    build fuzz build-fuzz
    for target in ${2:-$FUZZ_TARGETS}; do
        if [ "$1" = merge ]; then fuzz_merge "$target"; else fuzz "$target" -max_len=8192 -max_total_time=$(($1 * 60)); fi
    done
    sum_hours
}

do_crosscheck() {
    [ $# -eq 1 ] || { echo "./do crosscheck needs a folder with FMUs" >&2; exit 1; }
    need $BUILD_PACKAGES
    build release build -DINTERIM_BUILD_BENCH=OFF
    scripts/crosscheck.sh build/interim "$1"
}

# Programs whose threads share models, circuits and files, under the thread sanitizer; the build takes longer than they do.
do_threads() {
    need $BUILD_PACKAGES $TEST_PACKAGES
    drop_foreign_cache build-tsan
    quietly "tsan: configure" cmake --preset tsan -DINTERIM_WEB=OFF &&
        quietly "tsan: build" cmake --build build-tsan -j "$JOBS" --target test_pool test_threads
    run_tests build-tsan "tsan: tests" -R '^test_(pool|threads)$'
    verdict
}

# Campaigns that take long (hours); the figures are in out/torture. A campaign with a failure ends it with status 1.
do_torture() {
    need $BUILD_PACKAGES $TEST_PACKAGES $MPI_PACKAGES valgrind iproute2
    build release build -DINTERIM_BUILD_TESTS=ON
    status=0
    TIME=$1 SEED=$2 tests/torture/torture.sh . build out/torture || status=1
    do_threads || status=1
    return $status
}

case "${1:-help}" in
    setup) do_setup ;;
    run) do_run ;;
    test) do_test ;;
    reproduce) shift; do_reproduce "$@" ;;
    docs) do_docs ;;
    pictures) shift; do_pictures "$@" ;;
    python) do_python ;;
    bare) shift; scripts/bare.sh "$@" ;;
    bench) do_bench ;;
    fuzz) do_fuzz "${2:-1}" "${3:-}" ;;
    threads) do_threads ;;
    crosscheck) shift; do_crosscheck "$@" ;;
    torture) do_torture "${2:-0.3}" "${3:-1}" ;;
    clean) rm -rf build build-* out web/node_modules ;;
    help | -h | --help) usage ;;
    *) echo "./do: unknown word '$1'" >&2; usage >&2; exit 1 ;;
esac
