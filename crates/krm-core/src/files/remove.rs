//! Removal of resources: documents with their separators, items with their comments, and the file if nothing is left.

use krm_yaml::{DocumentRef, EditError};

use crate::Diagnostic;
use crate::files::arrangement::{Arrangement, ResourcePosition};
use crate::model::package::PackageFile;

/// What remains of a file after resources were removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Remainder {
    /// Nothing; the file is deleted.
    Nothing,
    /// This text.
    Text(String),
}

/// Removes resources, given by their index, from a file.
///
/// A comment directly above a resource is removed with it. A comment that a blank line or `---` separates from it belongs to the file
/// and stays, and so do documents that are not resources: a file that has any is not deleted.
pub(crate) fn remove_resources(
    file: &PackageFile,
    indices: &[usize],
) -> Result<Remainder, Vec<Diagnostic>> {
    let errors = file.errors();
    let Some(source) = file.file().filter(|_| errors.is_empty()) else { return Err(errors) };
    let edit_error = |error: &EditError| {
        let error = Diagnostic::from_edit(error, source).in_file(&*file.display_path);
        vec![error.hint("remove the resources by hand")]
    };
    let positions: Vec<ResourcePosition> = file
        .resources()
        .map(|resource| ResourcePosition::of(resource.node, resource.item))
        .collect();
    let removed = indices.iter().filter_map(|index| positions.get(*index).copied()).collect();
    let arrangement = Arrangement { removed, keeps_comments: true, ..Arrangement::default() };
    let text =
        arrangement.apply(source, file.path.is_json()).map_err(|error| edit_error(&error))?;
    Ok(text.map_or(Remainder::Nothing, Remainder::Text))
}

/// The comments of a document that do not belong to its resource: those before its marker, and those at the top of the file that a
/// blank line separates from it.
pub(crate) fn own_comments(document: DocumentRef<'_>) -> &str {
    let span = document.span();
    let source = document.file().text();
    let whole = document.text();
    if let Some(marker) = document.start_marker() {
        let before = &source[span.start as usize..marker.start as usize];
        let has_comment = before.lines().any(|line| line.trim_start().starts_with('#'));
        return if has_comment { before } else { "" };
    }
    if document.index() > 0 {
        return "";
    }
    let (mut at, mut end, mut has_comment) = (0, 0, false);
    for line in whole.split_inclusive('\n') {
        let content = line.trim_start_matches('\u{feff}').trim();
        if !content.is_empty() && !content.starts_with('#') {
            break;
        }
        has_comment |= !content.is_empty();
        at += line.len();
        if content.is_empty() && has_comment {
            end = at;
        }
    }
    &whole[..end]
}

/// The text of a document that becomes the first, without its separator. A document with directives needs the marker and keeps it.
pub(crate) fn without_separator(document: DocumentRef<'_>) -> &str {
    let text = document.text();
    let Some(rest) = text.strip_prefix("---") else { return text };
    let rest = rest.strip_prefix('\r').unwrap_or(rest);
    match rest.strip_prefix('\n') {
        Some(rest) if document.directives().is_empty() => rest,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;
    use proptest::prelude::*;

    fn removed(text: &str, indices: &[usize]) -> Remainder {
        remove_resources(&package(&[("a.yaml", text)]).files()[0], indices).unwrap()
    }

    fn text(text: &str) -> Remainder {
        Remainder::Text(text.to_owned())
    }

    fn pod(name: &str) -> String {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\n")
    }

    #[test]
    fn documents_are_removed_with_their_separators() {
        let [a, b, c] = ["a", "b", "c"].map(pod);
        let file = format!("{a}---\n{b}---\n{c}");
        assert_eq!(removed(&file, &[0]), text(&format!("{b}---\n{c}")));
        assert_eq!(removed(&file, &[1]), text(&format!("{a}---\n{c}")));
        assert_eq!(removed(&file, &[2]), text(&format!("{a}---\n{b}")));
        assert_eq!(removed(&file, &[0, 1]), text(&c));
        assert_eq!(removed(&file, &[0, 1, 2]), Remainder::Nothing);
        assert_eq!(removed(&file, &[]), text(&file));
        let marked = format!("---\n{a}---\n{b}");
        assert_eq!(removed(&marked, &[0]), text(&format!("---\n{b}")));
        let ended = format!("{a}...\n---\n{b}...\n");
        assert_eq!(removed(&ended, &[0]), text(&format!("{b}...\n")));
        assert_eq!(removed(&ended, &[0, 1]), Remainder::Nothing);
        let directive = format!("{a}...\n%YAML 1.2\n---\n{b}");
        assert_eq!(removed(&directive, &[0]), text(&format!("%YAML 1.2\n---\n{b}")));
    }

    #[test]
    fn comments_and_documents_that_are_not_resources_stay() {
        let (a, b) = (pod("a"), pod("b"));
        assert_eq!(removed(&format!("# of a\n{a}"), &[0]), Remainder::Nothing);
        assert_eq!(removed(&format!("# licence\n\n# of a\n{a}"), &[0]), text("# licence\n\n"));
        assert_eq!(removed(&format!("# licence\n---\n{a}"), &[0]), text("# licence\n"));
        assert_eq!(
            removed(&format!("# licence\n\n{a}---\n{b}"), &[0]),
            text(&format!("# licence\n\n---\n{b}"))
        );
        assert_eq!(removed(&format!("{a}---\nother: 1\n"), &[0]), text("other: 1\n"));
        assert_eq!(removed(&format!("{a}---\n# comment only\n"), &[0]), text("# comment only\n"));
        assert_eq!(removed(&format!("{a}---\n"), &[0]), Remainder::Nothing);
        assert_eq!(removed(&format!("\u{feff}{a}"), &[0]), Remainder::Nothing);
        let marked = format!("\u{feff}{a}---\n{b}");
        assert_eq!(removed(&marked, &[0]), text(&format!("\u{feff}{b}")));
    }

    #[test]
    fn items_are_removed_with_their_comments_and_empty_lists_are_removed() {
        let list = "apiVersion: v1\nkind: List\nitems:\n# of a\n- {apiVersion: v1, kind: A}\n# of b\n- {apiVersion: v1, kind: B}\n";
        let rest = "apiVersion: v1\nkind: List\nitems:\n# of b\n- {apiVersion: v1, kind: B}\n";
        assert_eq!(removed(list, &[0]), text(rest));
        assert_eq!(removed(list, &[0, 1]), Remainder::Nothing);
        let more = "apiVersion: v1\nkind: ResourceList\nitems: [{apiVersion: v1, kind: A}]\nfunctionConfig: {a: b}\n";
        assert_eq!(removed(more, &[0]), text(&more.replace("{apiVersion: v1, kind: A}", "")));
        let bare = "- apiVersion: v1\n  kind: A\n- plain\n";
        assert_eq!(removed(bare, &[0]), text("- plain\n"));
        assert_eq!(removed("- apiVersion: v1\n  kind: A\n", &[0]), Remainder::Nothing);
    }

    #[test]
    fn invalid_file_is_an_error() {
        let file = format!("{}---\n[\n", pod("a"));
        assert!(remove_resources(&package(&[("a.yaml", &file)]).files()[0], &[0]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever is removed, every other document stays byte for byte.
        #[test]
        fn untouched_stays(kinds in prop::collection::vec(0..4usize, 1..7), gone: [bool; 7], markers: u8, crlf: bool) {
            let documents: Vec<String> = kinds.iter().enumerate().map(|(n, kind)| match kind {
                0 => pod(&format!("p{n}")),
                1 => format!("# of {n}\napiVersion: v1\nkind: Pod # {n}\nspec:\n  text: |+\n    {n}\n\n"),
                2 => format!("apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: P{n}\n"),
                _ => format!("other: {n} # no resource\n"),
            }).collect();
            let first = if markers & 1 == 1 { "---\n" } else { "" };
            let end = if markers & 2 == 2 { "...\n" } else { "" };
            let all = format!("{first}{}{end}", documents.join(&format!("{end}---\n")));
            let breaks = |text: &str| if crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
            let is_resource = |n: &usize| kinds[*n] < 3;
            let there: Vec<usize> = (0..kinds.len()).filter(is_resource).collect();
            let indices: Vec<usize> = (0..there.len()).filter(|at| gone[*at]).collect();
            let stays = |n: &usize| there.iter().position(|it| it == n).is_none_or(|at| !gone[at]);
            let kept: Vec<usize> = (0..kinds.len()).filter(stays).collect();
            match removed(&breaks(&all), &indices) {
                Remainder::Nothing => prop_assert!(kept.is_empty()),
                Remainder::Text(text) => {
                    prop_assert!(!kept.is_empty());
                    let kept: Vec<&str> = kept.iter().map(|n| documents[*n].as_str()).collect();
                    let expected = format!("{first}{}{end}", kept.join(&format!("{end}---\n")));
                    prop_assert_eq!(text, breaks(&expected));
                }
            }
        }
    }
}
