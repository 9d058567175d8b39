#!/bin/sh
# cranes.sh COUNT: a model file with that many cranes in one system, each with a circuit and a load of its own, from crane-single.yaml.
#
#   examples/cranes.sh 100 >cranes.yaml
#   mpirun -n 2 interim-mpi run cranes.yaml -o cranes.csv
awk -v count="${1:-100}" '
    /^#/ && section == "" { next }
    /^[a-z]+:/ { section = $1 }
    section == "title:" && $1 == "title:" { print "title: " count " hydraulic cranes"; next }
    section == "parameters:" || section == "signals:" { print }
    section == "multibody:" && !/^multibody:|^  name:/ { crane = crane "  " $0 "\n" }
    section == "subsystems:" && !/^subsystems:|^  hydraulics:/ { circuit = circuit $0 "\n" }
    section == "cosim:" && $1 == "coupling:" { coupling = $0 }
    END {
        print "subsystems:"
        for (i = 1; i <= count; i++) {
            load = crane
            gsub(/mass: m_h/, "mass: m_h + " i " kg", load)
            printf "  crane%d:\n    type: multibody\n%s  hydraulics%d:\n%s", i, load, i, circuit
        }
        print "cosim:\n  macro_step: 10 ms\n" coupling "\n  bonds:"
        for (i = 1; i <= count; i++) printf "    crane%d.cyl1: hydraulics%d.cyl1\n", i, i
        print "run:\n  duration: 4 s\n  output_interval: 0.1 s"
    }' "$(dirname "$0")/crane-single.yaml"
