#!/bin/sh
# Prints the manifests of the package in the current directory, for Argo CD.
#
# Argo CD runs this in a copy of the repository that belongs to this run alone, so setters can be written to files.
set -eu

# The parameters of the Application are a JSON array: [{"name": "setters", "map": {"replicas": "5"}}].
parameters=${ARGOCD_APP_PARAMETERS:-}
case $parameters in
    *'"setters"'*)
        values=$(mktemp)
        trap 'rm -f "$values"' EXIT
        printf '%s' "$parameters" | krm yaml get '[name=setters].map' - --output json > "$values"
        krm cfg set . --from "$values" --quiet
        ;;
esac
krm fn render . --output unwrap --quiet
