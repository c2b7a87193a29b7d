//! The field that a result names: functions write paths in several ways, and keys with dots in all of them.

use krm_yaml::{NodeRef, Path, Segment, Span};

/// Mappings whose keys are names that people chose, and often hold dots.
const NAMES: [&str; 7] =
    ["annotations", "labels", "matchLabels", "nodeSelector", "data", "binaryData", "stringData"];

/// How far the path of a field goes in a resource.
#[derive(Clone, Debug)]
pub struct FieldLookup<'a> {
    /// The last node on the way that is there.
    pub node: NodeRef<'a>,
    /// What is missing behind it; nothing where the field is there.
    pub missing: Vec<Segment>,
}

impl<'a> FieldLookup<'a> {
    /// Follows a path such as `spec.ports[0].port` or `spec.ports.0.port`; none for a text that is no path.
    ///
    /// ```
    /// use krm_core::functions::results::FieldLookup;
    ///
    /// let text = "metadata:\n  annotations: {example.com/owner: me}\nspec:\n  ports: [{port: 80}]\n";
    /// let file = krm_yaml::File::parse(text.to_owned())?;
    /// let root = file.document(0).and_then(|it| it.root()).expect("it is there");
    /// for path in ["spec.ports[0].port", "spec.ports.0.port", ".spec.ports[0].port", "$.spec.ports[0].port"] {
    ///     assert_eq!(FieldLookup::find(root, path).expect("a path").node.text(), "80");
    /// }
    /// let owner = FieldLookup::find(root, "metadata.annotations.example.com/owner").expect("a path");
    /// assert_eq!((owner.node.text(), owner.exists()), ("me", true));
    /// assert!(!FieldLookup::find(root, "metadata.labels.app").expect("a path").exists());
    /// # Ok::<(), krm_yaml::ReadError>(())
    /// ```
    pub fn find(root: NodeRef<'a>, path: &str) -> Option<Self> {
        let text = path.strip_prefix('$').unwrap_or(path);
        let text = text.strip_prefix('.').unwrap_or(text);
        let path: Path = text.parse().ok()?;
        let (mut node, mut rest) = (root, path.segments());
        while !rest.is_empty() {
            let Some((next, taken)) = step(node, rest) else { break };
            (node, rest) = (next, &rest[taken..]);
        }
        Some(Self { node, missing: named(node, rest) })
    }

    /// Whether the field is there.
    pub fn exists(&self) -> bool {
        self.missing.is_empty()
    }

    /// The path from the root of its document, in one notation.
    pub fn path(&self) -> Path {
        let mut path = self.node.path();
        self.missing.iter().for_each(|segment| path.push(segment.clone()));
        path
    }

    /// What to underline: a value, or the name of what holds others.
    pub fn span(&self) -> Span {
        let node = self.node;
        match node.key().filter(|_| node.is_collection()) {
            Some(key) => key.span(),
            None => node.span(),
        }
    }
}

/// One step, or several at once where a key holds dots.
fn step<'a>(node: NodeRef<'a>, rest: &[Segment]) -> Option<(NodeRef<'a>, usize)> {
    if let Some(next) = node.step(&rest[0]) {
        return Some((next, 1));
    }
    let keys = rest.iter().map_while(|segment| match segment {
        Segment::Key(key) => Some(key.as_str()),
        _ => None,
    });
    let keys: Vec<&str> = keys.collect();
    (2..=keys.len()).find_map(|count| {
        let joined = Segment::Key(keys[..count].join("."));
        Some((node.step(&joined)?, count))
    })
}

/// What is missing: below a mapping of people's names that is one key, whatever dots it has.
fn named(node: NodeRef<'_>, rest: &[Segment]) -> Vec<Segment> {
    let own = |node: NodeRef<'_>| Some(node.key()?.as_scalar()?.value().into_owned());
    let is_names = own(node).is_some_and(|name| NAMES.contains(&name.as_str()));
    let first = match rest.first() {
        Some(Segment::Key(key)) => NAMES.contains(&key.as_str()),
        _ => false,
    };
    let from = if is_names { 0 } else { usize::from(first) };
    let keys: Vec<&str> = rest[from.min(rest.len())..]
        .iter()
        .map_while(|segment| match segment {
            Segment::Key(key) => Some(key.as_str()),
            _ => None,
        })
        .collect();
    let is_one = (is_names || first) && from + keys.len() == rest.len() && !keys.is_empty();
    if !is_one {
        return rest.to_vec();
    }
    rest[..from].iter().cloned().chain([Segment::Key(keys.join("."))]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::File;

    #[test]
    fn what_is_missing_is_told_from_where_it_would_be() {
        let file = File::parse("metadata:\n  name: a\nspec:\n  x: {y: 1}\n".to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        let path = |text: &str| FieldLookup::find(root, text).unwrap().path().to_string();
        assert_eq!(path("spec.x.z.w"), "spec.x.z.w");
        assert_eq!(
            path("metadata.labels.app.kubernetes.io/name"),
            r#"metadata.labels."app.kubernetes.io/name""#
        );
        assert_eq!(path("spec.x.y"), "spec.x.y");
        assert!(FieldLookup::find(root, "spec[").is_none());
        let spec = FieldLookup::find(root, "spec.q").unwrap();
        assert_eq!(spec.span().of(file.text()), "spec");
    }
}
