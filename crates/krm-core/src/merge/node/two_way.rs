//! Two-way merge: what the source says is set in the destination, and whatever it does not mention stays.

use krm_yaml::{Edit, File, NodeKind, NodeRef, OwnedNode, Value};

use super::ops::{Fill, Op};
use super::same::{is_null, own_tag, same};
use super::shape::Shape;
use super::work::Work;
use super::{Merger, Outcome, Version, anchors, fill, two_lists, two_mappings};
use crate::Diagnostic;
use crate::print::source_text;

/// What became of a value of the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// It says what the source says.
    Same,
    /// It was changed, by a graft or otherwise.
    Changed { grafted: bool },
    /// It is to go.
    Gone,
}

/// What the source says of a field besides its value: directives that stand beside it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beside<'a> {
    pub(super) delete: Option<NodeRef<'a>>,
    pub(super) order: Option<NodeRef<'a>>,
}

pub(super) fn root<'a>(
    work: &mut Work<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
) -> Result<Outcome, Diagnostic> {
    let shape = work.shape.clone();
    // A document of nothing says nothing: what goes is named by `$patch`.
    if is_null(source) {
        return Ok(Outcome::Stays);
    }
    let done = value(work, source, destination, &shape, Beside::default())?;
    Ok(if done == Done::Gone { Outcome::Goes } else { Outcome::Stays })
}

/// Merges one value into another.
pub(super) fn value<'a>(
    work: &mut Work<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
    shape: &Shape<'_>,
    beside: Beside<'a>,
) -> Result<Done, Diagnostic> {
    let is_alias = |node: NodeRef<'a>| node.kind() == NodeKind::Alias;
    if anchors::is_same_alias(source, destination) {
        return Ok(Done::Same);
    }
    let source = source.resolve();
    if is_null(source) {
        return Ok(Done::Gone);
    }
    if is_alias(destination) {
        return below_alias(work, source, destination, shape);
    }
    let is_retagged = own_tag(source).is_some() && own_tag(source) != own_tag(destination);
    work.guarded(destination, source, |work| match (source.kind(), destination.kind()) {
        _ if is_retagged => whole(work, source, destination, shape),
        (NodeKind::Mapping, NodeKind::Mapping) => {
            two_mappings::mapping(work, source, destination, shape)
        }
        (NodeKind::Sequence, NodeKind::Sequence) => {
            two_lists::list(work, source, destination, shape, beside)
        }
        _ => whole(work, source, destination, shape),
    })
}

/// Takes a value whole.
pub(super) fn whole<'a>(
    work: &mut Work<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
    shape: &Shape<'_>,
) -> Result<Done, Diagnostic> {
    if same(source, destination) {
        return Ok(Done::Same);
    }
    let Some(fill) = fill::of_source(work, source, shape, destination)? else {
        return Ok(Done::Gone);
    };
    if is_filled_alike(&fill, destination) {
        return Ok(Done::Same);
    }
    let (new, old) = (noun(source), noun(destination));
    if new != old && !is_null(destination) {
        work.warn(destination, format!("this was {old} and becomes {new}"));
    }
    set(work, destination, source, fill)
}

/// Sets a value: a scalar in the destination's style and with the source's type, anything else as it stands there.
pub(super) fn set<'a>(
    work: &mut Work<'a, '_>,
    destination: NodeRef<'a>,
    source: NodeRef<'a>,
    fill: Fill<'a>,
) -> Result<Done, Diagnostic> {
    let source = source.resolve();
    let is_plain = source.as_scalar().is_some_and(|it| !it.style().is_block());
    let is_block = destination.as_scalar().is_some_and(|it| it.style().is_block());
    let fits = destination.as_scalar().is_some() && source.tag().is_none();
    let fill = match anchors::scalar(source) {
        Some(value) if fits && (is_plain || is_block) => Fill::Value(value),
        _ => fill,
    };
    // Where lines make room for a value there is no place of its own for a comment.
    let grafted = matches!(fill, Fill::Part { .. }) || destination.is_block();
    work.ask(Op::Set(destination, fill))?;
    Ok(Done::Changed { grafted })
}

/// Whether the destination already means what would be written there.
fn is_filled_alike(fill: &Fill<'_>, destination: NodeRef<'_>) -> bool {
    match fill {
        Fill::Part { node, without, .. } if without.is_empty() => same(*node, destination),
        Fill::Part { node, without, .. } => match anchors::written_out(*node, without) {
            Ok(value) => is_alike(&value, destination),
            Err(_) => false,
        },
        Fill::Value(value) => is_alike(value, destination),
    }
}

/// Whether a node means a value that was written out.
fn is_alike(value: &Value<'_>, node: NodeRef<'_>) -> bool {
    if let Some(word) = value.node() {
        return same(word, node);
    }
    let text = crate::print::json::write(value);
    let Ok(file) = File::parse(text) else { return false };
    let root = file.document(0).and_then(|document| document.root());
    root.is_some_and(|root| same(root, node))
}

fn noun(node: NodeRef<'_>) -> &'static str {
    match node.resolve().kind() {
        NodeKind::Mapping => "a mapping",
        NodeKind::Sequence => "a list",
        _ => "a scalar",
    }
}

/// A change below an alias is made on the destination's own key: what the alias stands for is written out there.
fn below_alias<'a>(
    work: &mut Work<'a, '_>,
    source: NodeRef<'a>,
    alias: NodeRef<'a>,
    shape: &Shape<'_>,
) -> Result<Done, Diagnostic> {
    let there = alias.resolve();
    match merged_copy(work, source, there)? {
        Copy::Same => Ok(Done::Same),
        Copy::Gone => Ok(Done::Gone),
        Copy::Of(graft) => {
            work.ask(Op::Set(alias, Fill::Value(Value::OwnedNode(graft))))?;
            Ok(Done::Changed { grafted: true })
        }
        Copy::Whole => whole(work, source, alias, shape),
    }
}

/// What a merge into a copy gives.
pub(super) enum Copy {
    Same,
    Gone,
    Of(OwnedNode),
    /// There is nothing to merge with: the kinds differ.
    Whole,
}

/// Merges into a copy of a node that cannot be changed where it stands.
pub(super) fn merged_copy<'a>(
    work: &mut Work<'a, '_>,
    source: NodeRef<'a>,
    there: NodeRef<'a>,
) -> Result<Copy, Diagnostic> {
    if same(source, there) {
        return Ok(Copy::Same);
    }
    if source.kind() != there.kind() || !there.is_collection() {
        return Ok(Copy::Whole);
    }
    let text = source_text::ensure_trailing_newline(source_text::texts(&[there]).concat());
    let copy = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
    let root = copy.document(0).and_then(|document| document.root());
    let Some(root) = root else { return Ok(Copy::Whole) };
    let mut edit = Edit::new(&copy).allow_shared(true);
    let [ours, theirs] = work.files();
    let mut merger = Merger::new(work.rules);
    let report =
        merger.two_way(Version::new(source, theirs), Version::new(root, ours), &mut edit)?;
    if report.outcome == Outcome::Goes {
        return Ok(Copy::Gone);
    }
    let text = edit.apply().map_err(|error| work.told(Diagnostic::error(error.kind), there))?;
    let merged = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
    Ok(OwnedNode::root(merged).map_or(Copy::Whole, Copy::Of))
}
