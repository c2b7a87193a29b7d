#!/usr/bin/env bash
# Seeds the corpora from the inputs of the nasty cases: the text itself for the laws of reading, and for
# those of editing behind every one of a few edits. Run it once before a long fuzzing; it may be repeated.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

cases=../crates/krm-yaml/tests/cases
for target in round_trip same_meaning untouched_stays edit_is_read_back unknown_survives path schema format; do
    mkdir -p "corpus/$target"
done

for file in "$cases"/*.case; do
    name=$(basename "$file" .case)
    # The inputs are the sections whose heading names a file.
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
    { printf 'kind: A\napiVersion: v1\nspec:\n'; sed 's/^/  /' "$input"; } >"corpus/format/$name"
    for edit in 0 1 2 3; do
        for target in untouched_stays edit_is_read_back unknown_survives; do
            # Sixteen bytes that choose the edit; the position in the file and the kind of the change vary.
            printf '\0\0\0\%03o\%03o\0\0\0\0\0\0\0\0\0\0\0' $((edit * 17 + 1)) $((edit * 3)) | cat - "$input" >"corpus/$target/$name-$edit"
        done
    done
done
