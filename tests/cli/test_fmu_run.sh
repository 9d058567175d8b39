#!/bin/sh
# test_fmu_run.sh SOURCE INTERIM FMUS EXAMPLES: interim fmu check, run and compare, and FMUs in model files.
. "$1/tests/shell.sh"
source=$1 interim=$2 fmus=$3 examples=$4

check_runs_the_fmu() {
    expect 0 "$interim" fmu check "$fmus/oscillator2.fmu"
    out_has "ok       co-simulation  two instances give the same bits"
    out_has "ok       state as bytes a restored state continues with the same bits"
    out_has "ok       input latch    new inputs act from the start of a step"
    out_has "0 errors"
    cp -r "$fmus/zoo" zoo
    echo "fmi2SetFMUstate crash 1" >zoo/resources/fault.txt
    expect 0 "$interim" fmu check zoo
    out_has "warning  state          the FMU 'Oscillator' crashed (signal 11"
    out_has "fmi2SetFMUstate"
}

an_fmu_without_state_runs() {
    for name in cart3 cart_bare; do
        expect 0 "$interim" fmu run "$fmus/$name.fmu" --until 0.5 -o $name.csv
        out_has "finished at 0.5 s"
    done
    cmp cart3.csv cart_bare.csv || fail "results depend on what the FMU offers beside its steps"
}

run_and_compare_agree() {
    expect 0 "$interim" fmu run "$fmus/ball2.fmu" --kind model-exchange --until 2 -o ball.csv
    out_has "Ball: finished at 2 s"
    head -n 1 ball.csv | grep -qx "time,h,v,bounces"
    expect 0 "$interim" fmu compare "$fmus/ball3.fmu" --until 2 --reference ball.csv
    out_has "passed: 3 signals"
    expect 2 "$interim" fmu compare "$fmus/ball3.fmu" --until 1.5 --reference ball.csv --set e=0.65
    out_has "failed:"
    expect 1 "$interim" fmu run "$fmus/ball2.fmu" --set ee=0.6
    err_has "nearest: 'e'"
    expect 1 "$interim" fmu compare "$fmus/ball2.fmu"
    err_has "needs --reference"
}

inputs_follow_a_file() {
    printf 'time,piston.s\n0,0.1\n0.5,0.1\n0.5,0.3\n1,0.3\n' >in.csv
    expect 0 "$interim" fmu run "$fmus/oscillator3.fmu" --input in.csv --set v=0 --until 0.4 --step 0.001 -o still.csv
    # the mass starts at 0.1 m, where its spring is without force: it stays there
    tail -n 1 still.csv | awk -F, '{ exit ($2 - 0.1) ^ 2 > 1e-24 }' || fail "the mass has moved"
    expect 0 "$interim" fmu run "$fmus/oscillator3.fmu" --input in.csv --until 0.6 --step 0.001 -o moved.csv
    tail -n 1 moved.csv | awk -F, '{ exit $2 < 0.11 }' || fail "the mass has not moved"
}

endless_events_end_the_run() {
    expect 2 "$interim" fmu run "$fmus/ball2.fmu" --kind model-exchange --until 3 -o zeno.csv
    err_has "more than 10000 events in one step"
    tail -n 1 zeno.csv | awk -F, '{ exit $1 < 2.54 }' || fail "results up to there are kept"
}

# A cart on a slide and the hostile oscillator.
write_cart() {
    cat >cart.yaml <<'END'
multibody:
  name: cart
  gravity: [0, 0, 0]
  bodies: {a: {mass: 2 kg, inertia: [1, 1, 1], position: [0, 0, 0], velocity: [0.3, 0, 0]}}
  joints: {slide: {type: prismatic, bodies: [ground, a], at: [0, 0, 0], axis: [1, 0, 0]}}
  forces: {push: {type: actuator, bodies: [ground, a], at_a: [-1, 0, 0], at_b: [0, 0, 0]}}
subsystems:
  osc:
    type: fmu
    file: zoo
    step: 1 ms
    ports: {piston: {rate: piston.w, position: piston.s, force: piston.force, offset: 1 m}}
cosim: {macro_step: 10 ms, bonds: {cart.push: osc.piston}}
run: {duration: 1 s}
END
}

crash_ends_a_run_with_status_2() {
    cp -r "$fmus/zoo" zoo
    echo "fmi2DoStep crash 333" >zoo/resources/fault.txt
    write_cart
    expect 2 "$interim" run cart.yaml -o cart.csv
    err_has "osc: the FMU"
    err_has "crashed (signal 11"
    err_has "fmi2DoStep at 0.332 s"
    tail -n 1 cart.csv | grep -q "^0.33" || fail "results up to the last communication point are kept"
    expect 0 "$interim" run cart.yaml -o cart.csv --set subsystems.osc.on_failure=restart
    tail -n 1 cart.csv | grep -q "^1," || fail "the run goes on after the failure"
}

messages_are_in_the_report() {
    cp -r "$fmus/zoo" zoo
    echo "fmi2DoStep format 3" >zoo/resources/fault.txt
    write_cart
    expect 0 "$interim" run cart.yaml -o cart.csv -r cart.html
    # with its control characters replaced
    grep -q 'osc: 0.002000 s: warning, model: #r1# 42 te?\[2J??xt 3.142 c' cart.html || fail "the message of the FMU is in the report"
}

crane_of_the_guide_runs() {
    expect 0 "$interim" run "$source/examples/fmu/crane.yaml" --set subsystems.hydraulics.file="$examples/hydraulics.fmu" --until 1s -o crane.csv
    out_has "FMU of FMI 3.0, co-simulation, state can be restored"
}

# The pair of docs/guide/export.md.
write_pair() {
    "$interim" export "$source/examples/crane-single.yaml" --part crane -q -o crane.fmu
    "$interim" export "$source/examples/crane-single.yaml" --part hydraulics --fmi 2 --set cosim.macro_step=0.1ms -q -o hydraulics.fmu
    awk '/^Put this beside/ { on = 1 } on && /^```$/ { exit } on && is { print } /^```yaml/ { is = on }' \
        "$source/docs/guide/export.md" >pair.yaml
}

foreign_mechanisms_are_checked_and_inspected() {
    write_pair
    expect 0 "$interim" check pair.yaml --budget 20
    out_has "foreign      crane: W by port; disturbed through its ports"
    # limits of the native model, up to the resolution of the search
    grep -Eq "^  zoh +1\.86[0-9]* +unstable +(1\.9|2) ms" out.txt || fail "zero-order hold"
    grep -Eq "^  rim, impulse +1\.0000 +stable +over 200 ms" out.txt || fail "the interface model is stable"
    expect 0 "$interim" inspect pair.yaml --at 1s --set subsystems.crane.mobility=probing
    out_has "rank          1 of 1"
    out_has "source        probing: trial steps from its saved state"
    out_has "linearity     W changes by"
    expect 0 "$interim" run pair.yaml -v --set subsystems.crane.mobility=probing --set run.duration=0.5s -o pair.csv
    # a free run and one column per step, twice more in the first
    out_has "crane        interface model by probing, 102 trial macro steps (2.04 per macro step)"
    out_has "bond         cyl1:"
}

a_killed_run_continues_bit_for_bit() {
    write_pair
    expect 0 "$interim" run pair.yaml -q --set run.duration=8s -o whole.csv
    "$interim" run pair.yaml -q --set run.duration=8s --checkpoint sim:0.7s -o cut.csv &
    pid=$!
    n=0
    while [ ! -e cut.checkpoint ] && [ $n -lt 2000 ]; do
        sleep 0.005
        n=$((n + 1))
    done
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    pid=''
    expect 0 "$interim" run pair.yaml --set run.duration=8s --resume -o cut.csv
    err_has "continued at"
    cmp whole.csv cut.csv || fail "the continued run differs"
    cat >bare.yaml <<END
subsystems:
  cart: {type: fmu, file: $fmus/cart_bare.fmu, step: 1 ms}
cosim: {macro_step: 10 ms}
run: {duration: 1 s}
END
    expect 1 "$interim" run bare.yaml --checkpoint sim:0.1s -o bare.csv
    err_has "the state of 'cart' cannot be kept in a file (an FMU must be able to write it as bytes); run without --checkpoint"
    [ ! -e bare.csv ] || fail "the run has started"
}

# Each run of a study has the FMU in a process of its own; the journal holds the hash of the FMU's file.
a_study_goes_on_after_kill_9() {
    cp "$examples/hydraulics.fmu" own.fmu
    cat >study.yaml <<END
model: $source/examples/fmu/crane.yaml
set: {subsystems.hydraulics.file: $PWD/own.fmu, run.duration: 1 s}
factors: {m_p: {from: 200 kg, to: 300 kg}}
design: {type: latin-hypercube, runs: 8, seed: 1}
responses: {length: {final: crane.cyl1.length}}
END
    expect 0 "$interim" study study.yaml -q -o whole.csv
    [ "$(grep -c ',finished,' whole.csv)" -eq 8 ] || { cat whole.csv; fail "not all finished"; }
    "$interim" study study.yaml -q -o cut.csv -j 2 >/dev/null 2>&1 &
    pid=$!
    while [ "$(cat cut.journal 2>/dev/null | wc -l)" -lt 3 ] && kill -0 "$pid"; do sleep 0.01; done
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    pid=''
    [ "$(wc -l <cut.journal)" -lt 9 ] || fail "nothing is left to do"
    expect 0 "$interim" study study.yaml -q -o cut.csv --resume
    cmp whole.csv cut.csv
    cmp whole.h5 cut.h5
    expect 0 "$interim" rerun cut.csv -q
    # another FMU under the same name
    printf x >>own.fmu
    expect 1 "$interim" study study.yaml -q -o cut.csv --resume
    err_has "belongs to another study"
    expect 1 "$interim" rerun cut.csv -q
    err_has "have changed since"
}

for case in a_study_goes_on_after_kill_9 check_runs_the_fmu an_fmu_without_state_runs run_and_compare_agree inputs_follow_a_file endless_events_end_the_run \
    crash_ends_a_run_with_status_2 messages_are_in_the_report crane_of_the_guide_runs \
    foreign_mechanisms_are_checked_and_inspected a_killed_run_continues_bit_for_bit; do
    run_case "$case"
done
finish
