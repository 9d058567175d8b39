#!/bin/sh
# test_rerun.sh SOURCE INTERIM: results say what made them and can be repeated; runs that were killed go on.
. "$1/tests/shell.sh"
source=$1 interim=$2
model=$source/examples/crane-single.yaml

results_are_repeated_bit_for_bit() {
    for ending in csv h5; do
        expect 0 "$interim" run "$model" -q --until 0.2s --set cosim.coupling=rim -o a.$ending
        expect 0 "$interim" rerun a.$ending
        out_has "the same bits"
        out_has "made by Interim 0."
        expect 0 "$interim" rerun -q a.$ending
        [ ! -s out.txt ]
    done
    # version and commit, model, hash, overrides, host and time
    for key in '"commit"' '"hash"' '"sha256"' '"cosim.coupling=rim"' '"run.duration=0.2s"' '"host"' '"time": "20' '"seed"' '"text"' crane-single.yaml; do
        grep -qF -- "$key" a.json || fail "a.json does not have $key"
    done
}

files_of_the_model_are_found_by_their_hash() {
    mkdir first
    cp "$source/examples/flexible-mast.yaml" "$source"/examples/mast-* first
    expect 0 "$interim" run first/flexible-mast.yaml -q --until 0.02s -o first/a.h5
    # a folder that is moved as a whole
    mv first second
    expect 0 "$interim" rerun second/a.h5
    # a change of a file that the model refers to
    cp second/mast-nodes.csv kept.csv
    echo >>second/mast-nodes.csv
    expect 1 "$interim" rerun second/a.h5
    err_has "'mast-nodes.csv' has changed"
    cp kept.csv second/mast-nodes.csv
    # a change of the model itself
    echo "# a comment" >>second/flexible-mast.yaml
    expect 1 "$interim" rerun second/a.h5
    err_has "'flexible-mast.yaml' has changed"
    rm second/flexible-mast.yaml
    expect 1 "$interim" rerun second/a.h5
    err_has "give it with --model"
    expect 0 "$interim" rerun second/a.h5 --model "$source/examples/flexible-mast.yaml"
}

other_bits_are_status_4() {
    expect 0 "$interim" run "$model" -q --until 0.1s -o a.csv
    # the last digit of one number
    awk -F, -v OFS=, 'NR == 3 {sub(/1$/, "2", $9) || sub(/[0-9]$/, "1", $9)} {print}' a.csv >b.csv
    cp a.json b.json
    ! cmp -s a.csv b.csv
    expect 4 "$interim" rerun b.csv
    out_has "different: first at"
    sed '$d' a.csv >c.csv
    cp a.json c.json
    expect 4 "$interim" rerun c.csv
    out_has "rows recorded"
    rm b.json
    expect 1 "$interim" rerun b.csv
    err_has "does not record what made it"
}

# The table of a study, all runs or one; its journal has the definition and the recorded bits.
studies_are_repeated_too() {
    cp "$source/examples/pendulum.yaml" .
    cat >study.yaml <<END
model: pendulum.yaml
set: {run.duration: 0.2 s}
factors: {L: {from: 0.5 m, to: 2 m}, start: {distribution: normal, mean: 60 deg, std: 10 deg}}
design: {type: latin-hypercube, runs: 6}
responses: {angle: {final: hinge.angle}, error: {rms_difference: hinge.angle}, none: {crossing: hinge.angle, level: 100}}
reference: {run.step: 0.5 ms}
END
    expect 0 "$interim" study study.yaml -q --set multibody.bodies.rod.mass=3kg
    for ending in csv h5 journal; do
        expect 0 "$interim" rerun study.$ending
        out_has "the same bits: 6 runs, 3 responses each"
        expect 0 "$interim" rerun study.$ending --run 3 -j 1
        out_has "the same bits: 1 run, 3 responses each"
    done
    expect 1 "$interim" rerun study.csv --run 7
    err_has "--run requires a number from 1 to 6"
    expect 1 "$interim" rerun study.csv --model pendulum.yaml
    err_has "--model is for results of one run"
    cp study.csv alone.csv
    expect 1 "$interim" rerun alone.csv
    err_has "a study's table can be repeated only with its .journal file beside it"
    # a damaged table of one run has no journal
    printf 'time,x\n0,1\n1,y\n' >damaged.csv
    expect 1 "$interim" rerun damaged.csv
    err_has "damaged.csv:3:2: expected a number"
    ! grep -q journal err.txt || fail "$(cat err.txt)"
    # a number of the table; a number of the journal; a verdict
    sed '3s/finished/broke-down/' study.csv >other.csv
    cp study.journal other.journal
    expect 4 "$interim" rerun other.csv
    out_has "other.csv does not contain the outcomes of other.journal"
    sed 's/\("run":2,.*"responses":\[\)[^,]*,/\10.125,/' study.journal >other.journal
    expect 4 "$interim" rerun other.journal
    out_has "different: run 2: 'angle': 0.125 recorded, "
    out_has "different: 1 of 6 runs"
    expect 0 "$interim" rerun other.journal --run 1 -q
    [ ! -s out.txt ]
    sed 's/\("run":5,"verdict":\)"finished"/\1"broke-down"/' study.journal >other.journal
    expect 4 "$interim" rerun other.journal
    out_has "run 5: broke-down at 0.2"
    # a journal of an earlier version
    sed '1s/"interim":"[^"]*"/"interim":"0.0.1"/' study.journal >other.journal
    expect 0 "$interim" rerun other.journal
    out_has "made by Interim 0.0.1; this is "
    echo "# a comment" >>pendulum.yaml
    expect 1 "$interim" rerun study.h5
    err_has "have changed since 'study.journal' was written"
}

interrupted_results_are_repeated_as_far_as_they_go() {
    "$interim" run "$source/examples/pendulum.yaml" -q --until 100000s -e 1ms -o a.csv 2>/dev/null &
    pid=$!
    sleep 0.3
    kill -TERM $pid
    wait $pid || true
    pid=''
    expect 0 "$interim" rerun a.csv
    out_has "the same bits"
}

killed_run_is_continued() {
    long=$source/examples/log-crane.yaml
    for ending in csv h5; do
        expect 0 "$interim" run "$long" -q --until 3s -e 10ms -o whole.$ending
        for time in 0.2 0.35 0.5; do
            "$interim" run "$long" -q --until 3s -e 10ms --checkpoint sim:50ms --resume -o a.$ending >/dev/null 2>&1 &
            pid=$!
            sleep $time
            kill -9 $pid 2>/dev/null || true
            wait $pid 2>/dev/null || true
            pid=''
        done
        expect 0 "$interim" run "$long" --until 3s -e 10ms --checkpoint 1h --resume -o a.$ending
        [ ! -e a.checkpoint ] && [ ! -e a.checkpoint.rows ] || fail "checkpoints are left"
        [ $ending = h5 ] || cmp whole.csv a.csv
        expect 0 "$interim" rerun -q a.$ending
    done
}

checkpoints_are_refused_with_a_sentence() {
    expect 1 "$interim" run "$model" -q --checkpoint 60s
    err_has "--checkpoint requires results"
    expect 1 "$interim" run "$model" -q --resume
    err_has "--resume requires results"
    for time in 60 0s -1s 3kg sim: soon; do
        expect 1 "$interim" run "$model" -q "--checkpoint=$time" -o a.csv
        err_has "--checkpoint requires a positive time"
    done
    "$interim" run "$source/examples/pendulum.yaml" -q --until 100000s --checkpoint 50ms -o a.csv 2>/dev/null &
    pid=$!
    while [ ! -e a.checkpoint ]; do sleep 0.05; done
    expect 1 "$interim" run "$source/examples/pendulum.yaml" -q --until 100000s --checkpoint 50ms --resume -o a.csv
    err_has "another run"
    kill -9 $pid
    wait $pid || true
    pid=''
    expect 1 "$interim" run "$source/examples/pendulum.yaml" -q --until 100000s --checkpoint 50ms -o a.csv
    err_has "of an unfinished run exists"
    expect 1 "$interim" run "$source/examples/pendulum.yaml" -q --until 1s --resume -o a.csv
    err_has "belongs to another model"
    printf x | dd of=a.checkpoint bs=1 seek=1000 conv=notrunc 2>/dev/null
    expect 1 "$interim" run "$source/examples/pendulum.yaml" -q --until 100000s --resume -o a.csv
    err_has "is damaged"
}

run_case results_are_repeated_bit_for_bit
run_case files_of_the_model_are_found_by_their_hash
run_case other_bits_are_status_4
run_case studies_are_repeated_too
run_case interrupted_results_are_repeated_as_far_as_they_go
run_case killed_run_is_continued
run_case checkpoints_are_refused_with_a_sentence
finish
