//! Trees of resources, by folder or by owner, as text.

mod fields;
mod folders;
mod owners;

pub use fields::Fields;
pub use folders::by_folder;
pub use owners::{Owned, by_owner, has_owners};

/// A line of a tree with the lines below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// What the line says.
    pub label: String,
    /// The lines below it.
    pub children: Vec<Branch>,
}

impl Branch {
    /// A line with nothing below it yet.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), children: Vec::new() }
    }

    /// The tree as text, with lines that show what belongs to what.
    ///
    /// ```
    /// use krm_core::print::tree::Branch;
    ///
    /// let mut root = Branch::new(".");
    /// root.children = vec![Branch::new("a"), Branch::new("b")];
    /// root.children[0].children.push(Branch::new("c"));
    /// assert_eq!(root.draw(), ".\n├── a\n│   └── c\n└── b\n");
    /// ```
    pub fn draw(&self) -> String {
        let mut out = format!("{}\n", self.label);
        draw_below(self, "", &mut out);
        out
    }
}

fn draw_below(branch: &Branch, lead: &str, out: &mut String) {
    for (at, child) in branch.children.iter().enumerate() {
        let is_last = at + 1 == branch.children.len();
        let (corner, bar) = if is_last { ("└── ", "    ") } else { ("├── ", "│   ") };
        out.push_str(&format!("{lead}{corner}{}\n", child.label));
        draw_below(child, &format!("{lead}{bar}"), out);
    }
}
