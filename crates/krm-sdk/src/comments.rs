//! Comments of nodes, without their `#`.

use krm_core::Diagnostic;
use krm_yaml::{CommentPosition, NodeRef};

use crate::kinds::ResourceKind;
use crate::{Error, Resource};

impl Resource {
    /// The comment above or beside the field at a path, without `#`. Several lines are joined by line breaks.
    ///
    /// ```
    /// use krm_sdk::{CommentPosition, Resource};
    ///
    /// let text = "apiVersion: v1\nkind: Pod\nspec:\n  # how many\n  # of them\n  replicas: 3 # temporary\n";
    /// let mut resource = Resource::parse(text)?;
    /// assert_eq!(resource.comment("spec.replicas", CommentPosition::Head)?.as_deref(), Some("how many\nof them"));
    /// assert_eq!(resource.comment("spec.replicas", CommentPosition::Line)?.as_deref(), Some("temporary"));
    /// resource.set_comment("spec.replicas", CommentPosition::Line, Some("final"))?;
    /// resource.set_comment("spec.replicas", CommentPosition::Head, None)?;
    /// assert_eq!(resource.text(), "apiVersion: v1\nkind: Pod\nspec:\n  replicas: 3 # final\n");
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn comment(&self, path: &str, place: CommentPosition) -> Result<Option<String>, Error> {
        let Some(node) = self.find_node(path)? else { return Ok(None) };
        let comments = node.document().comments().into_iter();
        let own =
            comments.filter(|comment| comment.position == place && is_of(comment.owner, node));
        let lines: Vec<&str> = own.map(|comment| bare(comment.text)).collect();
        Ok((!lines.is_empty()).then(|| lines.join("\n")))
    }

    /// Sets the comment above or beside the field at a path, or removes it if `text` is `None`.
    pub fn set_comment(
        &mut self,
        path: &str,
        place: CommentPosition,
        text: Option<&str>,
    ) -> Result<(), Error> {
        let Some(node) = self.find_node(path)? else {
            let kind = ResourceKind::FieldNotFound { path: path.to_owned() };
            return Err(Diagnostic::error(kind).into());
        };
        let index = node.index();
        self.edit(|edit, root| {
            let node = root.descendants().find(|node| node.index() == index).unwrap_or(root);
            edit.set_comment(node, place, text)
        })
    }
}

/// Whether a comment belongs to a node: directly, to its key, or to the document if the node is the root.
fn is_of(owner: Option<NodeRef<'_>>, node: NodeRef<'_>) -> bool {
    match owner {
        Some(owner) => owner == node || node.key() == Some(owner),
        None => node.parent().is_none(),
    }
}

fn bare(text: &str) -> &str {
    let text = text.strip_prefix('#').unwrap_or(text);
    text.strip_prefix(' ').unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_keys_sequences_elements_and_documents() {
        let text = "# the pod\napiVersion: v1\nkind: Pod\nspec: # all of it\n  list:\n  # first\n  - a\n  - b # second\n";
        let mut pod = Resource::parse(text).unwrap();
        for (path, place, expected) in [
            (".", CommentPosition::Head, "the pod"),
            ("spec", CommentPosition::Line, "all of it"),
            ("spec.list[0]", CommentPosition::Head, "first"),
            ("spec.list[1]", CommentPosition::Line, "second"),
        ] {
            assert_eq!(pod.comment(path, place).unwrap().as_deref(), Some(expected), "{path}");
        }
        assert_eq!(pod.comment("kind", CommentPosition::Line).unwrap(), None);
        pod.set_comment("spec.list[1]", CommentPosition::Head, Some("one\ntwo")).unwrap();
        pod.set_comment("spec", CommentPosition::Line, None).unwrap();
        pod.set_comment("kind", CommentPosition::Line, Some("kind")).unwrap();
        assert_eq!(
            pod.text(),
            "# the pod\napiVersion: v1\nkind: Pod # kind\nspec:\n  list:\n  # first\n  - a\n  # one\n  # two\n  - b # second\n"
        );
        assert!(pod.set_comment("nowhere", CommentPosition::Head, Some("x")).is_err());
    }
}
