//! Explanations of diagnostic kinds: what `krm explain ID` prints, and the source of the documentation page.

/// The kinds of one area and their explanations.
///
/// The text is Markdown with a `## ID` heading for every id; each section has a paragraph and an example.
pub struct Area {
    /// The title of the area, as the documentation page shows it.
    pub title: &'static str,
    /// The ids of the area: `IDS` of each of its enums.
    pub ids: &'static [&'static [&'static str]],
    /// The explanations.
    pub text: &'static str,
}

impl Area {
    /// The section that explains an id, without its heading.
    pub fn explanation(&self, id: &str) -> Option<&'static str> {
        self.sections().find(|(name, _)| *name == id).map(|(_, text)| text)
    }

    /// The ids of the area in the order of their declaration.
    pub fn ids(&self) -> impl Iterator<Item = &'static str> {
        self.ids.iter().flat_map(|ids| ids.iter().copied())
    }

    /// What is missing: ids without a section or an example, and sections without an id. Empty when all is well.
    pub fn gaps(&self) -> Vec<String> {
        let unexplained = self.ids().filter(|id| self.explanation(id).is_none());
        let unexplained = unexplained.map(|id| format!("`{id}` has no explanation"));
        let unknown = self.sections().filter(|(name, _)| !self.ids().any(|id| id == *name));
        let unknown = unknown.map(|(name, _)| format!("`{name}` is not the id of a kind"));
        let bare = self.sections().filter(|(_, text)| text.matches("```").count() < 2);
        let bare = bare.map(|(name, _)| format!("`{name}` has no example"));
        unexplained.chain(unknown).chain(bare).collect()
    }

    fn sections(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let parts = self.text.split("\n## ").skip(1);
        parts.filter_map(|part| part.split_once('\n')).map(|(name, text)| (name, text.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Area = Area {
        title: "Ports",
        ids: &[&["port-missing", "port-range"], &["port-name"]],
        text: "# Ports\n\n## port-missing\n\nGive one:\n\n```yaml\nport: 80\n```\n\n## port-range\n\nToo large.\n\n## port-type\n\n```yaml\nport: a\n```\n",
    };

    #[test]
    fn explanation_is_the_section_below_its_heading() {
        let text = "Give one:\n\n```yaml\nport: 80\n```";
        assert_eq!(AREA.explanation("port-missing"), Some(text));
        assert_eq!(AREA.explanation("port-name"), None);
    }

    #[test]
    fn gaps_lists_missing_sections_unknown_ids_and_missing_examples() {
        let gaps = [
            "`port-name` has no explanation",
            "`port-type` is not the id of a kind",
            "`port-range` has no example",
        ];
        assert_eq!(AREA.gaps(), gaps);
    }
}
