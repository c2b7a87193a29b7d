#!/usr/bin/env python3
"""{{name}}: sets an owner on every resource."""

import sys

from ruamel.yaml.error import YAMLError

from resource_list import ResourceList, set_in

OWNER = "example.com/owner"


def transform(resource_list):
    """Changes the items in place. A ValueError becomes a result of the function."""
    owner = owner_of(resource_list.function_config)
    for item in resource_list.items:
        set_in(item, ["metadata", "annotations", OWNER], owner)


def owner_of(config):
    """The functionConfig is a custom resource with a spec, or a ConfigMap with data."""
    owner = (config.get("spec") or config.get("data") or {}).get("owner")
    if not owner:
        raise ValueError("the functionConfig has no `owner`")
    return str(owner)


def run(stdin, stdout):
    """Reads a ResourceList, writes the changed one, and returns the exit code."""
    resource_list = ResourceList(stdin.read())
    code = 0
    try:
        transform(resource_list)
    except ValueError as error:
        resource_list.results.append({"message": str(error), "severity": "error"})
        print(f"error: {error}", file=sys.stderr)
        code = 1
    stdout.write(resource_list.text())
    return code


if __name__ == "__main__":
    try:
        sys.exit(run(sys.stdin, sys.stdout))
    except (ValueError, YAMLError) as error:
        sys.exit(f"error: {error}")
