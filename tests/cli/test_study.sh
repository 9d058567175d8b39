#!/bin/sh
# test_study.sh SOURCE INTERIM: `interim study` as a user meets it, its parts and its continuation.
. "$1/tests/shell.sh"
source=$1 interim=$2

# cell FILE ROW COLUMN: a value of a table without quoted commas; the column by name, the row counted from 1
cell() {
    awk -F, -v row="$2" -v name="$3" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) c = i}
        NR == row + 1 {print $c}' "$1"
}

# holds EXPRESSION: arithmetic of awk
holds() {
    awk "BEGIN {exit !($1)}" || fail "not true: $1"
}

# pendulum RUNS [LINE...]: a study of the pendulum in study.yaml
pendulum() {
    runs=$1; shift
    cat >study.yaml <<END
title: Pendulum
model: $source/examples/pendulum.yaml
set: {run.duration: 0.5 s}
factors:
  L: {distribution: uniform, from: 0.5 m, to: 2 m}
  start: {distribution: normal, mean: 60 deg, std: 10 deg}
design: {type: latin-hypercube, runs: $runs, seed: 7}
responses:
  angle: {final: hinge.angle}
  speed: {peak: hinge.angle_rate}
  first: {crossing: hinge.angle, level: 0.5}
  error: {rms_difference: hinge.angle}
reference: {run.step: 0.5 ms}
signals: {names: [hinge.angle], points: 20}
END
    for line; do echo "$line" >>study.yaml; done
}

same() {
    cmp "$1.csv" "$2.csv" && cmp "$1.h5" "$2.h5"
}

# ---------------------------------------------------------------------------- files

# bad LINE COLUMN TEXT LINE-TO-ADD: what is wrong is found at its place
bad() {
    expect 1 "$interim" study study.yaml
    err_has "study.yaml:$1:$2: "
    err_has "$3"
}

mistakes_are_found_at_their_place() {
    pendulum 5 "jobz: 2"
    bad 15 1 "'jobs'"
    pendulum 5
    sed -i 's/distribution: uniform/distribution: unifrom/' study.yaml
    bad 5 21 "'uniform'"
    pendulum 5
    sed -i 's/to: 2 m/to: 2 kg/' study.yaml
    bad 5 47 "one dimension"
    pendulum 5
    sed -i 's/from: 0.5 m/from: 5 m/' study.yaml
    bad 5 45 "less than"
    pendulum 5
    sed -i 's/std: 10 deg/sdt: 10 deg/' study.yaml
    bad 6 47 "'std'"
    pendulum 5
    sed -i 's/final: hinge.angle/final: 2*hinge.angel/' study.yaml
    bad 9 20 "did you mean 'hinge.angle'?"
    pendulum 5
    sed -i 's/level: 0.5}/}/' study.yaml
    bad 11 10 "'level'"
    pendulum 5
    sed -i 's/angle: {final: hinge.angle}/angle: {final: hinge.angle, max: hinge.angle}/' study.yaml
    bad 9 36 "one statistic"
    pendulum 5
    sed -i '/^reference/d' study.yaml
    bad 9 3 "'reference'"
    pendulum 5
    sed -i 's/runs: 5, seed: 7/samples: 5/' study.yaml
    bad 7 42 "'runs'"
    pendulum 5
    sed -i 's/  L:/  LL:/' study.yaml
    expect 1 "$interim" study study.yaml
    err_has "'LL'"
    expect 1 "$interim" study nowhere.yaml
    err_has "nowhere.yaml"
    [ ! -e study.csv ]
}

# ---------------------------------------------------------------------------- designs

# values FACTORS DESIGN: values of the first column for a study of these
values() {
    cat >study.yaml <<END
model: $source/examples/studies/ishigami.yaml
factors: {$1}
design: {$2}
responses: {y: {final: control.y}}
END
    expect 0 "$interim" study study.yaml -q
    tail -n +2 study.csv | cut -d, -f2 | tr '\n' ' '
}

designs_give_the_values_that_they_promise() {
    [ "$(values 'x1: {from: 0, to: 4}' 'type: grid, levels: 5')" = "0 1 2 3 4 " ]
    [ "$(values 'x1: {values: [3, 1]}, x2: {values: "0:1:2"}' 'type: grid')" = "3 3 1 1 " ]
    # the nominal point, then low, middle, high of x1, and the same for x2
    [ "$(values 'x1: {from: 0, to: 2, nominal: 1.5}, x2: {from: 0, to: 2}' 'type: one-at-a-time')" = "1.5 0 1 2 1.5 1.5 1.5 " ]
    # one value in each eighth
    values 'x1: {from: 0, to: 8}' 'type: latin-hypercube, runs: 8' | tr ' ' '\n' | sed '/^$/d' | cut -d. -f1 | sort | tr '\n' ' ' >got
    [ "$(cat got)" = "0 1 2 3 4 5 6 7 " ] || { cat got; fail "shares"; }
    values 'x1: {from: 0, to: 8}' 'type: sobol, runs: 8' | tr ' ' '\n' | sed '/^$/d' | cut -d. -f1 | sort | tr '\n' ' ' >got
    [ "$(cat got)" = "0 1 2 3 4 5 6 7 " ] || { cat got; fail "shares"; }
    # seeds
    a=$(values 'x1: {from: 0, to: 8}' 'type: monte-carlo, runs: 8, seed: 3')
    b=$(values 'x1: {from: 0, to: 8}' 'type: monte-carlo, runs: 8, seed: 4')
    [ "$a" = "$(values 'x1: {from: 0, to: 8}' 'type: monte-carlo, runs: 8, seed: 3')" ] && [ "$a" != "$b" ]
    # measured values, from a file in another unit too
    printf 'number,size\n1,2\n2,4\n3,10\n' >measured.csv
    [ "$(values 'x1: {distribution: table, file: measured.csv, column: size}' 'type: grid')" = "2 4 10 " ]
    sed -i 's/3,10/3/' measured.csv
    expect 1 "$interim" study study.yaml
    err_has "measured.csv:4:"
}

# ---------------------------------------------------------------------------- outcomes

responses_are_those_of_the_results() {
    pendulum 3
    expect 0 "$interim" study study.yaml -q --keep kept
    expect 0 "$interim" run "$source/examples/pendulum.yaml" -q -o one.csv --set "run.duration=0.5 s" \
        --set "parameters.L=$(cell study.csv 2 L) m" --set "parameters.start=$(cell study.csv 2 start) rad"
    column=$(head -n 1 one.csv | tr ',' '\n' | grep -nx hinge.angle | cut -d: -f1)
    holds "$(tail -n 1 one.csv | cut -d, -f"$column") == $(cell study.csv 2 angle)"
    # halving the step of a method of first order: the error is half that of the coarse step, about
    holds "$(cell study.csv 2 error) > 1e-6 && $(cell study.csv 2 error) < 1e-2"
    [ -e kept/run1.h5 ] && [ -e kept/reference3.h5 ]
    [ "$(rows study.costs.csv)" -eq 6 ]
    first_line_has study.effects.csv "response,factor,measure"
}

# ---------------------------------------------------------------------------- continuation

tables_are_the_same_for_any_number_of_jobs_and_shards() {
    pendulum 30
    expect 0 "$interim" study study.yaml -q -o one.csv -j 1
    expect 0 "$interim" study study.yaml -q -o many.csv -j 7
    same one many
    for part in 1 2 3; do
        expect 0 "$interim" study study.yaml -q -o parts.csv --shard $part/3
    done
    mv parts.shard2of3.journal away
    expect 1 "$interim" study merge parts.csv
    err_has "lack 10 of 30 runs"
    mv away parts.shard2of3.journal
    expect 1 "$interim" sweep merge parts.csv
    err_has "the parts of 'parts.csv' are those of a study; use: interim study merge"
    mkdir cell
    expect 1 "$interim" study merge parts.csv --sandbox cell
    err_has "which is no file below the sandbox 'cell'"
    expect 0 "$interim" study merge parts.csv -q
    same one parts
    # the whole can be repeated, and has nothing left to do
    expect 0 "$interim" rerun parts.csv --run 2 -q
    expect 0 "$interim" study study.yaml -q -o parts.csv --resume
    same one parts
    mkfifo pipe.journal
    expect 1 timeout -k 1 20 "$interim" study study.yaml -q -o pipe.csv
    err_has "cannot write 'pipe.journal'"
    mkfifo pipe.shard1of1.journal
    expect 1 timeout -k 1 20 "$interim" study merge pipe.csv
    err_has "cannot read 'pipe.shard1of1.journal'"
    [ "$(wc -l <parts.journal)" -eq 61 ] || fail "$(wc -l <parts.journal) lines in the journal"
    expect 1 "$interim" study study.yaml -o parts.csv --shard 4/3
    err_has "PART/PARTS"
}

# Kill the command in the middle, several times; what is finished stays, and the end is the same.
a_study_goes_on_after_kill_9() {
    pendulum 60
    expect 0 "$interim" study study.yaml -q -o whole.csv
    resume=
    for lines in 20 60 90; do
        "$interim" study study.yaml -q -o cut.csv -j 2 $resume >/dev/null 2>&1 &
        pid=$!
        tries=0
        while [ "$(cat cut.journal 2>/dev/null | wc -l)" -lt $lines ] && [ $tries -lt 3000 ] && kill -0 "$pid"; do
            sleep 0.01
            tries=$((tries + 1))
        done
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
        resume=--resume
        before=$(wc -l <cut.journal)
        [ "$before" -ge "$lines" ] || fail "$before lines of the journal"
    done
    # a line that was not written completely
    printf '{"run":3,"verd' >>cut.journal
    expect 0 "$interim" study study.yaml -q -o cut.csv --resume
    same whole cut
    [ "$(wc -l <cut.journal)" -eq 121 ] || fail "$(wc -l <cut.journal) lines: runs were repeated that were there"
    # nothing is missing now
    expect 0 "$interim" study study.yaml -q -o cut.csv --resume
    [ "$(wc -l <cut.journal)" -eq 121 ]
    sed -i 's/to: 2 m/to: 3 m/' study.yaml
    expect 1 "$interim" study study.yaml -q -o cut.csv --resume
    err_has "belongs to another study"
}

# Two studies with one name would mix their runs in the journal.
a_second_study_of_the_same_name_is_refused() {
    pendulum 4
    "$interim" study study.yaml --set run.duration=1e6s --until 1e6s -o s.csv --set run.output_interval=1e5s >/dev/null 2>&1 &
    pid=$!
    tries=0
    while [ ! -s s.journal ] && [ $tries -lt 600 ]; do sleep 0.1; tries=$((tries + 1)); done
    cp s.journal before.txt
    expect 1 "$interim" study study.yaml -q -o s.csv
    err_has "another study (process $pid) is writing 's.journal'; wait for it, or choose another output"
    cmp s.journal before.txt
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    expect 0 "$interim" study study.yaml -q -o s.csv
}

# A full disk (files of at most 4 kB): the old table stays, and the library of HDF5 says nothing of its own.
tables_that_do_not_fit_are_left_out() {
    pendulum 4
    expect 0 "$interim" study study.yaml -q -o s.csv
    cp s.h5 before.h5
    [ "$(wc -c <s.h5)" -gt 10000 ]
    status=0
    (ulimit -f 8; "$interim" study study.yaml -q -o s.csv --resume) >out.txt 2>err.txt || status=$?
    [ $status -eq 1 ] || fail "status $status"
    err_has "cannot write 's.h5': File too large"
    [ "$(wc -l <err.txt)" -eq 1 ] || { cat err.txt; fail "more than a line"; }
    cmp s.h5 before.h5
    [ "$(ls | grep -c part)" -eq 0 ] || { ls; fail "a part is left"; }
}

a_sweep_goes_on_too_and_has_parts() {
    over="--over parameters.L=0.5m:2m:12 --signals hinge.angle --reference run.step=0.5ms --no-costs"
    expect 0 "$interim" sweep "$source/examples/pendulum.yaml" --until 0.5s $over -q -o whole.csv
    [ ! -e whole.journal ]
    for part in 1 2; do
        expect 0 "$interim" sweep "$source/examples/pendulum.yaml" --until 0.5s $over -q -o parts.csv --shard $part/2
    done
    expect 1 "$interim" study merge parts.csv
    err_has "the parts of 'parts.csv' are those of a sweep; use: interim sweep merge"
    [ ! -e parts.csv ] || fail "a table is left"
    expect 0 "$interim" sweep merge parts.csv --no-costs -q
    cmp whole.csv parts.csv
    cp parts.shard1of2.journal cut.journal
    expect 0 "$interim" sweep "$source/examples/pendulum.yaml" --until 0.5s $over -q -o cut.csv --resume
    cmp whole.csv cut.csv
}

a_crash_of_one_run_does_not_touch_the_others() {
    pendulum 4
    "$interim" study study.yaml --set run.duration=1e6s --until 1e6s -j 2 -o s.csv --set run.output_interval=1e5s >out.txt 2>err.txt &
    pid=$!
    tries=0
    # probes are short; references are there once the table has its head
    while [ ! -e s.csv ] && [ $tries -lt 600 ]; do sleep 0.1; tries=$((tries + 1)); done
    sleep 0.3
    kill -KILL "$(cut -d' ' -f1 "/proc/$pid/task/$pid/children")"
    sleep 0.3
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 143 ] || { cat err.txt; fail "status $status"; }
    err_has "reference 1: crashed"
    err_has "--resume continues"
}

# A run whose outcome is larger than a pipe holds (64 KiB) ends although nobody reads it any more.
children_end_with_their_parent() {
    pendulum 2 "jobs: 2"
    "$interim" study study.yaml -q -o big.csv --until 300s --set run.output_interval=0.01s >/dev/null 2>&1 &
    pid=$!
    tries=0
    while [ ! -e big.csv ] && [ $tries -lt 600 ]; do sleep 0.02; tries=$((tries + 1)); done
    children=
    while [ -z "$children" ] && kill -0 "$pid" 2>/dev/null; do children=$(cat "/proc/$pid/task/$pid/children"); done
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    [ -n "$children" ] || fail "no run was under way"
    tries=0
    for child in $children; do
        while kill -0 "$child" 2>/dev/null; do
            tries=$((tries + 1))
            [ $tries -lt 200 ] || { kill -KILL "$child"; fail "a child outlives its parent"; }
            sleep 0.05
        done
    done
}

# ---------------------------------------------------------------------------- sensitivity

# The closed form: first 0.3139, 0.4424, 0; total 0.5576, 0.4424, 0.2437.
sobol_indices_of_the_ishigami_function() {
    expect 0 "$interim" study "$source/examples/studies/sobol-indices.yaml" -o i.csv
    for line in x1:first_index:0.3139 x2:first_index:0.4424 x3:first_index:0 x1:total_index:0.5576 x2:total_index:0.4424 \
        x3:total_index:0.2437; do
        factor=${line%%:*} rest=${line#*:}
        value=$(awk -F, -v f="$factor" -v m="${rest%:*}" '$2 == f && $3 == m {print $4 "," $5 "," $6}' i.effects.csv)
        v=$(echo "$value" | cut -d, -f1) low=$(echo "$value" | cut -d, -f2) high=$(echo "$value" | cut -d, -f3)
        holds "$v - ${rest#*:} < 0.02 && ${rest#*:} - $v < 0.02"
        holds "$low < ${rest#*:} && ${rest#*:} < $high"
    done
    out_has "5120 runs: 5120 finished"
}

a_page_shows_it_all() {
    pendulum 20
    expect 0 "$interim" study study.yaml --report page.html -q
    for part in responses extremes effects main-effects scatter parallel runs; do
        grep -q "<section id=\"$part\">" page.html || fail "no section $part"
    done
    link=$(grep -o 'href="page.runs/run[0-9]*.html"' page.html | head -n 1 | cut -d'"' -f2)
    [ -s "$link" ] || fail "no report '$link'"
    # the command on the page repeats the run: its last value is the table's
    run=$(echo "$link" | tr -dc 0-9)
    command=$(grep -o "<code>interim run [^<]*run$run.html</code>" page.html | head -n 1 | sed 's/<[^>]*>//g; s/&#39;/'"'"'/g; s/ --report.*//; s/^interim //')
    eval "expect 0 \"\$interim\" $command -q -o again.csv"
    column=$(head -n 1 again.csv | tr ',' '\n' | grep -nx hinge.angle | cut -d: -f1)
    holds "$(tail -n 1 again.csv | cut -d, -f"$column") == $(cell study.csv "$run" angle)"
}

run_case mistakes_are_found_at_their_place
run_case designs_give_the_values_that_they_promise
run_case responses_are_those_of_the_results
run_case tables_are_the_same_for_any_number_of_jobs_and_shards
run_case a_study_goes_on_after_kill_9
run_case a_second_study_of_the_same_name_is_refused
run_case tables_that_do_not_fit_are_left_out
run_case a_sweep_goes_on_too_and_has_parts
run_case a_crash_of_one_run_does_not_touch_the_others
run_case children_end_with_their_parent
# Ranges that overflow, that vanish, and that are below the resolution of their numbers: pictures have ticks and bars all the same.
a_page_shows_extreme_numbers() {
    cat >model.yaml <<END
parameters: {a: 1}
multibody: {name: mechanism, bodies: {b: {mass: 1, inertia: [1, 1, 1]}}}
subsystems: {control: {type: control, step: 1 ms, blocks: {y: a}}}
run: {duration: 2 ms, step: 1 ms}
END
    for values in "-1.7e308, 1.7e308, 0, 1e100" "0, 5e-324" "10000000001000001" "1e20, 1e20"; do
        printf 'model: model.yaml\nfactors: {parameters.a: {values: [%s]}}\ndesign: {type: grid}\nresponses: {end: {final: control.y}}\n' \
            "$values" >study.yaml
        rm -f study.journal page.html
        expect 0 timeout 60 "$interim" study study.yaml --report page.html -q
        grep -q '<rect' page.html || fail "no histogram of $values"
        grep -q '="-\?\(nan\|inf\)' page.html && fail "a place that is no number, for $values"
    done
    true
}

run_case sobol_indices_of_the_ishigami_function
run_case a_page_shows_it_all
run_case a_page_shows_extreme_numbers
finish
