//! Globs as git matches them. Matching takes time proportional to pattern and text, so that no pattern can take forever.

/// What a glob is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GlobSubject {
    /// A name without slashes.
    Name,
    /// A path, in which `**` can match directories.
    Path,
}

#[derive(Clone, Debug)]
pub(super) struct Glob {
    tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Byte(u8),
    /// `?` and `[…]`: one of these bytes.
    Class(Box<[bool; 256]>),
    /// `*`: any bytes but slashes.
    Star,
    /// `**`: any bytes.
    Stars,
    /// `**/`: any number of directories.
    Directories,
    /// An unclosed bracket or a final backslash, which match nothing.
    Never,
}

impl Glob {
    pub(super) fn new(pattern: &str, subject: GlobSubject) -> Self {
        let bytes = pattern.as_bytes();
        // Compat: git compares the literal prefix separately, so that `**` right after it counts as the start of the pattern.
        let first = bytes.iter().position(|byte| b"*?[\\".contains(byte)).unwrap_or(bytes.len());
        let mut reader = Reader { bytes, at: 0, start: first, subject };
        let mut tokens = Vec::new();
        while let Some(token) = reader.token() {
            let is_last = token == Token::Never;
            tokens.push(token);
            if is_last {
                break;
            }
        }
        Self { tokens }
    }

    pub(super) fn matches_nothing(&self) -> bool {
        self.tokens.contains(&Token::Never)
    }

    /// Simulates all ways through the pattern at once, so that each byte is compared with each token at most once. Backtracking would
    /// be exponential.
    pub(super) fn matches(&self, text: &str) -> bool {
        let mut open = vec![false; self.tokens.len() + 1];
        let mut next = open.clone();
        self.enter(0, &mut open, true);
        for byte in text.bytes() {
            next.fill(false);
            for (index, token) in self.tokens.iter().enumerate().filter(|(index, _)| open[*index]) {
                match token {
                    Token::Byte(expected) if *expected != byte => {}
                    Token::Class(set) if !set[usize::from(byte)] => {}
                    Token::Byte(_) | Token::Class(_) => self.enter(index + 1, &mut next, true),
                    Token::Star if byte == b'/' => {}
                    Token::Star | Token::Stars => self.enter(index, &mut next, true),
                    Token::Directories => {
                        self.enter(index, &mut next, false);
                        if byte == b'/' {
                            self.enter(index + 1, &mut next, true);
                        }
                    }
                    Token::Never => {}
                }
            }
            std::mem::swap(&mut open, &mut next);
        }
        open[self.tokens.len()]
    }

    /// Activates a token, and the following ones if it can match nothing. `**/` can match nothing only at its start.
    fn enter(&self, index: usize, open: &mut [bool], may_pass: bool) {
        let mut index = index;
        open[index] = true;
        while let Some(token) = self.tokens.get(index) {
            let can_be_empty = match token {
                Token::Star | Token::Stars => true,
                Token::Directories => may_pass,
                _ => false,
            };
            if !can_be_empty {
                return;
            }
            index += 1;
            open[index] = true;
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The index of the first special character.
    start: usize,
    subject: GlobSubject,
}

impl Reader<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn token(&mut self) -> Option<Token> {
        let byte = self.peek(0)?;
        let token = match byte {
            b'*' => return Some(self.stars()),
            b'?' => Token::Class(Box::new(std::array::from_fn(|byte| byte != usize::from(b'/')))),
            b'[' => self.class().map_or(Token::Never, |set| Token::Class(Box::new(set))),
            b'\\' => {
                self.at += 1;
                self.peek(0).map_or(Token::Never, Token::Byte)
            }
            byte => Token::Byte(byte),
        };
        self.at += 1;
        Some(token)
    }

    /// Only between slashes do two stars match directories; elsewhere they are like one.
    fn stars(&mut self) -> Token {
        let from = self.at;
        while self.peek(0) == Some(b'*') {
            self.at += 1;
        }
        let is_open = from == self.start || from > 0 && self.bytes[from - 1] == b'/';
        let is_closed = matches!(
            (self.peek(0), self.peek(1)),
            (None | Some(b'/'), _) | (Some(b'\\'), Some(b'/'))
        );
        if self.at - from < 2 || self.subject == GlobSubject::Name || !is_open || !is_closed {
            return Token::Star;
        }
        if self.peek(0) == Some(b'/') {
            self.at += 1;
            return Token::Directories;
        }
        Token::Stars
    }

    /// The bytes of a bracket expression; none if it is not closed. Stops at the closing bracket.
    fn class(&mut self) -> Option<[bool; 256]> {
        let mut set = [false; 256];
        self.at += 1;
        let is_negated = matches!(self.peek(0)?, b'!' | b'^');
        self.at += usize::from(is_negated);
        let mut before = None;
        loop {
            before = match self.peek(0)? {
                b'-' if before.is_some() && !matches!(self.peek(1), None | Some(b']')) => {
                    self.at += 1;
                    let last = self.literal()?;
                    let range = before?..=last;
                    range.for_each(|byte| set[usize::from(byte)] = true);
                    None
                }
                b'[' if self.peek(1) == Some(b':') => self.named(&mut set)?,
                _ => {
                    let byte = self.literal()?;
                    set[usize::from(byte)] = true;
                    Some(byte)
                }
            };
            self.at += 1;
            if self.peek(0)? == b']' {
                break;
            }
        }
        set.iter_mut().for_each(|is_in| *is_in ^= is_negated);
        set[usize::from(b'/')] = false;
        Some(set)
    }

    /// The current byte, or the one after a backslash.
    fn literal(&mut self) -> Option<u8> {
        if self.peek(0)? == b'\\' {
            self.at += 1;
        }
        self.peek(0)
    }

    /// A class such as `[:alpha:]`; unclosed, it is a literal bracket. Returns the byte that a range may start with.
    fn named(&mut self, set: &mut [bool; 256]) -> Option<Option<u8>> {
        let rest = &self.bytes[self.at + 2..];
        let length = rest.iter().position(|byte| *byte == b']')?;
        let Some(name) = rest[..length].strip_suffix(b":") else {
            set[usize::from(b'[')] = true;
            return Some(Some(b'['));
        };
        let is_in: fn(&u8) -> bool = match name {
            b"alnum" => u8::is_ascii_alphanumeric,
            b"alpha" => u8::is_ascii_alphabetic,
            b"blank" => |byte| matches!(byte, b' ' | b'\t'),
            b"cntrl" => u8::is_ascii_control,
            b"digit" => u8::is_ascii_digit,
            b"graph" => u8::is_ascii_graphic,
            b"lower" => u8::is_ascii_lowercase,
            b"print" => |byte| matches!(byte, b' '..=b'~'),
            b"punct" => u8::is_ascii_punctuation,
            b"space" => |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
            b"upper" => u8::is_ascii_uppercase,
            b"xdigit" => u8::is_ascii_hexdigit,
            _ => return None,
        };
        (0..=255u8).filter(is_in).for_each(|byte| set[usize::from(byte)] = true);
        self.at += 2 + length;
        Some(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Glob::new(pattern, GlobSubject::Path).matches(text)
    }

    #[test]
    fn pathological_patterns_terminate() {
        let pattern = "*a".repeat(2000) + "b";
        assert!(!matches(&pattern, &"a".repeat(4000)));
        let pattern = "**/a/".repeat(1000) + "b";
        assert!(!matches(&pattern, &"a/".repeat(2000)));
    }

    #[test]
    fn double_star_matches_directories_only_between_slashes() {
        assert!(matches("a/**/b", "a/b"));
        assert!(matches("a/**/b", "a/x/y/b"));
        assert!(!matches("a/**/b", "a/xb"));
        assert!(matches("**/b", "b"));
        assert!(matches("a/**", "a/x/y"));
        assert!(!matches("a/**", "a"));
        assert!(!matches("a/x**b", "a/x/b"));
    }
}
