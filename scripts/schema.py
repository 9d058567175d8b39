#!/usr/bin/python3
"""schema.py [--check]: the JSON Schema of model files, from the tables of docs/reference/model-file.md; that of study files is
made by schema_study.py.

The page is the one source: its tables name every key with type, unit, default and meaning (scripts/check-model-file.sh compares
them with the readers). LAYOUT below says which table describes which part of a file. --check: fail where the schema that is stored
differs from what the page gives now.
"""
import json
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PAGE = os.path.join(ROOT, "docs/reference/model-file.md")
OUT = os.path.join(ROOT, "docs/reference/model.schema.json")

WORD = re.compile(r"`([A-Za-z0-9_#-]+)`")
LAW = ["coefficient", "area", "diameter", "discharge", "threshold", "one_way"]  # of an orifice
PLACEHOLDERS = {"name", "joint", "direction", "cylinder", "node"}  # {joint: value} maps any name

# ---------------------------------------------------------------------------- tables of the page


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def read_tables(page):
    """{section: [table]}; a table is a list of rows {column: cell}."""
    tables, section, lines, is_code = {}, "", open(page, encoding="utf-8").read().split("\n"), False
    i = 0
    while i < len(lines):
        line = lines[i]
        is_code ^= line.startswith("```")
        if line.startswith("#") and not is_code:
            section = line.lstrip("#").strip()
        if line.startswith("|") and lines[i + 1].startswith("|---"):
            head = [re.sub(r"^Key of.*", "Key", cell.strip("`")) for cell in cells(line)]
            head = [{"key": "Key", "value": "Type", "default": "Default", "meaning": "Meaning", "beam": "Key", "model": "Key"}.get(h, h) for h in head]
            rows = []
            i += 2
            while i < len(lines) and lines[i].startswith("|"):
                rows.append(dict(zip(head, cells(lines[i]))))
                i += 1
            tables.setdefault(section, []).append(rows)
        else:
            i += 1
    return tables


TABLES = read_tables(PAGE)

# ---------------------------------------------------------------------------- values

EXPRESSION = {"$ref": "#/definitions/value"}
SIGNAL = {"$ref": "#/definitions/signal_or_value"}
NAME = {"type": ["string", "number"]}
VALUE = {"anyOf": [{"type": "number"}, {"type": "string", "pattern": "^(?!\\s*$)(?!\\.(nan|inf))(?![^(]*,)"}], "description": "a number, or an expression with units and parameters"}


def ref(name):
    return {"$ref": f"#/definitions/{name}"}


def split_top(text, separators):
    """Split outside brackets."""
    parts, depth, start, i = [], 0, 0, 0
    while i < len(text):
        if text[i] in "[{(":
            depth += 1
        elif text[i] in "]})":
            depth -= 1
        elif depth == 0:
            hit = next((s for s in separators if text.startswith(s, i)), None)
            if hit:
                parts.append(text[start:i])
                i += len(hit)
                start = i
                continue
        i += 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def list_type(text):
    inner = split_top(text[1:-1], [","])
    if any("..." in part for part in inner):
        return {"type": "array"}
    return {"type": "array", "items": EXPRESSION, "minItems": len(inner), "maxItems": len(inner)}


def map_type(text):
    parts = split_top(text[1:-1], [","])
    keys = [split_top(part, [":"])[0].strip("`") for part in parts if part != "..."]
    if keys[0] in PLACEHOLDERS:
        inner = split_top(parts[0], [":"])
        return {"type": "object", "additionalProperties": one_type(inner[1]) if len(inner) > 1 else {}}
    return {"type": "object", "properties": {key: {} for key in keys}, "additionalProperties": False}


def one_type(text):
    """Schema of one alternative of a cell of types."""
    if text.startswith("["):
        return list_type(text)
    if text.startswith("{"):
        return map_type(text)
    if text.startswith(("list", "lists")):
        return {"type": "array"}
    if text.startswith("mapping"):
        return {"type": "object"}
    if text.startswith(("signal", "drive", "output of another")):
        return SIGNAL
    if text.startswith(("number", "whole number", "integer", "time", "bytes", "expression", "value", "length", "angle", "ratio")):
        return EXPRESSION
    if re.match(r"^\d+ to \d+$", text):
        return EXPRESSION
    return NAME  # name, text, path, node, direction of a joint, ...


def words_of(row, keys):
    """Words that a key takes: those in quotes that are no keys themselves, and the default."""
    words = [word for word in WORD.findall(row.get("Meaning", "")) if word not in keys]
    default = row.get("Default", "").strip("`")
    return list(dict.fromkeys(([default] if re.fullmatch(r"[a-z][a-z0-9-]*", default) else []) + words))


def type_of(row, keys):
    text = re.sub(r"\[([^\]]*)\]\(#[^)]*\)", r"\1", row.get("Type", ""))
    if text in ("true or false", "yes or no") or set(WORD.findall(text)) == {"true", "false"}:
        return {"type": "boolean"}
    if text == "word":
        words = words_of(row, keys)
        return {"enum": words} if words else NAME
    if text.startswith("`") and not text.startswith("`tx"):
        return {"enum": WORD.findall(text)}
    if text == "orientation":
        return ref("orientation")
    kinds = [one_type(part) for part in split_top(text, [", or ", " or ", ", "])]
    unique = [kind for i, kind in enumerate(kinds) if kind not in kinds[:i]]
    return {} if not unique else unique[0] if len(unique) == 1 else {"anyOf": unique}


def describe(row):
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", row.get("Meaning", "")).replace("\\|", "|")
    unit, default = row.get("Unit", ""), row.get("Default", "")
    more = "; ".join(part for part in (f"unit: {unit}" if unit else "", f"default: {default}" if default else "") if part)
    return ". ".join(part for part in (text.rstrip("."), more) if part)


def keys_of(row):
    text = row["Key"]
    found = WORD.findall(re.sub(r"without `\w+`", "", text))
    return found + [key for key in LAW if "law" in text and not (key == "one_way" and "without" in text)]


# ---------------------------------------------------------------------------- tables to definitions


def properties_of(rows, special=None, known=None):
    """Properties of a plain table. special: {key: schema} for what a cell cannot say; known: of earlier tables, for empty types."""
    special, known, out = special or {}, known or {}, {}
    keys = {key for row in rows for key in keys_of(row)}
    for row in rows:
        for key in keys_of(row):
            is_as_before = not row.get("Type") or row["Type"].startswith(("as ", "the same"))
            schema = special[key] if key in special else known[key] if is_as_before and key in known else type_of(row, keys)
            schema = {k: v for k, v in schema.items() if k != "description"}
            text = describe(row)
            # beside a $ref other words are ignored before draft 2019
            out[key] = {"allOf": [schema], "description": text} if text and "$ref" in schema else {**schema, **({"description": text} if text else {})}
            if not text and "description" in known.get(key, {}):
                out[key] = known[key]
    return out


def closed(properties, required=()):
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def plain(section, index=0, special=None, known=None, required=(), more=None):
    return closed({**properties_of(TABLES[section][index], special, known), **(more or {})}, required)


def like_of(name, row):
    """The type whose keys a type has as well, where its row names one."""
    text = row["Key"] + " " + row.get("Meaning", "")
    if "a `motor` with all its keys" in text:
        return "motor"
    words = re.search(r"as for an? (\w+) valve", text)
    return f"{words[1]}-valve" if words else "relief-valve" if name in ("shuttle-valve", "priority-valve") else ""


def by_type(section, special=None, known=None):
    """A table whose first column is the type: rows go on with the type above; `all` goes to every type."""
    rows, types, current, general = TABLES[section][0], {}, [], []
    table = [dict(row, Key=row["Key"]) for row in rows]
    for row in table:
        names = WORD.findall(row["type"])
        if row["type"] == "all":
            current = None
        elif names:
            previous = list(types.values())[-1] if types else []
            current = names
            for name in names:
                types.setdefault(name, [])
                like = types.get(like_of(name, row), previous if row["Key"].startswith("the same") else [])
                types[name] += [other for other in like if other not in types[name]]
        if current is None:
            general.append(row)
        else:
            for name in current:
                types[name].append(row)
    seen, cases = dict(known or {}), []
    for name, own in types.items():
        properties = properties_of(general + own, special, seen)
        for key, schema in properties.items():
            seen.setdefault(key, schema)
        properties["type"] = {"const": name}
        cases.append({"if": {"properties": {"type": {"const": name}}, "required": ["type"]}, "then": closed(properties)})
    return {"type": "object", "properties": {"type": {"enum": list(types)}}, "required": ["type"], "allOf": cases}


def named(schema):
    return {"type": "object", "additionalProperties": schema}


def either(*schemas):
    return {"anyOf": list(schemas)}


def signals():
    kinds, current, rows = {}, [], TABLES["Signals"][0]
    for row in rows:
        current = WORD.findall(row["Key"]) or current
        inner = [{"Key": f"`{key}`", "Type": "mapping" if key in ("times", "values") else "true or false" if key == "smooth" else "word" if key == "interpolation" else
                  "text" if key in ("file", "column", "time") else "number", **{c: row[c] for c in ("Unit", "Default", "Meaning")}} for key in WORD.findall(row["Contains"])]
        special = {"times": {"type": "array"}, "values": {"type": "array"}}
        for name in current:
            kinds.setdefault(name, {}).update(properties_of(inner, special))
    properties = {name: closed(inner) for name, inner in kinds.items()}
    properties["external"] = either(EXPRESSION, properties["external"])
    return {**closed(properties), "minProperties": 1, "maxProperties": 1}


def definitions():
    direction = {"type": "object", "additionalProperties": EXPRESSION}
    frame = closed({key: {} for key in ("position", "axis", "x_axis", "orientation")})
    joint = plain("Joints", special={
        "type": {"enum": [WORD.findall(row["type"])[0] for row in TABLES["Joints"][1]]}, "frame_a": frame, "frame_b": frame,
        "limits": either(list_type("[a, b]"), ref("limits"), named(either(list_type("[a, b]"), ref("limits")))),
        "clearance": either(EXPRESSION, ref("clearance")), "start": either(EXPRESSION, direction, {"type": "array"}), "start_rate": either(EXPRESSION, direction, {"type": "array"}),
    }, required=("type", "bodies"))
    surface = properties_of(TABLES["Materials"][0])
    # a number at springs, six directions at bushings
    bushing = {key: either(EXPRESSION, closed({k: EXPRESSION for k in ("tx", "ty", "tz", "rx", "ry", "rz", "t", "r")})) for key in ("stiffness", "damping")}
    shape = plain("Shapes", special={
        "color": {"type": "string"}, "hull": either(closed({k: {} for k in ("file", "scale", "vertices")}), {"type": "array"}),
        "mesh": closed({k: {} for k in ("file", "scale", "vertices", "triangles")}), "heights": closed({k: {} for k in ("size", "values", "file", "scale")}),
        "cylinder": closed({"radius": EXPRESSION, "length": EXPRESSION}), "capsule": closed({"radius": EXPRESSION, "length": EXPRESSION}),
    })
    shape["properties"]["color"] = {"anyOf": [{"enum": WORD.findall(next(row for row in TABLES["Shapes"][0] if row["Key"] == "`color`")["Meaning"])}, {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"}],
                                    "description": shape["properties"]["color"]["description"]}
    fmu = plain("FMUs", special={"type": {"const": "fmu"}, "ports": named(ref("fmu_port")), "limits": ref("fmu_limits"), "set": {"type": "object"}, "inputs": {"type": "object"}}, required=("type", "file"))
    fmu["properties"].update(properties_of(TABLES["Foreign mechanisms"][0], {"probing": closed({"every": EXPRESSION, "amplitude": EXPRESSION})}))
    multibody = plain("Multibody", special={
        "materials": named(ref("material")), "material_pairs": {"type": "array", "items": closed({**surface, "materials": list_type("[a, b]")}, ("materials",))}, "contact": ref("contact"),
        "bodies": named(ref("body")), "urdf": either({"type": "string"}, ref("robot"), {"type": "array"}), "shapes": named(ref("shape")), "no_contact": {"type": "array", "items": list_type("[a, b]")},
        "joints": named(ref("joint")), "couplings": named(ref("coupling")), "motions": named(ref("motion")), "forces": named(ref("force")),
        "events": {"type": "array", "items": ref("event")}, "points": named(closed({"body": NAME, "point": list_type("[x, y, z]")}, ("body",))), "interfaces": named(ref("interface")),
    })
    mechanism = {**multibody["properties"], "type": {"const": "multibody"}, "step": EXPRESSION}
    mechanism.pop("name")
    types = {"hydraulics": "hydraulics", "control": "control", "multibody": "mechanism", "drive": "drive", "fmu": "fmu", "external": "external"}
    parts = {
        "value": VALUE,
        "orientation": either(list_type("[w, x, y, z]"), closed({"axis": list_type("[x, y, z]"), "angle": EXPRESSION}, ("axis", "angle")), closed({"euler": list_type("[a, b, c]")}, ("euler",))),
        "signal": signals(),
        "signal_or_value": either(EXPRESSION, ref("signal")),
        "shape": shape,
        "material": closed(surface),
        "contact": plain("Contact", special={"friction_law": {"enum": ["cone", "pyramid", "box"]}}),
        "body": plain("Bodies", special={"shape": ref("shape"), "flexible": ref("flexible")}),
        "flexible": plain("Flexible bodies", special={"beam": ref("beam"), "model": ref("finite_elements"), "points": named(list_type("[x, y, z]")), "damping": either(EXPRESSION, {"type": "array"}, closed({k: {} for k in ("ratio", "ratios", "mass", "stiffness")}))}),
        "beam": plain("Flexible bodies", 1, special={"section": closed({k: {} for k in ("rectangle", "circle", "tube", "area", "moment_y", "moment_z", "torsion", "shear_y", "shear_z")}),
                                                     "modes": either(EXPRESSION, closed({k: EXPRESSION for k in ("y", "z", "axial", "torsion")}))}, required=("length", "section")),
        "finite_elements": plain("Flexible bodies", 2, special={"interfaces": {"type": "object"}, "mass": NAME, "stiffness": NAME}),
        "robot": plain("Robots from URDF", special={"position": list_type("[x, y, z]"), "orientation": ref("orientation")}, required=("file",)),
        "limits": plain("Joints", 2),
        "clearance": plain("Clearance", special={"section": either({"type": "array"}, closed({"width": EXPRESSION, "height": EXPRESSION}))}),
        "joint": joint,
        "coupling": plain("Couplings", required=("type", "first", "second")),
        "motion": plain("Motions", required=("joint",)),
        "force": by_type("Forces", special={"frame": {"enum": ["world", "body"]}, **bushing}, known=joint["properties"]),
        "event": plain("Events", special={"at": EXPRESSION, "grasp": list_type("[a, b]"), "release": {}}, required=("at",)),
        "interface": plain("Interfaces", required=("body",)),
        "multibody": multibody,
        "mechanism": closed(mechanism, ("type",)),
        "hydraulics": plain("Hydraulics", special={
            "type": {"const": "hydraulics"}, "fluids": named(ref("fluid")), "nodes": named(ref("node")), "elements": named(ref("element")), "outputs": {"type": "object"},
            "start": either({"enum": ["given", "static"]}, closed({"static": plain("Start")}, ("static",)))}, required=("type", "nodes")),
        "fluid": plain("Fluids"),
        "node": by_type("Nodes"),
        "element": by_type("Elements", special={
            "ports": either(list_type("[a, b]"), closed({k: NAME for k in ("p", "t", "a", "b", "ls", "out", "inlet", "priority", "excess")})), "port": NAME, "drain": NAME, "drain_leakage": EXPRESSION, "spool": closed({k: EXPRESSION for k in ("time_constant", "natural_frequency", "damping_ratio")})}),
        "drive": plain("Electric drives and winches", special={"type": {"const": "drive"}, "motors": named(ref("motor"))}, required=("type", "motors")),
        "motor": plain("Electric drives and winches", 1),
        "control": plain("Control", special={"type": {"const": "control"}, "blocks": named(either(EXPRESSION, ref("block")))}, required=("type", "blocks")),
        "block": by_type_blocks(),
        "fmu": fmu,
        "external": plain("External subsystems", special={"type": {"const": "external"}}, required=("type",)),
        "fmu_port": plain("FMUs", 1),
        "fmu_limits": plain("FMUs", 2),
        "bond": either({"type": "string"}, closed({"port": NAME, **{k: v for k, v in properties_of(TABLES["Cosim"][0]).items() if k in ("coupling", "exchange", "variables")}}, ("port",))),
        "wire": either(EXPRESSION, closed({"from": NAME, "factor": EXPRESSION, "offset": EXPRESSION}, ("from",))),
        "cosim": plain("Cosim", special={"overrides": {"type": "object"}, "bonds": named(ref("bond")), "wires": named(ref("wire")), "aliases": named(NAME)}),
        "run": plain("Run", special={"bounds": closed({k: EXPRESSION for k in WORD.findall(next(row for row in TABLES["Run"][0] if row["Key"] == "`bounds`")["Meaning"])})}),
        "subsystem": {"type": "object", "properties": {"type": {"enum": list(types)}}, "required": ["type"],
                      "allOf": [{"if": {"properties": {"type": {"const": name}}, "required": ["type"]}, "then": ref(part)} for name, part in types.items()]},
    }
    return parts


def by_type_blocks():
    start = either(EXPRESSION, {"enum": ["input"]})
    limits = either(list_type("[a, b]"), closed({"lower": EXPRESSION, "upper": EXPRESSION}))
    return by_type("Control blocks", special={"start": start, "limits": limits, "points": {"type": "array"}, "values": {"type": "array"}, "anti_windup": {"enum": ["clamp", "tracking", "none"]}})


def schema():
    TABLES["Control blocks"] = [TABLES["Control"][1]]  # the second of its section
    top = properties_of(next(table for table in TABLES["Model files"] if "Key" in table[0]), special={
        "interim": EXPRESSION, "title": {"type": ["string", "number"]}, "parameters": named(EXPRESSION), "signals": named(ref("signal_or_value")), "multibody": ref("multibody"),
        "subsystems": named(ref("subsystem")), "cosim": ref("cosim"), "run": ref("run")})
    return {
        "$schema": "http://json-schema.org/draft-07/schema#", "title": "Interim model file", "type": "object", "properties": top, "additionalProperties": False,
        "anyOf": [{"required": ["multibody"]}, {"required": ["subsystems"]}], "definitions": definitions(),
    }


def store(value, page, out):
    """Write a schema, or with --check compare it with the one that is stored."""
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    if "--check" in sys.argv[1:]:
        stored = open(out, encoding="utf-8").read() if os.path.exists(out) else ""
        if stored != text:
            sys.exit(f"{os.path.relpath(out, ROOT)} is not what {os.path.relpath(page, ROOT)} gives: run {sys.argv[0]}")
        print(f"{os.path.basename(out)}: {len(value['definitions'])} definitions")
    else:
        with open(out, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    store(schema(), PAGE, OUT)
