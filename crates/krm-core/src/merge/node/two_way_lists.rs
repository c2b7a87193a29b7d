//! Two-way merge of lists: associative lists merge by element, sets are united, and any other list is replaced.

use std::collections::HashSet;

use krm_yaml::{NodeRef, Segment};

use super::diff3;
use super::directives::{self, Patch};
use super::list_order::{ListOrder, OrderedElement};
use super::ops::{IncomingNode, Op};
use super::options::NewItems;
use super::sequence_plan::SequencePlan;
use super::state::MergeState;
use super::two_way::{FieldDirectives, Merged, merge_node, replace_node};
use super::{incoming, is_null};
use crate::Diagnostic;
use crate::compare::sequences::{self, ElementId, Elements, ListType, align_duplicates};
use crate::compare::{CommentedEntry, FieldSchema};
use crate::merge::kinds::MergeKind;

pub(super) fn merge_list<'a>(
    state: &mut MergeState<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
    schema: &FieldSchema<'_>,
    directives: FieldDirectives<'a>,
) -> Result<Merged, Diagnostic> {
    let found = directives::of_list(state, source)?;
    match found.patch {
        Some(Patch::Delete) => return Ok(Merged::Removed),
        Some(Patch::Replace) => return replace_node(state, source, destination, schema),
        _ => {}
    }
    let is_element = |node: NodeRef<'a>| !found.elements.contains(&node);
    let theirs: Vec<NodeRef<'a>> = source.children().filter(|it| is_element(*it)).collect();
    let list_type = find_list_type(state, schema, &[theirs, destination.children().collect()]);
    if list_type == ListType::Atomic {
        return replace_list(state, source, destination, schema);
    }
    let mut theirs = Elements::of(Some(source), &list_type, is_element);
    let mut ours = Elements::of(Some(destination), &list_type, |_| true);
    align_duplicates(&list_type, [&mut ours, &mut theirs]);
    warn_about_keys(state, &theirs, &ours);
    let start = state.checkpoint();
    let mut merge = ListMerge::new(destination, &ours, &list_type);
    let mut after = None;
    for (at, id) in theirs.ids.iter().enumerate() {
        merge.element(state, id, theirs.nodes[at], after, schema)?;
        after = ours.find(id).or(after);
    }
    merge.delete(directives.delete);
    merge.finish(state, directives.order)?;
    let is_unchanged = state.is_unchanged_since(&start);
    Ok(if is_unchanged { Merged::Unchanged } else { Merged::Changed { replaced: false } })
}

/// Replaces an atomic list. Elements that both have keep their bytes and comments.
fn replace_list<'a>(
    state: &mut MergeState<'a, '_>,
    source: NodeRef<'a>,
    destination: NodeRef<'a>,
    schema: &FieldSchema<'_>,
) -> Result<Merged, Diagnostic> {
    // A directive takes effect only where the list is taken as a whole.
    let can_align = diff3::can_align(destination, source) && !source.text().contains('$');
    let plan = can_align.then(|| SequencePlan::of_two_way(source, destination)).flatten();
    let Some(plan) = plan else { return replace_node(state, source, destination, schema) };
    let start = state.checkpoint();
    for [_, at, there] in plan.stable() {
        let (old, new) = (plan.local[at], plan.upstream[there]);
        state.descend(Segment::Index(at), |state| {
            let merged = replace_node(state, new, old, &schema.item())?;
            if merged == Merged::Removed {
                // Null clears a field, but as an element it is a value.
                let null = incoming::excluding(state, new, Vec::new(), destination)?;
                return state.push_op(Op::Set(old, null));
            }
            let [new, old] = [new, old].map(CommentedEntry::element);
            state.copy_comments(new, old, merged == Merged::Changed { replaced: true })
        })?;
    }
    for region in &plan.regions {
        plan.replace(state, region, [destination, source])?;
    }
    let is_unchanged = state.is_unchanged_since(&start);
    Ok(if is_unchanged { Merged::Unchanged } else { Merged::Changed { replaced: false } })
}

/// Determines the type of a list.
pub(super) fn find_list_type<'a>(
    state: &MergeState<'a, '_>,
    schema: &FieldSchema<'_>,
    versions: &[Vec<NodeRef<'a>>],
) -> ListType {
    sequences::list_type(&state.options.lists, &state.field_path(), schema, versions)
}

/// Warns about elements whose identity is not clear.
pub(super) fn warn_about_keys<'a>(
    state: &mut MergeState<'a, '_>,
    theirs: &Elements<'a>,
    ours: &Elements<'a>,
) {
    for elements in [ours, theirs] {
        if let Some(node) = elements.duplicate {
            state.warn(node, MergeKind::DuplicateElement);
        }
        if let Some(node) = elements.keyless {
            state.warn(node, MergeKind::MissingKey);
        }
    }
}

/// Applies directives to a list that the source does not set.
pub(super) fn apply_directives<'a>(
    state: &mut MergeState<'a, '_>,
    destination: NodeRef<'a>,
    schema: &FieldSchema<'_>,
    directives: FieldDirectives<'a>,
) -> Result<(), Diagnostic> {
    let list_type = match directives.delete {
        Some(_) => ListType::Set,
        None => find_list_type(state, schema, &[destination.children().collect()]),
    };
    let ours = Elements::of(Some(destination), &list_type, |_| true);
    let mut merge = ListMerge::new(destination, &ours, &list_type);
    merge.delete(directives.delete);
    merge.finish(state, directives.order)
}

struct ListMerge<'a, 'e> {
    destination: NodeRef<'a>,
    ours: &'e Elements<'a>,
    list_type: &'e ListType,
    /// Positions of elements of the destination that are removed.
    removed: HashSet<usize>,
    inserted: Vec<InsertedElement<'a>>,
}

struct InsertedElement<'a> {
    id: ElementId,
    /// The position of the element of the destination that it follows in the source.
    after: Option<usize>,
    value: IncomingNode<'a>,
}

/// The path segment of an element: its merge key, or its position.
pub(super) fn element_segment(id: &ElementId, list_type: &ListType, at: usize) -> Segment {
    match (id.first_key(), list_type.path_key()) {
        (Some(value), Some(key)) => Segment::Match { key: key.to_owned(), value: value.to_owned() },
        _ => Segment::Index(at),
    }
}

impl<'a, 'e> ListMerge<'a, 'e> {
    fn new(destination: NodeRef<'a>, ours: &'e Elements<'a>, list_type: &'e ListType) -> Self {
        Self { destination, ours, list_type, removed: HashSet::new(), inserted: Vec::new() }
    }

    fn element(
        &mut self,
        state: &mut MergeState<'a, '_>,
        id: &ElementId,
        source: NodeRef<'a>,
        after: Option<usize>,
        schema: &FieldSchema<'_>,
    ) -> Result<(), Diagnostic> {
        let schema = schema.item();
        let found = self.ours.find(id);
        let segment = element_segment(id, self.list_type, found.unwrap_or(self.ours.len()));
        state.descend(segment, |state| {
            let Some(at) = found else { return self.insert(state, id, source, after, &schema) };
            // Elements that are identified by their value are equal.
            if *self.list_type == ListType::Set || id.first_key().is_none() {
                return Ok(());
            }
            let old = self.ours.nodes[at];
            match merge_node(state, source, old, &schema, FieldDirectives::default())? {
                Merged::Unchanged => Ok(()),
                Merged::Removed => {
                    self.removed.insert(at);
                    Ok(())
                }
                Merged::Changed { replaced } => {
                    let [source, old] = [source, old].map(CommentedEntry::element);
                    state.copy_comments(source, old, replaced)
                }
            }
        })
    }

    fn insert(
        &mut self,
        state: &mut MergeState<'a, '_>,
        id: &ElementId,
        source: NodeRef<'a>,
        after: Option<usize>,
        schema: &FieldSchema<'_>,
    ) -> Result<(), Diagnostic> {
        // Null clears a field, but as an element it is a value.
        let value = match is_null(source) {
            true => Some(incoming::excluding(state, source, Vec::new(), self.destination)?),
            false => incoming::from_source(state, source, schema, self.destination)?,
        };
        let id = id.clone();
        self.inserted.extend(value.map(|value| InsertedElement { id, after, value }));
        Ok(())
    }

    /// Removes the elements that a list of values names.
    fn delete(&mut self, values: Option<NodeRef<'a>>) {
        let values = Elements::of(values, self.list_type, |_| true);
        self.removed.extend(values.ids.iter().filter_map(|id| self.ours.find(id)));
    }

    fn finish(
        self,
        state: &mut MergeState<'a, '_>,
        requested_order: Option<NodeRef<'a>>,
    ) -> Result<(), Diagnostic> {
        let mut order = ListOrder::keeping(self.ours.len(), &self.removed);
        match state.options.new_items {
            NewItems::Last => order.append(self.inserted.len()),
            NewItems::First => order.prepend(self.inserted.len()),
            NewItems::SourceOrder => order.insert_after(self.inserted.iter().map(|it| it.after)),
        }
        if requested_order.is_some() {
            let requested = Elements::of(requested_order, self.list_type, |_| true);
            order.sort_ranked(|element| match element {
                OrderedElement::Existing(at) => requested.find(&self.ours.ids[*at]),
                OrderedElement::New(at) => requested.find(&self.inserted[*at].id),
            });
        }
        let mut removed: Vec<usize> = self.removed.into_iter().collect();
        removed.sort_unstable();
        for at in removed {
            state.push_op(Op::Remove(self.ours.nodes[at]))?;
        }
        let values = self.inserted.into_iter().map(|it| it.value).collect();
        order.push_ops(state, self.destination, values)
    }
}
