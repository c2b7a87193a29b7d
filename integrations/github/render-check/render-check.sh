#!/usr/bin/env bash
# Checks packages. The exit code is that of krm, so the step fails if there are findings.
set -euo pipefail

sarif=$RUNNER_TEMP/krm.sarif
arguments=(fn render "$KRM_CHECK_DIRECTORY" --check --quiet --report github=- --report "sarif=$sarif")
if [[ -n ${KRM_CHECK_CHANGED_SINCE:-} ]]; then
    arguments+=(--changed-since "$KRM_CHECK_CHANGED_SINCE")
fi
if [[ -n ${KRM_CHECK_SHARD:-} ]]; then
    arguments+=(--shard "$KRM_CHECK_SHARD")
fi
if [[ -n ${KRM_CHECK_ARGUMENTS:-} ]]; then
    read -r -a further <<< "$KRM_CHECK_ARGUMENTS"
    arguments+=("${further[@]}")
fi

# The report is written whatever the exit code is, and the next step uploads it.
echo "sarif=$sarif" >> "$GITHUB_OUTPUT"
krm "${arguments[@]}"
