#!/bin/bash
# Tests the function; needs krm on PATH.
set -euo pipefail
cd "$(dirname "$0")"

output=$(bash function.sh <<END
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items: []
functionConfig:
  apiVersion: v1
  kind: ConfigMap
  metadata:
    name: {{name}}
  data:
    owner: team-a
END
)
grep -q 'owner: "*team-a' <<<"$output" || { echo "no owner in: $output" >&2; exit 1; }
code=0
output=$(bash function.sh <<<$'apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []' 2>/dev/null) || code=$?
if [ "$code" != 1 ] || ! grep -q 'severity: error' <<<"$output"; then
  echo "without an owner the function should fail with a result, got $code and: $output" >&2
  exit 1
fi
echo "ok"
