#!/bin/bash
# {{name}}: creates a ConfigMap with the name of the owner.
#
# `krm fn wrap` reads the ResourceList, passes the fields of the functionConfig as variables in upper case, and merges the
# output into the resources. Manual changes to the ConfigMap are kept.
set -euo pipefail

if [ -z "${WRAPPED:-}" ]; then
  export WRAPPED=true
  exec krm fn wrap -- bash "$0"
fi

: "${OWNER:?the functionConfig has no owner}"

cat <<END
apiVersion: v1
kind: ConfigMap
metadata:
  name: owner
data:
  owner: "${OWNER}"
END
