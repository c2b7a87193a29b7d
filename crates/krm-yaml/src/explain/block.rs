//! Errors of lines and indentation.

use super::{Scene, shorten};
use crate::SyntaxError;
use crate::front::ErrorKind;
use crate::span::{Span, column};

impl Scene<'_> {
    /// A colon where no key can stand: two in one line, or none in the line before.
    pub(super) fn stray_colon(&self) -> SyntaxError {
        let here = self.line(self.at);
        let before = &self.text[here.start as usize..self.at as usize];
        if key_end(before).is_some() {
            let hint = "quote the value if the colon is part of it";
            return self.error_with_hint(self.at, "a second `: ` in one line", hint);
        }
        self.missing_colon(here)
            .or_else(|| self.below_a_value(here))
            .unwrap_or_else(|| self.bad_indentation(here))
    }

    pub(super) fn block_structure(&self) -> SyntaxError {
        let here = self.line(self.at);
        let content = here.of(self.text).trim();
        let before = self.text[here.start as usize..self.at as usize].trim_end();
        let directive = self.text[self.document as usize..].trim_start().starts_with('%');
        if directive
            && self.line_before(here).is_some_and(|line| line.of(self.text).starts_with('%'))
        {
            return self.error(here.start, "a `---` is missing after the % lines");
        }
        if self.text[self.at as usize..].starts_with('*') && before.contains('&') {
            return self.error(self.at, "an alias cannot have an anchor of its own");
        }
        if before.ends_with(['}', ']']) && self.at > here.start {
            let hint = "quote the value if the brackets are part of it";
            return self.error_with_hint(self.at, "text after a closing bracket", hint);
        }
        if is_item(content) {
            return self.stray_item(here);
        }
        if !content.is_empty()
            && !content.starts_with(['#', '[', '{', '"', '\''])
            && key_end(content).is_none()
        {
            return self.colon_missing_in(here);
        }
        self.missing_colon(here).unwrap_or_else(|| self.bad_indentation(here))
    }

    /// The line before is no `key: value` and stands no deeper: its colon is missing.
    fn missing_colon(&self, here: Span) -> Option<SyntaxError> {
        let before = self.line_before(here)?;
        let content = before.of(self.text);
        let is_entry = key_end(content.trim()).is_some() || is_item(content.trim());
        let fits = indent_of(content) <= indent_of(here.of(self.text));
        (!is_entry && fits).then(|| self.colon_missing_in(before))
    }

    fn colon_missing_in(&self, line: Span) -> SyntaxError {
        let content = line.of(self.text);
        let entry = content.trim();
        let glued = entry.find(':').filter(|&colon| !entry[colon + 1..].starts_with(' '));
        let (message, hint) = match glued {
            Some(colon) => (
                format!("a missing space after the colon of `{}`", shorten(entry)),
                format!("write `{}: {}`", shorten(&entry[..colon]), shorten(&entry[colon + 1..])),
            ),
            None => {
                let (key, value) = entry.split_once(' ').unwrap_or((entry, ""));
                let written = format!("{}: {}", shorten(key), shorten(value.trim()));
                (
                    format!("a missing colon: `{}` is no `key: value`", shorten(entry)),
                    format!("write `{}`", written.trim()),
                )
            }
        };
        let at = line.start + indent_of(content) as u32;
        let mut error = self.error_with_hint(at, message, &hint);
        error.span.end = line.start + content.trim_end().len() as u32;
        error
    }

    /// The line before has a value already, and this line wants to be nested in it.
    fn below_a_value(&self, here: Span) -> Option<SyntaxError> {
        let before = self.line_before(here)?;
        let content = before.of(self.text);
        let entry = content.trim().trim_start_matches("- ");
        let key = &entry[..key_end(entry)?];
        let has_value = entry.len() > key.len() + 1;
        let deeper = indent_of(here.of(self.text)) > indent_of(content);
        (has_value && deeper).then(|| {
            let at = here.start + indent_of(here.of(self.text)) as u32;
            let message =
                format!("`{}` has a value already: nothing can be nested below it", shorten(key));
            self.error(at, message)
        })
    }

    fn stray_item(&self, line: Span) -> SyntaxError {
        let indent = indent_of(line.of(self.text)) as u32;
        let in_mapping =
            self.open.iter().any(|open| open.is_mapping && column(self.text, open.start) == indent);
        if in_mapping {
            let hint = "a list stands on the lines below a key that has no other value";
            return self.error_with_hint(
                line.start + indent,
                "a list item where a key is expected",
                hint,
            );
        }
        self.bad_indentation(line)
    }

    fn bad_indentation(&self, line: Span) -> SyntaxError {
        let indent = indent_of(line.of(self.text)) as u32;
        let mut columns: Vec<u32> =
            self.open.iter().filter(|c| !c.is_flow).map(|c| column(self.text, c.start)).collect();
        columns.dedup();
        let at = line.start + indent;
        let fits = self.open.iter().rfind(|c| !c.is_flow && column(self.text, c.start) == indent);
        if let Some(fits) = fits {
            let wanted = if fits.is_mapping { "`key: value`" } else { "`- item`" };
            return self.error(at, format!("{wanted} is expected here"));
        }
        let mut error = self.error(at, format!("an indentation of {indent} fits nothing above"));
        if !columns.is_empty() {
            let columns: Vec<String> = columns.iter().map(u32::to_string).collect();
            error.hint = Some(format!("what is open above stands at {}", columns.join(", ")));
        }
        error
    }

    /// A `|` or `>` text whose head or first lines are wrong.
    pub(super) fn block_text(&self, kind: &ErrorKind) -> SyntaxError {
        if *kind == ErrorKind::InvalidBlockScalarIndent {
            let message = "the blank lines before this stand deeper than the text itself";
            return self.error_with_hint(self.at, message, "remove the blanks of those lines");
        }
        let rest = &self.text[self.at as usize..self.line(self.at).end as usize];
        let marks = 1 + rest[1.min(rest.len())..]
            .bytes()
            .take_while(|b| b"0123456789+-".contains(b))
            .count();
        let behind = rest.get(marks..).unwrap_or_default();
        let at = self.at + (marks + behind.len() - behind.trim_start().len()) as u32;
        let hint =
            "the text begins on the next line; only `-`, `+` and a digit from 1 to 9 may follow";
        self.error_with_hint(
            at.min(self.line(self.at).end),
            "text after the head of a block text",
            hint,
        )
    }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_item(content: &str) -> bool {
    content == "-" || content.starts_with("- ")
}

/// Where the key of a `key: value` line ends; quotes are not looked into.
pub(super) fn key_end(line: &str) -> Option<usize> {
    line.find(": ").or_else(|| line.ends_with(':').then(|| line.len() - 1))
}
