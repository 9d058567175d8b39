#!/bin/sh
# test_fmu.sh SOURCE INTERIM: interim fmu on files, the cross-check's table, system structures. No FMU is loaded here.
. "$1/tests/shell.sh"
source=$1 interim=$2
corpus=$source/tests/fmi/corpus

subcommands_have_help_and_nearest_words() {
    expect 0 "$interim" help fmu
    out_has "fmu show"
    out_has "fmu check"
    expect 0 "$interim" help fmu show
    out_has "usage: interim fmu show"
    expect 0 "$interim" fmu check --help
    out_has "usage: interim fmu check"
    expect 1 "$interim" fmu
    expect 1 "$interim" fmu shwo a.fmu
    err_has "did you mean 'show'?"
    expect 1 "$interim" fmu show
    err_has "missing FMU"
    expect 1 "$interim" fmu show a.fmu --jsn
    err_has "did you mean '--json'?"
}

show_prints_the_description() {
    expect 0 "$interim" fmu show "$corpus/deflated.fmu" --all
    out_has "m: FMI 2.0"
    out_has "co-simulation    m.so: get and set state"
    out_has "0 s to 1 s"
    out_has "outputs (1)"
    out_has "  der(x)"
    expect 0 "$interim" fmu show "$corpus/stored.fmu"
    out_has "x86_64-linux"
    out_has "layered standard interim.rim 1"
    out_has "terminal         t"
    out_has "3 local variables"
}

show_prints_json() {
    expect 0 "$interim" fmu show "$corpus/stored.fmu" --json
    out_has '"fmi_version":"3.0"'
    out_has '"start":[1,2],"dimensions":[2]'
    if command -v node >/dev/null; then
        node -e 'const d = JSON.parse(require("fs").readFileSync("out.txt")); if (d.variables.length !== 8) process.exit(1)'
    fi
}

check_judges_line_by_line() {
    expect 1 "$interim" fmu check "$corpus/stored.fmu"
    out_has "ok       archive        4 files"
    out_has "ERROR    library        binaries/x86_64-linux/m.so is not a complete shared library of Linux (ELF)"
    out_has "1 errors"
    expect 1 "$interim" fmu check "$corpus/deflated.fmu" -q
    out_has "names in the archive have backslashes"
    out_has "there is no library for this machine"
    if grep -q '^ok' out.txt; then fail "-q prints what is right"; fi
}

wrong_files_are_named_with_a_remedy() {
    expect 1 "$interim" fmu show absent.fmu
    err_has "absent.fmu: No such file"
    echo text >text.fmu
    expect 1 "$interim" fmu check text.fmu
    err_has "text.fmu: this is not a ZIP archive"
    mkdir folder
    expect 1 "$interim" fmu check folder
    err_has "no modelDescription.xml at its root"
    echo '<fmiModelDescription fmiVersion="1.0"/>' >folder/modelDescription.xml
    expect 1 "$interim" fmu check folder
    err_has "folder/modelDescription.xml:1:1: this is FMI 1.0; Interim reads FMI 2.0 and 3.0"
    cp "$corpus/fmi2.xml" folder/modelDescription.xml
    expect 0 "$interim" fmu show folder
    out_has "m: FMI 2.0"
}

structures_are_located() {
    printf '<SystemStructureDescription name="s" version="1.0">\n<System name="r">\n<Elements><Component name="a" source="a.fmu" type="x"/></Elements></System></SystemStructureDescription>' >s.ssd
    expect 1 "$interim" check s.ssd
    err_has "s.ssd:3:11: component 'a' has the type 'x'"
    echo text >s.ssp
    expect 1 "$interim" run s.ssp
    err_has "s.ssp: this is not a ZIP archive"
}

# A command in place of ours says what each FMU is worth.
crosscheck_counts_and_names() {
    mkdir -p cc/fmus/2.0/cs/linux64/Tool/1.0/good cc/fmus/2.0/cs/linux64/Tool/1.0/bad cc/fmus/2.0/me/linux64/Tool/1.0/old cc/none
    for model in cs/linux64/Tool/1.0/good cs/linux64/Tool/1.0/bad me/linux64/Tool/1.0/old; do
        name=cc/fmus/2.0/$model/$(basename $model)
        touch "$name.fmu" "${name}_ref.csv"
    done
    touch cc/none/none.fmu cc/fmus/2.0/cs/linux64/Tool/1.0/good/good_in.csv
    printf 'StartTime, 0.0\r\nStopTime, 2.5\r\nStepSize, 1e-3\r\nRelTol, 1e-6\r\n' >cc/fmus/2.0/cs/linux64/Tool/1.0/good/good_ref.opt
    cat >fake <<'END'
#!/bin/sh
echo "$@" >>calls.txt
case $3 in
    */good.fmu) echo "passed: 2 signals; worst: y, 0.1 % of its range at 1 s" ;;
    */bad.fmu) echo "failed: 1 of 2 signals; worst: y, 7 % of its range at 1 s"; exit 2 ;;
    *) echo "interim: old.fmu!modelDescription.xml:1:1: this is FMI 1.0" >&2; exit 1 ;;
esac
END
    chmod +x fake
    expect 1 "$source/scripts/crosscheck.sh" ./fake cc
    [ "$(tail -n 1 out.txt)" = "1 passed, 1 failed, 2 refused" ] || { cat out.txt; fail "the last line counts"; }
    grep -qE '^Tool/1.0 +good +passed +2 signals' out.txt
    grep -qE '^Tool/1.0 +old +refused +old.fmu!modelDescription.xml:1:1: this is FMI 1.0' out.txt
    grep -qE ' none +refused +there is no none_ref.csv' out.txt
    grep -qF -- "good_ref.csv --input cc/fmus/2.0/cs/linux64/Tool/1.0/good/good_in.csv --kind co-simulation --until 2.5 --step 1e-3 --tolerance 1e-6" calls.txt
    grep -qF -- "--kind model-exchange" calls.txt
    rm -r cc/fmus/2.0/cs/linux64/Tool/1.0/bad
    expect 0 "$source/scripts/crosscheck.sh" ./fake cc
    expect 1 "$source/scripts/crosscheck.sh" ./fake absent
    err_has "'absent' is not a folder"
}

for case in subcommands_have_help_and_nearest_words show_prints_the_description show_prints_json check_judges_line_by_line \
    wrong_files_are_named_with_a_remedy structures_are_located crosscheck_counts_and_names; do
    run_case "$case"
done
finish
