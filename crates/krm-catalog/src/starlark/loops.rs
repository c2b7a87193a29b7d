//! `while`, which the interpreter lacks: `while c:` is rewritten to an endless `for` that breaks if `c` is false.

/// Practically endless: the limit of steps is lower.
const ENDLESS: &str = "for _ in range(2147483647):";

/// A script without `while`, and for each of its lines the line of the original.
pub(super) struct RewrittenScript {
    pub(super) text: String,
    pub(super) lines: Vec<usize>,
}

/// Rewrites the `while` loops of a script.
pub(super) fn rewrite_while(source: &str) -> RewrittenScript {
    let mut script = RewrittenScript { text: String::new(), lines: Vec::new() };
    // The condition of a loop whose body begins with the next statement.
    let mut pending: Option<(&str, usize)> = None;
    for (line, statement) in statements(source) {
        let indent = &statement[..statement.len() - statement.trim_start().len()];
        let is_blank = statement.trim_start().is_empty() || statement.trim_start().starts_with('#');
        if let Some((condition, at)) = pending.filter(|_| !is_blank) {
            script.push(at, &format!("{indent}if not ({condition}): break\n"));
            pending = None;
        }
        match head(statement) {
            Some((condition, body)) => {
                let rest = body.trim();
                if rest.is_empty() || rest.starts_with('#') {
                    script.push(line, &format!("{indent}{ENDLESS}\n"));
                    pending = Some((condition, line));
                } else {
                    script.push(line, &format!("{indent}{ENDLESS}\n"));
                    script.push(line, &format!("{indent} if not ({condition}): break\n"));
                    script.push(line, &format!("{indent} {}\n", body.trim()));
                }
            }
            None => script.push(line, statement),
        }
    }
    script
}

impl RewrittenScript {
    fn push(&mut self, line: usize, text: &str) {
        self.lines.extend((line..).take(text.split_inclusive('\n').count()));
        self.text.push_str(text);
    }

    /// The line of the original, from zero.
    pub(super) fn original(&self, line: usize) -> usize {
        self.lines.get(line).copied().unwrap_or(line)
    }
}

/// Renames methods of strings: `codepoints` has characters in Go and numbers here.
pub(super) fn rename_methods(source: &str) -> String {
    const RENAMED: [(&str, &str); 2] =
        [(".codepoint_ords(", ".codepoints("), (".codepoints(", ".elems(")];
    let (mut out, mut at) = (String::with_capacity(source.len()), 0);
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let renamed = RENAMED.iter().find(|(name, _)| rest.starts_with(name));
        let (length, text) = match (first, renamed) {
            (_, Some((name, other))) => (name.len(), *other),
            ('#', _) => {
                let length = rest.find('\n').unwrap_or(rest.len());
                (length, &rest[..length])
            }
            ('"' | '\'', _) => {
                let length = string_length(rest).min(rest.len());
                (length, &rest[..length])
            }
            (c, None) => (c.len_utf8(), &rest[..c.len_utf8()]),
        };
        out.push_str(text);
        at += length;
    }
    out
}

/// The condition of a `while`, and what follows its colon.
fn head(statement: &str) -> Option<(&str, &str)> {
    let rest = statement.trim_start().strip_prefix("while")?;
    if !rest.starts_with([' ', '\t', '(']) {
        return None;
    }
    let colon = top_level_bytes(rest).into_iter().find(|(_, byte)| *byte == b':')?.0;
    Some((rest[..colon].trim(), &rest[colon + 1..]))
}

/// The statements of a script with their first lines. Brackets, strings and `\` continue a statement on the next line.
fn statements(source: &str) -> Vec<(usize, &str)> {
    let (mut found, mut start, mut line) = (Vec::new(), 0, 0);
    let ends = top_level_bytes(source)
        .into_iter()
        .filter(|(_, byte)| *byte == b'\n')
        .map(|(at, _)| at + 1);
    for end in ends.chain([source.len()]).filter(|end| *end > 0) {
        if start < end {
            found.push((line, &source[start..end]));
            line += source[start..end].matches('\n').count();
            start = end;
        }
    }
    found
}

/// The bytes of a script outside of brackets, strings and comments, with their offsets.
fn top_level_bytes(source: &str) -> Vec<(usize, u8)> {
    let bytes = source.as_bytes();
    let (mut found, mut at, mut depth) = (Vec::new(), 0, 0_usize);
    while let Some(byte) = bytes.get(at).copied() {
        match byte {
            b'#' => at += source[at..].find('\n').unwrap_or(source.len() - at),
            b'"' | b'\'' => at += string_length(&source[at..]),
            b'\\' => at += 2,
            _ => {
                match byte {
                    b'(' | b'[' | b'{' => depth += 1,
                    b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                    _ if depth == 0 => found.push((at, byte)),
                    _ => {}
                }
                at += 1;
            }
        }
    }
    found
}

/// The length of the string literal at the beginning, including its quotes.
fn string_length(source: &str) -> usize {
    let quote = &source[..1];
    let triple = quote.repeat(3);
    let quotes = if source.starts_with(&triple) { triple.as_str() } else { quote };
    let mut at = quotes.len();
    while let Some(byte) = source.as_bytes().get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' if quotes.len() == 1 => return at,
            _ if source.as_bytes()[at..].starts_with(quotes.as_bytes()) => {
                return at + quotes.len();
            }
            _ => at += 1,
        }
    }
    source.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_without_loops_is_unchanged() {
        let source = "# while x:\nx = \"\"\"\nwhile y:\n\"\"\"\nwhiles = [\nwhile_ for while_ in y\n] \\\n + z\n'it\\'s'";
        let script = rewrite_while(source);
        assert_eq!(script.text, source);
        assert_eq!(script.lines, (0..=8).collect::<Vec<_>>());
    }

    #[test]
    fn methods_are_renamed_outside_of_strings() {
        let source =
            "x.codepoints() # .codepoints(\n'.codepoints(' + y.codepoint_ords()\nz.codepoints\n'é";
        let expected =
            "x.elems() # .codepoints(\n'.codepoints(' + y.codepoints()\nz.codepoints\n'é";
        assert_eq!(rename_methods(source), expected);
    }

    #[test]
    fn while_becomes_for_with_break() {
        let source = "def f(n):\n  while n > {1: 2}[1]: # down\n\n    # one less\n    n -= 1\n  while (n or\n      m): n += 1\n  return n\n";
        let script = rewrite_while(source);
        let expected = "def f(n):\n  for _ in range(2147483647):\n\n    # one less\n    if not (n > {1: 2}[1]): break\n    n -= 1\n  for _ in range(2147483647):\n   if not ((n or\n      m)): break\n   n += 1\n  return n\n";
        assert_eq!(script.text, expected);
        assert_eq!(script.lines, [0, 1, 2, 3, 1, 4, 5, 5, 6, 5, 7]);
    }
}
