#!/bin/sh
# Post-renderer of Helm: manifests on standard input, changed manifests on standard output.
#
#   post-render.sh DIR                 runs the pipeline of the Kptfile in DIR
#   post-render.sh IMAGE [KEY=VALUE]…  runs one function
set -eu

# Helm 4.3 discards what a post-renderer prints to standard error.
if [ -n "${KRM_LOG:-}" ]; then
    exec 2>> "$KRM_LOG"
fi

if [ $# -eq 0 ]; then
    echo "krm: expected a directory with a Kptfile, or a function; use --post-renderer-args" >&2
    exit 2
fi

if [ ! -d "$1" ]; then
    image=$1
    shift
    # KRM_ARGUMENTS is a list of arguments.
    # shellcheck disable=SC2086
    exec krm fn eval - --image "$image" --output unwrap --quiet ${KRM_ARGUMENTS:-} -- "$@"
fi

# The pipeline runs on a copy, so that the directory itself stays as it is.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$1/." "$work"
cat > "$work/helm-release.yaml"
# shellcheck disable=SC2086
krm fn render "$work" --output unwrap --quiet ${KRM_ARGUMENTS:-}
