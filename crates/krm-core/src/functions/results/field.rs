//! The field that a result names. Functions write paths in several notations, and do not quote keys that contain dots.

use krm_yaml::{NodeRef, Path, Segment, Span};

/// Mappings whose keys are chosen by users and often contain dots.
const FREE_FORM: [&str; 7] =
    ["annotations", "labels", "matchLabels", "nodeSelector", "data", "binaryData", "stringData"];

/// The result of looking up a field in a resource.
#[derive(Clone, Debug)]
pub struct FieldLookup<'a> {
    /// The last node on the path that exists.
    pub node: NodeRef<'a>,
    /// The rest of the path, which does not exist; empty if the field exists.
    pub missing: Vec<Segment>,
}

impl<'a> FieldLookup<'a> {
    /// Follows a path such as `spec.ports[0].port` or `spec.ports.0.port`; none if the text is not a path.
    ///
    /// ```
    /// use krm_core::functions::results::FieldLookup;
    ///
    /// let text = "metadata:\n  annotations: {example.com/owner: me}\nspec:\n  ports: [{port: 80}]\n";
    /// let file = krm_yaml::File::parse(text.to_owned())?;
    /// let root = file.document(0).and_then(|it| it.root()).expect("the document has a root");
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
        Some(Self { node, missing: missing_segments(node, rest) })
    }

    /// Whether the field exists.
    pub fn exists(&self) -> bool {
        self.missing.is_empty()
    }

    /// The path from the root of the document, in one notation.
    pub fn path(&self) -> Path {
        let mut path = self.node.path();
        self.missing.iter().for_each(|segment| path.push(segment.clone()));
        path
    }

    /// What to underline: a scalar, or the key of a collection.
    pub fn span(&self) -> Span {
        let node = self.node;
        match node.key().filter(|_| node.is_collection()) {
            Some(key) => key.span(),
            None => node.span(),
        }
    }
}

/// One step, or several at once if a key contains dots.
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

/// The missing segments. Below a mapping with free-form keys they are one key that contains dots.
fn missing_segments(node: NodeRef<'_>, rest: &[Segment]) -> Vec<Segment> {
    let key = |node: NodeRef<'_>| Some(node.key()?.as_scalar()?.value().into_owned());
    let is_free_form = key(node).is_some_and(|name| FREE_FORM.contains(&name.as_str()));
    let first = match rest.first() {
        Some(Segment::Key(key)) => FREE_FORM.contains(&key.as_str()),
        _ => false,
    };
    let from = if is_free_form { 0 } else { usize::from(first) };
    let keys: Vec<&str> = rest[from.min(rest.len())..]
        .iter()
        .map_while(|segment| match segment {
            Segment::Key(key) => Some(key.as_str()),
            _ => None,
        })
        .collect();
    let is_one = (is_free_form || first) && from + keys.len() == rest.len() && !keys.is_empty();
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
    fn missing_field_has_the_path_where_it_would_be() {
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
