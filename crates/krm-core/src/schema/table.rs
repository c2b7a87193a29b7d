//! The text of the embedded table: one line for a type, one for each of its fields, made to be read in differences.
//!
//! ```text
//! package core.v1 io.k8s.api.core.v1
//! type core.v1.ContainerPort
//!  containerPort! integer:int32
//!  protocol string default=TCP
//! type core.v1.Pod kind=v1
//!  spec @core.v1.PodSpec
//! ```
//!
//! A `!` marks a field that must be there, `@` a reference, `[]` a list of what follows and `{}` a mapping to it. A type without a
//! word for it is an object.

use super::node::{
    Attributes, Field, ListType, Node, NodeId, Nodes, PatchStrategy, Text, ValueKind,
};

/// Why something is no table, or cannot be written as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError(pub(super) String);

impl std::fmt::Display for TableError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TableError {}

/// A type as it stands in the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The short name.
    pub(super) name: &'static str,
    /// What is said of it, and its fields.
    text: &'static str,
}

/// The types of a table, in its order. What they say is read by [`Entry::read`] once somebody asks.
pub(super) fn entries(table: &'static str) -> impl Iterator<Item = Entry> {
    table.split("\ntype ").skip(1).map(|text| {
        let (name, text) = text.split_at(text.find([' ', '\n']).unwrap_or(text.len()));
        Entry { name, text }
    })
}

/// The full names of packages, which stand above the types, and their short ones.
pub(super) fn packages(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = table.lines().take_while(|line| !line.starts_with("type "));
    let words = lines.filter_map(|line| line.strip_prefix("package ")?.split_once(' '));
    words.map(|(short, full)| (full, short))
}

impl Entry {
    /// The kind, where the type is one: definitions are named by their kinds.
    pub(super) fn kind(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }

    /// The `apiVersion`s that the type is a kind of.
    pub(super) fn api_versions(&self) -> impl Iterator<Item = &'static str> {
        let line = self.text.lines().next().unwrap_or_default();
        line.split(' ').filter_map(|word| word.strip_prefix("kind="))
    }

    /// Reads the type: its nodes, and which of them it is.
    pub(super) fn read(&self) -> Result<(Nodes, NodeId), TableError> {
        let fault =
            |line: &str| TableError(format!("{}: cannot read `{}`", self.name, line.trim()));
        let mut nodes = Nodes::new();
        let mut lines = self.text.lines();
        let head = lines.next().unwrap_or_default();
        let mut draft = draft(&mut nodes, head).ok_or_else(|| fault(head))?;
        if !draft.has_type {
            draft.node.value_kind = ValueKind::Object;
        }
        for line in lines {
            let field = field(&mut nodes, line.trim_start());
            draft.node.fields.push(field.ok_or_else(|| fault(line))?);
        }
        let id = add(&mut nodes, draft);
        Ok((nodes, id))
    }
}

/// What a line says about a type or a field.
#[derive(Default)]
struct Draft {
    node: Node,
    attributes: Attributes,
    /// Whether a word for the type was there.
    has_type: bool,
}

fn add(nodes: &mut Nodes, draft: Draft) -> NodeId {
    let Draft { mut node, attributes, .. } = draft;
    node.attributes = (attributes != Attributes::default()).then(|| Box::new(attributes));
    nodes.add(node)
}

fn field(nodes: &mut Nodes, words: &'static str) -> Option<Field> {
    let (name, rest) = words.split_once(' ')?;
    let (name, is_required) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
    let draft = draft(nodes, rest)?;
    let node = add(nodes, draft);
    Some(Field { name: name.into(), node, is_required })
}

fn draft(nodes: &mut Nodes, words: &'static str) -> Option<Draft> {
    let mut draft = Draft::default();
    for word in words.split(' ').filter(|word| !word.is_empty()) {
        match word.split_once('=') {
            Some((name, value)) => draft.fact(name, value)?,
            None => draft.word(nodes, word)?,
        }
    }
    Some(draft)
}

impl Draft {
    fn fact(&mut self, name: &str, value: &'static str) -> Option<()> {
        let attributes = &mut self.attributes;
        match name {
            "keys" => {
                attributes.list_type = Some(ListType::Map);
                attributes.keys = value.split(',').map(Text::from).collect();
            }
            "patch" => attributes.strategy = PatchStrategy::parse(value)?,
            "by" => attributes.merge_key = Some(value.into()),
            "default" => attributes.default = Some(value.into()),
            "enum" => attributes.enum_values = value.split(',').map(Text::from).collect(),
            // The line's end says which kinds the type is; that is read before.
            "kind" => {}
            _ => return None,
        }
        Some(())
    }

    fn word(&mut self, nodes: &mut Nodes, word: &'static str) -> Option<()> {
        let attributes = &mut self.attributes;
        match word {
            "atomic" => attributes.list_type = Some(ListType::Atomic),
            "set" => attributes.list_type = Some(ListType::Set),
            "whole" => attributes.is_atomic_map = true,
            "nullable" => attributes.is_nullable = true,
            "open" => attributes.preserves_unknown_fields = true,
            "resource" => attributes.is_resource = true,
            _ => return self.value_kind(nodes, word),
        }
        Some(())
    }

    fn value_kind(&mut self, nodes: &mut Nodes, word: &'static str) -> Option<()> {
        self.has_type = true;
        let nested = [("[]", ValueKind::Array), ("{}", ValueKind::Object)];
        for (mark, value_kind) in nested {
            if let Some(inner) = word.strip_prefix(mark) {
                let mut draft = Draft::default();
                draft.value_kind(nodes, inner)?;
                let child = Some(add(nodes, draft));
                (self.node.value_kind, self.node.child) = (value_kind, child);
                return Some(());
            }
        }
        if let Some(name) = word.strip_prefix('@') {
            self.node.reference = Some(name.into());
            return Some(());
        }
        let (value_kind, format) = word.split_once(':').map_or((word, None), |(s, f)| (s, Some(f)));
        self.node.value_kind = ValueKind::named(value_kind)?;
        self.attributes.format = format.map(Text::from);
        Some(())
    }
}
