#!/bin/sh
# test_mistakes.sh SOURCE INTERIM: typical mistakes in model files and overrides, each with the message that names it.
. "$1/tests/shell.sh"
source=$1
interim=$2

every_mistake_is_named() {
    echo "a text file that is longer than the eighty-four bytes of a header, so that a count of triangles could be read from it" >text.stl
    wrong=0
    grep -v '^#' "$source/tests/cli/mistakes.txt" >rows.txt
    while IFS='~' read -r example edit message; do
        sed "$edit" "$source/examples/$example.yaml" >m.yaml
        ! cmp -s m.yaml "$source/examples/$example.yaml" || fail "this edit changes nothing: $edit"
        "$interim" check m.yaml >said.txt 2>&1 || true
        grep -qF -- "$message" said.txt || { wrong=$((wrong + 1)); echo "$edit: not '$message' but $(grep -m 1 -E '^(interim|note|warning)' said.txt)"; }
    done <rows.txt
    [ "$(wc -l <rows.txt)" -ge 48 ]
    [ "$wrong" -eq 0 ] || fail "$wrong mistakes"
}

# a mistake in a bracket or an indentation is found wherever it is: no line of the file is special
an_open_bracket_is_found_in_any_line() {
    example=$source/examples/crane-single.yaml
    grep -nE '\]$' "$example" | grep -v '#' | cut -d: -f1 >lines.txt
    [ "$(wc -l <lines.txt)" -ge 4 ]
    while read -r line; do
        sed "${line}s/\]\$//" "$example" >m.yaml
        expect 1 "$interim" check m.yaml
        err_has "m.yaml:$line:"
        err_has "this '[' is not closed: a ']' is missing"
    done <lines.txt
}

an_override_without_a_unit_is_named_as_the_cause() {
    expect 1 "$interim" check "$source/examples/crane-single.yaml" --set parameters.p_2=0
    err_has "cannot add N and m^2; '--set parameters.p_2=0' has no unit, the file has '2 MPa' there"
    # with its unit it is right, and another mistake is not blamed on it
    expect 0 "$interim" run -q "$source/examples/crane-single.yaml" --set parameters.p_2=20bar --until 10ms
    expect 1 "$interim" check "$source/examples/pendulum.yaml" --set parameters.L=2 --set multibody.bodies.rod.mass=-1
    err_has "mass must be positive"
    ! grep 'has no unit' err.txt || fail "the wrong cause"
}

run_repeats_the_warnings_of_check() {
    sed 's/  L: 1 m/  L: 1000/' "$source/examples/pendulum.yaml" >m.yaml
    expect 0 "$interim" run m.yaml --until 10ms
    err_has "interim: warning: the model extends to 500 m; write 500 mm if millimetres are meant"
    sed 's/start: 60 deg/start: 60/' "$source/examples/pendulum.yaml" >m.yaml
    expect 0 "$interim" run m.yaml --until 10ms
    err_has "interim: note: m.yaml:16:91: joint 'hinge' starts at 60 rad = 3438 deg; write '60 deg' if degrees are meant"
    expect 0 "$interim" run -q m.yaml --until 10ms
    ! grep -E 'warning|note' err.txt || fail "not quiet"
}

another_kind_of_file_is_named() {
    pendulum=$source/examples/pendulum.yaml
    expect 0 "$interim" run -q "$pendulum" --until 10ms -o r.csv
    expect 1 "$interim" run r.json
    err_has "this file describes results: give the .csv file to interim report, plot or compare"
    expect 1 "$interim" check "$source/examples/studies/tolerance.yaml"
    err_has "this is a study file: use interim study"
    expect 1 "$interim" study "$pendulum"
    err_has "this is a model file: use interim run; a study names it with 'model: FILE'"
    expect 1 "$interim" report "$pendulum"
    err_has "not '$pendulum'; interim run writes the results of a model"
    : >empty.csv
    expect 1 "$interim" plot empty.csv
    err_has "empty.csv:1:1: the file is empty"
    expect 1 "$interim" export "$pendulum" -o a.txt
    err_has "an FMU goes to a file ending in .fmu, a system of FMUs to one ending in .ssp, not 'a.txt'"
    # two columns of a table never have the same name
    expect 0 "$interim" sweep -q "$source/examples/crane-single.yaml" --until 20ms --over cosim.coupling=rim,zoh --signals energy.coupling_error -o s.csv
    [ -z "$(head -n 1 s.csv | tr , '\n' | sort | uniq -d)" ] || fail "$(head -n 1 s.csv)"
}

for case in another_kind_of_file_is_named every_mistake_is_named an_open_bracket_is_found_in_any_line an_override_without_a_unit_is_named_as_the_cause run_repeats_the_warnings_of_check; do
    run_case $case
done
finish
