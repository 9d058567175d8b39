#!/bin/sh
# test_schema.sh SOURCE INTERIM: the JSON Schemas of model and study files accept every example and refuse typical mistakes.
. "$1/tests/shell.sh"
source=$1
interim=$2
python=/usr/bin/python3

validate() {
    $python "$source/tests/cli/validate.py" schema.json
}

every_example_is_valid() {
    "$interim" schema >schema.json
    cmp schema.json "$source/docs/reference/model.schema.json"
    find "$source/examples" "$source/reproduce" "$source/bench" -name '*.yaml' -not -path '*/studies/*' >files.txt
    [ "$(wc -l <files.txt)" -ge 48 ]
    validate <files.txt >out.txt
    ! grep -v ': ok$' out.txt || fail "examples that the schema refuses"
}

# Rows of the table of mistakes that an editor can see: a key, a word, the shape of a value. What only units, names and numbers
# show is left to `interim check`.
typical_mistakes_are_refused() {
    "$interim" schema >schema.json
    grep -E "is not a (key|type|stepper|coupling|colour)|expected (three numbers|a number|a finite number|two names)|',5 kg'" "$source/tests/cli/mistakes.txt" >rows.txt
    [ "$(wc -l <rows.txt)" -ge 20 ]
    row=0
    while IFS='~' read -r example edit message; do
        row=$((row + 1))
        sed "$edit" "$source/examples/$example.yaml" >"m$row.yaml"
        echo "m$row.yaml"
    done <rows.txt >files.txt
    validate <files.txt >out.txt
    ! grep ': ok$' out.txt || fail "mistakes that the schema accepts"
}

# Every edit of a valid study is refused by the schema and by the reader; the study itself by neither.
study_files_have_a_schema_too() {
    "$interim" schema --study >schema.json
    cmp schema.json "$source/docs/reference/study.schema.json"
    cat >study.yaml <<END
model: $source/examples/studies/ishigami.yaml
set: {run.step: 1 ms}
factors:
  x1: {from: 0, to: 1, levels: 2}
  x2: {distribution: normal, mean: 0, std: 1, from: -1, nominal: 0}
  x3: {values: [1, 2], weights: [1, 3]}
  a: {distribution: triangular, from: 6, mode: 7, to: 8}
  b: {distribution: table, values: [0.1, 0.2]}
design: {type: monte-carlo, runs: 2, seed: 3}
responses: {y: {final: control.y}, t: {crossing: 2*control.y, level: 0, direction: rising}}
signals: {names: [control.y, 'control.*'], points: 3}
END
    expect 0 "$interim" study study.yaml -q
    { find "$source/examples/studies" -name '*.yaml' -not -name ishigami.yaml; echo study.yaml; } >files.txt
    row=0
    while read -r edit; do
        row=$((row + 1))
        sed "$edit" study.yaml >"m$row.yaml"
        ! cmp -s study.yaml "m$row.yaml" || fail "no edit: $edit"
        expect 1 "$interim" study "m$row.yaml" -q
        echo "m$row.yaml" >>files.txt
    done <<'END'
s/^model:.*/modle: x/
s/^factors:/factor:/
s/to: 1, levels/too: 1, levels/
s/ to: 1,//
s/distribution: normal/distribution: gaussian/
s/ std: 1,//
s/x3: {values: .1, 2./x3: {values: {a: 1}/
s/mode: 7, //
s/mean: 0/mean: 0, mode: 0/
s/type: monte-carlo/type: montecarlo/
s/runs: 2, //
s/runs: 2/runs: 2, levels: 3/
s/final: control.y/last: control.y/
s/final: control.y/final: control.y, max: control.y/
s/level: 0, //
s/final: control.y/final: control.y, level: 1/
s/direction: rising/direction: up/
s/names: /name: /
END
    validate <files.txt >out.txt
    [ "$(grep -c ': ok$' out.txt)" -eq 4 ] && [ "$(wc -l <out.txt)" -eq $((4 + row)) ] || { cat out.txt; fail "not the four studies"; }
    ! grep 'm[0-9]*.yaml: ok$' out.txt || fail "mistakes that the schema accepts"
}

descriptions_come_with_keys() {
    "$interim" schema >schema.json
    $python - <<'END'
import json
schema = json.load(open("schema.json"))
text = schema["definitions"]["body"]["properties"]["mass"]["description"]
assert "positive" in text and "unit: kg" in text, text
END
    expect 1 "$interim" schema model.yaml
    err_has "it takes no file; unexpected 'model.yaml'"
}

for case in every_example_is_valid typical_mistakes_are_refused study_files_have_a_schema_too descriptions_come_with_keys; do
    if $python -c 'import jsonschema, yaml' 2>/dev/null; then
        run_case $case
    else
        skip_case $case "no python3-jsonschema or python3-yaml"
    fi
done
finish
