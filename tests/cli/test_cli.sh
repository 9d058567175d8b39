#!/bin/sh
# test_cli.sh SOURCE INTERIM [slow]: the command as a user meets it: exit statuses, messages, results, signals, terminals.
. "$1/tests/shell.sh"
source=$1 interim=$2 slow=${3:-}
model=$source/examples/pendulum.yaml

# ---------------------------------------------------------------------------- usage

help_and_version_go_to_stdout() {
    expect 0 "$interim" --version
    out_has "interim 0."
    for words in --help help -h; do
        expect 0 "$interim" "$words"
        out_has "usage: interim"
        [ ! -s err.txt ]
    done
    for command in run check sweep; do
        expect 0 "$interim" help "$command"
        out_has "usage: interim $command"
        expect 0 "$interim" "$command" --help
        out_has "--set"
    done
}

wrong_usage_is_status_1_and_goes_to_stderr() {
    expect 1 "$interim"
    expect 1 "$interim" run
    err_has "missing model file"
    expect 1 "$interim" run a.yaml b.yaml
    err_has "b.yaml"
    expect 1 "$interim" run "$model" --until
    err_has "--until"
    expect 1 "$interim" run "$model" --quiet=yes
    err_has "--quiet=yes"
    expect 1 "$interim" run "$model" --set run.step
    err_has "KEY=VALUE"
    expect 1 "$interim" help rum
    err_has "'run'"
    [ ! -s out.txt ]
}

unknown_words_name_the_nearest() {
    expect 1 "$interim" rnu "$model"
    err_has "did you mean 'run'?"
    expect 1 "$interim" chekc "$model"
    err_has "did you mean 'check'?"
    expect 1 "$interim" run "$model" --untl 2s
    err_has "did you mean '--until'?"
    expect 1 "$interim" run "$model" --outptu=a.csv
    err_has "did you mean '--output'?"
    expect 1 "$interim" run "$model" --frobnicate
    err_has "--frobnicate"
}

# every option of every command's help, as "letter name"
print_letters() {
    "$interim" --help | awk '$1 == "usage:" {is_on = 1; next} is_on && /^  [a-z]/ && $1 != "help" {print $1}' >commands.txt
    [ "$(wc -l <commands.txt)" -ge 7 ] || fail "the overview names fewer than 7 commands"
    while read -r command; do
        "$interim" help "$command" | sed -nE 's/^  -([A-Za-z]), (--[a-z]+).*/\1 \2/p'
    done <commands.txt | sort -u
}

an_option_letter_has_one_meaning_in_all_commands() {
    print_letters >letters.txt
    [ "$(wc -l <letters.txt)" -ge 9 ] || fail "fewer than 9 letters"
    clashes=$(cut -d' ' -f1 letters.txt | uniq -d)
    [ -z "$clashes" ] || { cat letters.txt; fail "letters with two meanings: $clashes"; }
    clashes=$(cut -d' ' -f2 letters.txt | sort | uniq -d)
    [ -z "$clashes" ] || { cat letters.txt; fail "options with two letters: $clashes"; }
}

misplaced_options_are_refused_with_the_right_one() {
    expect 1 "$interim" sweep "$model" -v run.step=1ms
    err_has "use --over"
    expect 1 "$interim" sweep "$model" -t 60s
    err_has "use --timeout"
    expect 1 "$interim" sweep "$model" -p r.html
    err_has "use -r (--report)"
    expect 1 "$interim" sweep "$model" --over run.step=1ms,2ms -r run.step=0.1ms
    err_has "--report requires a file that ends in .html, got 'run.step=0.1ms'"
    expect 1 "$interim" plot r.csv -s rod.position.x
    err_has "use -i (--signals)"
    expect 1 "$interim" check "$model" -u 2s
    err_has "--until is an option of 'interim run'"
    expect 1 "$interim" run "$model" --over run.step=1ms
    err_has "--over is an option of 'interim sweep'"
}

former_keys_are_refused_with_the_present_ones() {
    for pair in run.output=1ms/output_interval run.elastic=newmark/modal_rule cosim.outputs={}/aliases \
        cosim.subsystems={}/overrides cosim.elastic_model=frozen/flexible_interface; do
        expect 1 "$interim" check "$model" --set "${pair%/*}"
        err_has "is now '${pair#*/}' in ${pair%%.*}"
    done
}

without_hdf5_there_is_csv() {
    library=$(grep -aoE 'libhdf5[a-z_]*\.so\.[0-9]+' "$interim" | head -n 1)
    mkdir broken
    echo "no library" >"broken/$library"
    LD_LIBRARY_PATH=$PWD/broken expect 1 "$interim" run "$model" --until 0.1s -o r.h5
    err_has "the HDF5 library cannot be loaded"
    [ ! -e r.h5 ]
    LD_LIBRARY_PATH=$PWD/broken expect 0 "$interim" run "$model" --until 0.1s -o r.csv
}

a_model_that_is_not_there_is_named() {
    expect 1 "$interim" run nowhere.yaml
    err_has "nowhere.yaml"
    expect 1 "$interim" check nowhere.yaml
    err_has "nowhere.yaml"
}

a_bad_override_names_the_nearest_key() {
    expect 1 "$interim" run "$model" --set run.stepp=1ms
    err_has "step"
    expect 1 "$interim" run "$model" --until "2 kg"
    err_has "kg"
}

full_standard_output_is_noticed() {
    [ -w /dev/full ] || return 0
    status=0
    "$interim" --help >/dev/full 2>err.txt || status=$?
    [ "$status" -eq 1 ]
    err_has "standard output"
}

# ---------------------------------------------------------------------------- results

a_run_writes_a_table_and_its_description() {
    expect 0 "$interim" run "$model" -o r.csv --until 1s --every 10ms
    [ "$(rows r.csv)" -eq 101 ] || fail "$(rows r.csv) rows"
    is_whole r.csv
    head -n 1 r.csv | grep -q '^time,'
    grep -q '"verdict": "finished"' r.json
    grep -q '"name": "time", "unit": "s"' r.json
    [ ! -e r.part.csv ]
    [ ! -e r.part.json ]
}

until_and_every_are_short_for_set() {
    expect 0 "$interim" run "$model" -o a.csv --until=500ms --every 20ms
    expect 0 "$interim" run -o b.csv --set run.duration=0.5s --set run.output_interval=0.02 "$model"
    expect 0 "$interim" run -oc.csv -u 0.5 -e "20 ms" -- "$model"
    [ "$(rows a.csv)" -eq 26 ]
    cmp a.csv b.csv
    cmp a.csv c.csv
}

the_last_row_is_the_last_state() {
    expect 0 "$interim" run "$model" -o r.csv --until 0.25s --every 100ms
    [ "$(rows r.csv)" -eq 4 ]
    tail -n 1 r.csv | grep -q '^0.25,'
}

set_changes_what_is_simulated() {
    expect 0 "$interim" run "$model" -o a.csv --until 0.1s
    expect 0 "$interim" run "$model" -o b.csv --until 0.1s --set run.step=0.5ms
    if cmp -s a.csv b.csv; then fail "the same results"; fi
}

hdf5_is_written_by_its_ending() {
    expect 0 "$interim" run "$model" -o r.h5 --until 0.1s
    [ "$(head -c 4 r.h5 | tail -c 3)" = HDF ]
    [ ! -e r.part.h5 ]
    [ ! -e r.json ]
    expect 0 "$interim" run "$model" -o r.hdf5 --until 0.1s
}

two_runs_give_the_same_bytes() {
    expect 0 "$interim" run "$model" -o a.csv --until 2s
    expect 0 "$interim" run "$model" -o b.csv --until 2s
    cmp a.csv b.csv
}

an_output_that_cannot_be_written_is_status_1() {
    expect 1 "$interim" run "$model" -o nowhere/r.csv
    err_has "nowhere/r"
    err_has "No such file or directory"
    expect 1 "$interim" run "$model" -o r.xlsx
    err_has ".csv"
}

a_full_disk_is_status_1_and_keeps_the_older_file() {
    expect 0 "$interim" run "$model" -o r.csv --until 0.1s
    cp r.csv older.csv
    expect 1 sh -c "ulimit -f 100; '$interim' run '$model' -o r.csv --until 1000s"
    err_has "r.part.csv"
    err_has "too large"
    cmp r.csv older.csv
    is_whole r.part.csv
    expect 1 sh -c "ulimit -f 300; '$interim' run '$model' -o r.h5 --until 1000s"
    err_has "r.part.h5"
}

every_example_runs_to_its_end() {
    for example in "$source"/examples/*.yaml; do
        [ -n "$slow" ] || expect 0 "$interim" check "$example"  # thousands of steps; other cases check some of them slowly, too
        expect 0 "$interim" run "$example" -q -o r.csv
        is_whole r.csv
    done
}

# is_near TABLE OTHER: the same rows and columns, numbers that differ by a millionth of the largest at most
is_near() {
    awk -F, -v what="$1" '
        NR == FNR { for (i = 1; i <= NF; i++) x[FNR, i] = $i; n = FNR; next }
        { for (i = 1; i <= NF; i++) { d = $i - x[FNR, i]; d = d < 0 ? -d : d; size = $i < 0 ? -$i : $i + 0
              if (d > worst) worst = d; if (size > most) most = size; if (FNR == 1 && $i != x[1, i]) worst = 1e300 } }
        END { if (FNR != n || worst > 1e-6 * most) { print "    " what ": differs by " worst " of " most > "/dev/stderr"; exit 1 } }' "$1" "$2"
}

torque_tables_of_the_arm_come_from_their_models() {
    for manoeuvre in 1 2; do
        expect 0 "$interim" run -q "$source/examples/arm-manoeuvre-torques.yaml" --set "parameters.psi0=$((40 * manoeuvre - 80)) deg" -o r.csv
        "$source/scripts/torque-table.sh" r.csv >table.csv
        is_near table.csv "$source/examples/arm-manoeuvre$manoeuvre.csv"
    done
    expect 0 "$interim" run -q "$source/examples/arm-capture-torques.yaml" -o r.csv
    "$source/scripts/torque-table.sh" r.csv 4.5 >table.csv
    is_near table.csv "$source/examples/arm-capture.csv"
    expect 0 "$interim" run -q "$model" -o r.csv
    ! "$source/scripts/torque-table.sh" r.csv >table.csv 2>err.txt
    err_has "no column drive1.torque"
}

the_manual_page_has_every_command_and_option() {
    sed 's/\\-/-/g' "$source/docs/man/interim.1" >page.txt
    for command in $("$interim" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        grep -qx "\.B $command" page.txt || [ "$command" = help ] || fail "manual page: no command $command"
        for option in $("$interim" help "$command" 2>/dev/null | sed -n 's/^  \(-., \|    \)\(--[a-z]*\) .*/\2/p'); do
            grep -qE -- "(\" |B |BR )$option( |\$)" page.txt || fail "manual page: no option $option of $command"
        done
    done
}

# ---------------------------------------------------------------------------- breakdown and signals

a_breakdown_is_status_2_and_leaves_results() {
    expect 2 "$interim" run "$source/tests/cli/breaks-down.yaml" -o r.csv
    err_has "broke down at "
    is_whole r.csv
    [ "$(rows r.csv)" -ge 2 ]
    if grep -qi 'nan\|inf' r.csv; then fail "the table holds what is not finite"; fi
    grep -q '"verdict": "broke-down"' r.json
    grep -q '"reason": "broke down at ' r.json
}

# Held forces make this crane tremble: doubts are printed in every way, and a status of their own is for those who ask.
doubts_are_told_also_quietly_and_strictly() {
    shaky="--set cosim.coupling=zoh --set cosim.exchange=hold --until 0.28s"
    expect 0 "$interim" run "$source/examples/crane-double.yaml" $shaky -o r.csv --report r.html
    out_has "finished with doubts at 0.28 s"
    err_has "interim: doubt: coupling energy error of 'cyl2': up to "
    grep -q '"verdict": "finished-with-doubts"' r.json
    grep -q '{"kind": "coupling energy error", "where": "cyl2", "largest": ' r.json
    grep -q 'verdict finished-with-doubts' r.html
    grep -q "coupling energy error of" r.html
    expect 3 "$interim" run -q --strict "$source/examples/crane-double.yaml" $shaky -o r.h5
    [ ! -s out.txt ]
    err_has "interim: doubt: energy balance: up to "
    expect 0 "$interim" report r.h5 -o h5.html
    grep -q 'verdict finished-with-doubts' h5.html
    expect 0 "$interim" run -q --strict "$source/examples/crane-double.yaml" --until 0.28s
    [ ! -s err.txt ]
    expect 0 "$interim" sweep "$source/examples/crane-double.yaml" --over cosim.coupling=zoh,rim --until 0.28s -o sweep.csv
    grep -q '^zoh,finished-with-doubts,.*coupling energy error of' sweep.csv
    grep -q '^rim,finished,' sweep.csv
}

# A row whose energy has no source is no result.
# Positive feedback through a control: the energy comes from its force, so that the balance is right until numbers overflow.
a_body_faster_than_light_breaks_down_before_it_is_written() {
    cat >runaway.yaml <<END
multibody:
  name: m
  bodies: {b: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0]}}
  joints: {j: {type: prismatic, bodies: [ground, b], at: [0, 0, 0], axis: [1, 0, 0]}}
  forces: {a: {type: actuator, joint: j, force: control.f}}
subsystems: {control: {type: control, step: 1 ms, blocks: {f: 5000 N s/m * m.a.rate + 1 N}}}
cosim: {macro_step: 1 ms, coupling: zoh}
run: {duration: 1 s}
END
    expect 2 "$interim" run runaway.yaml -q -o runaway.csv
    err_has "faster than light"
    awk -F, 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "m.b.velocity.x") c = i}
        NR > 1 && ($c > 299792458 || $c < -299792458) {exit 1}
        END {exit NR < 5}' runaway.csv || fail "a row is faster than light"
}

energy_from_nowhere_breaks_down_before_it_is_written() {
    expect 2 "$interim" run -q "$source/examples/crane-double.yaml" --set cosim.coupling=linear -o r.csv
    err_has "come from nowhere"
    is_whole r.csv
    largest=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "crane.energy.kinetic") k = i } NR > 1 && $k > m { m = $k } END { print m }' r.csv)
    awk "BEGIN { exit !($largest < 600) }"
}

# start FILE: a run that will not end by itself, in the background, with signals as a terminal has them, until its
# part file has grown
start() {
    part=${1%.*}.part.${1##*.}
    env --default-signal=INT,TERM,HUP "$interim" run "$model" --until 1e7s -o "$1" >out.txt 2>err.txt &
    pid=$!
    tries=0
    while [ "$tries" -lt 100 ]; do
        sleep 0.3
        size=$(wc -c <"$part" 2>/dev/null || echo 0)
        [ "$size" -lt 100000 ] || return 0
        tries=$((tries + 1))
    done
    fail "no rows after 30 s"
}

stop() {
    kill -"$1" "$pid"
    status=0
    wait "$pid" || status=$?
}

an_interrupted_run_leaves_results() {
    for pair in INT:130 TERM:143 HUP:129; do
        for ending in csv h5; do
            start "r.$ending"
            stop "${pair%:*}"
            [ "$status" -eq "${pair#*:}" ] || { cat err.txt; fail "$pair: status $status"; }
            err_has "interrupted at "
            [ -s "r.$ending" ]
            [ ! -e "r.part.$ending" ]
        done
        is_whole r.csv
        [ "$(rows r.csv)" -ge 2 ]
        grep -q '"verdict": "interrupted"' r.json
        rm r.*
    done
}

two_runs_do_not_share_an_output() {
    for ending in csv h5; do
        "$interim" run "$source/examples/log-crane.yaml" -q --until 60s -o "w.$ending" &
        first=$!
        for _ in $(seq 100); do [ -e "w.part.$ending" ] && break; sleep 0.1; done
        expect 1 "$interim" run "$model" -q -o "w.$ending"
        err_has "another run (process $first) is writing 'w.part.$ending'"
        kill -TERM $first  # a shell starts background commands with SIGINT ignored
        status=0; wait $first || status=$?
        [ "$status" -eq 143 ] || fail "the run was not interrupted: status $status"
        [ "$ending" = h5 ] || is_whole "w.$ending"
        expect 0 "$interim" compare "w.$ending" "w.$ending"
        [ ! -e "w.part.$ending.lock" ] || fail "the lock stays"
        # what a killed run leaves behind locks nobody out
        touch "w.part.$ending.lock"
        expect 0 "$interim" run "$model" -q -o "w.$ending"
    done
}

a_killed_run_leaves_its_part_file() {
    start r.csv
    stop KILL
    [ "$status" -eq 137 ]
    [ ! -e r.csv ]
    # rows go out in blocks of whole ones; of the write that the kill interrupts the system may carry out a part
    sed '$d' r.part.csv >whole.csv
    is_whole whole.csv
    [ "$(rows whole.csv)" -ge 1 ]
    grep -q '"verdict": "running"' r.part.json
    # it reads back, also with a row that is cut, even within its last number, and has the whole rows
    expect 0 "$interim" compare r.part.csv r.part.csv --signals hinge.angle
    head -c -3 r.part.csv >cut.part.csv
    sed '$d' cut.part.csv >less.csv
    expect 0 "$interim" compare cut.part.csv less.csv --signals hinge.angle
    expect 0 "$interim" report cut.part.csv -o cut.html
    # any other file that ends so is broken, not cut
    head -c -3 r.part.csv | sed 's/,[^,]*$//' >broken.csv
    expect 1 "$interim" compare broken.csv less.csv --signals hinge.angle
    err_has "not as many fields"
}

# Killed at any time, also while it writes without a pause, a run leaves whole rows but for the last.
killed_while_writing_a_run_reads_back() {
    for pause in 0 0.01 0.03 0.06 0.1 0.15; do
        rm -f r.part.csv
        start r.csv
        sleep "$pause"
        stop KILL
        expect 0 "$interim" compare r.part.csv r.part.csv --signals hinge.angle
    done
}

ignored_signals_stay_ignored() {
    (
        trap '' HUP
        "$interim" run "$model" --until 1e7s >out.txt 2>err.txt &
        pid=$!
        sleep 0.5
        kill -HUP "$pid"
        sleep 0.5
        kill -TERM "$pid"
        status=0
        wait "$pid" || status=$?
        [ "$status" -eq 143 ]
    )
}

# ---------------------------------------------------------------------------- terminal

off_a_terminal_a_run_is_quiet() {
    expect 0 "$interim" run "$model" -o r.csv --until 1s
    [ ! -s err.txt ]
    [ "$(wc -l <out.txt)" -le 10 ]
    out_has "r.csv"
    out_has "real time"
    expect 0 "$interim" run "$model" --until 1s --quiet
    [ ! -s out.txt ]
    [ ! -s err.txt ]
}

on_a_terminal_a_bar_shows_the_time() {
    start_line="'$interim' run '$model' --until 1e7s"
    script -qec "timeout -s INT 4 $start_line" /dev/null >out.txt 2>&1 </dev/null || true
    out_has "real time"
    out_has " left"
    out_has "["
}

# ---------------------------------------------------------------------------- check

check_says_what_a_model_is() {
    expect 0 "$interim" check "$model"
    for word in bodies joints freedom mass run revolute; do
        out_has "$word"
    done
    [ ! -s err.txt ]
    expect 1 "$interim" check "$model" --set run.stepp=1ms
}

check_names_redundant_rows() {
    expect 0 "$interim" check "$source/examples/four-bar.yaml"
    grep -q '^freedom *1 = 3 velocities - 5 rows + 3 redundant' out.txt
    grep -q '^redundant *c.tz c.rx c.ry' out.txt
    expect 0 "$interim" check "$source/examples/four-bar.yaml" --set multibody.coordinates=absolute
    grep -q '^freedom *1 = 18 velocities - 20 rows + 3 redundant' out.txt
}

check_prints_every_mechanism_and_the_cuts() {
    expect 0 "$interim" check "$source/examples/arm-capture.yaml"
    out_has "arm (multibody)"
    out_has "tool (multibody)"
    [ "$(grep -c '^bodies' out.txt)" -eq 2 ]
    grep -q '^  mount .*tool at (0, 0, 0) m, tx ty tz rx ry rz; mobile along all 6' out.txt
    grep -q '^  arm-flange .*arm.flange (link7) moves with tool.mount (tool)' out.txt
    grep -q '^  freedom *13 = 7 of arm + 12 of tool - 6 rows of frame bonds$' out.txt
    grep -q '^start *tool: 4 contacts' out.txt
    # the boom of the cut crane moves along one direction only
    expect 0 "$interim" check "$source/examples/crane-cut.yaml"
    out_has "mobile along 1 of 5"
    grep -q '^  freedom *2 = 1 of crane + 6 of load - 5 rows of frame bonds$' out.txt
}

check_advises_on_joined_mechanisms_and_controls() {
    # growth of the arm under its torques is its own, not that of the coupling; the budget is that of a program with sanitizers
    expect 0 "$interim" check "$source/examples/arm-manoeuvre1.yaml" --budget 60
    for coupling in "rim, hold" "rim, impulse" "rim-nonsmooth"; do
        grep -q "^  $coupling  *1\.0[0-9]*  stable " out.txt
    done
    out_has "no warnings"
    # what cannot be built says why
    expect 0 "$interim" check "$source/examples/crane-cut.yaml"
    grep -q '^  zoh  *1\.8577  unstable  2 ms' out.txt
    grep -q '^  rim, hold *- *unknown *mechanism .* use exchange impulse' out.txt
    # wires alone: 800 N/m and 60 N s/m at 2 kg, a sample every 100 ms
    expect 0 "$interim" check "$source/examples/position-control.yaml"
    grep -q '^  wires  *0\.99[0-9]*  stable ' out.txt
    expect 0 "$interim" check "$source/examples/position-control.yaml" --set run.step=100ms --set subsystems.control.step=100ms \
        --set run.output_interval=100ms
    grep -q '^  wires .* unstable  below 100 ms' out.txt
    grep -q '^warning: the coupling of this file is unstable at the start: use a smaller macro_step' out.txt
}

# A control every 1 ms with oil every 0.2 ms: trials at multiples of 0.2 ms cannot be built, which once counted as stable.
check_never_calls_stable_what_it_did_not_judge() {
    if [ -z "$slow" ]; then
        expect 0 "$interim" check "$source/examples/log-crane.yaml" --set subsystems.control.step=1ms --budget 60
        grep -q '^  linear .* unstable  5 ms$' out.txt
        if grep -q ' unstable  over' out.txt; then false; fi
        # no limit is claimed beyond the step that a run confirmed
        expect 0 "$interim" check "$source/examples/log-crane.yaml" --budget 60
        grep -q "^  rim, hold .* at least .* stable at the start, but in a run 'cyl[12]' gains or loses .* J of the machine's" out.txt
    fi
    # copies that differ in their loads only have the limits of one; each mechanism brings time of its own
    "$source/examples/cranes.sh" 4 >cranes.yaml
    expect 0 "$interim" check cranes.yaml --budget 60
    grep -q '^  zoh  *1.8563  unstable  2 ms$' out.txt
    grep -q '^  rim, hold  *1.05[0-9]*  unstable  3.9 ms$' out.txt
    grep -q '^  rim, impulse  *1.0000  stable' out.txt
    expect 0 "$interim" help check
    out_has "5 s, and 0.25 s per further"
    # a search that runs out of its budget says so
    expect 0 "$interim" check "$source/examples/crane-single.yaml" --budget 1e-6
    grep -q '^  zoh  *-  unknown *its share of the budget of 1e-06 s processor time is spent; see --budget' out.txt
    expect 1 "$interim" check "$source/examples/crane-single.yaml" --budget soon
    err_has "--budget takes a number of seconds"
    # steps of 29 to 38 ms are unstable, those of 40 ms are stable again
    expect 0 "$interim" check "$source/examples/crane-single.yaml" --set cosim.exchange=hold --set cosim.variables=velocity-pressure
    grep -q '^  rim, hold .* stable    2[78]\(\.[0-9]*\)\? ms$' out.txt
}

check_warns_of_bad_scales() {
    expect 0 "$interim" check "$model"
    out_has "no warnings"
    expect 0 "$interim" check "$source/tests/cli/badly-scaled.yaml"
    out_has "1e+07 times the mass of the lightest"
    out_has "from the world origin; move"
    out_has "body 'cup' has a radius of gyration"
    out_has "'bumper' may be too stiff"
    [ "$(grep -c '^warning' out.txt)" -eq 4 ]
}

# The bumper of that model, alone on its rail, at the two sides of the step that check calls safe.
the_safe_step_is_the_limit_of_stability() {
    limit=$("$interim" check "$source/tests/cli/badly-scaled.yaml" | sed -n 's/.*at most \(.*\) s$/\1/p')
    [ -n "$limit" ]
    for factor in 0.9 1.1; do
        step=$(awk "BEGIN {print $factor * $limit}")
        "$interim" run "$source/tests/cli/badly-scaled.yaml" -q -o "r$factor.csv" --until 1s --set "run.step=$step" \
            --set "multibody.joints.rail.start_rate=1 m/s" || [ $? -eq 2 ]
    done
    grep -q '"verdict": "finished"' r0.9.json
    grep -q '"verdict": "broke-down"' r1.1.json
}

# ---------------------------------------------------------------------------- hydraulic circuits alone

a_circuit_runs_alone_with_results_in_every_format() {
    circuit=$source/examples/hydraulic-cylinder.yaml
    expect 0 "$interim" run "$circuit" -o r.csv
    out_has "hydraulics   4500 steps of 0.001 s (trapezoidal)"
    out_has "energy       balanced to"
    head -n 1 r.csv | grep -q '^time,hydraulics.pump.pressure,.*,hydraulics.cyl1.p1,.*,hydraulics.cyl1.p3,hydraulics.cyl1.U$'
    [ "$(rows r.csv)" -eq 451 ]
    tail -n 1 r.csv | grep -q '^4.5,'
    is_whole r.csv
    grep -q '"name": "hydraulics.cyl1.force", "unit": "N"' r.json
    expect 0 "$interim" run "$circuit" -o r.h5 --until 0.1s
    [ "$(head -c 4 r.h5 | tail -c 3)" = HDF ]
    expect 0 "$interim" run "$circuit" -o fine.csv --until 0.1s --set subsystems.hydraulics.step=0.1ms --set run.step=1ms
    out_has "1000 steps of 0.0001 s"
    [ "$(rows fine.csv)" -eq 11 ]
    expect 1 "$interim" run "$circuit" --set subsystems.hydraulics.step=0.3ms --set run.step=1ms
    err_has "must be a multiple"
}

a_piston_that_leaves_its_stroke_breaks_down_by_name() {
    expect 2 "$interim" run "$source/examples/hydraulic-cylinder.yaml" -o r.csv --set "signals.bench.table.values.3=0.95 m"
    err_has "broke down at 3 s: hydraulics: cylinder 'cyl1' left its stroke"
    grep -q '"verdict": "broke-down"' r.json
    [ "$(rows r.csv)" -ge 300 ]
}

check_says_what_a_circuit_is() {
    circuit=$source/examples/hydraulic-cylinder.yaml
    expect 0 "$interim" check "$circuit"
    out_has "hydraulics (hydraulics)"
    out_has "states       4"
    out_has "static start found in"
    # rounding of flows of some 1e-4 m^3/s
    sed -n 's/.*equilibrium  largest net flow \([-+0-9.e]*\) m^3.*/\1/p' out.txt | awk '{ found = 1; if ($1 > 1e-15) exit 1 } END { exit !found }' ||
        fail "net flow of the static start is not 0"
    out_has "pushes with 8800 N"
    out_has "no warnings"
    expect 0 "$interim" check "$circuit" --set subsystems.hydraulics.integrator=euler
    out_has "warning: circuit 'hydraulics': euler is unstable at a step of 0.001 s; reduce the step to at most 0.000152 s"
    expect 1 "$interim" check "$circuit" --set "subsystems.hydraulics.start.static.force.cyl1=-100 kN"
    err_has "no static equilibrium was found"
    err_has "hydraulic-cylinder.yaml:8"
}

# ---------------------------------------------------------------------------- coupled systems

parts_without_a_bond_run_side_by_side() {
    expect 0 "$interim" run -v "$source/tests/corpus/good-circuit-and-arm.yaml" -o r.csv
    out_has "oil          1000 steps of 0.001 s (adaptive)"
    expect 0 "$interim" check "$source/tests/corpus/good-circuit-and-arm.yaml"
    out_has "bodies (1)"
    out_has "oil (hydraulics)"
}

a_crane_runs_in_every_coupling() {
    crane="$source/examples/crane-single.yaml"
    expect 0 "$interim" run "$crane" -u 1s -o r.csv
    out_has "coupling     rim, impulse, macro step 0.01 s"
    out_has "(bond cyl1), "
    expect 0 "$interim" run "$crane" -u 1s -v
    out_has "bond         cyl1:"
    first_line_has r.csv "crane.cyl1.length"
    first_line_has r.csv "hydraulics.cyl1.p3"
    first_line_has r.csv "bond.cyl1.coupling_error"
    first_line_has r.csv "energy.balance"
    for coupling in zoh linear quadratic monolithic; do
        expect 0 "$interim" run "$crane" -u 1s --set "cosim.coupling=$coupling" --set cosim.macro_step=1ms
    done
    expect 0 "$interim" run "$crane" -u 1s --set cosim.exchange=hold --set cosim.macro_step=1ms \
        --set cosim.variables=velocity-pressure --set cosim.scheme=gauss-seidel
}

a_coupling_that_breaks_down_leaves_results_and_names_the_signal() {
    expect 2 "$interim" run "$source/examples/crane-single.yaml" --set cosim.coupling=zoh --set cosim.macro_step=20ms -o r.csv
    err_has "broke down at"
    err_has "cyl1"
    first_line_has r.csv "crane.cyl1.length"
}

wrong_couplings_are_named_with_their_place() {
    crane="$source/examples/crane-single.yaml"
    expect 1 "$interim" run "$crane" --set cosim.macro_step=0.25ms
    err_has "macro_step (0.00025 s) must be a multiple of the step of 'hydraulics' (0.0001 s)"
    expect 1 "$interim" run "$crane" --set cosim.coupling=rimm
    err_has "'rimm' is not a coupling"
    expect 1 "$interim" run "$crane" --set cosim.variables=velocity-pressure
    err_has "velocity-pressure needs exchange hold"
    expect 1 "$interim" run "$crane" --set subsystems.hydraulics.elements.cyl1.start_length=0.9
    err_has "crane-single.yaml:"
    err_has "has start_length 0.9 m, but actuator"
}

# ---------------------------------------------------------------------------- controls alone

a_control_runs_alone() {
    control=$source/examples/control.yaml
    expect 0 "$interim" run "$control" -o r.csv
    out_has "control      sample time 0.001 s"
    head -n 1 r.csv | grep -q '^time,control.wanted,control.command,.*,control.overspeed$'
    [ "$(rows r.csv)" -eq 601 ]
    is_whole r.csv
    grep -q '"name": "control.speed", "unit": "m/s"' r.json
    expect 0 "$interim" check "$control"
    out_has "samples      every 0.001 s; command every 0.01 s"
    expect 1 "$interim" run "$control" --set "subsystems.control.blocks.measured=speed + command"
    err_has "algebraic loop: command -> measured -> command"
    expect 1 "$interim" run "$control" --set "subsystems.control.blocks.overspeed=sped > 1"
    err_has "nearest: 'speed'"
    expect 2 "$interim" run "$control" -o r.csv --set "subsystems.control.blocks.overspeed=sqrt(3.5 - time)"
    err_has "overspeed"
    grep -q '"verdict": "broke-down"' r.json
}

# ---------------------------------------------------------------------------- contact

a_run_tells_of_contacts_and_their_solver() {
    # in a few lines, or with all there is
    expect 0 "$interim" run "$source/examples/table.yaml" --until 0.1s
    out_has "contacts     up to 16, penetration up to "
    [ "$(wc -l <out.txt)" -le 6 ] || fail "$(cat out.txt)"
    expect 0 "$interim" run -v "$source/examples/table.yaml" --until 0.1s
    out_has "bounds       up to 48 rows"
    out_has "fallbacks"
    # 16 contacts have 48 rows, the table six freedoms
    out_has "redundant    up to 42 constraints"
    out_has "contact of 'floor' and 'leg4': normal (4)"
    expect 0 "$interim" run -v "$source/examples/limits.yaml" --until 0.1s
    out_has "bounds       up to 2 rows"
    expect 0 "$interim" run "$model" --until 0.1s
    if grep -q "bounds\|solver" out.txt; then fail "a model without bounds has none"; fi
}

a_run_tells_of_loose_joints_and_variable_steps() {
    loose=$source/examples/clearance-cylindrical.yaml
    expect 0 "$interim" run "$loose" -o r.csv
    out_has "of 0.001 to 0.01 s (variable)"
    out_has "clearance    joint: 2 impacts"
    is_whole r.csv
    head -n 1 r.csv | grep -q 'joint.impacts.*step.size'
    tail -n 1 r.csv | grep -q '^1,'
    [ "$(rows r.csv)" -gt 100 ]
    # 2400 rows of 20 us miss 48 ms by rounding: that is the end, not a step more
    expect 0 "$interim" run "$source/examples/clearance-slider-crank.yaml" -s run.stepper=variable -u 48ms -o r.csv
    smallest=$(sed -n 's/.* of \([-0-9.e]*\) to 5e-06 s (variable)$/\1/p' out.txt)
    awk "BEGIN { exit !($smallest >= 4.99e-7) }" || fail "a step of $smallest s, below the smallest one"
    [ "$(rows r.csv)" -eq 2401 ]
    # steps end at the results that are asked for
    expect 0 "$interim" run "$loose" -o r.csv --every 100ms
    [ "$(rows r.csv)" -eq 11 ]
    expect 0 "$interim" run "$loose" -o r.csv --every 100ms --set run.stepper=adaptive --set run.tolerance=1e-4
    out_has "(adaptive)"
    [ "$(rows r.csv)" -eq 11 ]
    expect 0 "$interim" run "$loose" --set multibody.joints.joint.clearance=0
    if grep -q "^  clearance " out.txt; then fail "an ideal joint has no clearance"; fi
    expect 0 "$interim" sweep "$loose" --over multibody.joints.joint.clearance.radial=0.05,0.1 --signals joint.impacts,joint.impact_loss
    out_has "0.05"
    expect 1 "$interim" run "$loose" --set multibody.joints.joint.clearance.radial=-1
    err_has "clearance.radial must be finite and not negative, got -1"
}

check_tells_of_shapes_and_bounds() {
    expect 0 "$interim" check "$source/examples/grasp.yaml"
    out_has "0 joint limits, 0 joint frictions, 2 motors with a force limit"
    out_has "4: 1 plane, 3 box; 1 material, 3 excluded pairs of bodies"
    out_has "friction cone bounded by the current normal force"
    out_has "no warnings"
}

check_names_what_overlaps_and_what_is_too_heavy() {
    expect 0 "$interim" check "$source/tests/cli/hostile/recovers-coincident-boxes.yaml"
    out_has "'a-shape' and 'b-shape' overlap by 1 m at the start"
    expect 0 "$interim" check "$source/tests/cli/hostile/recovers-mass-ratio.yaml"
    out_has "'light-shape' and 'heavy-shape' touch at the start, but one is 1e+06 times as heavy"
    expect 0 "$interim" check "$source/tests/cli/hostile/recovers-moving-plane.yaml"
    out_has "'floor' (plane) and 'up' (plane) pass through each other"
    expect 0 "$interim" check "$source/tests/cli/hostile/breaks-huge-speed.yaml"
    out_has "'a-shape' and 'floor'"
    expect 0 "$interim" check "$source/examples/slope.yaml" --set multibody.contact.solver=lemke
    out_has "solver lemke does not support friction cone"
}

# A model of a stranger reads files below its folder only, symbolic links resolved.
sandbox_keeps_models_in_their_folder() {
    mkdir in
    cp "$source/examples/terrain.yaml" in
    cp "$source/examples/terrain.csv" secret.csv
    ln -s ../secret.csv in/terrain.csv
    expect 0 "$interim" check in/terrain.yaml
    for command in check run inspect "sweep --over run.step=1ms" "export -o x.fmu" "export -o x.ssp"; do
        expect 1 "$interim" ${command%% *} in/terrain.yaml $(echo "$command" | cut -s -d ' ' -f 2-) --sandbox in
        err_has "refers to 'terrain.csv', which is no file below the sandbox 'in'"
    done
    [ ! -e x.fmu ] && [ ! -e x.ssp ] || fail "an FMU was written"
    cp "$source/examples/control.yaml" in
    ln -s "$source/examples/joystick.csv" in/joystick.csv
    expect 1 "$interim" check in/control.yaml --sandbox in
    err_has "refers to 'joystick.csv', which is no file below the sandbox 'in'"
    rm in/terrain.csv
    cp secret.csv in/terrain.csv
    expect 0 "$interim" check in/terrain.yaml --sandbox in
    # a model that results name, too
    mkdir cell
    expect 0 "$interim" run -q in/terrain.yaml --until 10ms -o results.csv
    expect 0 "$interim" rerun results.csv --sandbox in
    expect 1 "$interim" rerun results.csv --sandbox cell
    err_has "which is no file below the sandbox 'cell'; give the model with --model"
    expect 1 "$interim" check in/terrain.yaml --sandbox nowhere
    err_has "there is no folder 'nowhere'"
}

# What starts impossibly recovers, or ends with status 2 (a bad model: 1) and a reason, with numbers in all its rows.
hostile_models_end_well() {
    for file in "$source"/tests/cli/hostile/*.yaml; do
        case ${file##*/} in recovers-*) want=0 ;; breaks-*) want=2 ;; *) want=1 ;; esac
        rm -f r.csv
        expect $want "$interim" run "$file" -o r.csv
        [ $want -eq 0 ] || err_has "interim: "
        [ $want -eq 1 ] || is_whole r.csv
        if [ -e r.csv ] && grep -qi 'nan\|inf' r.csv; then fail "$file: not finite"; fi
    done
    expect 2 "$interim" run "$source/tests/cli/hostile/breaks-unsolved.yaml"
    err_has "failed in 20 consecutive steps"
    err_has "-shape'"
    out_has "worst        residual"
    expect 2 "$interim" run "$source/tests/cli/hostile/breaks-overfull.yaml"
    err_has "the first to be left out between"
    expect 1 "$interim" run "$source/tests/cli/hostile/bad-mesh.yaml"
    err_has "bad-mesh.yaml:6:5: shape 'floor'"
}

run_case help_and_version_go_to_stdout
run_case wrong_usage_is_status_1_and_goes_to_stderr
run_case unknown_words_name_the_nearest
run_case an_option_letter_has_one_meaning_in_all_commands
run_case misplaced_options_are_refused_with_the_right_one
run_case former_keys_are_refused_with_the_present_ones
run_case without_hdf5_there_is_csv
run_case a_model_that_is_not_there_is_named
run_case a_bad_override_names_the_nearest_key
run_case full_standard_output_is_noticed
run_case a_run_writes_a_table_and_its_description
run_case until_and_every_are_short_for_set
run_case the_last_row_is_the_last_state
run_case set_changes_what_is_simulated
run_case hdf5_is_written_by_its_ending
run_case two_runs_give_the_same_bytes
run_case an_output_that_cannot_be_written_is_status_1
run_case a_full_disk_is_status_1_and_keeps_the_older_file
run_case every_example_runs_to_its_end
run_case the_manual_page_has_every_command_and_option
run_case torque_tables_of_the_arm_come_from_their_models
run_case a_breakdown_is_status_2_and_leaves_results
run_case doubts_are_told_also_quietly_and_strictly
run_case energy_from_nowhere_breaks_down_before_it_is_written
run_case a_body_faster_than_light_breaks_down_before_it_is_written
run_case an_interrupted_run_leaves_results
run_case two_runs_do_not_share_an_output
run_case a_killed_run_leaves_its_part_file
run_case killed_while_writing_a_run_reads_back
run_case ignored_signals_stay_ignored
run_case off_a_terminal_a_run_is_quiet
if script -qec true /dev/null >"$work/script.log" 2>&1 </dev/null; then
    run_case on_a_terminal_a_bar_shows_the_time
else
    skip_case on_a_terminal_a_bar_shows_the_time "script cannot open a terminal"
fi
run_case check_says_what_a_model_is
run_case check_names_redundant_rows
run_case check_prints_every_mechanism_and_the_cuts
run_case check_advises_on_joined_mechanisms_and_controls
run_case check_never_calls_stable_what_it_did_not_judge
run_case check_warns_of_bad_scales
run_case the_safe_step_is_the_limit_of_stability
run_case a_circuit_runs_alone_with_results_in_every_format
run_case a_piston_that_leaves_its_stroke_breaks_down_by_name
run_case check_says_what_a_circuit_is
run_case parts_without_a_bond_run_side_by_side
run_case a_crane_runs_in_every_coupling
run_case a_coupling_that_breaks_down_leaves_results_and_names_the_signal
run_case wrong_couplings_are_named_with_their_place
run_case a_control_runs_alone
run_case a_run_tells_of_contacts_and_their_solver
run_case a_run_tells_of_loose_joints_and_variable_steps
run_case check_tells_of_shapes_and_bounds
run_case check_names_what_overlaps_and_what_is_too_heavy
run_case sandbox_keeps_models_in_their_folder
run_case hostile_models_end_well
finish
