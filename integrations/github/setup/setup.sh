#!/usr/bin/env bash
# Installs krm into the temporary directory of the runner and adds it to PATH for the next steps.
set -euo pipefail

root=$RUNNER_TEMP/krm
mkdir -p "$root/bin"

if [[ -n ${KRM_SETUP_ARCHIVE:-} ]]; then
    archive=$RUNNER_TEMP/krm-archive.tar.gz
    case $KRM_SETUP_ARCHIVE in
        http://* | https://*) curl --fail --silent --show-error --location --output "$archive" "$KRM_SETUP_ARCHIVE" ;;
        *) cp "$KRM_SETUP_ARCHIVE" "$archive" ;;
    esac
    if [[ -n ${KRM_SETUP_SHA256:-} ]]; then
        echo "$KRM_SETUP_SHA256  $archive" | sha256sum --check --quiet -
    fi
    unpacked=$RUNNER_TEMP/krm-archive
    mkdir -p "$unpacked"
    tar --extract --gzip --file "$archive" --directory "$unpacked"
    # Archives have the program at their root or in a directory with the name of the release.
    program=$(find "$unpacked" -name krm -type f | head -n 1)
    if [[ -z $program ]]; then
        echo "::error title=krm::$KRM_SETUP_ARCHIVE does not contain the program krm"
        exit 1
    fi
    install -m 755 "$program" "$root/bin/krm"
elif [[ ! -x $root/bin/krm ]]; then
    repository=https://github.com/krm-toolkit/krm
    # cargo distinguishes branches, tags and commits.
    if [[ $KRM_SETUP_VERSION =~ ^[0-9a-f]{40}$ ]]; then
        reference=--rev
    elif [[ $KRM_SETUP_VERSION =~ ^v[0-9] ]]; then
        reference=--tag
    else
        reference=--branch
    fi
    cargo install --locked --git "$repository" "$reference" "$KRM_SETUP_VERSION" --features full --root "$root" krm-cli
fi

echo "$root/bin" >> "$GITHUB_PATH"
echo "version=$("$root/bin/krm" version)" >> "$GITHUB_OUTPUT"
