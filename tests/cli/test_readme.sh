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
    (cd "$source" && ls ./*.md && find docs reproduce -name '*.md') >pages.txt
    while read -r page; do
        grep -oE '\]\([^)#:]+\)' "$source/$page" | tr -d '()]' | while read -r link; do
            [ -e "$source/$(dirname "$page")/$link" ] || fail "$page: no file $link"
        done
    done <pages.txt
}

run_case readme_model_is_an_example
run_case every_linked_file_exists
finish
