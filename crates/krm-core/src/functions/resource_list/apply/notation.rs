//! Returned values in the notation that was sent. Where a larger part is rewritten, keys and values that the function read as something
//! else (`on` as `true`, a key `~` as the string `"null"`) are written as they were.

use krm_yaml::{EditError, NodeKind, NodeRef, Scalar, ScalarStyle, ScalarType, Value};

use super::content::{self, ExistingComments, node_value};
use crate::compare::sequences::pair_returned;
use crate::compare::{
    Field, ResourceLevel, ScalarComparison, compare_returned, fields_as_sent, is_ignorable_addition,
};

/// How many nodes are visited at most: aliases can expand to billions.
const MAX_NODES: usize = 20_000;

/// The value to be written for a returned node; `None` where nothing in it was read as something else.
pub(super) fn keep_notation<'a>(
    sent: NodeRef<'a>,
    returned: NodeRef<'a>,
    level: ResourceLevel,
    existing: &ExistingComments<'_>,
) -> Result<Option<Value<'a>>, EditError> {
    let mut keeper = NotationKeeper { existing, remaining: MAX_NODES, has_kept: false };
    let value = keeper.value(sent, returned, level)?;
    Ok(value.filter(|_| keeper.has_kept))
}

/// The key to be written for a field that was sent and returned.
pub(super) fn kept_key<'a>(sent: NodeRef<'a>, returned: NodeRef<'a>) -> Value<'a> {
    let (Some(was), Some(is)) = (sent.resolve().as_scalar(), returned.resolve().as_scalar()) else {
        return content::key_value(returned);
    };
    if is_unchanged(was, is) { content::key_value(returned) } else { as_sent(sent) }
}

struct NotationKeeper<'k, 'c> {
    existing: &'k ExistingComments<'c>,
    remaining: usize,
    /// Whether anything is written in the notation that was sent.
    has_kept: bool,
}

impl NotationKeeper<'_, '_> {
    /// `None` where there are too many nodes.
    fn value<'a>(
        &mut self,
        sent: NodeRef<'a>,
        returned: NodeRef<'a>,
        level: ResourceLevel,
    ) -> Result<Option<Value<'a>>, EditError> {
        let Some(remaining) = self.remaining.checked_sub(1) else { return Ok(None) };
        self.remaining = remaining;
        let (sent, returned) = (sent.resolve(), returned.resolve());
        match (sent.kind(), returned.kind()) {
            (NodeKind::Mapping, NodeKind::Mapping) => self.mapping(sent, returned, level),
            (NodeKind::Sequence, NodeKind::Sequence) => self.sequence(sent, returned),
            _ => match (sent.as_scalar(), returned.as_scalar()) {
                (Some(was), Some(is)) if self.keeps(was, is) => Ok(Some(as_sent(sent))),
                _ => node_value(returned, level, self.existing).map(Some),
            },
        }
    }

    /// Whether a scalar has the same value in another notation.
    fn keeps(&mut self, was: Scalar<'_>, is: Scalar<'_>) -> bool {
        let keeps = compare_returned(was, is) == ScalarComparison::Equal && !is_unchanged(was, is);
        self.has_kept |= keeps;
        keeps
    }

    fn mapping<'a>(
        &mut self,
        sent: NodeRef<'a>,
        returned: NodeRef<'a>,
        level: ResourceLevel,
    ) -> Result<Option<Value<'a>>, EditError> {
        let (ours, theirs) = fields_as_sent(sent, returned);
        let mut entries = Vec::with_capacity(theirs.len());
        for (name, field) in theirs.iter().filter(|(name, _)| level.is_own_field(name)) {
            let entry = match ours.get(name) {
                Some(own) => self.entry(own, field, level.child(name))?,
                None if is_ignorable_addition(name, field, level) => continue,
                None => {
                    let value = node_value(field.value, level.child(name), self.existing)?;
                    Some((content::key_value(field.key), value))
                }
            };
            let Some(entry) = entry else { return Ok(None) };
            entries.push(entry);
        }
        Ok(Some(Value::Mapping(entries)))
    }

    fn entry<'a>(
        &mut self,
        own: Field<'a>,
        field: Field<'a>,
        level: ResourceLevel,
    ) -> Result<Option<(Value<'a>, Value<'a>)>, EditError> {
        let keys = own.key.resolve().as_scalar().zip(field.key.resolve().as_scalar());
        self.has_kept |= keys.is_some_and(|(was, is)| !is_unchanged(was, is));
        let value = self.value(own.value, field.value, level)?;
        Ok(value.map(|value| (kept_key(own.key, field.key), value)))
    }

    fn sequence<'a>(
        &mut self,
        sent: NodeRef<'a>,
        returned: NodeRef<'a>,
    ) -> Result<Option<Value<'a>>, EditError> {
        let ours: Vec<NodeRef<'a>> = sent.children().collect();
        let theirs: Vec<NodeRef<'a>> = returned.children().collect();
        let to = pair_returned(&ours, &theirs);
        let mut items = Vec::with_capacity(theirs.len());
        for (item, old) in theirs.into_iter().zip(to) {
            let value = match old {
                Some(old) => self.value(ours[old], item, ResourceLevel::Other)?,
                None => Some(node_value(item, ResourceLevel::Other, self.existing)?),
            };
            let Some(value) = value else { return Ok(None) };
            items.push(value);
        }
        Ok(Some(Value::Sequence(items)))
    }
}

/// Whether a returned scalar has the text and the type of the one that was sent, in YAML 1.2 and 1.1.
fn is_unchanged(sent: Scalar<'_>, returned: Scalar<'_>) -> bool {
    let is_number = |it| matches!(it, ScalarType::Int(_) | ScalarType::Float(_));
    let is_type = |was: ScalarType, is: ScalarType| match (was, is) {
        (was, is) if is_number(was) => is_number(is),
        (was, is) => was == is,
    };
    sent.value() == returned.value()
        && is_type(sent.resolve(), returned.resolve())
        && is_type(sent.resolve_1_1(), returned.resolve_1_1())
}

/// A scalar as it was sent. An empty scalar is written as `null`.
fn as_sent(node: NodeRef<'_>) -> Value<'_> {
    let node = node.resolve();
    let has_no_properties = node.anchor().is_none() && node.tag().is_none();
    match node.as_scalar() {
        Some(it) if it.resolve() == ScalarType::Null => Value::Null,
        Some(it) if has_no_properties && it.style() == ScalarStyle::Plain => Value::Node(node),
        Some(it) => content::scalar_value(it),
        None => Value::Node(node),
    }
}
