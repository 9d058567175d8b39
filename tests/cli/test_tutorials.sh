#!/bin/sh
# test_tutorials.sh SOURCE INTERIM: every command of the tutorials and the first pages runs as it is written.
. "$1/tests/shell.sh"
source=$1
interim=$2

# commands_of PAGE: its lines of code that call the program or a script of ours, those that go on put together
commands_of() {
    awk '/^```/ { is_code = !is_code } is_code { next }
         rest != "" || /^    ((build\/)?interim|cmp) [a-z]/ || /^    scripts\// {
             line = rest substr($0, 5)
             if (sub(/\\$/, "", line)) { rest = line; next }
             rest = ""; print line }' "$1"
}

run_page() {
    ln -s "$source/examples" "$source/scripts" .
    mkdir -p build out
    ln -s "$interim" build/interim
    commands_of "$source/$1" >commands.txt
    [ -s commands.txt ]
    while read -r line; do
        case $line in interim*) line=build/$line ;; esac
        status=0
        sh -c "$line" >out.txt 2>&1 </dev/null || status=$?
        # 2: a run that breaks down, which some pages show
        [ $status -eq 0 ] || [ $status -eq 2 ] || { cat out.txt; fail "$1: status $status: $line"; }
    done <commands.txt
}

readme() { run_page README.md; }
getting_started() { run_page docs/guide/getting-started.md; }
tutorial_of_the_arm() { run_page docs/tutorials/arm.md; }
tutorial_of_the_capture() { run_page docs/tutorials/capture.md; }
tutorial_of_the_cranes() { run_page docs/tutorials/cranes.md; }
tutorial_of_the_loose_joints() { run_page docs/tutorials/clearance.md; }
tutorial_of_the_manipulator() { run_page docs/tutorials/manipulator.md; }

for page in readme getting_started tutorial_of_the_arm tutorial_of_the_capture tutorial_of_the_cranes tutorial_of_the_loose_joints tutorial_of_the_manipulator; do
    run_case $page
done
finish
