//! Changes to the files of a package: collected by an operation, turned into texts file by file.

use std::collections::BTreeMap;

use krm_yaml::{
    Comment, CommentPosition, DocumentRef, Edit, EditError, EditErrorKind, EmptyParents, File,
    KeyPosition, NodeRef, Path, Span, Value,
};

use crate::{Diagnostic, PackageFile};

/// One change inside a file.
#[derive(Clone, Debug)]
pub(super) enum Op<'a> {
    /// A new value.
    Set(NodeRef<'a>, Value<'a>),
    /// A value is written anew, though it means the same.
    Write(NodeRef<'a>, Value<'a>),
    /// A new list in place of one: items that stay are not touched.
    List(NodeRef<'a>, Vec<Value<'a>>),
    /// A new key after the last that is there of `after`, or else before another one.
    Insert {
        mapping: NodeRef<'a>,
        key: &'static str,
        value: Value<'a>,
        after: &'static [&'static str],
        before: &'static str,
    },
    /// A new value at a path of the first document; what is missing is made.
    Make(Path, Value<'a>),
    /// A new item before all others.
    First(NodeRef<'a>, Value<'a>),
    /// An entry goes, and what becomes empty by it.
    Remove(NodeRef<'a>),
    /// A key gets another name.
    Rename(NodeRef<'a>, String),
    /// The comment beside a node.
    Beside(NodeRef<'a>, String),
    /// A comment that is there; none removes it.
    Comment(Comment<'a>, Option<String>),
}

/// A file, and what changes in which of its documents.
type FileChanges<'a> = (&'a PackageFile, Vec<(usize, Op<'a>)>);

/// The changes of an operation, by file.
#[derive(Debug, Default)]
pub struct Changes<'a> {
    files: BTreeMap<String, FileChanges<'a>>,
    shared: bool,
}

impl<'a> Changes<'a> {
    pub(super) fn add(&mut self, file: &'a PackageFile, document: usize, op: Op<'a>) {
        let entry = self.files.entry(file.display_path.clone());
        entry.or_insert_with(|| (file, Vec::new())).1.push((document, op));
    }

    /// Adds a change of the document that a node stands in.
    pub(super) fn at(&mut self, file: &'a PackageFile, node: NodeRef<'a>, op: Op<'a>) {
        self.add(file, node.document().index(), op);
    }

    /// Allows to change what aliases share.
    pub(super) fn allow_shared(&mut self, allow: bool) {
        self.shared = allow;
    }

    /// Adds the changes of the same operation in another package. A document of OpenAPI that both share changes once.
    pub fn merge(&mut self, other: Changes<'a>) {
        for (name, part) in other.files {
            self.files.entry(name).or_insert(part);
        }
        self.shared |= other.shared;
    }

    /// The files that are touched, in the order of their names.
    pub fn files(&self) -> impl Iterator<Item = &'a PackageFile> {
        self.files.values().map(|(file, _)| *file)
    }

    /// The new text of a file; none where it is not touched.
    pub fn text(&self, file: &PackageFile) -> Result<Option<String>, Diagnostic> {
        let Some((file, ops)) = self.files.get(&file.display_path) else { return Ok(None) };
        let Some(old) = file.file() else { return Ok(None) };
        let mut edit = Edit::new(old).json(file.path.is_json()).allow_shared(self.shared);
        let outcome = ops.iter().try_for_each(|(at, op)| lower(&mut edit, old, *at, op));
        let text = outcome.and_then(|()| edit.apply());
        let text =
            text.map_err(|error| Diagnostic::from_edit(&error, old).in_file(&*file.display_path))?;
        Ok(Some(text))
    }

    /// The new texts of all files that are touched, with the names that people know them by.
    pub fn texts(&self) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
        let (mut texts, mut errors) = (Vec::new(), Vec::new());
        for file in self.files() {
            match self.text(file) {
                Ok(text) => texts.extend(text.map(|text| (file.display_path.clone(), text))),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(texts) } else { Err(errors) }
    }
}

fn lower<'a>(
    edit: &mut Edit<'a>,
    file: &'a File,
    document: usize,
    op: &Op<'a>,
) -> Result<(), EditError> {
    match op {
        Op::Set(node, value) => edit.set(*node, value.clone()),
        Op::Write(node, value) => edit.overwrite(*node, value.clone()),
        Op::List(node, values) => list(edit, *node, values),
        Op::Insert { mapping, key, value, after, before } => {
            let there = mapping.as_mapping();
            let last =
                after.iter().rev().find(|name| there.is_some_and(|it| it.get(name).is_some()));
            let place = last.map_or(KeyPosition::Before(before), |name| KeyPosition::After(name));
            edit.insert_key(*mapping, key, value.clone(), place)
        }
        Op::Make(path, value) => make(edit, file.document(document), path, value),
        Op::First(list, value) => edit.insert_element(*list, 0, value.clone()),
        Op::Remove(node) => edit.remove(*node, EmptyParents::Remove),
        Op::Rename(key, name) => edit.rename(*key, name),
        Op::Beside(node, text) => edit.set_comment(*node, CommentPosition::Line, Some(text)),
        Op::Comment(comment, text) => {
            edit.replace_comment(document, comment, text.as_deref());
            Ok(())
        }
    }
}

/// Items that are equal stay; between them an item takes the place of an old one as long as there are old ones.
fn list<'a>(edit: &mut Edit<'a>, node: NodeRef<'a>, values: &[Value<'a>]) -> Result<(), EditError> {
    let old: Vec<NodeRef<'a>> = node.children().collect();
    if old.is_empty() || values.is_empty() {
        return edit.set(node, Value::Sequence(values.to_vec()));
    }
    let texts: Vec<String> = old
        .iter()
        .map(|item| item.as_scalar().map(|it| it.value().into_owned()).unwrap_or_default())
        .collect();
    let new: Vec<&str> = values.iter().map(text_of).collect();
    let (mut from_old, mut from_new) = (0, 0);
    for (at_old, at_new) in common(&texts, &new).into_iter().chain([(old.len(), new.len())]) {
        let pairs = (at_old - from_old).min(at_new - from_new);
        for (item, value) in old[from_old..].iter().zip(&values[from_new..]).take(pairs) {
            edit.set(*item, value.clone())?;
        }
        for item in &old[from_old + pairs..at_old] {
            edit.remove(*item, EmptyParents::Keep)?;
        }
        for value in &values[from_new + pairs..at_new] {
            edit.insert_element(node, at_old, value.clone())?;
        }
        // One with the same letters may still be of another type.
        if let (Some(item), Some(value)) = (old.get(at_old), values.get(at_new)) {
            edit.set(*item, value.clone())?;
        }
        (from_old, from_new) = (at_old + 1, at_new + 1);
    }
    Ok(())
}

fn text_of<'v>(value: &'v Value<'_>) -> &'v str {
    match value {
        Value::String(text) | Value::Number(text) => text,
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        _ => "",
    }
}

/// The longest run of items that both lists have in the same order, as pairs of positions.
fn common(old: &[String], new: &[&str]) -> Vec<(usize, usize)> {
    // Very long lists are compared from both ends only.
    if old.len().saturating_mul(new.len()) > 4_000_000 {
        let head = old.iter().zip(new).take_while(|(a, b)| a == *b).count();
        return (0..head).map(|at| (at, at)).collect();
    }
    let width = new.len() + 1;
    let mut best = vec![0_u32; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            best[a * width + b] = match old[a] == new[b] {
                true => best[(a + 1) * width + b + 1] + 1,
                false => best[(a + 1) * width + b].max(best[a * width + b + 1]),
            };
        }
    }
    let (mut a, mut b, mut pairs) = (0, 0, Vec::new());
    while a < old.len() && b < new.len() {
        if old[a] == new[b] {
            pairs.push((a, b));
            (a, b) = (a + 1, b + 1);
        } else if best[(a + 1) * width + b] >= best[a * width + b + 1] {
            a += 1;
        } else {
            b += 1;
        }
    }
    pairs
}

/// Sets a value at a path of the first document.
fn make<'a>(
    edit: &mut Edit<'a>,
    document: Option<DocumentRef<'a>>,
    path: &Path,
    value: &Value<'a>,
) -> Result<(), EditError> {
    let nothing = || EditError::new(Span::empty(0), EditErrorKind::NoDocument);
    edit.set_at(document.ok_or_else(nothing)?, path, value.clone())
}
