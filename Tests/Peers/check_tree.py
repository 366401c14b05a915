#!/usr/bin/env python3
"""Holds every model.json and catalog.json of a published tree against its JSON Schema, with the package `jsonschema`.

Files are those below DIR/targets named model.json or catalog.json, with or without a digest before the name; where there is one, it must be
the file's SHA-256. Prints one JSON object with what was checked; exits 1 when anything fails, or when there was nothing to check.
"""

import argparse
import hashlib
import json
import os
import re
import sys

import jsonschema

NAME = re.compile(r"(?:([0-9a-f]{64})\.)?(model|catalog)\.json")


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    return data, json.loads(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", metavar="DIR", help="the published tree: manifests")
    parser.add_argument("--schemas", metavar="DIR", help="where model.schema.json and catalog.schema.json are, if not in DIR")
    options = parser.parse_args()

    validators = {}
    for kind in ("model", "catalog"):
        path = os.path.join(options.schemas or options.directory, kind + ".schema.json")
        try:
            _, schema = load(path)
            validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
            validator.check_schema(schema)
        except (OSError, ValueError, jsonschema.SchemaError) as error:
            sys.exit(f"check_tree: {path} is not a usable schema: {error}")
        validators[kind] = validator(schema, format_checker=validator.FORMAT_CHECKER)

    checked = {"model": [], "catalog": []}
    problems = []
    for folder, _, files in sorted(os.walk(os.path.join(options.directory, "targets"))):
        for file in sorted(files):
            match = NAME.fullmatch(file)
            if not match:
                continue
            path = os.path.join(folder, file)
            digest, kind = match.groups()
            checked[kind].append(path)
            try:
                data, document = load(path)
            except (OSError, ValueError) as error:
                problems.append(f"{path}: {error}")
                continue
            if digest not in (None, hashlib.sha256(data).hexdigest()):
                problems.append(f"{path}: its SHA-256 is {hashlib.sha256(data).hexdigest()}")
            for error in sorted(validators[kind].iter_errors(document), key=lambda error: error.json_path):
                problems.append(f"{path}: at {error.json_path}: {error.message}")

    for kind, paths in checked.items():
        if not paths:
            problems.append(f"{options.directory}: there is no {kind}.json below targets")
    json.dump({"checked": checked, "problems": problems}, sys.stdout, indent=1)
    print()
    if problems:
        sys.exit("\n".join("check_tree: " + problem for problem in problems))


if __name__ == "__main__":
    main()
