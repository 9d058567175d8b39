#!/bin/sh
# Ends of runs that nobody chose: a full disk (RLIMIT_FSIZE), little address space, kill -9 and signals at random times. An older result stays until a new
# one is whole; rows written before the end can be read; report and plot leave no cut file under the final name.
#   endings.sh SOURCE INTERIM COUNT [SEED]
set -u
source=$1 interim=$2 count=$3 seed=${4:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
model=$source/examples/pendulum.yaml
injected=0 failed=0

bad() {
    echo "    $*"
    failed=$((failed + 1))
}

# A number from 1 to the limit, by seed and count.
random() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    echo $((seed / 65536 % $1 + 1))
}

"$interim" run "$model" -q --until 0.05s -o good.csv 2>/dev/null
"$interim" run "$model" -q --until 0.05s -o good.h5 2>/dev/null
"$interim" report good.csv -q -o whole.html
"$interim" plot good.csv --signals '*.position.*' -o whole.svg >/dev/null

# full disk: files may have so many blocks of 512 bytes
i=0
while [ $i -lt "$count" ]; do
    for ending in csv h5; do
        injected=$((injected + 1))
        cp good.$ending full.$ending
        rm -f full.part.*
        # a CSV of 1.9 MB; an HDF5 file has its head of 300 kB, and room for one row of 440 kB, before it may have rows
        blocks=$(random $([ $ending = csv ] && echo 400 || echo 3000))
        (ulimit -f "$blocks"; "$interim" run "$model" -q --until 4s -e 1ms -o full.$ending >out.txt 2>err.txt)
        status=$?
        [ $status -eq 1 ] && [ -s err.txt ] || [ $status -eq 0 ] || bad "full disk, $ending, $blocks blocks: status $status"
        cmp -s good.$ending full.$ending || [ $status -eq 0 ] || bad "full disk, $ending, $blocks blocks: the older result is gone"
        if [ $status -eq 1 ] && [ -e full.part.$ending ]; then
            "$interim" compare good.$ending full.part.$ending >out.txt 2>err.txt
            read=$?
            [ $read -le 1 ] || bad "full disk, $ending, $blocks blocks: the part file cannot be read"
            [ $read -eq 0 ] || [ $ending = csv ] || [ $blocks -lt 1600 ] || bad "full disk, $ending, $blocks blocks: no rows"
        fi
    done
    for page in whole.html whole.svg; do
        injected=$((injected + 1))
        rm -f cut.*
        size=$(wc -c <$page)
        blocks=$(random $((size / 512)))
        case $page in
            *.html) (ulimit -f "$blocks"; "$interim" report good.csv -q -o cut.html >out.txt 2>err.txt) ;;
            *) (ulimit -f "$blocks"; "$interim" plot good.csv --signals '*.position.*' -o cut.svg >out.txt 2>err.txt) ;;
        esac
        status=$?
        [ $status -eq 1 ] && [ -s err.txt ] && [ ! -e cut.html ] && [ ! -e cut.svg ] || bad "full disk, $page, $blocks blocks: status $status"
    done
    i=$((i + 1))
done
[ "$(grep -c . err.txt)" -gt 0 ] && grep -q "cannot write" err.txt || bad "the disk was never full"

# little address space, kB: a run ends, and at once
for space in 10000 40000 60000 100000 200000; do
    injected=$((injected + 1))
    (ulimit -v $space; timeout 120 "$interim" run "$model" -q --until 0.05s -o space.csv >out.txt 2>err.txt)
    status=$?
    [ $status -eq 0 ] || { [ -s err.txt ] && { [ $status -eq 1 ] || [ $status -eq 127 ]; }; } || bad "address space of $space kB: status $status"
done
echo "endings: full disk, address space: injected $injected, failed $failed"
before=$injected

# signals: kill -9 leaves the older result and a readable part file; the others end the run with its results
i=0
while [ $i -lt "$count" ]; do
    for signal in KILL TERM HUP; do
        ending=$([ $((i % 2)) -eq 0 ] && echo csv || echo h5)
        injected=$((injected + 1))
        cp good.$ending hit.$ending
        rm -f hit.part.*
        # under nohup HUP would be ignored
        env --default-signal=HUP "$interim" run "$model" -q --until 1000s -e 1ms -o hit.$ending >out.txt 2>err.txt &
        pid=$!
        sleep "0.$(random 4)"
        kill -$signal $pid
        wait $pid
        status=$?
        case $signal in
            KILL) cmp -s good.$ending hit.$ending || bad "kill -9, $ending: the older result is gone"
                [ $status -eq 137 ] || bad "kill -9: status $status" ;;
            *) [ $status -gt 128 ] || bad "signal $signal, $ending: status $status" ;;
        esac
        if [ -e hit.part.$ending ]; then
            "$interim" compare good.$ending hit.part.$ending >out.txt 2>err.txt
            [ $? -le 1 ] || bad "signal $signal, $ending: the part file cannot be read"
        fi
        "$interim" compare good.$ending hit.$ending >out.txt 2>err.txt || [ $? -eq 1 ] || bad "signal $signal, $ending: the result cannot be read"
    done
    i=$((i + 1))
done
echo "endings: signals: injected $((injected - before)), failed so far $failed"
echo "endings: injected $injected, failed $failed; seed ${4:-1}"
[ "$failed" -eq 0 ]
