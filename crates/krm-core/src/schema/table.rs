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

use super::node::{Facts, Field, ListType, Node, NodeId, Nodes, Shape, Strategy, Text};

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
        if !draft.is_shaped {
            draft.node.shape = Shape::Object;
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
    facts: Facts,
    /// Whether a word for the type was there.
    is_shaped: bool,
}

fn add(nodes: &mut Nodes, draft: Draft) -> NodeId {
    let Draft { mut node, facts, .. } = draft;
    node.facts = (facts != Facts::default()).then(|| Box::new(facts));
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
        let facts = &mut self.facts;
        match name {
            "keys" => {
                facts.list_type = Some(ListType::Map);
                facts.keys = value.split(',').map(Text::from).collect();
            }
            "patch" => facts.strategy = Strategy::parse(value)?,
            "by" => facts.merge_key = Some(value.into()),
            "default" => facts.default = Some(value.into()),
            "enum" => facts.enumeration = value.split(',').map(Text::from).collect(),
            // The line's end says which kinds the type is; that is read before.
            "kind" => {}
            _ => return None,
        }
        Some(())
    }

    fn word(&mut self, nodes: &mut Nodes, word: &'static str) -> Option<()> {
        let facts = &mut self.facts;
        match word {
            "atomic" => facts.list_type = Some(ListType::Atomic),
            "set" => facts.list_type = Some(ListType::Set),
            "whole" => facts.is_atomic_map = true,
            "nullable" => facts.is_nullable = true,
            "open" => facts.keeps_unknown = true,
            "resource" => facts.is_resource = true,
            _ => return self.shape(nodes, word),
        }
        Some(())
    }

    fn shape(&mut self, nodes: &mut Nodes, word: &'static str) -> Option<()> {
        self.is_shaped = true;
        let nested = [("[]", Shape::Array), ("{}", Shape::Object)];
        for (mark, shape) in nested {
            if let Some(inner) = word.strip_prefix(mark) {
                let mut draft = Draft::default();
                draft.shape(nodes, inner)?;
                let child = Some(add(nodes, draft));
                (self.node.shape, self.node.child) = (shape, child);
                return Some(());
            }
        }
        if let Some(name) = word.strip_prefix('@') {
            self.node.reference = Some(name.into());
            return Some(());
        }
        let (shape, format) = word.split_once(':').map_or((word, None), |(s, f)| (s, Some(f)));
        self.node.shape = Shape::named(shape)?;
        self.facts.format = format.map(Text::from);
        Some(())
    }
}
