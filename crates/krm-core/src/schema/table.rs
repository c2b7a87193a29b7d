//! The text format of the embedded table: one line per type and one per field, so that diffs are readable.
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
//! `!` marks a required field, `@` is a reference, `[]` a list and `{}` a map of what follows. A type without a type name is an
//! object.

use super::node::{
    Attributes, Field, ListType, Node, NodeId, Nodes, PatchStrategy, Text, ValueKind,
};

/// Why a table cannot be read, or a schema cannot be written as a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError(pub(super) String);

impl std::fmt::Display for TableError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TableError {}

/// The unparsed text of a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The short name.
    pub(super) name: &'static str,
    /// Its attributes and fields.
    text: &'static str,
}

/// The types of a table in order, unparsed.
pub(super) fn entries(table: &'static str) -> impl Iterator<Item = Entry> {
    table.split("\ntype ").skip(1).map(|text| {
        let (name, text) = text.split_at(text.find([' ', '\n']).unwrap_or(text.len()));
        Entry { name, text }
    })
}

/// The full names of Go packages and their short names, which precede the types.
pub(super) fn packages(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = table.lines().take_while(|line| !line.starts_with("type "));
    let packages = lines.filter_map(|line| line.strip_prefix("package ")?.split_once(' '));
    packages.map(|(short, full)| (full, short))
}

impl Entry {
    /// The kind: a definition is named by its kind.
    pub(super) fn kind(&self) -> &'static str {
        self.name.rsplit('.').next().unwrap_or(self.name)
    }

    /// The `apiVersion`s of the kind; none for types that are not kinds.
    pub(super) fn api_versions(&self) -> impl Iterator<Item = &'static str> {
        let line = self.text.lines().next().unwrap_or_default();
        line.split(' ').filter_map(|token| token.strip_prefix("kind="))
    }

    /// Parses the type. Returns its nodes and the id of its root.
    pub(super) fn parse(&self) -> Result<(Nodes, NodeId), TableError> {
        let error =
            |line: &str| TableError(format!("{}: cannot read `{}`", self.name, line.trim()));
        let mut nodes = Nodes::new();
        let mut lines = self.text.lines();
        let head = lines.next().unwrap_or_default();
        let mut draft = draft(&mut nodes, head).ok_or_else(|| error(head))?;
        if !draft.has_type {
            draft.node.value_kind = ValueKind::Object;
        }
        for line in lines {
            let field = field(&mut nodes, line.trim_start());
            draft.node.fields.push(field.ok_or_else(|| error(line))?);
        }
        let id = add(&mut nodes, draft);
        Ok((nodes, id))
    }
}

/// A parsed line: a type or a field.
#[derive(Default)]
struct Draft {
    node: Node,
    attributes: Attributes,
    /// Whether the line has a type.
    has_type: bool,
}

fn add(nodes: &mut Nodes, draft: Draft) -> NodeId {
    let Draft { mut node, attributes, .. } = draft;
    node.attributes = (attributes != Attributes::default()).then(|| Box::new(attributes));
    nodes.add(node)
}

fn field(nodes: &mut Nodes, line: &'static str) -> Option<Field> {
    let (name, rest) = line.split_once(' ')?;
    let (name, is_required) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
    let draft = draft(nodes, rest)?;
    let node = add(nodes, draft);
    Some(Field { name: name.into(), node, is_required })
}

fn draft(nodes: &mut Nodes, line: &'static str) -> Option<Draft> {
    let mut draft = Draft::default();
    for token in line.split(' ').filter(|token| !token.is_empty()) {
        match token.split_once('=') {
            Some((name, value)) => draft.attribute(name, value)?,
            None => draft.flag_or_type(nodes, token)?,
        }
    }
    Some(draft)
}

impl Draft {
    fn attribute(&mut self, name: &str, value: &'static str) -> Option<()> {
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
            // Read by `Entry::api_versions`.
            "kind" => {}
            _ => return None,
        }
        Some(())
    }

    fn flag_or_type(&mut self, nodes: &mut Nodes, token: &'static str) -> Option<()> {
        let attributes = &mut self.attributes;
        match token {
            "atomic" => attributes.list_type = Some(ListType::Atomic),
            "set" => attributes.list_type = Some(ListType::Set),
            "functions" => attributes.list_type = Some(ListType::Functions),
            "whole" => attributes.is_atomic_map = true,
            "nullable" => attributes.is_nullable = true,
            "open" => attributes.preserves_unknown_fields = true,
            "resource" => attributes.is_resource = true,
            _ => return self.value_kind(nodes, token),
        }
        Some(())
    }

    fn value_kind(&mut self, nodes: &mut Nodes, token: &'static str) -> Option<()> {
        self.has_type = true;
        let nested = [("[]", ValueKind::Array), ("{}", ValueKind::Object)];
        for (prefix, value_kind) in nested {
            if let Some(inner) = token.strip_prefix(prefix) {
                let mut draft = Draft::default();
                draft.value_kind(nodes, inner)?;
                let child = Some(add(nodes, draft));
                (self.node.value_kind, self.node.child) = (value_kind, child);
                return Some(());
            }
        }
        if let Some(name) = token.strip_prefix('@') {
            self.node.reference = Some(name.into());
            return Some(());
        }
        let (value_kind, format) =
            token.split_once(':').map_or((token, None), |(s, f)| (s, Some(f)));
        self.node.value_kind = ValueKind::named(value_kind)?;
        self.attributes.format = format.map(Text::from);
        Some(())
    }
}
