//! What to say about a path that leads nowhere: how far it goes, and what was probably meant.

use std::borrow::Cow;

use krm_yaml::{DocumentRef, NodeRef, Path, Segment};

use crate::Diagnostic;
use crate::diagnostics::closest_name;

/// How many names are listed at most.
const MOST_NAMES: usize = 8;

/// How far a path goes in a document.
#[derive(Clone, Copy, Debug)]
pub struct MissingPath<'a> {
    /// The last node that is there.
    pub at: NodeRef<'a>,
    /// How many steps lead to it.
    pub found: usize,
}

impl<'a> MissingPath<'a> {
    /// How far a path goes, as a reader follows it; none where it goes to its end or nothing can be read.
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

    /// An error with the part of the path that is there, and what was probably meant.
    ///
    /// ```
    /// let file = krm_yaml::File::parse("spec:\n  replicas: 3\n".to_owned())?;
    /// let path = "spec.replica".parse()?;
    /// let missing = krm_core::query::MissingPath::find(file.document(0).expect("it is there"), &path).expect("it is missing");
    /// assert_eq!(missing.to_diagnostic(&path).hints, ["did you mean `spec.replicas`?"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_diagnostic(&self, path: &Path) -> Diagnostic {
        let there = prefix(path, self.found);
        let mut diagnostic = Diagnostic::untyped_error(match self.found {
            0 => format!("there is no `{path}`"),
            _ => format!("there is no `{path}`: only `{there}` is there"),
        });
        if let Some(name) = name_of(self.at) {
            diagnostic = diagnostic.at(self.at.document().file(), name.span());
        }
        diagnostic.hint(self.hint(path, &there))
    }

    fn hint(&self, path: &Path, there: &Path) -> String {
        let rest = &path.segments()[self.found..];
        let names = self.names(rest);
        if let Some(name) = dotted(&names, rest) {
            return format!("a key with dots stands in quotes: `{}`", there.join(name));
        }
        let near = match rest.first() {
            Some(Segment::Key(wanted)) | Some(Segment::Match { value: wanted, .. }) => {
                closest_name(names.iter().map(|name| &**name), wanted)
            }
            _ => None,
        };
        if let Some(name) = near {
            return format!("did you mean `{}`?", meant(path, there, self.found, name));
        }
        let place = if self.found == 0 { "the document".to_owned() } else { format!("`{there}`") };
        self.contents(rest, &place, &names)
    }

    /// What stands at the end of the path, in a few words.
    fn contents(&self, rest: &[Segment], place: &str, names: &[Cow<'_, str>]) -> String {
        if self.at.as_scalar().is_some() {
            return format!("{place} is a value, and has nothing below it");
        }
        if let Some(list) = self.at.as_sequence() {
            return match rest.first() {
                Some(Segment::Match { key, .. }) => {
                    format!("{place} has items with {key}: {}", listed(names))
                }
                _ => format!("{place} is a list of {}, counted from [0]", list.items().count()),
            };
        }
        format!("{place} has: {}", listed(names))
    }

    /// What could have been written instead of the first missing step.
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

/// The first steps of a path.
fn prefix(path: &Path, steps: usize) -> Path {
    path.segments()[..steps].iter().fold(Path::default(), |mut path, segment| {
        path.push(segment.clone());
        path
    })
}

/// The path with the first missing step put right.
fn meant(path: &Path, there: &Path, found: usize, name: &str) -> Path {
    let mut meant = there.clone();
    meant.push(match &path.segments()[found] {
        Segment::Match { key, .. } => Segment::Match { key: key.clone(), value: name.to_owned() },
        _ => Segment::Key(name.to_owned()),
    });
    path.segments()[found + 1..].iter().for_each(|segment| meant.push(segment.clone()));
    meant
}

/// The key that leads to a node, or the item itself; none for the root.
fn name_of(node: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let parent = node.parent()?;
    match parent.as_mapping() {
        Some(mapping) => mapping.entries().find(|entry| entry.value == node).map(|entry| entry.key),
        None => Some(node),
    }
}

/// The key that the rest of the path spells where its dots are no steps.
fn dotted<'n>(names: &'n [Cow<'_, str>], rest: &[Segment]) -> Option<&'n str> {
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
    let shown: Vec<&str> = names.iter().take(MOST_NAMES).map(|name| &**name).collect();
    match names.len() {
        0 => "nothing".to_owned(),
        count if count > MOST_NAMES => {
            format!("{} and {} more", shown.join(", "), count - MOST_NAMES)
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
    fn hints_name_what_was_probably_meant() {
        assert_eq!(hint("spec.replcias"), "did you mean `spec.replicas`?");
        assert_eq!(hint("Spec.replicas"), "did you mean `spec.replicas`?");
        assert_eq!(
            hint("spec.containers[name=wep].image"),
            "did you mean `spec.containers[name=web].image`?"
        );
        let quoted = r#"a key with dots stands in quotes: `metadata.annotations."example.com/x"`"#;
        assert_eq!(hint("metadata.annotations.example.com/x"), quoted);
    }

    #[test]
    fn without_a_guess_they_say_what_is_there() {
        assert_eq!(hint("zzz"), "the document has: metadata, spec");
        assert_eq!(hint("s"), "the document has: metadata, spec");
        assert_eq!(hint("spec.zzz"), "`spec` has: replicas, containers");
        assert_eq!(hint("spec.replicas.x"), "`spec.replicas` is a value, and has nothing below it");
        assert_eq!(
            hint("spec.containers[7]"),
            "`spec.containers` is a list of 2, counted from [0]"
        );
        assert_eq!(
            hint("spec.containers[name=zzzz]"),
            "`spec.containers` has items with name: web, side"
        );
    }
}
