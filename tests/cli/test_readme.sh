#!/bin/sh
# test_readme.sh SOURCE: the model in the README is an example, word for word.
. "$1/tests/shell.sh"
source=$1

readme_model_is_an_example() {
    sed -n '/^```yaml$/,/^```$/p' "$source/README.md" | sed '1d;$d' >readme.yaml
    [ -s readme.yaml ]
    cmp readme.yaml "$source/examples/pendulum.yaml"
}

every_linked_file_exists() {
    for page in README.md CONTRIBUTING.md docs/architecture.md docs/theory.md docs/theory-mlcp.md docs/theory-hydraulics.md \
        docs/guide/contact.md docs/guide/clearance.md docs/theory-clearance.md docs/guide/hydraulics.md docs/guide/getting-started.md docs/guide/results.md docs/guide/sweep.md \
        docs/guide/robots.md docs/guide/reports.md docs/reference/results.md; do
        grep -oE '\]\([^)#:]+\)' "$source/$page" | tr -d '()]' | while read -r link; do
            [ -e "$source/$(dirname "$page")/$link" ] || fail "$page: no file $link"
        done
    done
}

run_case readme_model_is_an_example
run_case every_linked_file_exists
finish
