//! The parts of a README that are generated, between comments that mark them.

/// A part of a README.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Title,
    Body,
}

impl Part {
    /// Compat: the comments that mark the part.
    fn markers(self) -> [&'static str; 2] {
        match self {
            Self::Title => [
                "<!-- BEGINNING OF PRE-COMMIT-BLUEPRINT DOCS HOOK:TITLE -->",
                "<!-- END OF PRE-COMMIT-BLUEPRINT DOCS HOOK:TITLE -->",
            ],
            Self::Body => [
                "<!-- BEGINNING OF PRE-COMMIT-BLUEPRINT DOCS HOOK:BODY -->",
                "<!-- END OF PRE-COMMIT-BLUEPRINT DOCS HOOK:BODY -->",
            ],
        }
    }

    /// The text with new contents of the part, which end with a line break. A text without the markers stays as it is.
    ///
    /// # Errors
    /// The line of the end marker, if it comes before the other one.
    pub(super) fn replace(self, text: &str, contents: &str) -> Result<String, usize> {
        let [start, end] = self.markers();
        let (mut first, mut last, mut offset) = (None, None, 0);
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let after = offset + line.len();
            match line.trim_end_matches(['\r', '\n']) {
                it if it == start => first = Some(after),
                it if it == end => last = last.or(Some((offset, index + 1))),
                _ => {}
            }
            offset = after;
            if first.is_some() && last.is_some() {
                break;
            }
        }
        let (Some(first), Some((last, line))) = (first, last) else { return Ok(text.to_owned()) };
        if last < first {
            return Err(line);
        }
        let is_crlf = text[..first].ends_with("\r\n");
        let contents = if is_crlf { contents.replace('\n', "\r\n") } else { contents.to_owned() };
        Ok(format!("{}{contents}{}", &text[..first], &text[last..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_between_the_markers_is_replaced() {
        let [start, end] = Part::Title.markers();
        let text = format!("a\n{start}\nold\nolder\n{end}\nz");
        let expected = format!("a\n{start}\n# new\n\n{end}\nz");
        assert_eq!(Part::Title.replace(&text, "# new\n\n"), Ok(expected.clone()));
        assert_eq!(Part::Title.replace(&expected, "# new\n\n"), Ok(expected));
        assert_eq!(Part::Body.replace(&text, "new\n"), Ok(text));
        let adjacent = format!("{start}\r\n{end}\r\n");
        let expected = format!("{start}\r\nx\r\n{end}\r\n");
        assert_eq!(Part::Title.replace(&adjacent, "x\n"), Ok(expected));
    }

    #[test]
    fn markers_in_the_wrong_order_are_an_error() {
        let [start, end] = Part::Body.markers();
        assert_eq!(Part::Body.replace(&format!("a\n{end}\n{start}\n"), ""), Err(2));
        assert_eq!(Part::Body.replace(&format!("{start}\n"), "x"), Ok(format!("{start}\n")));
    }
}
