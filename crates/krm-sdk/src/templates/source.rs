//! The source of a template: lines that have nothing but tags leave no line in the output.
//!
//! The engine's own option removes the line break after every tag, also after one at the end of a line of text, which would join the line
//! with the next one: `- {% if x %}a{% endif %}`.

/// The source of a template as it was written, and as the engine gets it.
#[derive(Clone, Debug)]
pub(super) struct Source {
    written: String,
    engine: String,
    /// For each removed part the offset in the engine's text, and how many bytes were removed up to there.
    removed: Vec<(usize, usize)>,
}

impl Source {
    pub(super) fn new(written: String) -> Self {
        let (mut engine, mut removed) = (String::with_capacity(written.len()), Vec::new());
        let mut is_raw = false;
        for line in written.split_inclusive('\n') {
            let tags = line.trim();
            let is_removed = !is_raw && has_only_tags(tags);
            let (opened, closed) = (last_tag(line, "raw"), last_tag(line, "endraw"));
            is_raw = if opened == closed { is_raw } else { opened > closed };
            if is_removed {
                let before = line.len() - line.trim_start().len();
                note_removed(&mut removed, engine.len(), before);
                engine.push_str(tags);
                note_removed(&mut removed, engine.len(), line.len() - before - tags.len());
            } else {
                engine.push_str(line);
            }
        }
        Self { written, engine, removed }
    }

    /// The text as it was written.
    pub(super) fn written(&self) -> &str {
        &self.written
    }

    /// The text for the engine.
    pub(super) fn engine(&self) -> &str {
        &self.engine
    }

    /// The offset in the text as it was written of an offset in the engine's text.
    pub(super) fn offset(&self, engine: usize) -> usize {
        let before = self.removed.iter().take_while(|(at, _)| *at <= engine);
        engine + before.last().map_or(0, |(_, removed)| *removed)
    }
}

fn note_removed(removed: &mut Vec<(usize, usize)>, at: usize, length: usize) {
    let before = removed.last().map_or(0, |(_, removed)| *removed);
    removed.push((at, before + length));
}

/// The position of the last tag of this name in a line.
fn last_tag(line: &str, name: &str) -> Option<usize> {
    let is_it = |at: &usize| line[at + 2..].trim_start_matches(['-', '+', ' ']).starts_with(name);
    line.match_indices("{%").map(|(at, _)| at).filter(is_it).last()
}

/// Whether a line consists of one or more block tags and comments.
fn has_only_tags(mut line: &str) -> bool {
    if line.is_empty() {
        return false;
    }
    while !line.is_empty() {
        let close = match line.get(..2) {
            Some("{%") => "%}",
            Some("{#") => "#}",
            _ => return false,
        };
        let Some(end) = line.find(close) else { return false };
        line = line[end + 2..].trim_start();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_tags_are_removed_and_offsets_are_those_of_the_written_text() {
        let text =
            "a: 1\n  {% if x %}\nb: {% if y %}2{% endif %}\n  {% endif %} {# c #}\r\nc: {{ z }}\n";
        let source = Source::new(text.to_owned());
        assert_eq!(
            source.engine(),
            "a: 1\n{% if x %}b: {% if y %}2{% endif %}\n{% endif %} {# c #}c: {{ z }}\n"
        );
        for part in ["a: 1", "if x", "b: ", "if y", "c: ", "z }}"] {
            let (engine, written) = (source.engine().find(part), text.find(part));
            assert_eq!(engine.map(|at| source.offset(at)), written, "{part}");
        }
    }

    #[test]
    fn raw_text_is_kept() {
        let text = "{% raw %}\n{% x %}\n{% endraw %}\n{% if a %}\n{% endif %}\n";
        let source = Source::new(text.to_owned());
        assert_eq!(source.engine(), "{% raw %}{% x %}\n{% endraw %}\n{% if a %}{% endif %}");
    }
}
