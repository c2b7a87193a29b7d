"""{{name}}: sets an owner on every resource."""

import sys

import yaml

OWNER = "example.com/owner"


def transform(resource_list):
    """Changes the items of a ResourceList in place. krm applies the differences; comments and layout are kept."""
    owner = owner_of(resource_list.get("functionConfig") or {})
    for item in resource_list.get("items") or []:
        metadata = item.setdefault("metadata", {})
        annotations = metadata.get("annotations") or {}
        metadata["annotations"] = {**annotations, OWNER: owner}
    return resource_list


def owner_of(config):
    """The functionConfig is a custom resource with a spec, or a ConfigMap with data."""
    owner = (config.get("spec") or config.get("data") or {}).get("owner")
    if not owner:
        raise ValueError("the functionConfig has no `owner`")
    return owner


def main():
    resource_list = yaml.safe_load(sys.stdin)
    try:
        transform(resource_list)
        failed = False
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        resource_list["results"] = [{"message": str(error), "severity": "error"}]
        failed = True
    yaml.safe_dump(resource_list, sys.stdout, sort_keys=False)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
