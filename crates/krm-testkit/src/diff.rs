//! The difference of two texts in its smallest readable form, and its inverse.

use std::fmt;

/// Beyond this many changed lines a difference is shown as one hunk: cost is bounded by it, not by the text.
const MAX_EDITS: usize = 1000;

const NO_FINAL_NEWLINE: &str = "\\ no final newline";

/// The hunks that turn `old` into `new`: `@@ N`, then the `-old` and `+new` lines, no context.
///
/// N is the first line, counted from one, that the hunk takes out of `old`; where it takes out none, the line that it
/// goes before. A last line without a line break is followed by `\ no final newline`. Equal texts give an empty string.
///
/// ```
/// assert_eq!(krm_testkit::diff("a\nb\nc\n", "a\nx\nc\nd"), "@@ 2\n-b\n+x\n@@ 4\n+d\n\\ no final newline\n");
/// ```
pub fn diff(old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut text = String::new();
    // How far the texts are told.
    let (mut told_old, mut told_new) = (0, 0);
    for (kept_old, kept_new) in kept_lines(&old, &new).into_iter().chain([(old.len(), new.len())]) {
        if (told_old, told_new) != (kept_old, kept_new) {
            text.push_str(&format!("@@ {}\n", told_old + 1));
            old[told_old..kept_old].iter().for_each(|line| push_line(&mut text, '-', line));
            new[told_new..kept_new].iter().for_each(|line| push_line(&mut text, '+', line));
        }
        (told_old, told_new) = (kept_old + 1, kept_new + 1);
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

/// The pairs of lines, by index, that both texts keep.
fn kept_lines(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
    let suffix =
        old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_mid, new_mid) =
        (&old_rest[..old_rest.len() - suffix], &new_rest[..new_rest.len() - suffix]);

    let mut kept: Vec<_> = (0..prefix).map(|index| (index, index)).collect();
    kept.extend(common_lines(old_mid, new_mid).into_iter().map(|(a, b)| (prefix + a, prefix + b)));
    kept.extend((0..suffix).rev().map(|back| (old.len() - 1 - back, new.len() - 1 - back)));
    kept
}

/// A longest common subsequence, by Myers' greedy algorithm; empty when the texts are too different to be worth it.
fn common_lines(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let limit = (old.len() + new.len()).min(MAX_EDITS);
    // `reach[k + limit + 1]` is how far in `old` the best path on the diagonal `old - new = k` has come.
    let middle = limit + 1;
    let mut reach = vec![0usize; 2 * limit + 3];
    let mut history: Vec<Vec<usize>> = Vec::new();
    for edits in 0..=limit {
        // Only these diagonals are touched by so many edits.
        history.push(reach[middle - edits..=middle + edits].to_vec());
        for slot in (middle - edits..=middle + edits).step_by(2) {
            let mut x = step(&reach, slot, middle, edits);
            // A path that left the grid is kept, as a place that nothing can be matched at.
            while x + middle >= slot
                && old.get(x).is_some_and(|line| new.get(x + middle - slot) == Some(line))
            {
                x += 1;
            }
            reach[slot] = x;
            if x >= old.len() && x + middle >= slot && x + middle - slot >= new.len() {
                return walk_back(&history, old.len(), new.len());
            }
        }
    }
    Vec::new()
}

/// Where the next edit on this diagonal starts: after taking out a line of `old`, or after putting in one of `new`.
fn step(reach: &[usize], slot: usize, middle: usize, edits: usize) -> usize {
    if edits == 0 {
        0
    } else if slot == middle - edits
        || (slot != middle + edits && reach[slot - 1] < reach[slot + 1])
    {
        reach[slot + 1]
    } else {
        reach[slot - 1] + 1
    }
}

/// Follows the recorded paths from the end to the start; `history[d]` is `reach` around its middle before edit `d`.
fn walk_back(history: &[Vec<usize>], mut x: usize, mut y: usize) -> Vec<(usize, usize)> {
    let mut kept = Vec::new();
    for (edits, reach) in history.iter().enumerate().skip(1).rev() {
        // The slot of diagonal `x - y`, with the middle at `edits`.
        let slot = x + edits - y;
        let start = step(reach, slot, edits, edits);
        while x > start {
            (x, y) = (x - 1, y - 1);
            kept.push((x, y));
        }
        let put_in = slot == 0 || (slot != 2 * edits && reach[slot - 1] < reach[slot + 1]);
        if put_in { y -= 1 } else { x -= 1 }
    }
    while x > 0 && y > 0 {
        (x, y) = (x - 1, y - 1);
        kept.push((x, y));
    }
    kept.reverse();
    kept
}

/// Why a diff does not belong to a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchError {
    /// The line in the diff, counted from one.
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

/// The text that `old` becomes by the hunks of `diff`.
///
/// # Errors
/// The diff is not in the form of [`diff()`], or takes out lines that `old` does not have at that place.
pub fn patch(old: &str, diff: &str) -> Result<String, PatchError> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let lines: Vec<&str> = diff.split_terminator('\n').collect();
    let mut new = String::new();
    let mut told = 0;
    for (index, &line) in lines.iter().enumerate() {
        let fail = |message: &str| Err(PatchError { line: index + 1, message: message.to_owned() });
        let line_break = if lines.get(index + 1) == Some(&NO_FINAL_NEWLINE) { "" } else { "\n" };
        if let Some(number) = line.strip_prefix("@@ ") {
            match number.parse::<usize>() {
                Ok(number) if (told + 1..=old.len() + 1).contains(&number) => {
                    new.extend(old[told..number - 1].iter().copied());
                    told = number - 1;
                }
                _ => return fail("no such line, or not after the hunk before"),
            }
        } else if let Some(gone) = line.strip_prefix('-') {
            if old.get(told).is_none_or(|it| it.strip_prefix(gone) != Some(line_break)) {
                return fail("the input has another line here");
            }
            told += 1;
        } else if let Some(put) = line.strip_prefix('+') {
            new.push_str(put);
            new.push_str(line_break);
        } else if line != NO_FINAL_NEWLINE {
            return fail("begins neither with `@@ `, `-` nor `+`");
        }
    }
    new.extend(old[told..].iter().copied());
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hunks_name_the_old_line() {
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
    fn the_final_newline_is_told() {
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
    fn big_texts_are_cheap() {
        let old: String = (0..200_000).map(|it| format!("line {it}\n")).collect();
        let new = old.replace("line 100000\n", "other\n");
        assert_eq!(diff(&old, &new), "@@ 100001\n-line 100000\n+other\n");
        let other: String = (0..200_000).map(|it| format!("other {it}\n")).collect();
        assert_eq!(patch(&old, &diff(&old, &other)), Ok(other));
    }

    #[test]
    fn a_diff_of_another_text_is_refused() {
        let message = |old, diff| patch(old, diff).unwrap_err().to_string();
        assert_eq!(
            message("a\n", "@@ 1\n-b\n"),
            "line 2 of the diff: the input has another line here"
        );
        assert_eq!(
            message("a", "@@ 1\n-a\n"),
            "line 2 of the diff: the input has another line here"
        );
        assert_eq!(
            message("a\n", "@@ 3\n+b\n"),
            "line 1 of the diff: no such line, or not after the hunk before"
        );
        assert_eq!(
            message("a\n", "error: no\n"),
            "line 1 of the diff: begins neither with `@@ `, `-` nor `+`"
        );
    }
}
