//! Views of Rust source for rules that search it: parts are replaced by spaces, so that offsets and lines stay the same.

/// Only code: comments and literals are blanked.
pub(super) fn code(text: &str) -> String {
    blank(text, |part| part != Part::Code)
}

/// Code and comments: literals are blanked.
pub(super) fn code_and_comments(text: &str) -> String {
    blank(text, |part| part == Part::Literal)
}

/// [`code`] without items marked `#[cfg(test)]`.
pub(super) fn code_without_tests(text: &str) -> String {
    without_tests(text, code(text))
}

/// Only string literals, without those in items marked `#[cfg(test)]`.
pub(super) fn literals_without_tests(text: &str) -> String {
    without_tests(text, blank(text, |part| part != Part::Literal))
}

/// Only comments, without those in items marked `#[cfg(test)]`.
pub(super) fn comments_without_tests(text: &str) -> String {
    without_tests(text, blank(text, |part| part != Part::Comment))
}

/// Blanks the items marked `#[cfg(test)]` in a view of the source.
fn without_tests(text: &str, view: String) -> String {
    let code = code(text).into_bytes();
    let mut view = view.into_bytes();
    let mark = b"#[cfg(test)]";
    let mut at = 0;
    while let Some(found) = code[at..].windows(mark.len()).position(|window| window == mark) {
        let start = at + found;
        let end = item_end(&code, start + mark.len());
        for byte in &mut view[start..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    String::from_utf8_lossy(&view).into_owned()
}

/// The end of the item that starts here: after its `;` or its closing brace.
fn item_end(code: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in code[start..].iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return start + offset + 1,
            b'}' => depth -= 1,
            b';' if depth == 0 => return start + offset + 1,
            _ => {}
        }
    }
    code.len()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    Comment,
    Literal,
}

fn blank(text: &str, hide: impl Fn(Part) -> bool) -> String {
    let mut view = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let before = text[..at].chars().next_back();
        let (part, length) = token(rest, before);
        for c in rest[..length].chars() {
            if hide(part) && c != '\n' {
                // As many spaces as bytes, so that offsets are the same in all views.
                view.extend(std::iter::repeat_n(' ', c.len_utf8()));
            } else {
                view.push(c);
            }
        }
        at += length;
    }
    view
}

/// The kind and length of the token that starts here; code is read one character at a time.
fn token(rest: &str, before: Option<char>) -> (Part, usize) {
    let one = rest.chars().next().map_or(1, char::len_utf8);
    if rest.starts_with("//") {
        return (Part::Comment, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (Part::Comment, block_comment(rest));
    }
    if rest.starts_with('"') {
        return (Part::Literal, quoted(rest));
    }
    let continues_name = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if !continues_name && let Some(length) = raw_string(rest) {
        return (Part::Literal, length);
    }
    if let Some(length) = char_literal(rest) {
        return (Part::Literal, length);
    }
    (Part::Code, one)
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if here.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

fn quoted(rest: &str) -> usize {
    let mut escaped = true; // The opening quote does not close the string.
    for (at, c) in rest.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn raw_string(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    if !body[hashes..].starts_with('"') {
        return None;
    }
    let open = rest.len() - body.len() + hashes + 1;
    let close = format!("\"{}", "#".repeat(hashes));
    Some(rest[open..].find(&close).map_or(rest.len(), |at| open + at + close.len()))
}

/// A quote followed by one character and a quote; anything else is a lifetime.
fn char_literal(rest: &str) -> Option<usize> {
    let body = rest.strip_prefix('\'')?;
    if let Some(escape) = body.strip_prefix('\\') {
        let first = escape.chars().next()?.len_utf8();
        return escape[first..].find('\'').map(|at| 2 + first + at + 1);
    }
    let length = body.chars().next()?.len_utf8();
    body[length..].starts_with('\'').then_some(length + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_kept() {
        let text =
            "let a = \"x // y\"; // why\nlet b = 'c';\n/* one /* two */\n still */ let d = 1;\n";
        let shown = code(text);
        assert_eq!(shown.lines().count(), text.lines().count());
        for hidden in ["x", "why", "'c'", "two", "still"] {
            assert!(!shown.contains(hidden), "{hidden} in {shown}");
        }
        assert!(shown.contains("let d = 1;"));
    }

    #[test]
    fn raw_strings_escapes_and_lifetimes_are_recognized() {
        let shown = code(r##"f(r#"a " b"#, "\"", '\'', '"'); fn g<'a>(x: &'a str) {} // "end"##);
        assert!(shown.contains("fn g<'a>(x: &'a str) {}"), "{shown}");
        assert!(!shown.contains("end"), "{shown}");
    }

    #[test]
    fn comments_are_kept_on_request() {
        assert_eq!(code_and_comments("a(\"b\") // c"), "a(   ) // c");
    }

    #[test]
    fn views_have_the_same_offsets_as_the_source() {
        let text = "let ä = \"über\"; // größe\n#[cfg(test)]\nconst T: &str = \"hidden\";\n";
        for view in [code(text), literals_without_tests(text), comments_without_tests(text)] {
            assert_eq!(view.len(), text.len(), "{view:?}");
        }
        assert_eq!(literals_without_tests(text).trim(), "\"über\"");
        assert_eq!(comments_without_tests(text).trim(), "// größe");
    }

    #[test]
    fn test_items_are_blanked_and_others_kept() {
        let shown = code_without_tests(
            "fn a() {}\n#[cfg(test)]\nmod t { fn b() { c(); } }\nfn d() {}\n#[cfg(test)]\nuse e;\nfn f() {}",
        );
        assert!(
            shown.contains("fn a") && shown.contains("fn d") && shown.contains("fn f"),
            "{shown}"
        );
        assert!(!shown.contains("mod t") && !shown.contains("use e"), "{shown}");
    }
}
