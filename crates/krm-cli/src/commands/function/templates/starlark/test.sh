#!/bin/bash
# Tests the function; needs krm on PATH.
set -euo pipefail
cd "$(dirname "$0")"

package=$(mktemp -d)
trap 'rm -r "$package"' EXIT
printf 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: web # do not rename\n' > "$package/pod.yaml"
krm fn eval "$package" --starlark function.star --fn-config config.yaml
grep -q 'example.com/owner: team-a' "$package/pod.yaml" || { cat "$package/pod.yaml" >&2; exit 1; }
grep -q 'name: web # do not rename' "$package/pod.yaml" || { cat "$package/pod.yaml" >&2; exit 1; }
echo "ok"
