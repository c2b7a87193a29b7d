//! Trees of resources by directory or by owner.

mod directories;
mod fields;
mod owners;

pub use directories::by_directory;
pub use fields::TreeFields;
pub use owners::{OwnerTree, by_owner, has_owners};

use super::visible_line;

/// A line of a tree, with its children.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeNode {
    /// The text of the line.
    pub label: String,
    /// The lines below it, indented.
    pub children: Vec<TreeNode>,
}

impl TreeNode {
    /// A line without children.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), children: Vec::new() }
    }

    /// The tree as text, drawn with box characters. A label is one line, with control characters escaped.
    ///
    /// ```
    /// use krm_core::print::tree::TreeNode;
    ///
    /// let mut root = TreeNode::new(".");
    /// root.children = vec![TreeNode::new("a"), TreeNode::new("b")];
    /// root.children[0].children.push(TreeNode::new("c"));
    /// assert_eq!(root.render(), ".\n├── a\n│   └── c\n└── b\n");
    /// ```
    pub fn render(&self) -> String {
        let mut out = format!("{}\n", visible_line(&self.label));
        render_children(self, "", &mut out);
        out
    }
}

fn render_children(node: &TreeNode, lead: &str, out: &mut String) {
    for (at, child) in node.children.iter().enumerate() {
        let is_last = at + 1 == node.children.len();
        let (corner, bar) = if is_last { ("└── ", "    ") } else { ("├── ", "│   ") };
        out.push_str(&format!("{lead}{corner}{}\n", visible_line(&child.label)));
        render_children(child, &format!("{lead}{bar}"), out);
    }
}
