//! Explaining why a document does not have a path: how much of it exists, and what was probably meant.

use std::borrow::Cow;
use std::collections::BTreeSet;

use krm_yaml::{NodeRef, PathPattern, PatternStep, Segment};

use crate::Diagnostic;
use crate::diagnostics::closest_name;
use crate::query::{ExistingPath, QueryKind};

/// The maximum number of names in a hint.
const MAX_NAMES: usize = 8;

/// A pattern that matches nothing.
#[derive(Clone, Debug)]
pub struct MissingPath<'a> {
    /// The last nodes that exist.
    pub reached: Vec<NodeRef<'a>>,
    /// The number of steps to them.
    pub found: usize,
}

impl<'a> MissingPath<'a> {
    /// Follows a pattern from a node. None if it matches.
    pub fn find(root: NodeRef<'a>, pattern: &PathPattern) -> Option<Self> {
        let (reached, found) = pattern.reach(root)?;
        Some(Self { reached, found })
    }

    /// An error with the part of the path that exists, and what was probably meant.
    ///
    /// ```
    /// let file = krm_yaml::File::parse("spec:\n  replicas: 3\n".to_owned())?;
    /// let path = "spec.replica".parse()?;
    /// let root = file.document(0).and_then(|document| document.root()).expect("a root");
    /// let missing = krm_core::query::MissingPath::find(root, &path).expect("it is missing");
    /// assert_eq!(missing.to_diagnostic(&path).hints, ["did you mean `spec.replicas`?"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_diagnostic(&self, pattern: &PathPattern) -> Diagnostic {
        let prefix = pattern_of(&pattern.steps()[..self.found]);
        let existing = ExistingPath((self.found > 0).then(|| prefix.to_string()));
        let (help, path) = (self.help(pattern, &prefix).into(), pattern.to_string());
        let diagnostic = Diagnostic::error(QueryKind::PathNotFound { path, existing, help });
        match self.reached.first().and_then(|node| Some((node, name_of(*node)?))) {
            Some((node, name)) => diagnostic.at(node.document().file(), name.span()),
            None => diagnostic,
        }
    }

    fn help(&self, pattern: &PathPattern, prefix: &PathPattern) -> String {
        let (before, rest) = pattern.steps().split_at(self.found);
        let Some(missing) = rest.first() else { return String::new() };
        let names = names(&self.reached, missing);
        if let Some(name) = dotted_key(&names, rest) {
            let mut quoted = prefix.clone();
            quoted.push(PatternStep::Plain(Segment::Key(name.to_owned())));
            return format!("quote a key that contains dots: `{quoted}`");
        }
        if let Some(similar) = similar_step(&self.reached, missing) {
            let steps: Vec<PatternStep> =
                before.iter().chain([&similar]).chain(&rest[1..]).cloned().collect();
            return format!("did you mean `{}`?", pattern_of(&steps));
        }
        let owner = if self.found == 0 { "the document".to_owned() } else { format!("`{prefix}`") };
        self.describe_content(missing, &owner, &names)
    }

    /// What exists at the end of the path.
    fn describe_content(
        &self,
        missing: &PatternStep,
        owner: &str,
        names: &[Cow<'_, str>],
    ) -> String {
        let Some(first) = self.reached.first() else { return format!("{owner} is empty") };
        if *missing == PatternStep::All && first.is_collection() {
            return format!("{owner} is empty");
        }
        if first.as_scalar().is_some() {
            return format!("{owner} is a scalar and has no fields");
        }
        if let Some(list) = first.as_sequence() {
            return match missing {
                PatternStep::Plain(Segment::Match { key, .. }) => {
                    format!("{owner} has elements with {key}: {}", listed(names))
                }
                PatternStep::Plain(Segment::Key(key)) if key.parse::<usize>().is_err() => {
                    // The document itself has no path.
                    let path = owner.strip_prefix('`').and_then(|it| it.strip_suffix('`'));
                    let path = path.unwrap_or_default();
                    format!("{owner} is a sequence; use `{path}[*].{key}` for all of its elements")
                }
                _ => format!(
                    "{owner} is a sequence of {} elements, starting at [0]",
                    list.items().count()
                ),
            };
        }
        format!("{owner} has: {}", listed(names))
    }
}

/// The step of the same kind that exists and is most similar to a missing one.
pub(super) fn similar_step(reached: &[NodeRef<'_>], missing: &PatternStep) -> Option<PatternStep> {
    let PatternStep::Plain(segment) = missing else { return None };
    let (Segment::Key(name) | Segment::Match { value: name, .. }) = segment else { return None };
    let names: BTreeSet<Cow<'_, str>> = names(reached, missing).into_iter().collect();
    let similar = closest_name(names.iter().map(|name| &**name), name)?.to_owned();
    Some(PatternStep::Plain(match segment {
        Segment::Match { key, .. } => Segment::Match { key: key.clone(), value: similar },
        _ => Segment::Key(similar),
    }))
}

/// The names that exist in place of a missing step.
fn names<'a>(reached: &[NodeRef<'a>], missing: &PatternStep) -> Vec<Cow<'a, str>> {
    let text = |node: NodeRef<'a>| node.resolve().as_scalar().map(|scalar| scalar.value());
    let of = |node: &NodeRef<'a>| -> Vec<Cow<'a, str>> {
        match (node.as_mapping(), node.as_sequence(), missing) {
            (Some(mapping), _, _) => {
                mapping.entries().filter_map(|entry| text(entry.key)).collect()
            }
            (_, Some(list), PatternStep::Plain(Segment::Match { key, .. })) => {
                let field = Segment::Key(key.clone());
                list.items().filter_map(|item| text(item.step(&field)?)).collect()
            }
            _ => Vec::new(),
        }
    };
    let mut seen = BTreeSet::new();
    let all = reached.iter().flat_map(of);
    all.filter(|name| seen.insert(name.clone())).collect()
}

fn pattern_of(steps: &[PatternStep]) -> PathPattern {
    steps.iter().fold(PathPattern::default(), |mut pattern, step| {
        pattern.push(step.clone());
        pattern
    })
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
fn dotted_key<'n>(names: &'n [Cow<'_, str>], rest: &[PatternStep]) -> Option<&'n str> {
    let mut joined = String::new();
    for step in rest {
        let PatternStep::Plain(Segment::Key(key)) = step else { break };
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
        let root = file.document(0).unwrap().root().unwrap();
        MissingPath::find(root, &path).unwrap().to_diagnostic(&path).hints.join("|")
    }

    #[test]
    fn hint_suggests_a_similar_path() {
        assert_eq!(hint("spec.replcias"), "did you mean `spec.replicas`?");
        assert_eq!(hint("Spec.replicas"), "did you mean `spec.replicas`?");
        assert_eq!(
            hint("spec.containers[name=wep].image"),
            "did you mean `spec.containers[name=web].image`?"
        );
        assert_eq!(hint("spec.containers[*].nmae"), "did you mean `spec.containers.*.name`?");
        assert_eq!(hint("**.replica"), "did you mean `**.replicas`?");
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
            hint("spec.containers.name"),
            "`spec.containers` is a sequence; use `spec.containers[*].name` for all of its elements"
        );
        assert_eq!(
            hint("spec.containers[-3]"),
            "`spec.containers` is a sequence of 2 elements, starting at [0]"
        );
        assert_eq!(hint("spec.replicas.*"), "`spec.replicas` is a scalar and has no fields");
        assert_eq!(
            hint("spec.containers[name=zzzz]"),
            "`spec.containers` has elements with name: web, side"
        );
    }
}
