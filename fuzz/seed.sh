#!/usr/bin/env bash
# Seeds the corpora from the inputs of the case files: the text itself for targets about parsing, and the text after each of
# a few edits for targets about edits. Run it once before a long fuzzing run; running it again is harmless.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

cases=../crates/krm-yaml/tests/cases
for target in round_trip same_meaning quick_is_thorough untouched_stays edit_is_read_back unknown_survives path schema format answer kubernetes_reader; do
    mkdir -p "corpus/$target"
done

for file in "$cases"/*.case; do
    name=$(basename "$file" .case)
    # The inputs are the sections whose title is a file name.
    awk -v out="corpus/round_trip/$name" '
        /^-- / { close(path); path = ($2 ~ /\.(yaml|yml|json)$/) ? out "-" ++number : ""; next }
        path != "" { print > path }
    ' "$file"
    # The paths of its actions.
    awk '/^-- (get|set|remove|rename|append) / { print $3 }' "$file" | sort -u | while read -r path; do
        printf '%s' "$path" >"corpus/path/$(printf '%s' "$path" | cksum | cut -d' ' -f1)"
    done
done

for input in corpus/round_trip/*-[0-9]*; do
    name=$(basename "$input")
    cp "$input" "corpus/same_meaning/$name"
    cp "$input" "corpus/quick_is_thorough/$name"
    { printf 'kind: A\napiVersion: v1\nspec:\n'; sed 's/^/  /' "$input"; } >"corpus/format/$name"
    for manner in 0 1; do
        # Sixteen bytes that choose how the function serializes, and which field it changes.
        { printf '\%03o\%03o\%03o\%03o\%03o0123456789a' $manner 0 $((1 - manner)) 1 $manner; cat "$input"; } >"corpus/answer/$name-$manner"
    done
    for edit in 0 1 2 3; do
        for target in untouched_stays edit_is_read_back unknown_survives kubernetes_reader; do
            # Sixteen bytes that choose the edit; the position in the file and the kind of the change vary.
            printf '\0\0\0\%03o\%03o\0\0\0\0\0\0\0\0\0\0\0' $((edit * 17 + 1)) $((edit * 3)) | cat - "$input" >"corpus/$target/$name-$edit"
        done
    done
done

# The versions in the merge cases, separated by a zero byte.
section() { awk -v name="$2" '/^-- / { on = ($2 == name && NF == 3); next } on' "$1"; }
joined() { # CASE TARGET FILE...
    local file=$1 target=$2 between=''
    shift 2
    for part in "$@"; do
        [ -n "$(section "$file" "$part")" ] || return 0
    done
    for part in "$@"; do
        printf "$between"
        between='\0'
        section "$file" "$part"
    done >"corpus/$target/$(basename "$file" .case)"
}
mkdir -p corpus/merge2 corpus/merge3 corpus/reference
for file in ../crates/krm-cli/tests/cases/*merge*.case; do
    joined "$file" merge2 src.yaml dest.yaml
    joined "$file" merge2 src/a.yaml dest/a.yaml
    joined "$file" merge3 base.yaml local.yaml upstream.yaml
    joined "$file" merge3 base/a.yaml mine/a.yaml up/a.yaml
done
# Generated resources: a marker, and bytes that are choices.
for length in 64 256 1024; do
    { printf '\377'; awk -v n=$length 'BEGIN { for (i = 1; i <= n; i++) printf "%c", 33 + (i * i * 7 + i * 31) % 90 }'; } >"corpus/merge3/made-$length"
done
# Setter comments, and the files that contain them.
for file in ../crates/krm-cli/tests/cases/*set*.case; do
    name=$(basename "$file" .case)
    awk -v out="corpus/reference/$name" '
        /^-- / { close(path); path = ($2 ~ /\.yaml$/ && NF == 3) ? out "-" ++number : ""; next }
        path != "" { print > path }
    ' "$file"
    (grep -o '# .*[{$].*' "$file" || true) | sort -u | while read -r line; do
        printf '%s' "$line" >"corpus/reference/$(printf '%s' "$line" | cksum | cut -d' ' -f1)"
    done
done
