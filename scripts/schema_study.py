#!/usr/bin/python3
"""schema_study.py [--check]: the JSON Schema of study files, from the tables of docs/reference/study-file.md, as schema.py does for model files."""
import os

from schema import EXPRESSION, NAME, ROOT, VALUE, WORD, closed, either, named, properties_of, read_tables, ref, store

PAGE = os.path.join(ROOT, "docs/reference/study-file.md")
OUT = os.path.join(ROOT, "docs/reference/study.schema.json")
TABLES = read_tables(PAGE)
SCALAR = {"type": ["string", "number", "boolean"]}  # lists and mappings in quotes


def words(cell):
    return WORD.findall(cell)


def cases(section, key, general, special=None, conditions=None):
    """An object whose keys depend on one of them: the first table of a section has the keys, the second one row per word.

    general: keys that every word allows. conditions: {word: schema}, which stands for the word where the key is left out."""
    keys, rows = TABLES[section][:2]
    properties, branches = properties_of(keys, special), []
    names = [words(row[key])[0] for row in rows]
    for name, row in zip(names, rows):
        required, optional = words(row["Required"]), words(row["Optional"])
        alternatives = row["Required"].split(" or ")
        own = {k: properties[k] for k in dict.fromkeys(required + optional + list(general))}
        then = closed({**own, key: {"const": name}}, required if len(alternatives) == 1 else ())
        if len(alternatives) > 1:
            then["anyOf"] = [{"required": words(part)} for part in alternatives]
        condition = {"properties": {key: {"const": name}}, "required": [key]}
        branches.append({"if": either(condition, conditions[name]) if name in (conditions or {}) else condition, "then": then})
    properties[key] = {**properties[key], "enum": names}
    properties[key].pop("type", None)
    return {"type": "object", "properties": properties, "additionalProperties": False, "allOf": branches}


def factor():
    absent = {"not": {"required": ["distribution"]}}
    return cases("Factors", "distribution", ("key", "nominal"), special={
        "values": either({"type": "string"}, {"type": "array", "items": SCALAR, "minItems": 1}), "weights": {"type": "array", "items": EXPRESSION},
        "nominal": SCALAR, "distribution": {},
    }, conditions={"choice": {"allOf": [absent, {"required": ["values"]}]}, "uniform": {"allOf": [absent, {"not": {"required": ["values"]}}]}})


def design():
    schema = cases("Design", "type", (), special={"type": {}})
    return {**schema, "required": ["type"]}


def response():
    statistics = [word for row in TABLES["Responses"][0] for word in words(row["statistic"])]
    meanings = {word: row["Meaning"] for row in TABLES["Responses"][0] for word in words(row["statistic"])}
    properties = {word: {**NAME, "description": meanings[word]} for word in statistics}
    window = properties_of(TABLES["Responses"][1])
    crossing = {"anyOf": [{"required": ["crossing"]}, {"required": ["events"]}]}
    return {**closed({**properties, **window}), "oneOf": [{"required": [word]} for word in statistics],
            "if": crossing, "then": {"required": ["level"]}, "else": {"properties": {key: False for key in ("level", "direction", "band")}}}


def schema():
    settings = {"type": "object", "additionalProperties": SCALAR}
    names = {"type": "array", "items": {"type": "string"}}
    top = properties_of(TABLES["Study file"][0], special={
        "interim": EXPRESSION, "title": NAME, "set": settings, "reference": settings, "factors": {**named(ref("factor")), "minProperties": 1}, "design": ref("design"),
        "responses": {**named(ref("response")), "minProperties": 1}, "signals": either(names, closed({"names": names, "points": EXPRESSION}, ("names",)))})
    return {
        "$schema": "http://json-schema.org/draft-07/schema#", "title": "Interim study file", "type": "object", "properties": top, "additionalProperties": False,
        "required": ["model", "factors", "design", "responses"],
        "definitions": {"value": VALUE, "factor": factor(), "design": design(), "response": response()},
    }


if __name__ == "__main__":
    store(schema(), PAGE, OUT)
