#!/usr/bin/python3
"""validate.py SCHEMA: validate documents of a list; lines of stdin are paths of YAML files. Prints 'PATH: ok' or 'PATH: where: why'."""
import json
import sys

import jsonschema
import yaml


def texts(value):
    """Keys as text: `0: 1` and `on: 2` are names to Interim."""
    if isinstance(value, dict):
        return {str(key): texts(item) for key, item in value.items()}
    return [texts(item) for item in value] if isinstance(value, list) else value


class Loader(yaml.SafeLoader):
    """YAML 1.2, as Interim reads it: only true and false are truth values, and nothing is a date."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in rules if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:int", "tag:yaml.org,2002:float")]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", __import__("re").compile("^(true|false)$"), list("tf"))
Loader.add_implicit_resolver("tag:yaml.org,2002:int", __import__("re").compile(r"^[-+]?[0-9]+$"), list("-+0123456789"))
Loader.add_implicit_resolver("tag:yaml.org,2002:float", __import__("re").compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$"), list("-+.0123456789"))

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
for path in sys.stdin.read().split():
    with open(path, encoding="utf-8") as file:
        document = texts(yaml.load(file, Loader))
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    print(f"{path}: " + ("ok" if error is None else f"{'.'.join(map(str, error.absolute_path))}: {error.message[:160]}"))
