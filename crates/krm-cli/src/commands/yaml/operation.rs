//! What an edit does at the places of a path: set, append, merge, increment or remove.

use std::cell::OnceCell;
use std::sync::{Arc, OnceLock};

use krm_core::compare::ListOptions;
use krm_core::diagnostics::CommonKind;
use krm_core::merge::{MergeAction, MergeOptions, Merger, Version};
use krm_core::schema::{FieldTypes, Schema, ValueKind};
use krm_core::{Diagnostic, PackagePath};
use krm_yaml::{
    Edit, EditError, EditErrorKind, EmptyParents, File, NodeRef, Path, PathPattern, PatternStep,
    Place, ScalarType, Segment, Value,
};

use super::typed_value::TypedValue;
use crate::commands::kinds::CommandKind;

/// What happens at a place.
#[derive(Debug)]
pub(super) enum Operation<'a> {
    Set(TypedValue<'a>),
    Append(TypedValue<'a>),
    /// Merges a snippet, as `krm yaml merge` does.
    Merge(Arc<File>),
    Increment(i128),
    Remove(EmptyParents),
}

/// Options of edits that set values.
#[derive(Debug, Default)]
pub(super) struct EditContext {
    /// Whether missing parents are created.
    pub(super) create: bool,
    /// Whether values that are shared through aliases may change.
    pub(super) shared: bool,
    /// Loaded when a value is not a string, as its field may be.
    schema: OnceLock<Schema>,
}

impl EditContext {
    pub(super) fn new(create: bool, shared: bool) -> Self {
        Self { create, shared, schema: OnceLock::new() }
    }

    fn schema(&self) -> &Schema {
        self.schema.get_or_init(Schema::built_in)
    }
}

/// An edit of one document or resource.
pub(super) struct Target<'a> {
    file: &'a File,
    name: &'a str,
    root: NodeRef<'a>,
    /// Whether it is the only one of its file, so that it may be created in an empty document.
    is_only: bool,
    /// The types of its fields, where they are needed.
    types: OnceCell<FieldTypes<'a, 'a>>,
}

/// What an operation did in a document or resource.
#[derive(Debug, Default)]
pub(super) struct Applied {
    /// How many places there are.
    pub(super) places: usize,
    pub(super) warnings: Vec<Diagnostic>,
}

impl<'a> Target<'a> {
    pub(super) fn new(file: &'a File, name: &'a str, root: NodeRef<'a>, is_only: bool) -> Self {
        Self { file, name, root, is_only, types: OnceCell::new() }
    }

    /// Whether a field of a place, or a field of its new value, is a string.
    fn is_string(&self, place: &Place<'a>, path: &Path, context: &'a EditContext) -> bool {
        let types = self.types.get_or_init(|| FieldTypes::new(context.schema(), self.root));
        let (node, found) = match place {
            Place::Found { node, path } => (*node, path.segments().len()),
            Place::Missing { at, path, missing } => (*at, path.segments().len() - missing),
            Place::Shared { by } => (*by, 0),
        };
        types.type_at(node, found, path) == Some(ValueKind::String)
    }

    fn error(&self, error: &EditError) -> Diagnostic {
        Diagnostic::from_edit(error, self.file).in_file(self.name)
    }

    fn at(&self, node: NodeRef<'_>, kind: impl krm_yaml::DiagnosticKind) -> Diagnostic {
        Diagnostic::error(kind).at(self.file, node.span()).in_file(self.name)
    }
}

impl<'v> Operation<'v> {
    /// An edit of a file, without changes.
    pub(super) fn edit<'a>(&self, file: &'a File, name: &str, context: &EditContext) -> Edit<'a> {
        // A merge checks by itself what is shared.
        let shared = context.shared || matches!(self, Self::Merge(_));
        Edit::new(file).allow_shared(shared).json(PackagePath::is_json_name(name))
    }

    /// Whether the edit can be made in a file without documents.
    pub(super) fn creates_documents(&self, pattern: &PathPattern, context: &EditContext) -> bool {
        let is_plain = pattern.steps().iter().all(|step| matches!(step, PatternStep::Plain(_)));
        match self {
            Self::Increment(_) | Self::Remove(_) => false,
            _ => is_plain && (context.create || pattern.steps().len() == 1),
        }
    }

    /// The options of a merge, with the merge keys of Kubernetes.
    pub(super) fn merge_options<'a>(&self, context: &'a EditContext) -> MergeOptions<'a> {
        let schema = matches!(self, Self::Merge(_)).then(|| context.schema());
        let lists = ListOptions { schema, ..ListOptions::default() };
        MergeOptions { lists, ..MergeOptions::default() }
    }

    /// Queues the edit at all places of a pattern.
    pub(super) fn apply<'a>(
        &'a self,
        pattern: &PathPattern,
        target: &Target<'a>,
        context: &'a EditContext,
        merger: &mut Merger<'a, '_>,
        edit: &mut Edit<'a>,
    ) -> Result<Applied, Diagnostic> {
        let mut places = pattern.places(target.root);
        places.retain(|place| self.includes(place, target, context));
        if pattern.steps().iter().any(|step| !matches!(step, PatternStep::Plain(_))) {
            self.check_overlap(pattern, &mut places, target)?;
        }
        let warnings = match self {
            Self::Merge(snippet) => merge(snippet, &places, target, merger, edit)?,
            _ => {
                places.iter().try_for_each(|place| self.apply_at(place, target, context, edit))?;
                Vec::new()
            }
        };
        Ok(Applied { places: places.len(), warnings })
    }

    /// Whether there is something to do at a place. What is missing is added if only its last segment is missing, or with `--create`.
    fn includes(&self, place: &Place<'_>, target: &Target<'_>, context: &EditContext) -> bool {
        let Place::Missing { missing, .. } = place else { return true };
        match self {
            Self::Increment(_) | Self::Remove(_) => false,
            _ => {
                let is_empty = target.root.as_scalar().map(|it| it.resolve());
                let is_empty = is_empty == Some(ScalarType::Null);
                context.create || *missing == 1 && (target.is_only || !is_empty)
            }
        }
    }

    /// What is inside of a removed node is removed with it. Any other change of both is ambiguous.
    fn check_overlap(
        &self,
        pattern: &PathPattern,
        places: &mut Vec<Place<'_>>,
        target: &Target<'_>,
    ) -> Result<(), Diagnostic> {
        let (mut end, mut outer) = (0, None);
        let (mut overlap, removes) = (None, matches!(self, Self::Remove(_)));
        places.retain(|place| {
            let Place::Found { node, path } = place else { return true };
            let is_inside = node.index() < end;
            if !is_inside {
                (end, outer) = (node.subtree().end, Some(path.to_string()));
            } else if !removes && overlap.is_none() {
                overlap = Some((*node, outer.clone().unwrap_or_default(), path.to_string()));
            }
            !is_inside
        });
        let Some((node, outer, inner)) = overlap else { return Ok(()) };
        let pattern = pattern.to_string();
        Err(target.at(node, CommandKind::OverlappingMatches { pattern, outer, inner }))
    }

    fn apply_at<'a>(
        &'a self,
        place: &Place<'a>,
        target: &Target<'a>,
        context: &'a EditContext,
        edit: &mut Edit<'a>,
    ) -> Result<(), Diagnostic> {
        let is_string = |path: &Path| target.is_string(place, path, context);
        let failed = |error: EditError| target.error(&error);
        match (self, place) {
            (Self::Set(value), Place::Found { node, path }) => {
                let value = value.replacing(Some(*node), path, &is_string);
                edit.set_place(place, value).map_err(failed)
            }
            (Self::Set(value), Place::Missing { at, path, .. }) => {
                let value = value.replacing(None, path, &is_string);
                check_new_element(path, &value).map_err(|kind| failed(EditError::at(*at, kind)))?;
                edit.set_place(place, value).map_err(failed)
            }
            (Self::Append(value), Place::Found { path, .. } | Place::Missing { path, .. }) => {
                let mut element = path.clone();
                element.push(Segment::End);
                let value = value.replacing(None, &element, &is_string);
                edit.append_place(place, value).map_err(failed)
            }
            (Self::Increment(by), Place::Found { node, path }) => {
                let value = incremented(*node, path, *by, target)?;
                edit.set_place(place, value).map_err(failed)
            }
            (Self::Remove(empty_parents), place) => {
                edit.remove_place(place, *empty_parents).map_err(failed)
            }
            // What is missing is not incremented, and a shared value is refused.
            (_, place) => edit.set_place(place, Value::Null).map_err(failed),
        }
    }
}

/// Merges a snippet into places, with the merge keys of the schema of their resource. Returns the warnings of the merge.
fn merge<'a>(
    snippet: &'a File,
    places: &[Place<'a>],
    target: &Target<'a>,
    merger: &mut Merger<'a, '_>,
    edit: &mut Edit<'a>,
) -> Result<Vec<Diagnostic>, Diagnostic> {
    let failed = |error: EditError| target.error(&error);
    let root = snippet.document(0).and_then(|document| document.root());
    let Some(root) = root else { return Ok(Vec::new()) };
    let source = Version::new(root, "VALUE");
    let found = |place: &Place<'a>| matches!(place, Place::Found { .. });
    for place in places.iter().filter(|place| !found(place)) {
        if let Some(value) = merger.new_value(source)? {
            edit.set_place(place, value).map_err(failed)?;
        }
    }
    let (existing, destinations): (Vec<&Place<'a>>, Vec<(NodeRef<'a>, &Path)>) = places
        .iter()
        .filter_map(|place| match place {
            Place::Found { node, path } => Some((place, (*node, path))),
            Place::Missing { .. } | Place::Shared { .. } => None,
        })
        .unzip();
    let whole = Version::new(target.root, target.name);
    let (actions, report) = merger.two_way_at(source, whole, &destinations, edit)?;
    for (place, action) in existing.into_iter().zip(actions) {
        match action {
            MergeAction::Remove => edit.remove_place(place, EmptyParents::Keep).map_err(failed)?,
            MergeAction::Keep | MergeAction::Insert => {}
        }
    }
    Ok(report.warnings)
}

/// The value of a node plus a number, of the same type: a string stays a string.
fn incremented(
    node: NodeRef<'_>,
    path: &Path,
    by: i128,
    target: &Target<'_>,
) -> Result<Value<'static>, Diagnostic> {
    let refused = |found: String| {
        let kind = CommandKind::NotAnInteger { path: path.to_string(), found: found.into() };
        target.at(node, kind)
    };
    let Some(scalar) = node.resolve().as_scalar() else {
        let kind = CommonKind::wrong_type("a scalar", node.resolve());
        return Err(refused(match kind {
            CommonKind::WrongType { found, .. } => found.to_string(),
            other => other.to_string(),
        }));
    };
    let text = scalar.value();
    // Other spellings mean other numbers to other readers: `010`, `0x10`, `1_000`.
    let digits = text.strip_prefix('-').unwrap_or(&text);
    let is_decimal = !digits.is_empty()
        && digits.bytes().all(|it| it.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'));
    if !is_decimal {
        return Err(refused(format!("`{text}`")));
    }
    let sum = text.parse::<i128>().ok().and_then(|it| it.checked_add(by)).ok_or_else(|| {
        target.at(node, CommandKind::IncrementTooLarge { path: path.to_string() })
    })?;
    Ok(match scalar.resolve() {
        ScalarType::String => Value::string(sum.to_string()),
        _ => Value::Number(sum.to_string().into()),
    })
}

/// Checks that a new element for a segment such as `[name=web]` is a mapping, which can have that field.
fn check_new_element(path: &Path, value: &Value<'_>) -> Result<(), EditErrorKind> {
    let is_mapping = match value {
        Value::Mapping(_) => true,
        Value::Node(node) => node.as_mapping().is_some(),
        _ => false,
    };
    match path.segments().last() {
        Some(Segment::Match { .. }) if !is_mapping => {
            Err(EditErrorKind::ElementNotMapping { path: path.to_string() })
        }
        _ => Ok(()),
    }
}
