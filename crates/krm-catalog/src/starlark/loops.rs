//! `while`, which the interpreter does not have: `while c:` is read as an endless `for` that breaks where `c` is not true.

/// So many rounds are endless: a script has fewer steps.
const ENDLESS: &str = "for _ in range(2147483647):";

/// A script that the interpreter takes, and for each of its lines the line of the original.
pub(super) struct Plain {
    pub(super) text: String,
    pub(super) lines: Vec<usize>,
}

/// The script without `while`.
pub(super) fn without_while(source: &str) -> Plain {
    let mut plain = Plain { text: String::new(), lines: Vec::new() };
    // Conditions whose loop has been opened, and whose body comes with the next statement.
    let mut waiting: Option<(&str, usize)> = None;
    for (line, statement) in statements(source) {
        let indent = &statement[..statement.len() - statement.trim_start().len()];
        let is_blank = statement.trim_start().is_empty() || statement.trim_start().starts_with('#');
        if let Some((condition, at)) = waiting.filter(|_| !is_blank) {
            plain.push(at, &format!("{indent}if not ({condition}): break\n"));
            waiting = None;
        }
        match head(statement) {
            Some((condition, body)) => {
                let rest = body.trim();
                if rest.is_empty() || rest.starts_with('#') {
                    plain.push(line, &format!("{indent}{ENDLESS}\n"));
                    waiting = Some((condition, line));
                } else {
                    plain.push(line, &format!("{indent}{ENDLESS}\n"));
                    plain.push(line, &format!("{indent} if not ({condition}): break\n"));
                    plain.push(line, &format!("{indent} {}\n", body.trim()));
                }
            }
            None => plain.push(line, statement),
        }
    }
    plain
}

impl Plain {
    fn push(&mut self, line: usize, text: &str) {
        self.lines.extend((line..).take(text.split_inclusive('\n').count()));
        self.text.push_str(text);
    }

    /// The line of the original, from zero.
    pub(super) fn original(&self, line: usize) -> usize {
        self.lines.get(line).copied().unwrap_or(line)
    }
}

/// The condition of a `while`, and what follows its colon.
fn head(statement: &str) -> Option<(&str, &str)> {
    let rest = statement.trim_start().strip_prefix("while")?;
    if !rest.starts_with([' ', '\t', '(']) {
        return None;
    }
    let colon = outside(rest).into_iter().find(|(_, byte)| *byte == b':')?.0;
    Some((rest[..colon].trim(), &rest[colon + 1..]))
}

/// The statements of a script with the lines on which they begin: a line, or more where brackets, texts or `\` go on.
fn statements(source: &str) -> Vec<(usize, &str)> {
    let (mut found, mut start, mut line) = (Vec::new(), 0, 0);
    let ends = outside(source).into_iter().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
    for end in ends.chain([source.len()]).filter(|end| *end > 0) {
        if start < end {
            found.push((line, &source[start..end]));
            line += source[start..end].matches('\n').count();
            start = end;
        }
    }
    found
}

/// The bytes of a script outside of brackets, texts and comments, with their places.
fn outside(source: &str) -> Vec<(usize, u8)> {
    let bytes = source.as_bytes();
    let (mut found, mut at, mut depth) = (Vec::new(), 0, 0_usize);
    while let Some(byte) = bytes.get(at).copied() {
        match byte {
            b'#' => at += source[at..].find('\n').unwrap_or(source.len() - at),
            b'"' | b'\'' => at += text_length(&source[at..]),
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

/// How long the text is that begins here, with its quotes.
fn text_length(source: &str) -> usize {
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
    fn a_script_without_loops_is_as_it_is() {
        let source = "# while x:\nx = \"\"\"\nwhile y:\n\"\"\"\nwhiles = [\nwhile_ for while_ in y\n] \\\n + z\n'it\\'s'";
        let plain = without_while(source);
        assert_eq!(plain.text, source);
        assert_eq!(plain.lines, (0..=8).collect::<Vec<_>>());
    }

    #[test]
    fn a_loop_breaks_where_its_condition_is_not_true() {
        let source = "def f(n):\n  while n > {1: 2}[1]: # down\n\n    # one less\n    n -= 1\n  while (n or\n      m): n += 1\n  return n\n";
        let plain = without_while(source);
        let wanted = "def f(n):\n  for _ in range(2147483647):\n\n    # one less\n    if not (n > {1: 2}[1]): break\n    n -= 1\n  for _ in range(2147483647):\n   if not ((n or\n      m)): break\n   n += 1\n  return n\n";
        assert_eq!(plain.text, wanted);
        assert_eq!(plain.lines, [0, 1, 2, 3, 1, 4, 5, 5, 6, 5, 7]);
    }
}
