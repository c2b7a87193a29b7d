//! `regex.globs_match`: whether two simple patterns match a common string that is not empty.

use std::collections::BTreeSet;

use regorus::Value;

/// A part of a pattern: one character of a set, once or any number of times.
#[derive(Clone)]
struct Token {
    /// Inclusive ranges.
    ranges: Vec<(char, char)>,
    is_repeated: bool,
}

const ANY: (char, char) = ('\0', char::MAX);

/// Only `.`, `*`, `+`, `[`, `-`, `]` and `\` are special. None if the pattern is not valid.
fn parse(pattern: &str) -> Option<Vec<Token>> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        let ranges = match c {
            '*' => {
                tokens.last_mut().filter(|it| !it.is_repeated)?.is_repeated = true;
                continue;
            }
            '+' => {
                let last = tokens.last().filter(|it| !it.is_repeated)?.clone();
                tokens.push(Token { is_repeated: true, ..last });
                continue;
            }
            '.' => vec![ANY],
            '[' => class(&mut chars)?,
            '\\' => {
                let c = chars.next()?;
                vec![(c, c)]
            }
            c => vec![(c, c)],
        };
        tokens.push(Token { ranges, is_repeated: false });
    }
    Some(tokens)
}

fn class(chars: &mut std::str::Chars<'_>) -> Option<Vec<(char, char)>> {
    let mut ranges: Vec<(char, char)> = Vec::new();
    loop {
        match chars.next()? {
            ']' if !ranges.is_empty() => return Some(ranges),
            '-' => {
                let last = ranges.last_mut()?;
                let end = match chars.next()? {
                    '\\' => chars.next()?,
                    ']' => return None,
                    end => end,
                };
                if end < last.0 {
                    return None;
                }
                last.1 = end;
            }
            '\\' => {
                let c = chars.next()?;
                ranges.push((c, c));
            }
            c => ranges.push((c, c)),
        }
    }
}

fn has_common_character(a: &Token, b: &Token) -> bool {
    a.ranges.iter().any(|a| b.ranges.iter().any(|b| a.0 <= b.1 && b.0 <= a.1))
}

/// Whether both patterns can be walked through to their ends with the same characters, at least one.
fn has_common_string(a: &[Token], b: &[Token]) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![(0, 0, false)]);
    while let Some(state) = open.pop() {
        if !seen.insert(state) {
            continue;
        }
        let (i, j, is_started) = state;
        let (left, right) = (a.get(i), b.get(j));
        if left.is_none() && right.is_none() && is_started {
            return true;
        }
        if left.is_some_and(|it| it.is_repeated) {
            open.push((i + 1, j, is_started));
        }
        if right.is_some_and(|it| it.is_repeated) {
            open.push((i, j + 1, is_started));
        }
        if let (Some(left), Some(right)) = (left, right)
            && has_common_character(left, right)
        {
            let next = |at, token: &Token| at + usize::from(!token.is_repeated);
            open.push((next(i, left), next(j, right), true));
        }
    }
    false
}

pub(super) fn globs_match(args: &[Value]) -> Value {
    let pattern = |value: &Value| parse(value.as_string().ok()?);
    match (pattern(&args[0]), pattern(&args[1])) {
        (Some(a), Some(b)) => has_common_string(&a, &b).into(),
        _ => Value::Undefined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_strings_are_found() {
        for (a, b, expected) in [
            ("abc", "a.c", true),
            ("abc", "abd", false),
            ("a*", "b*", false),
            ("a*", "a", true),
            ("[a-c]+x", ".*x", true),
            ("a+", "aaa", true),
            ("\\*", "*", false),
            ("\\*", ".", true),
        ] {
            let found = globs_match(&[a.into(), b.into()]);
            let expected = if b == "*" { Value::Undefined } else { expected.into() };
            assert_eq!(found, expected, "{a} {b}");
        }
    }
}
