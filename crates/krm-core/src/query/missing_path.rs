//! Explaining why a document does not have a path: how much of it exists, and what was probably meant.

use std::borrow::Cow;

use krm_yaml::{DocumentRef, NodeRef, Path, Segment};

use crate::Diagnostic;
use crate::diagnostics::closest_name;
use crate::query::{ExistingPath, QueryKind};

/// The maximum number of names in a hint.
const MAX_NAMES: usize = 8;

/// A path that a document does not have.
#[derive(Clone, Copy, Debug)]
pub struct MissingPath<'a> {
    /// The last node that exists.
    pub at: NodeRef<'a>,
    /// The number of segments that exist.
    pub found: usize,
}

impl<'a> MissingPath<'a> {
    /// Follows a path. None if the document has it, or has no content.
    pub fn find(document: DocumentRef<'a>, path: &Path) -> Option<Self> {
        let mut at = document.root()?;
        for (found, segment) in path.segments().iter().enumerate() {
            match at.step(segment) {
                Some(next) => at = next,
                None => return Some(Self { at: at.resolve(), found }),
            }
        }
        None
    }

    /// An error with the part of the path that exists, and what was probably meant.
    ///
    /// ```
    /// let file = krm_yaml::File::parse("spec:\n  replicas: 3\n".to_owned())?;
    /// let path = "spec.replica".parse()?;
    /// let missing = krm_core::query::MissingPath::find(file.document(0).expect("a document"), &path).expect("it is missing");
    /// assert_eq!(missing.to_diagnostic(&path).hints, ["did you mean `spec.replicas`?"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_diagnostic(&self, path: &Path) -> Diagnostic {
        let prefix = prefix(path, self.found);
        let existing = ExistingPath((self.found > 0).then(|| prefix.to_string()));
        let (help, path) = (self.help(path, &prefix).into(), path.to_string());
        let diagnostic = Diagnostic::error(QueryKind::PathNotFound { path, existing, help });
        match name_of(self.at) {
            Some(name) => diagnostic.at(self.at.document().file(), name.span()),
            None => diagnostic,
        }
    }

    fn help(&self, path: &Path, prefix: &Path) -> String {
        let rest = &path.segments()[self.found..];
        let names = self.names(rest);
        if let Some(name) = dotted_key(&names, rest) {
            return format!("quote a key that contains dots: `{}`", prefix.join(name));
        }
        let similar = match rest.first() {
            Some(Segment::Key(missing)) | Some(Segment::Match { value: missing, .. }) => {
                closest_name(names.iter().map(|name| &**name), missing)
            }
            _ => None,
        };
        if let Some(name) = similar {
            return format!("did you mean `{}`?", with_segment(path, prefix, self.found, name));
        }
        let owner = if self.found == 0 { "the document".to_owned() } else { format!("`{prefix}`") };
        self.describe_content(rest, &owner, &names)
    }

    /// What exists at the end of the path.
    fn describe_content(&self, rest: &[Segment], owner: &str, names: &[Cow<'_, str>]) -> String {
        if self.at.as_scalar().is_some() {
            return format!("{owner} is a scalar and has no fields");
        }
        if let Some(list) = self.at.as_sequence() {
            return match rest.first() {
                Some(Segment::Match { key, .. }) => {
                    format!("{owner} has elements with {key}: {}", listed(names))
                }
                _ => format!(
                    "{owner} is a sequence of {} elements, starting at [0]",
                    list.items().count()
                ),
            };
        }
        format!("{owner} has: {}", listed(names))
    }

    /// The names that exist in place of the first missing segment.
    fn names(&self, rest: &[Segment]) -> Vec<Cow<'a, str>> {
        let text = |node: NodeRef<'a>| node.resolve().as_scalar().map(|scalar| scalar.value());
        match (self.at.as_mapping(), self.at.as_sequence(), rest.first()) {
            (Some(mapping), _, _) => {
                mapping.entries().filter_map(|entry| text(entry.key)).collect()
            }
            (_, Some(list), Some(Segment::Match { key, .. })) => {
                let field = Segment::Key(key.clone());
                list.items().filter_map(|item| text(item.step(&field)?)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The first segments of a path.
fn prefix(path: &Path, steps: usize) -> Path {
    path.segments()[..steps].iter().fold(Path::default(), |mut path, segment| {
        path.push(segment.clone());
        path
    })
}

/// The path with the first missing segment replaced.
fn with_segment(path: &Path, prefix: &Path, found: usize, name: &str) -> Path {
    let mut fixed = prefix.clone();
    fixed.push(match &path.segments()[found] {
        Segment::Match { key, .. } => Segment::Match { key: key.clone(), value: name.to_owned() },
        _ => Segment::Key(name.to_owned()),
    });
    path.segments()[found + 1..].iter().for_each(|segment| fixed.push(segment.clone()));
    fixed
}

/// The key of a node, or the element itself; none for the root.
fn name_of(node: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let parent = node.parent()?;
    match parent.as_mapping() {
        Some(mapping) => mapping.entries().find(|entry| entry.value == node).map(|entry| entry.key),
        None => Some(node),
    }
}

/// An existing key with dots that the path spells as several segments.
fn dotted_key<'n>(names: &'n [Cow<'_, str>], rest: &[Segment]) -> Option<&'n str> {
    let mut joined = String::new();
    for segment in rest {
        let Segment::Key(key) = segment else { break };
        if !joined.is_empty() {
            joined.push('.');
        }
        joined.push_str(key);
        if joined.contains('.') && names.iter().any(|name| *name == joined) {
            return names.iter().find(|name| **name == joined).map(|name| &**name);
        }
    }
    None
}

fn listed(names: &[Cow<'_, str>]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_NAMES).map(|name| &**name).collect();
    match names.len() {
        0 => "no fields".to_owned(),
        count if count > MAX_NAMES => {
            format!("{} and {} more", shown.join(", "), count - MAX_NAMES)
        }
        _ => shown.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "metadata:\n  annotations:\n    example.com/x: 1\nspec:\n  replicas: 3\n  containers:\n  - name: web\n  - name: side\n";

    fn hint(path: &str) -> String {
        let file = krm_yaml::File::parse(TEXT.to_owned()).unwrap();
        let path = path.parse().unwrap();
        MissingPath::find(file.document(0).unwrap(), &path)
            .unwrap()
            .to_diagnostic(&path)
            .hints
            .join("|")
    }

    #[test]
    fn hint_suggests_a_similar_path() {
        assert_eq!(hint("spec.replcias"), "did you mean `spec.replicas`?");
        assert_eq!(hint("Spec.replicas"), "did you mean `spec.replicas`?");
        assert_eq!(
            hint("spec.containers[name=wep].image"),
            "did you mean `spec.containers[name=web].image`?"
        );
        let quoted = r#"quote a key that contains dots: `metadata.annotations."example.com/x"`"#;
        assert_eq!(hint("metadata.annotations.example.com/x"), quoted);
    }

    #[test]
    fn hint_lists_what_exists_without_a_similar_path() {
        assert_eq!(hint("zzz"), "the document has: metadata, spec");
        assert_eq!(hint("s"), "the document has: metadata, spec");
        assert_eq!(hint("spec.zzz"), "`spec` has: replicas, containers");
        assert_eq!(hint("spec.replicas.x"), "`spec.replicas` is a scalar and has no fields");
        assert_eq!(
            hint("spec.containers[7]"),
            "`spec.containers` is a sequence of 2 elements, starting at [0]"
        );
        assert_eq!(
            hint("spec.containers[name=zzzz]"),
            "`spec.containers` has elements with name: web, side"
        );
    }
}
