#!/bin/bash
# {{name}}: makes a ConfigMap that says who the owner is.
#
# `krm fn wrap` reads the ResourceList, hands the fields of the functionConfig over as variables in upper case, and merges
# what is printed into the resources. So what people change in the ConfigMap stays.
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
