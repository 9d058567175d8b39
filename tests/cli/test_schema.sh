#!/bin/sh
# test_schema.sh SOURCE INTERIM: the JSON Schema of model files accepts every example and refuses typical mistakes.
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

for case in every_example_is_valid typical_mistakes_are_refused descriptions_come_with_keys; do
    if $python -c 'import jsonschema, yaml' 2>/dev/null; then
        run_case $case
    else
        skip_case $case "no python3-jsonschema or python3-yaml"
    fi
done
finish
