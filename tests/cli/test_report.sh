#!/bin/sh
# test_report.sh SOURCE INTERIM: reports, comparisons and plots through the command.
. "$1/tests/shell.sh"
source=$1
interim=$2

# fails STATUS WORDS COMMAND...: the command ends with this status and says the words on stderr
fails() {
    status=$1 words=$2
    shift 2
    got=0
    "$@" >out.txt 2>err.txt || got=$?
    [ "$got" -eq "$status" ] || fail "status $got, not $status: $*"
    grep -qF -- "$words" err.txt || fail "did not say '$words' but: $(cat err.txt)"
}

run_with_report_leaves_the_report_only() {
    "$interim" run -q "$source/examples/pendulum.yaml" --until 0.5s --report r.html
    [ "$(ls)" = r.html ]
    grep -q '<h1>Pendulum</h1>' r.html
    grep -q 'class="verdict finished"' r.html
    ! grep -qE '(src|href)="https?:' r.html
}

run_with_both_writes_both() {
    "$interim" run "$source/examples/pendulum.yaml" --until 0.5s -o r.csv --report r.html | grep -q 'report  *r.html'
    [ -s r.csv ] && [ -s r.json ] && [ -s r.html ]
    grep -q '"motion": {' r.json
}

a_broken_run_has_a_report_and_its_status() {
    fails 2 "broke down" "$interim" run -q "$source/tests/cli/breaks-down.yaml" --report r.html
    grep -q 'class="verdict broke-down"' r.html
}

reports_are_made_from_either_format_and_are_the_same() {
    for ending in csv h5; do
        "$interim" run -q "$source/examples/bouncing-ball.yaml" --until 1s -o "r.$ending"
        "$interim" report -q --static "r.$ending" -o "$ending.html"
        sed -i 's/r\.csv/R/g; s/r\.h5/R/g' "$ending.html"
        # how long a run took differs
        sed -i '/wall_time/d; /real_time_factor/d' "$ending.html"
    done
    cmp csv.html h5.html
}

report_takes_any_table_with_a_time() {
    printf 'time,"a ""quoted"", name",b\n0,1,2\n1,3,4\n' >t.csv
    "$interim" report t.csv | grep -q t.html
    grep -q 'a table of results' t.html
    grep -qF 'a \"quoted\", name' t.html || grep -qF 'a &quot;quoted&quot;, name' t.html
}

wrong_files_are_named() {
    fails 1 "missing result file" "$interim" report
    fails 1 "No such file" "$interim" report nothing.csv
    printf 'time,x\n0,1\n1,\n' >bad.csv
    fails 1 "bad.csv:3:2: expected a number" "$interim" report bad.csv
    printf 'not hdf5' >bad.h5
    fails 1 "is not an HDF5 file" "$interim" report bad.h5
    fails 1 "ending in .csv, .h5 or .hdf5" "$interim" report bad.txt
    printf 'time,x\n0,1\n1,2\n' >good.csv
    fails 1 "cannot write" "$interim" report good.csv -o no/such/r.html
    fails 1 "did you mean '--static'" "$interim" report good.csv --statis
}

compare_tells_what_was_made() {
    printf 'time,x,y\n0,0,5\n1,1,5\n2,2,5\n' >a.csv
    printf 'time,x,z\n0,0.5,1\n1,1.5,1\n2,2.5,1\n' >b.csv
    "$interim" compare a.csv b.csv >out.txt
    grep -qE '^ +x +0\.5 +0\.5 +25%' out.txt
    grep -q '1 signals are only in a.csv, 1 only in b.csv' out.txt
    "$interim" compare a.csv a.csv | grep -qE '^ +y +0 +0 +constant'
    fails 1 "two or more result files" "$interim" compare a.csv
    fails 1 "no signal 'xx'; did you mean 'x'?" "$interim" compare a.csv b.csv --signals xx
    printf 'time,w\n0,1\n' >c.csv
    fails 1 "have no signal in common" "$interim" compare a.csv c.csv
    printf 'time,x\n5,1\n6,1\n' >d.csv
    fails 1 "have no time interval in common" "$interim" compare a.csv d.csv
    "$interim" compare a.csv b.csv --report c.html >out.txt
    grep -q 'b.csv against a.csv' c.html
}

# three couplings of one machine; the last one breaks down
make_couplings() {
    for coupling in monolithic rim zoh; do
        "$interim" run -q "$source/examples/crane-single.yaml" --until 1s --set cosim.coupling=$coupling --set run.bounds.breakdown=0 \
            -o $coupling.csv 2>>err.txt || [ $? -eq 2 ]
    done
}

runs_are_named_by_what_differs_and_described_in_a_line() {
    make_couplings
    expect 0 "$interim" compare -q monolithic.csv rim.csv zoh.csv --signals 'crane.cyl1.length,energy.coupling_error' --report c.html
    [ "$(wc -l <out.txt)" -eq 4 ] || fail "$(cat out.txt)"
    grep -qE '^coupling=monolithic +finished at 1 s; the coupling (created|lost) [0-9.]+ µJ$' out.txt || fail "$(cat out.txt)"
    grep -qE '^coupling=rim +finished at 1 s; the coupling (created|lost) [0-9.]+ [mµ]J; crane.cyl1.length differs by at most [0-9.]+ [µn]m, ' out.txt ||
        fail "$(cat out.txt)"
    grep -qE '^coupling=zoh +broke down at 0\.[0-9]+ s; the coupling created [0-9.]+ kJ$' out.txt || fail "$(cat out.txt)"
    # the page says the same, and holds the signals that were chosen and no others
    grep -q '<b>coupling=zoh</b> broke down at 0\.[0-9]* s; the coupling created' c.html
    grep -q 'errors of 2 signals' c.html
    ! grep -q 'crane.boom.position.x' c.html || fail "the page has other signals"
}

differences_of_the_machine_lead_and_rounding_does_not() {
    make_couplings
    expect 0 "$interim" compare monolithic.csv rim.csv
    # the first rows of the table: nothing of the coupling or the solver, and no share above 100 %
    sed -n '/^  signal /,$p' out.txt | sed -n '2,21p' >first.txt
    ! grep -E 'bond\.|residual|iterations|e-1[0-9]| [0-9]{4,}%|e\+[0-9]+%' first.txt || fail "these lead: $(cat first.txt)"
}

runs_with_variable_steps_have_a_speed() {
    "$interim" run -q "$source/examples/clearance-pendulum.yaml" --until 50ms -o v.csv
    grep -qE '"real_time_factor".*"value": [0-9.e+-]*[1-9]' v.json || fail "$(grep real_time_factor v.json)"
}

a_reader_who_leaves_does_not_cost_the_page() {
    make_couplings
    ("$interim" compare monolithic.csv rim.csv --report kept.html || true) | :
    grep -q '</html>' kept.html
}

plots_are_pictures() {
    "$interim" run -q "$source/examples/pendulum.yaml" --until 1s -o r.h5
    "$interim" plot r.h5 --signals 'hinge.angle,rod.position.*' -o p.png
    [ "$(head -c 8 p.png | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]
    "$interim" plot r.h5 --signals hinge.angle --range 0.2:0.4
    grep -q '^<svg xmlns' r.svg
    fails 1 "too many for one plot" "$interim" plot "$source/tests/cli/many.csv"
    fails 1 "ending in .svg or .png" "$interim" plot r.h5 --signals hinge.angle -o p.gif
    fails 1 "--range requires FROM:TO" "$interim" plot r.h5 --range 2:1
    fails 1 "no signal 'hinge.angel'; did you mean 'hinge.angle'?" "$interim" plot r.h5 --signals hinge.angel
}

sweeps_have_curves_maps_and_a_table() {
    "$interim" sweep -q "$source/examples/pendulum.yaml" --until 1s --every 16ms --over run.step=1ms,4ms,16ms --over parameters.L=1m,2m \
        --signals hinge.angle --reference run.step=0.5ms -o s.csv --report s.html
    grep -q '6 of 6 finished' s.html
    # rms and max; how far runs came is worth a map only where one did not finish
    [ "$(grep -c '<figure class="map">' s.html)" -eq 2 ]
    grep -q '<th colspan="4">hinge.angle \[rad\]</th>' s.html
    printf 'run.step,c,verdict,end_time,x.y.rms,x.y.max\n1,a,finished,2,1e-3,2e-3\n2,a,broke-down,0.1,,\n1,b,finished,2,1e-3,2e-3\n2,b,finished,2,2e-3,2e-3\n' >t.csv
    "$interim" report -q t.csv -o t.html
    [ "$(grep -c '<figure class="map">' t.html)" -eq 3 ]
    grep -q '<td class="num">–</td><td class="num">–</td>' t.html
    [ "$(grep -c '<polyline' s.html)" -gt 8 ]
    "$interim" report -q s.csv -o again.html
    # the table alone has the same figures, but for the runs over time
    [ "$(grep -c '<polyline' again.html)" -gt 8 ]
    grep -q "Over time" s.html && ! grep -q "Over time" again.html
    fails 1 "requires the table" "$interim" sweep "$source/examples/pendulum.yaml" --over run.step=1ms --report s.html
    printf 'k,verdict\n<b>,finished\n<i>,broke-down,7\n' >bad.csv
    fails 1 "bad.csv:3:" "$interim" report bad.csv
}

# Settings of a stranger's run name it in the terminal.
settings_do_not_steer_the_terminal() {
    "$interim" run "$source/examples/pendulum.yaml" -q --until 50ms --set run.step=1ms -o a.csv
    "$interim" run "$source/examples/pendulum.yaml" -q --until 50ms --set run.step=2ms -o b.csv
    sed -i 's/run.step=2ms/run.step=2ms\\u001b[31m\\u009b\\u202e/' b.json
    expect 0 "$interim" compare a.csv b.csv
    out_has "step=2ms"
    ! grep -q "$(printf '\033\|\302\233\|\342\200\256')" out.txt || fail "control characters"
}

pages_are_whole_or_not_there() {
    expect 0 "$interim" run "$source/examples/pendulum.yaml" -q -o r.csv
    expect 0 "$interim" report r.csv -o page.html
    cp page.html older.html
    expect 1 sh -c "ulimit -f 8; '$interim' report r.csv -o page.html"
    err_has "page.html"
    cmp page.html older.html
    expect 1 sh -c "ulimit -f 1; '$interim' plot r.csv --signals hinge.angle -o plot.svg"
    [ ! -e plot.svg ] || fail "a cut picture has the name of a whole one"
    [ -z "$(ls | grep part-)" ] || fail "something was left behind: $(ls)"
    # a pipe takes the page as it comes, also where it is not read to the end
    "$interim" report r.csv -o /dev/stdout | head -n 1 | grep -q doctype
}

# Times whose range is below their resolution, or overflows: ticks have an end.
plots_show_extreme_numbers() {
    for times in "10000000001000000 10000000001000002" "-1.7e308 1.7e308" "0 5e-324"; do
        for values in "1.7e308 -1.7e308" "1e20 1e20" "0 5e-324"; do
            printf '%s %s\n' "$times" "$values" | awk '{print "time,a.b"; print $1 "," $3; print $2 "," $4}' >extreme.csv
            expect 0 timeout 60 "$interim" plot extreme.csv --signals a.b -o extreme.svg
            grep -q '="-\?\(nan\|inf\)' extreme.svg && fail "a place that is no number, for $times and $values"
        done
    done
    true
}

for case in run_with_report_leaves_the_report_only run_with_both_writes_both a_broken_run_has_a_report_and_its_status \
    reports_are_made_from_either_format_and_are_the_same report_takes_any_table_with_a_time wrong_files_are_named \
    compare_tells_what_was_made runs_are_named_by_what_differs_and_described_in_a_line differences_of_the_machine_lead_and_rounding_does_not \
    runs_with_variable_steps_have_a_speed a_reader_who_leaves_does_not_cost_the_page plots_are_pictures plots_show_extreme_numbers sweeps_have_curves_maps_and_a_table \
    pages_are_whole_or_not_there settings_do_not_steer_the_terminal; do
    run_case "$case"
done
finish
