//! A line diff without context, and its inverse: the expected outcome of an edit in a case file.

use std::fmt;

use similar::{Algorithm, DiffOp, capture_diff_slices};

const NO_FINAL_NEWLINE: &str = "\\ no final newline";

/// The hunks that turn `old` into `new`: `@@ N`, then the `-old` and `+new` lines, without context.
///
/// `N` is the 1-based number of the first line of `old` that the hunk removes, or of the line it inserts before. A last
/// line without a line break is followed by `\ no final newline`. Equal texts give an empty string.
///
/// ```
/// assert_eq!(krm_testkit::diff("a\nb\nc\n", "a\nx\nc\nd"), "@@ 2\n-b\n+x\n@@ 4\n+d\n\\ no final newline\n");
/// ```
pub fn diff(old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut text = String::new();
    // Myers with Git's heuristics: minimal on the small texts of cases, and bounded on large ones.
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        text.push_str(&format!("@@ {}\n", op.old_range().start + 1));
        old[op.old_range()].iter().for_each(|line| push_line(&mut text, '-', line));
        new[op.new_range()].iter().for_each(|line| push_line(&mut text, '+', line));
    }
    text
}

fn push_line(text: &mut String, sign: char, line: &str) {
    text.push(sign);
    text.push_str(line);
    if !line.ends_with('\n') {
        text.push('\n');
        text.push_str(NO_FINAL_NEWLINE);
        text.push('\n');
    }
}

/// Why a diff cannot be applied to a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchError {
    /// The 1-based line in the diff.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the diff: {}", self.line, self.message)
    }
}

impl std::error::Error for PatchError {}

/// Applies a diff in the form of [`diff()`] to `old`.
///
/// # Errors
/// The diff is malformed, or it removes lines that `old` does not have at that position.
pub fn patch(old: &str, diff: &str) -> Result<String, PatchError> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let lines: Vec<&str> = diff.split_terminator('\n').collect();
    let mut new = String::new();
    let mut position = 0;
    for (index, &line) in lines.iter().enumerate() {
        let fail = |message: &str| Err(PatchError { line: index + 1, message: message.to_owned() });
        let line_break = if lines.get(index + 1) == Some(&NO_FINAL_NEWLINE) { "" } else { "\n" };
        if let Some(number) = line.strip_prefix("@@ ") {
            match number.parse::<usize>() {
                Ok(number) if (position + 1..=old.len() + 1).contains(&number) => {
                    new.extend(old[position..number - 1].iter().copied());
                    position = number - 1;
                }
                _ => return fail("line number out of range or not after the previous hunk"),
            }
        } else if let Some(removed) = line.strip_prefix('-') {
            if old.get(position).is_none_or(|it| it.strip_prefix(removed) != Some(line_break)) {
                return fail("the input has a different line here");
            }
            position += 1;
        } else if let Some(inserted) = line.strip_prefix('+') {
            new.push_str(inserted);
            new.push_str(line_break);
        } else if line != NO_FINAL_NEWLINE {
            return fail("expected a line that starts with `@@ `, `-` or `+`");
        }
    }
    new.extend(old[position..].iter().copied());
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_start_with_the_old_line_number() {
        assert_eq!(diff("", ""), "");
        assert_eq!(diff("a\nb\n", "a\nb\n"), "");
        assert_eq!(diff("", "a\n"), "@@ 1\n+a\n");
        assert_eq!(diff("a\n", ""), "@@ 1\n-a\n");
        assert_eq!(diff("a\nb\nc\n", "a\nc\n"), "@@ 2\n-b\n");
        assert_eq!(diff("a\nc\n", "a\nb\nc\n"), "@@ 2\n+b\n");
        assert_eq!(diff("a\nb\nc\nd\ne\n", "A\nb\nc\nD\ne\n"), "@@ 1\n-a\n+A\n@@ 4\n-d\n+D\n");
        assert_eq!(diff("a\n\nb\n", "a\nb\n"), "@@ 2\n-\n");
        assert_eq!(patch("a\r\n", &diff("a\r\n", "b\r\n")), Ok("b\r\n".to_owned()));
    }

    #[test]
    fn missing_final_newline_is_shown() {
        assert_eq!(diff("a", "a\n"), "@@ 1\n-a\n\\ no final newline\n+a\n");
        assert_eq!(diff("a\n", "a"), "@@ 1\n-a\n+a\n\\ no final newline\n");
        assert_eq!(
            diff("a\nb", "a\nb\nc"),
            "@@ 2\n-b\n\\ no final newline\n+b\n+c\n\\ no final newline\n"
        );
    }

    /// All pairs of texts over two letters: the diff is minimal, and `patch` undoes it.
    #[test]
    fn diffs_are_minimal_and_apply() {
        let text = |bits: usize, length: usize| -> String {
            (0..length).map(|at| if bits >> at & 1 == 0 { "a\n" } else { "b\n" }).collect()
        };
        for (old_length, new_length) in (0..36).map(|it| (it / 6, it % 6)) {
            for (old_bits, new_bits) in
                (0..1 << (old_length + new_length)).map(|it| (it >> new_length, it))
            {
                let (old, new) = (text(old_bits, old_length), text(new_bits, new_length));
                let shown = diff(&old, &new);
                assert_eq!(patch(&old, &shown).as_ref(), Ok(&new), "{old:?} {new:?}\n{shown}");
                let changed = shown.lines().filter(|line| !line.starts_with('@')).count();
                assert_eq!(
                    changed,
                    old_length + new_length - 2 * common_length(&old, &new),
                    "{old:?} {new:?}"
                );
            }
        }
    }

    fn common_length(old: &str, new: &str) -> usize {
        let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
        let mut row = vec![0; new.len() + 1];
        for line in old {
            let mut diagonal = 0;
            for (index, other) in new.iter().enumerate() {
                let above = row[index + 1];
                row[index + 1] = if line == *other { diagonal + 1 } else { above.max(row[index]) };
                diagonal = above;
            }
        }
        row[new.len()]
    }

    #[test]
    fn large_texts_are_compared_quickly() {
        let old: String = (0..200_000).map(|it| format!("line {it}\n")).collect();
        let new = old.replace("line 100000\n", "other\n");
        assert_eq!(diff(&old, &new), "@@ 100001\n-line 100000\n+other\n");
        let other: String = (0..200_000).map(|it| format!("other {it}\n")).collect();
        assert_eq!(patch(&old, &diff(&old, &other)), Ok(other));
    }

    #[test]
    fn patch_rejects_a_diff_of_another_text() {
        let message = |old, diff| patch(old, diff).unwrap_err().to_string();
        assert_eq!(
            message("a\n", "@@ 1\n-b\n"),
            "line 2 of the diff: the input has a different line here"
        );
        assert_eq!(
            message("a", "@@ 1\n-a\n"),
            "line 2 of the diff: the input has a different line here"
        );
        assert_eq!(
            message("a\n", "@@ 3\n+b\n"),
            "line 1 of the diff: line number out of range or not after the previous hunk"
        );
        assert_eq!(
            message("a\n", "error: no\n"),
            "line 1 of the diff: expected a line that starts with `@@ `, `-` or `+`"
        );
    }
}
