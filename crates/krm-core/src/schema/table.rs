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

use super::node::{Facts, Field, ListType, Node, NodeId, Shape, Strategy, Tables, Text};

/// A line that is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError {
    /// The line, from one; zero where something cannot be written as a table.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for TableError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for TableError {}

/// What a type or field line says.
#[derive(Default)]
struct Draft {
    node: Node,
    facts: Facts,
    /// Whether a word for the type was there.
    is_shaped: bool,
    kinds: Vec<&'static str>,
}

/// Reads a table.
pub(super) fn read(text: &'static str) -> Result<Tables, TableError> {
    let mut tables = Tables::new();
    tables.reserve(text.len() / 32);
    let mut open: Option<(&'static str, Draft)> = None;
    for (number, line) in text.lines().enumerate() {
        let fault = |message: &str| TableError { line: number + 1, message: message.to_owned() };
        if let Some(words) = line.strip_prefix(' ') {
            let (_, draft) = open.as_mut().ok_or_else(|| fault("a field before its type"))?;
            let field = field(&mut tables, words).ok_or_else(|| fault("not a field"))?;
            draft.node.fields.push(field);
        } else if let Some(words) = line.strip_prefix("type ") {
            close(&mut tables, open.take());
            let (name, rest) = words.split_once(' ').unwrap_or((words, ""));
            open = Some((name, draft(&mut tables, rest).ok_or_else(|| fault("not a type"))?));
        } else if let Some(words) = line.strip_prefix("package ") {
            let (short, full) = words.split_once(' ').ok_or_else(|| fault("not a package"))?;
            tables.packages.insert(full.into(), short.into());
        }
    }
    close(&mut tables, open);
    Ok(tables)
}

/// A type is whole once its last field was read.
fn close(tables: &mut Tables, open: Option<(&'static str, Draft)>) {
    let Some((name, mut draft)) = open else { return };
    if !draft.is_shaped {
        draft.node.shape = Shape::Object;
    }
    let kinds = std::mem::take(&mut draft.kinds);
    let id = add(tables, draft);
    tables.definitions.insert(name.into(), id);
    let kind = name.rsplit('.').next().unwrap_or(name);
    for api_version in kinds {
        tables.add_kind(api_version, kind, id);
    }
}

fn add(tables: &mut Tables, draft: Draft) -> NodeId {
    let Draft { mut node, facts, .. } = draft;
    node.facts = (facts != Facts::default()).then(|| Box::new(facts));
    tables.add(node)
}

fn field(tables: &mut Tables, words: &'static str) -> Option<Field> {
    let (name, rest) = words.split_once(' ')?;
    let (name, is_required) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
    let draft = draft(tables, rest)?;
    let node = add(tables, draft);
    Some(Field { name: name.into(), node, is_required })
}

fn draft(tables: &mut Tables, words: &'static str) -> Option<Draft> {
    let mut draft = Draft::default();
    for word in words.split(' ').filter(|word| !word.is_empty()) {
        match word.split_once('=') {
            Some((name, value)) => draft.fact(name, value)?,
            None => draft.word(tables, word)?,
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
            "kind" => self.kinds.push(value),
            _ => return None,
        }
        Some(())
    }

    fn word(&mut self, tables: &mut Tables, word: &'static str) -> Option<()> {
        let facts = &mut self.facts;
        match word {
            "atomic" => facts.list_type = Some(ListType::Atomic),
            "set" => facts.list_type = Some(ListType::Set),
            "whole" => facts.is_atomic_map = true,
            "nullable" => facts.is_nullable = true,
            "open" => facts.keeps_unknown = true,
            "resource" => facts.is_resource = true,
            _ => return self.shape(tables, word),
        }
        Some(())
    }

    fn shape(&mut self, tables: &mut Tables, word: &'static str) -> Option<()> {
        self.is_shaped = true;
        let nested = [("[]", Shape::Array), ("{}", Shape::Object)];
        for (mark, shape) in nested {
            if let Some(inner) = word.strip_prefix(mark) {
                let mut draft = Draft::default();
                draft.shape(tables, inner)?;
                let child = Some(add(tables, draft));
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
