//! Characters that end a line in YAML 1.1 but not in YAML 1.2. Kubernetes reads what follows them as a line of its own, so that a
//! comment can hide a field.

use krm_yaml::{DocumentRef, File, NodeRef, ScalarStyle, Span};

use super::kinds::ReaderKind;
use crate::Diagnostic;

const NAMES: [(&str, &str, &str); 3] = [
    ("\u{85}", "U+0085 (next line)", "\\u0085"),
    ("\u{2028}", "U+2028 (line separator)", "\\u2028"),
    ("\u{2029}", "U+2029 (paragraph separator)", "\\u2029"),
];

/// The escape sequence of a character by its name.
pub(super) fn escape(name: &str) -> &'static str {
    NAMES.iter().find(|(_, it, _)| *it == name).map_or("", |(_, _, escape)| escape)
}

/// The errors for all raw U+0085, U+2028 and U+2029 of a file where Kubernetes would read something else than YAML 1.2 does:
/// everywhere outside of quoted scalars, and where a quoted scalar has another value.
pub(super) fn find(file: &File) -> Vec<Diagnostic> {
    let found = offsets(file.text());
    if found.is_empty() {
        return Vec::new();
    }
    let quoted: Vec<NodeRef<'_>> =
        file.documents().filter_map(DocumentRef::root).flat_map(quoted_scalars).collect();
    let is_same = |at: usize| {
        let next = quoted.partition_point(|node| node.start() as usize <= at);
        next.checked_sub(1).is_some_and(|index| is_same_value(quoted[index], at))
    };
    let different = found.into_iter().filter(|(at, _)| !is_same(*at));
    different
        .map(|(at, name)| {
            let length = file.text()[at..].chars().next().map_or(0, char::len_utf8);
            let span = Span::new(at as u32, (at + length) as u32);
            Diagnostic::error(ReaderKind::LineBreak { character: name }).at(file, span)
        })
        .collect()
}

/// All line breaks of YAML 1.1 that YAML 1.2 does not have, in order.
fn offsets(text: &str) -> Vec<(usize, &'static str)> {
    // Nearly all files are ASCII, for which this is the whole cost.
    if text.is_ascii() {
        return Vec::new();
    }
    let mut found: Vec<_> = NAMES
        .iter()
        .flat_map(|(character, name, _)| text.match_indices(character).map(|(at, _)| (at, *name)))
        .collect();
    found.sort_unstable();
    found
}

fn quoted_scalars(root: NodeRef<'_>) -> impl Iterator<Item = NodeRef<'_>> {
    root.descendants().filter(|node| {
        let style = node.as_scalar().map(|scalar| scalar.style());
        matches!(style, Some(ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted))
    })
}

/// Whether Kubernetes reads a quoted scalar with a line break at `at` as YAML 1.2 does. U+0085 becomes a space or `\n`. The others
/// are kept, but blanks around them are removed, a backslash before them removes them, and a key must be on one line.
fn is_same_value(node: NodeRef<'_>, at: usize) -> bool {
    let (start, end) = (node.start() as usize, node.end() as usize);
    let text = node.document().file().text();
    let Some(content) = text.get(start..end).filter(|_| at < end) else { return false };
    let (before, after) = content.split_at(at - start);
    if before.is_empty() || after.starts_with('\u{85}') || node.value_of_key().is_some() {
        return false;
    }
    let after = after.trim_start_matches(['\u{2028}', '\u{2029}']);
    let before = before.trim_end_matches(['\u{2028}', '\u{2029}']);
    let folds = [' ', '\t', '\n', '\r', '\u{85}'];
    let is_marker = after.starts_with("---") || after.starts_with("...");
    !before.ends_with(folds) && !before.ends_with('\\') && !after.starts_with(folds) && !is_marker
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Vec<(u32, u32)> {
        let file = File::parse(text.to_owned()).unwrap();
        let at = |it: &Diagnostic| it.location.as_ref().map(|at| (at.line, at.column)).unwrap();
        find(&file).iter().map(at).collect()
    }

    #[test]
    fn raw_breaks_outside_of_quoted_scalars_are_errors() {
        for c in ['\u{85}', '\u{2028}', '\u{2029}'] {
            assert_eq!(places(&format!("# x{c}hostNetwork: true\na: 1\n")), [(1, 4)]);
            assert_eq!(places(&format!("a: x{c}b: 2\n")), [(1, 5)]);
            assert_eq!(places(&format!("a: |\n  x{c}b: 2\n")), [(2, 4)]);
            assert_eq!(places(&format!("a{c}b: 2\n")), [(1, 2)]);
            assert_eq!(places(&format!("a: 1 # x{c}\n---\nb: 1 #{c}\n")), [(1, 9), (3, 7)]);
            assert_eq!(places(&format!("# only a comment{c}kind: Pod\n")), [(1, 17)]);
            assert_eq!(places(&format!("\"a{c}b\": 2\n")), [(1, 3)]);
        }
    }

    #[test]
    fn quoted_scalar_is_an_error_only_if_its_value_differs() {
        for same in ["a: \"x\u{2028}y\"\n", "a: 'x\u{2029}\u{2028}y'\n", "a: '\u{2028}'\n"] {
            assert!(places(same).is_empty(), "{same:?}");
        }
        for other in [
            "a: \"x\u{85}y\"\n",
            "a: 'x \u{2028}y'\n",
            "a: 'x\u{2028} y'\n",
            "a: \"x\\\u{2028}y\"\n",
            "a: 'x\u{2028}\n y'\n",
            "a: 'x\u{2028}--- y'\n",
        ] {
            assert_eq!(places(other).len(), 1, "{other:?}");
        }
        assert!(places("a: \"\\u2028\\N\\L\\P\"\n").is_empty());
    }
}
