//! Regular expressions in the syntax of Go (RE2), for the languages whose originals are written in Go.
//!
//! The engine is the `regex` crate, which the interpreters depend on anyway. Its syntax is that of RE2 with three differences,
//! which are translated: `\d`, `\s`, `\w` and `\b` are ASCII in Go, a class cannot be nested, and `\Q…\E` quotes.

use std::cell::RefCell;
use std::collections::BTreeMap;

use regex::Regex;

/// The number of compiled patterns that are kept: scripts use the same few patterns for every resource.
const CACHED: usize = 64;

thread_local! {
    static CACHE: RefCell<BTreeMap<String, Regex>> = const { RefCell::new(BTreeMap::new()) };
}

/// Compiles a pattern.
///
/// # Errors
/// One line that says what is wrong.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    if let Some(found) = CACHE.with_borrow(|cache| cache.get(pattern).cloned()) {
        return Ok(found);
    }
    let compiled = Regex::new(&translate(pattern)).map_err(|error| {
        // The last line of a syntax error is the reason; those before it show the pattern.
        let text = error.to_string();
        let reason = text.lines().last().unwrap_or_default().trim();
        format!("invalid regular expression `{pattern}`: {}", reason.trim_start_matches("error: "))
    })?;
    CACHE.with_borrow_mut(|cache| {
        if cache.len() >= CACHED {
            cache.clear();
        }
        cache.insert(pattern.to_owned(), compiled.clone());
    });
    Ok(compiled)
}

/// The pattern in the syntax of the engine.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('Q') if !in_class => quote(&mut chars, &mut out),
                Some(escaped) => push_escape(escaped, in_class, &mut out),
                None => out.push('\\'),
            },
            '[' if !in_class => {
                in_class = true;
                out.push('[');
                out.extend(chars.next_if_eq(&'^'));
                // A bracket that closes nothing is a member of the class.
                if chars.next_if_eq(&']').is_some() {
                    out.push_str("\\]");
                }
            }
            '[' if chars.peek() == Some(&':') => {
                // A named class: `[:alpha:]`.
                out.push('[');
                for next in chars.by_ref() {
                    out.push(next);
                    if next == ']' {
                        break;
                    }
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            // Nested classes and set operations do not exist in Go.
            '[' | '&' | '~' if in_class => {
                out.push('\\');
                out.push(c);
            }
            // A range that ends with a dash.
            '-' if in_class && chars.next_if_eq(&'-').is_some() => out.push_str("-\\-"),
            c => out.push(c),
        }
    }
    out
}

/// Copies the text up to `\E` as a literal.
fn quote(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) {
    let mut literal = String::new();
    while let Some(c) = chars.next() {
        if c == '\\' && chars.next_if_eq(&'E').is_some() {
            break;
        }
        literal.push(c);
    }
    out.push_str(&regex::escape(&literal));
}

fn push_escape(escaped: char, in_class: bool, out: &mut String) {
    let class = match escaped {
        'd' | 'D' => "0-9",
        'w' | 'W' => "0-9A-Za-z_",
        's' | 'S' => "\\t\\n\\f\\r ",
        'b' | 'B' if !in_class => {
            out.push_str("(?-u:\\");
            out.push(escaped);
            out.push(')');
            return;
        }
        _ => {
            out.push('\\');
            out.push(escaped);
            return;
        }
    };
    match (escaped.is_uppercase(), in_class) {
        (false, true) => out.push_str(class),
        (false, false) => {
            out.push('[');
            out.push_str(class);
            out.push(']');
        }
        (true, _) => {
            out.push_str("[^");
            out.push_str(class);
            out.push(']');
        }
    }
}

/// Splits a text at the matches of a pattern, as Go's `Regexp.Split` does: no empty string for an empty match at the beginning or at
/// the end. A limit below one is none.
#[cfg(any(feature = "gatekeeper", feature = "starlark"))]
pub(crate) fn split<'t>(pattern: &Regex, text: &'t str, limit: i64) -> Vec<&'t str> {
    if limit == 0 {
        return Vec::new();
    }
    if text.is_empty() && !pattern.as_str().is_empty() {
        return vec![""];
    }
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (mut parts, mut begin, mut end) = (Vec::new(), 0, 0);
    for found in pattern.find_iter(text).take(limit) {
        if parts.len() + 1 >= limit {
            break;
        }
        end = found.start();
        if found.end() != 0 {
            parts.push(&text[begin..end]);
        }
        begin = found.end();
    }
    if end != text.len() {
        parts.push(&text[begin..]);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(pattern: &str, text: &str) -> Option<String> {
        Some(compile(pattern).unwrap().find(text)?.as_str().to_owned())
    }

    #[test]
    fn classes_are_ascii_as_in_go() {
        assert_eq!(find(r"\d+", "٣45").as_deref(), Some("45"));
        assert_eq!(find(r"[\w.]+", "é a.b").as_deref(), Some("a.b"));
        assert_eq!(find(r"\W", "aé").as_deref(), Some("é"));
        assert_eq!(find(r"[^\s]+", " \u{a0}x ").as_deref(), Some("\u{a0}x"));
        assert_eq!(find(r"\bb", "éb").as_deref(), Some("b"));
        assert_eq!(find(r"[\D]", "1a").as_deref(), Some("a"));
    }

    #[test]
    fn brackets_and_operators_in_a_class_are_literal() {
        assert_eq!(find("[[]", "a[").as_deref(), Some("["));
        assert_eq!(find("[]a]+", "x]a").as_deref(), Some("]a"));
        assert_eq!(find("[^]]", "]b").as_deref(), Some("b"));
        assert_eq!(find("[a&&b]+", "x&&").as_deref(), Some("&&"));
        assert_eq!(find("[+--]+", "x,-").as_deref(), Some(",-"));
        assert_eq!(find("[[:upper:]_]+", "aB_").as_deref(), Some("B_"));
        assert_eq!(find(r"\Qa.b\E+", "axb a.bb").as_deref(), Some("a.bb"));
    }

    #[test]
    fn unsupported_syntax_is_an_error() {
        for pattern in ["a(?=b)", r"(a)\1", "[", "(", r"\z\K"] {
            let error = compile(pattern).unwrap_err();
            assert!(error.starts_with("invalid regular expression"), "{error}");
            assert_eq!(error.lines().count(), 1, "{error}");
        }
    }

    #[test]
    #[cfg(any(feature = "gatekeeper", feature = "starlark"))]
    fn split_is_that_of_go() {
        let parts = |pattern: &str, text: &str, limit| {
            split(&compile(pattern).unwrap(), text, limit).join("|")
        };
        assert_eq!(parts(",", "a,b,c", -1), "a|b|c");
        assert_eq!(parts(",", "a,b,c", 2), "a|b,c");
        assert_eq!(parts("", "abc", -1), "a|b|c");
        assert_eq!(parts("a*", "baac", -1), "b|c");
        assert_eq!(parts(",", "a,", -1), "a|");
        assert!(split(&compile(",").unwrap(), "a", 0).is_empty());
    }
}
