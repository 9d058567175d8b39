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
    grep -q "osc: 0.002000 s: warning, model: #r1# 42 text 3.142 c" cart.html || fail "the message of the FMU is in the report"
}

crane_of_the_guide_runs() {
    expect 0 "$interim" run "$source/examples/fmu/crane.yaml" --set subsystems.hydraulics.file="$examples/hydraulics.fmu" --until 1s -o crane.csv
    out_has "FMU of FMI 3.0, co-simulation, state can be restored"
}

for case in check_runs_the_fmu an_fmu_without_state_runs run_and_compare_agree inputs_follow_a_file endless_events_end_the_run \
    crash_ends_a_run_with_status_2 messages_are_in_the_report crane_of_the_guide_runs; do
    run_case "$case"
done
finish
