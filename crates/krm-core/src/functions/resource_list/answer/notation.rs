//! What came back in the notation that was sent: where a larger part is written anew, keys and values that the function read
//! as something else (`on` as `true`, a key `~` as the text `"null"`) are what they were.

use krm_yaml::{EditError, NodeKind, NodeRef, Scalar, ScalarStyle, ScalarType, Value};

use super::content::{self, Known};
use super::keys;
use super::pairs;
use super::same::{At, is_noise};
use super::scalars::{self, Fate};
use crate::merge::node::Field;

/// So much is looked at, however much aliases stand for.
const MOST_NODES: usize = 20_000;

/// What is to be written for what came back; none where the function read all of it as it was meant.
pub(super) fn kept<'a>(
    sent: NodeRef<'a>,
    returned: NodeRef<'a>,
    at: At,
    known: &Known<'_>,
) -> Result<Option<Value<'a>>, EditError> {
    let mut keeper = Keeper { known, left: MOST_NODES, is_odd: false };
    let value = keeper.value(sent, returned, at)?;
    Ok(value.filter(|_| keeper.is_odd))
}

/// The key of a field that was sent and came back, as it is to be written.
pub(super) fn key<'a>(sent: NodeRef<'a>, returned: NodeRef<'a>) -> Value<'a> {
    let (Some(was), Some(is)) = (sent.resolve().as_scalar(), returned.resolve().as_scalar()) else {
        return content::key(returned);
    };
    if is_as_read(was, is) { content::key(returned) } else { as_sent(sent) }
}

struct Keeper<'k, 'c> {
    known: &'k Known<'c>,
    left: usize,
    /// Whether anything was read as something else.
    is_odd: bool,
}

impl Keeper<'_, '_> {
    /// None where there is too much of it.
    fn value<'a>(
        &mut self,
        sent: NodeRef<'a>,
        returned: NodeRef<'a>,
        at: At,
    ) -> Result<Option<Value<'a>>, EditError> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        let (sent, returned) = (sent.resolve(), returned.resolve());
        match (sent.kind(), returned.kind()) {
            (NodeKind::Mapping, NodeKind::Mapping) => self.mapping(sent, returned, at),
            (NodeKind::Sequence, NodeKind::Sequence) => self.list(sent, returned),
            _ => match (sent.as_scalar(), returned.as_scalar()) {
                (Some(was), Some(is)) if self.is_odd_same(was, is) => Ok(Some(as_sent(sent))),
                _ => content::value(returned, at, self.known).map(Some),
            },
        }
    }

    fn is_odd_same(&mut self, was: Scalar<'_>, is: Scalar<'_>) -> bool {
        let is_odd = scalars::compare(was, is) == Fate::Same && !is_as_read(was, is);
        self.is_odd |= is_odd;
        is_odd
    }

    fn mapping<'a>(
        &mut self,
        sent: NodeRef<'a>,
        returned: NodeRef<'a>,
        at: At,
    ) -> Result<Option<Value<'a>>, EditError> {
        let (ours, theirs) = keys::fields(sent, returned);
        let mut entries = Vec::with_capacity(theirs.len());
        for (name, field) in theirs.iter().filter(|(name, _)| at.counts(name)) {
            let entry = match ours.get(name) {
                Some(own) => self.entry(own, field, at.step(name))?,
                None if is_noise(name, field, at) => continue,
                None => {
                    let value = content::value(field.value, at.step(name), self.known)?;
                    Some((content::key(field.key), value))
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
        at: At,
    ) -> Result<Option<(Value<'a>, Value<'a>)>, EditError> {
        let keys = own.key.resolve().as_scalar().zip(field.key.resolve().as_scalar());
        self.is_odd |= keys.is_some_and(|(was, is)| !is_as_read(was, is));
        Ok(self.value(own.value, field.value, at)?.map(|value| (key(own.key, field.key), value)))
    }

    fn list<'a>(
        &mut self,
        sent: NodeRef<'a>,
        returned: NodeRef<'a>,
    ) -> Result<Option<Value<'a>>, EditError> {
        let ours: Vec<NodeRef<'a>> = sent.children().collect();
        let theirs: Vec<NodeRef<'a>> = returned.children().collect();
        let to = pairs::pair(&ours, &theirs);
        let mut items = Vec::with_capacity(theirs.len());
        for (item, old) in theirs.into_iter().zip(to) {
            let value = match old {
                Some(old) => self.value(ours[old], item, At::Below)?,
                None => Some(content::value(item, At::Below, self.known)?),
            };
            let Some(value) = value else { return Ok(None) };
            items.push(value);
        }
        Ok(Some(Value::Sequence(items)))
    }
}

/// Whether what came back has the characters and the type of what was sent, for readers of YAML 1.2 and 1.1.
fn is_as_read(sent: Scalar<'_>, returned: Scalar<'_>) -> bool {
    let is_number = |it| matches!(it, ScalarType::Int(_) | ScalarType::Float(_));
    let is_type = |was: ScalarType, is: ScalarType| match (was, is) {
        (was, is) if is_number(was) => is_number(is),
        (was, is) => was == is,
    };
    sent.value() == returned.value()
        && is_type(sent.resolve(), returned.resolve())
        && is_type(sent.resolve_1_1(), returned.resolve_1_1())
}

/// A scalar as it stands in the text that was sent. Nothing at all is written as the word for it.
fn as_sent(node: NodeRef<'_>) -> Value<'_> {
    let node = node.resolve();
    let is_bare = node.anchor().is_none() && node.tag().is_none();
    match node.as_scalar() {
        Some(it) if it.resolve() == ScalarType::Null => Value::Null,
        Some(it) if is_bare && it.style() == ScalarStyle::Plain => Value::Node(node),
        Some(it) => content::scalar(it),
        None => Value::Node(node),
    }
}
