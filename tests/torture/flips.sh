#!/bin/sh
# Bit flips: copies of every kind of file that the command reads, each damaged in its own way, are given to the commands that read
# them. A command may do its work or end with status 1 or 2 and a message; it may not crash, hang, or leave a cut output.
#   flips.sh SOURCE INTERIM FLIP COUNT [SEED]
# Prints a line per format: injected, answered (refused with a message), read (the damage was harmless), failed; status 1 if any failed.
set -u
source=$1 interim=$2 flip=$3 count=$4 seed=${5:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
examples=$source/examples
total=0 failures=0

# try COMMAND...: 0 it did its work, 1 it refused, 2 it failed
try() {
    timeout 300 "$interim" "$@" >out.txt 2>err.txt
    status=$?
    if [ $status -eq 0 ]; then return 0; fi
    if { [ $status -eq 1 ] || [ $status -eq 2 ]; } && [ -s err.txt ]; then return 1; fi
    echo "    interim $*: status $status, seed $s"
    [ -z "${KEEP:-}" ] || cp damaged.* "$KEEP"
    return 2
}

# campaign NAME FILE USE...: FILE is damaged; USE is called with the damaged file in its place
campaign() {
    name=$1 file=$2; shift 2
    injected=0 answered=0 worked=0 failed=0
    s=0
    for use in "$@"; do
        cp "$file" "damaged.${file##*.}"
        $use || { echo "    $name: the undamaged file is refused"; cat err.txt; failures=$((failures + 1)); }
    done
    s=$seed
    while [ "$s" -lt $((seed + count)) ]; do
        "$flip" "$file" "damaged.${file##*.}" "$s" || exit 1
        for use in "$@"; do
            injected=$((injected + 1))
            $use
            case $? in 0) worked=$((worked + 1)) ;; 1) answered=$((answered + 1)) ;; *) failed=$((failed + 1)) ;; esac
        done
        s=$((s + 1))
    done
    echo "flips: $name: injected $injected, answered $answered, read $worked, failed $failed"
    total=$((total + injected)) failures=$((failures + failed))
}

report_h5() { rm -f page.html; try report damaged.h5 -q -o page.html; }
compare_h5() { try compare good.h5 damaged.h5; }
plot_h5() { try plot damaged.h5 --signals '*.position.*' -o plot.svg; }
report_csv() { try report damaged.csv -q -o page.html; }
compare_csv() { try compare good.csv damaged.csv; }
plot_csv() { try plot damaged.csv --signals '*.position.*' -o plot.svg; }
report_json() { cp damaged.json side.json; try report side.csv -q -o page.html; }
check_model() { try check damaged.yaml --budget 1; }
check_mesh() { try check mesh.yaml; }
check_matrix() { try check matrix.yaml; }
check_table() { try check "$table.yaml"; }
check_urdf() { try check robot.yaml; }

"$interim" run "$examples/table-hammer.yaml" -q --until 0.1s -o good.h5 2>/dev/null
"$interim" run "$examples/table-hammer.yaml" -q --until 0.1s -o good.csv 2>/dev/null
cp good.csv side.csv
cp good.json given.json
campaign "HDF5 results" good.h5 report_h5 compare_h5 plot_h5
campaign "CSV results" good.csv report_csv compare_csv plot_csv
campaign "JSON beside CSV" given.json report_json

cp "$examples/log-crane.yaml" model.yaml
cp "$examples"/*.csv .
campaign "model file" model.yaml check_model
rm model.yaml

# an octahedron, as a mesh and as a hull
cat >octahedron.obj <<END
v 1 0 0
v -1 0 0
v 0 1 0
v 0 -1 0
v 0 0 1
v 0 0 -1
f 1 3 5
f 3 2 5
f 2 4 5
f 4 1 5
f 3 1 6
f 2 3 6
f 4 2 6
f 1 4 6
END
awk 'BEGIN {print "solid s"} /^v/ {n++; v[n] = $2 " " $3 " " $4}
    /^f/ {print "facet normal 0 0 0\nouter loop"; for (i = 2; i < 5; i++) print "vertex " v[$i]; print "endloop\nendfacet"}
    END {print "endsolid s"}' octahedron.obj >octahedron.stl
for kind in stl obj; do
    cat >mesh.yaml <<END
multibody:
  bodies:
    part: {density: 1000, shape: {mesh: {file: damaged.$kind}}}
    moved: {density: 1000, position: [5 m, 0 m, 0 m], shape: {hull: {file: damaged.$kind}}}
run: {duration: 1 s, step: 1 ms}
END
    campaign "mesh, $kind" octahedron.$kind check_mesh
done
sed 's/mast-stiffness.mtx/damaged.mtx/' "$examples/flexible-mast.yaml" >matrix.yaml
cp "$examples/mast-mass.mtx" "$examples/mast-nodes.csv" "$examples/mast-stiffness.mtx" .
campaign "matrix" mast-stiffness.mtx check_matrix
for table in terrain robot-replay; do
    file=$(sed -n 's/.*file: *\([a-z-]*\.csv\).*/\1/p' "$examples/$table.yaml" | head -n 1)
    [ -n "$file" ] || continue
    sed "s/$file/damaged.csv/" "$examples/$table.yaml" >"$table.yaml"
    cp "$examples/robot.urdf" .
    campaign "$file of $table" "$file" check_table
done
cp "$examples/robot.urdf" given.urdf
sed 's/robot.urdf/damaged.urdf/' "$examples/robot.yaml" >robot.yaml
campaign "URDF" given.urdf check_urdf
echo "flips: injected $total, failed $failures; seeds $seed to $((seed + count - 1))"
[ "$failures" -eq 0 ]
