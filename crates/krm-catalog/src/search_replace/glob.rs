//! File patterns of `by-file-path`: `**` for any directories, `*`, `?`, `[a-z]` and `{a,b}` within a name.

use regex_lite::Regex;

/// A pattern for paths with slashes.
#[derive(Clone, Debug)]
pub(super) struct Glob(Regex);

impl Glob {
    /// Parses a pattern.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let mut translator =
            Translator { rest: pattern, out: String::from("^"), open: 0, at_start: true };
        while !translator.rest.is_empty() {
            translator.next()?;
        }
        if translator.open > 0 {
            return Err("unclosed `{`".to_owned());
        }
        translator.out.push('$');
        Regex::new(&translator.out).map(Self).map_err(|error| error.to_string())
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

struct Translator<'a> {
    rest: &'a str,
    out: String,
    /// The number of open alternatives.
    open: usize,
    /// Whether this is the beginning of a path segment.
    at_start: bool,
}

impl Translator<'_> {
    /// Translates the next token to a regular expression.
    fn next(&mut self) -> Result<(), String> {
        let ends = |rest: &str| rest.is_empty() || rest.starts_with([',', '}']);
        if let Some(rest) = self.rest.strip_prefix("/**").filter(|rest| ends(rest)) {
            self.out.push_str("(?:/.*)?");
            self.rest = rest;
            return Ok(());
        }
        if let Some(rest) = self.rest.strip_prefix("**").filter(|_| self.at_start) {
            if let Some(rest) = rest.strip_prefix('/') {
                self.out.push_str("(?:[^/]+/)*");
                self.rest = rest;
                return Ok(());
            }
            if ends(rest) {
                self.out.push_str(".*");
                self.rest = rest;
                return Ok(());
            }
        }
        let Some(c) = self.rest.chars().next() else { return Ok(()) };
        self.rest = &self.rest[c.len_utf8()..];
        self.at_start = c == '/';
        match c {
            '*' => {
                self.rest = self.rest.trim_start_matches('*');
                self.out.push_str("[^/]*");
            }
            '?' => self.out.push_str("[^/]"),
            '[' => self.class()?,
            '{' => {
                self.open += 1;
                self.at_start = true;
                self.out.push_str("(?:");
            }
            '}' if self.open > 0 => {
                self.open -= 1;
                self.out.push(')');
            }
            ',' if self.open > 0 => {
                self.at_start = true;
                self.out.push('|');
            }
            '\\' => {
                let c = self.rest.chars().next().ok_or("trailing backslash")?;
                self.rest = &self.rest[c.len_utf8()..];
                self.literal(c);
            }
            c => self.literal(c),
        }
        Ok(())
    }

    fn literal(&mut self, c: char) {
        self.out.push_str(&regex_lite::escape(c.encode_utf8(&mut [0; 4])));
    }

    /// `[abc]`, `[a-z]`, `[^a]` and `[!a]`: one character, never a slash.
    fn class(&mut self) -> Result<(), String> {
        let unclosed = || "unclosed `[`".to_owned();
        let (negated, rest) = match self.rest.strip_prefix(['^', '!']) {
            Some(rest) => (true, rest),
            None => (false, self.rest),
        };
        let mut class = String::new();
        let mut chars = rest.char_indices();
        loop {
            let (at, c) = chars.next().ok_or_else(unclosed)?;
            match c {
                ']' if !class.is_empty() => {
                    self.rest = &rest[at + 1..];
                    break;
                }
                '\\' => class.push_str(&escape_in_class(chars.next().ok_or_else(unclosed)?.1)),
                '-' => class.push('-'),
                c => class.push_str(&escape_in_class(c)),
            }
        }
        let not = if negated { "^/" } else { "" };
        self.out.push_str(&format!("[{not}{class}]"));
        Ok(())
    }
}

/// Escapes a character of a class.
fn escape_in_class(c: char) -> String {
    if c.is_ascii_punctuation() { format!("\\{c}") } else { c.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_like_those_of_the_kpt_function() {
        for (pattern, yes, no) in [
            (
                "**/baz.yaml",
                &["foo/bar/baz.yaml", "bar/baz.yaml", "baz.yaml"][..],
                &["foo/bar/bat.yaml", "foobaz.yaml"][..],
            ),
            (
                "foo/**/baz.yaml",
                &["foo/bar/baz.yaml", "foo/baz.yaml", "foo/a/b/baz.yaml"],
                &["bar/baz.yaml", "foobaz.yaml"],
            ),
            ("foo/*/baz.yaml", &["foo/bar/baz.yaml"], &["foo/a/b/baz.yaml", "foo/baz.yaml"]),
            ("foo/bar/*.yaml", &["foo/bar/baz.yaml"], &["foo/bar/a/baz.yaml"]),
            ("a/**.yaml", &["a/b.yaml"], &["a/b/c.yaml"]),
            ("a/**", &["a", "a/b", "a/b/c"], &["ab", "b/a"]),
            ("**", &["a", "a/b"], &[]),
            ("?.{yaml,json}", &["a.yaml", "b.json"], &["ab.yaml", "/.yaml", "a.yml"]),
            ("{a,b/**}/x", &["a/x", "b/x", "b/c/d/x"], &["c/x"]),
            ("[a-c][!x-z].y", &["ab.y"], &["ax.y", "a/.y", "dd.y"]),
            (r"\*[\]^]", &["*]", "*^"], &["a]"]),
            ("a.b", &["a.b"], &["axb"]),
        ] {
            let glob = Glob::new(pattern).unwrap();
            assert!(yes.iter().all(|path| glob.matches(path)), "{pattern} {:?}", glob.0.as_str());
            assert!(!no.iter().any(|path| glob.matches(path)), "{pattern} {:?}", glob.0.as_str());
        }
        for pattern in ["[a", "{a,b", "a\\", "[]"] {
            assert!(Glob::new(pattern).is_err(), "{pattern}");
        }
    }
}
