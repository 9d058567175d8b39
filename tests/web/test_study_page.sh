#!/bin/sh
# test_study_page.sh SOURCE INTERIM: the page of a study in a real browser. Skipped, with the reason, where there is no chromium or no node.
. "$1/tests/shell.sh"
source=$1 interim=$2
chromium=$(command -v chromium || command -v chromium-browser || true)

# The tolerance study with few and short runs.
the_page_of_a_study_is_drawn_and_leads_to_its_runs() {
    sed "s#model: ../#model: $source/examples/#; s/runs: 500/runs: 24/; s/duration: 80 ms/duration: 4 ms/" \
        "$source/examples/studies/tolerance.yaml" >study.yaml
    expect 0 "$interim" study study.yaml -q --report page.html
    node "$source/tests/web/test_study_page.mjs" "$PWD/page.html" "$chromium" || fail "the page"
}

name=the_page_of_a_study_is_drawn_and_leads_to_its_runs
if [ -z "$chromium" ]; then
    skip_case $name "no chromium"
elif ! command -v node >/dev/null; then
    skip_case $name "no node"
else
    run_case $name
fi
finish
