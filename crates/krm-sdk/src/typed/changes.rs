//! The smallest edit between two values of a type, one read from the document and one to be written.

use krm_core::format::sort_value;
use krm_yaml::{Edit, EditError, EmptyParents, NodeKind, NodeRef, Path, Segment, Value};

use super::pairing::{Pairing, field, is_equal};
use crate::{Error, Resource};

impl Resource {
    /// Edits the document at a path so that what read as `before` reads as `after`. What neither of them has is left alone.
    pub(super) fn apply_changes(
        &mut self,
        path: &Path,
        before: &Value<'static>,
        after: &Value<'static>,
    ) -> Result<(), Error> {
        let mut before = before.clone();
        // Elements change places before they change their content, so that each one is edited where it is.
        while let Some(moved) = find_moved(path, &mut before, after) {
            self.edit(|edit, root| match root.document().find(&moved.path) {
                Some(sequence) => edit.reorder(sequence, moved.order),
                None => Ok(()),
            })?;
        }
        self.edit(|edit, root| {
            let node = root.document().find(path);
            Changes { edit, root }.update(path, node, &before, after)
        })
    }
}

/// A sequence whose elements change places.
struct MovedElements {
    path: Path,
    order: Vec<usize>,
}

/// The first sequence with elements in another order, which is changed in `before` as it is going to be in the document.
fn find_moved(
    path: &Path,
    before: &mut Value<'static>,
    after: &Value<'static>,
) -> Option<MovedElements> {
    match (before, after) {
        (Value::Mapping(old), Value::Mapping(_)) => old.iter_mut().find_map(|(key, old)| {
            let Value::String(name) = &*key else { return None };
            find_moved(&path.join(name), old, field(after, name)?)
        }),
        (Value::Sequence(old), Value::Sequence(new)) => {
            let pairing = Pairing::of(old, new);
            if let Some(order) = pairing.order() {
                *old = order.iter().map(|at| old[*at].clone()).collect();
                return Some(MovedElements { path: path.clone(), order });
            }
            pairing
                .pairs()
                .find_map(|(was, is)| find_moved(&element(path, was), &mut old[was], &new[is]))
        }
        _ => None,
    }
}

fn element(path: &Path, index: usize) -> Path {
    let mut path = path.clone();
    path.push(Segment::Index(index));
    path
}

/// The edit that collects the changes.
struct Changes<'e, 'a> {
    edit: &'e mut Edit<'a>,
    root: NodeRef<'a>,
}

impl<'a> Changes<'_, 'a> {
    /// Changes what is at a path; `node` is what is there now.
    fn update(
        &mut self,
        path: &Path,
        node: Option<NodeRef<'a>>,
        before: &Value<'static>,
        after: &Value<'static>,
    ) -> Result<(), EditError> {
        if is_equal(before, after) {
            return Ok(());
        }
        let node = node.map(NodeRef::resolve);
        match (before, after, node.map(|node| (node, node.kind()))) {
            (Value::Mapping(old), Value::Mapping(new), Some((node, NodeKind::Mapping))) => {
                for (name, value) in new {
                    let Value::String(name) = name else { continue };
                    let child = node.step(&Segment::Key(name.to_string()));
                    match field(before, name) {
                        Some(old) => self.update(&path.join(name), child, old, value)?,
                        None => self.set(&path.join(name), value)?,
                    }
                }
                for (name, _) in old {
                    let Value::String(name) = name else { continue };
                    let is_there = node.step(&Segment::Key(name.to_string())).is_some();
                    if is_there && field(after, name).is_none() {
                        self.remove(&path.join(name))?;
                    }
                }
                Ok(())
            }
            (Value::Sequence(old), Value::Sequence(new), Some((node, NodeKind::Sequence)))
                if node.children().count() == old.len() =>
            {
                self.update_elements(path, node, old, new)
            }
            _ => self.set(path, after),
        }
    }

    fn update_elements(
        &mut self,
        path: &Path,
        sequence: NodeRef<'a>,
        old: &[Value<'static>],
        new: &[Value<'static>],
    ) -> Result<(), EditError> {
        let pairing = Pairing::of(old, new);
        if pairing.pairs().next().is_none() {
            return self.set(path, &Value::Sequence(new.to_vec()));
        }
        let nodes: Vec<NodeRef<'a>> = sequence.children().collect();
        for index in pairing.removed() {
            self.remove(&element(path, index))?;
        }
        let first = pairing.pairs().next().map_or(0, |(was, _)| was);
        let mut next = first;
        for (value, was) in new.iter().zip(pairing.sources()) {
            match was {
                Some(was) => {
                    self.update(&element(path, was), Some(nodes[was]), &old[was], value)?;
                    next = was + 1;
                }
                None => self.edit.insert_element(sequence, next, sorted(value))?,
            }
        }
        Ok(())
    }

    fn set(&mut self, path: &Path, value: &Value<'static>) -> Result<(), EditError> {
        self.edit.set_at(self.root.document(), path, sorted(value))
    }

    fn remove(&mut self, path: &Path) -> Result<(), EditError> {
        self.edit.remove_at(self.root.document(), path, EmptyParents::Keep)
    }
}

/// A new value, in the conventional order of fields.
fn sorted(value: &Value<'static>) -> Value<'static> {
    let mut value = value.clone();
    sort_value(&mut value);
    value
}
