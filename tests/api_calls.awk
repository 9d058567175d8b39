# Writes C from the public headers: a call of every public function with arguments by mode (test_api.c has the macros).
/^ITM_API/ {
    p = $0
    while (p !~ /;/) { getline l; sub(/^ +/, " ", l); p = p l }
    sub(/^ITM_API /, "", p)
    match(p, /itm_[a-z0-9_]+\(/)
    result = substr(p, 1, RSTART - 1); gsub(/ +$/, "", result)
    name = substr(p, RSTART, RLENGTH - 1)
    list = substr(p, RSTART + RLENGTH); sub(/\);.*/, "", list)
    n = list == "void" ? 0 : split(list, params, /, */)
    call = ""; handles = 0
    for (i = 1; i <= n; i++) {
        q = params[i]
        sub(/^struct /, "", q); sub(/^const struct /, "const ", q)
        type = q
        if (type ~ /\[[0-9]*\]$/) { sub(/ [a-z_0-9]+\[[0-9]*\]$/, "*", type) } else { sub(/ [a-z_0-9A-Z]+$/, "", type) }
        base = type; sub(/^const /, "", base); sub(/\*.*/, "", base)
        if (type ~ /\*\*$/) v = "OUTPUT"
        else if (base == "ItmError" || base ~ /(Handler|Maker)$/) v = "NULL"
        else if (base ~ /^Itm(Model|Data|Cosim|CosimBuilder|ModelBuilder|Circuit|CircuitBuilder|Hydraulics|Control|ControlBuilder|Controller|Results|MlcpWorkspace|ModelFile|FileCircuit|FileFmu|Run|Linear|Drives|Table|Provenance|Study|StudyPool|Fmu)$/)
            v = "HANDLE(" handles++ ", " base ")"
        else if (type == "const char*") v = "STRING"
        else if (type ~ /const char\* const/) v = "NULL"
        else if (type ~ /^const .*\*$/) v = "INPUT"
        else if (type ~ /\*$/) v = "OUTPUT"
        else if (type == "int") v = "INDEX"
        else if (type == "size_t") v = "8"
        else if (type == "double") v = "1.0"
        else if (type == "bool") v = "true"
        else if (type ~ /^Itm(Vec3|Quat|Pose|Sym3|AdviceWatch)$/) v = "(" type "){0}"
        else v = "(" type ")WORD"
        call = call (i > 1 ? ", " : "") v
    }
    keep = result == "ItmStatus" ? "return (int)" : result == "void" ? "" : "(void)"
    print "static int call_" name "(void)\n{\n    " keep name "(" call ");" (result == "ItmStatus" ? "" : "\n    return -1;") "\n}"
    names[++count] = name; nhandle[count] = handles
}
END {
    print "static const ApiCall CALLS[] = {"
    for (i = 1; i <= count; i++) print "    {\"" names[i] "\", call_" names[i] ", " nhandle[i] + 0 "},"
    print "};"
}
