#!/bin/bash
# {{name}}: creates a ConfigMap with the name of the owner.
#
# `krm fn wrap` reads the ResourceList, passes the fields of the functionConfig as variables in upper case, and merges the
# output into the resources. Manual changes to the ConfigMap are kept.
set -euo pipefail

if [ -z "${WRAPPED:-}" ]; then
  export WRAPPED=true
  if krm fn wrap -- bash "$0"; then exit 0; else exit 1; fi
fi

if [ -z "${OWNER:-}" ]; then
  # The results of a function that fails are reported by the orchestrator.
  cat <<'END'
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items: []
results:
- message: the functionConfig has no `owner`
  severity: error
END
  exit 1
fi

cat <<END
apiVersion: v1
kind: ConfigMap
metadata:
  name: owner
data:
  owner: "${OWNER}"
END
