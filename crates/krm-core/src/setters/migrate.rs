//! `MigrateSetters`: converts setters between the OpenAPI and the kpt-set dialect, and reports what gets lost.

use krm_yaml::{NodeKind, NodeRef, Span};

use super::changes::{Changes, EditOp};
use super::definition::{Setter, SetterSource, SetterValue, scalar_elements, warning_at};
use super::definitions::Definition;
use super::fields::SetterField;
use super::function_config::config_string;
use super::kinds::SetterKind;
use super::pattern::Pattern;
use super::reference;
use super::resolve::{FieldResolver, Values};
use super::typed_value::scalar_text;
use super::{
    NodeLocation, ReferenceSyntax, Setters, mapping_entries, migrate_to_openapi, new_definition,
    upgrade_kptfile,
};
use crate::{Diagnostic, PackageFile};

/// How a package stores its setters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAPI definitions, and references `{"$openapi":"x"}`.
    OpenApi,
    /// Values in the functionConfig of apply-setters, and references `kpt-set: ${x}`.
    KptSet,
}

impl Dialect {
    fn name(self) -> &'static str {
        match self {
            Self::OpenApi => "OpenAPI",
            Self::KptSet => "kpt-set",
        }
    }

    /// Something of the other dialect that this one cannot express.
    pub(super) fn loss(self, what: impl Into<String>) -> SetterKind {
        SetterKind::MigrationLoss { dialect: self.name(), what: what.into() }
    }
}

/// Converts the setters of a package to another dialect.
#[derive(Clone, Copy, Debug)]
pub struct MigrateSetters {
    /// The new dialect.
    pub to: Dialect,
}

/// The result of [`MigrateSetters`].
#[derive(Debug, Default)]
pub struct MigrateResult<'a> {
    /// The edits.
    pub changes: Changes<'a>,
    /// The setters that are converted.
    pub setters: Vec<String>,
    /// The fields whose references change.
    pub fields: Vec<NodeLocation<'a>>,
    /// The Kptfile that is upgraded to version v1.
    pub upgraded: Option<&'a PackageFile>,
    /// What the new dialect cannot represent.
    pub losses: Vec<Diagnostic>,
}

impl MigrateSetters {
    /// Computes the changes in a package.
    pub fn compute<'a>(&self, setters: &Setters<'a>) -> Result<MigrateResult<'a>, Vec<Diagnostic>> {
        self.compute_inside(setters, &[])
    }

    /// Computes the changes in a package that is inside other packages, which are migrated, too.
    pub fn compute_inside<'a>(
        &self,
        setters: &Setters<'a>,
        outer: &[&Setters<'a>],
    ) -> Result<MigrateResult<'a>, Vec<Diagnostic>> {
        setters.check()?;
        let result = match self.to {
            Dialect::KptSet => to_kpt_set(setters, outer),
            Dialect::OpenApi => migrate_to_openapi::to_openapi(setters),
        };
        result.map_err(|error| vec![error])
    }
}

/// The selected setters in the order in which they are written.
pub(super) fn in_file_order<'s, 'a>(
    setters: &'s Setters<'a>,
    is_selected: impl Fn(&Setter<'a>) -> bool,
) -> Vec<&'s Setter<'a>> {
    let mut found: Vec<&Setter<'a>> =
        setters.definitions().setters().filter(|it| is_selected(it)).collect();
    found.sort_by_key(|it| match it.location {
        Some(location) => (Some(location.file.path.clone()), location.node.start()),
        None => (None, 0),
    });
    found
}

fn to_kpt_set<'a>(
    setters: &Setters<'a>,
    outer: &[&Setters<'a>],
) -> Result<MigrateResult<'a>, Diagnostic> {
    let mut result = MigrateResult::default();
    let kptfile = setters.files().iter().copied().find(|file| upgrade_kptfile::is_old(file));
    if let Some(file) = kptfile {
        let (changes, losses) = (&mut result.changes, &mut result.losses);
        upgrade_kptfile::Upgrade { file, changes, losses }.run();
        result.upgraded = Some(file);
    }
    // The upgrade removes all definitions of its Kptfile at once.
    let is_removed = |file: &PackageFile| {
        kptfile.is_some_and(|it| std::ptr::eq(it, file)) && !new_definition::is_kpt_v1(file)
    };
    let own = in_file_order(setters, |it| matches!(it.source, SetterSource::OpenApi { .. }));
    let mut values = Vec::new();
    for setter in &own {
        let (Some(location), SetterSource::OpenApi { definition, .. }) =
            (setter.location, setter.source)
        else {
            continue;
        };
        report_extra_fields(setter, location, definition, &mut result.losses);
        let fields = setters.fields_of(&setter.name).into_iter().map(|field| field.node);
        let value = config_string(&setter.expand_enum(&setter.value), fields);
        // Without a value the fields keep theirs; an empty one would clear them when the package is rendered.
        if setter.value != SetterValue::Unset {
            values.push((setter.name.clone(), value));
        }
        if !is_removed(location.file) {
            let (start, losses) = (location.node.start(), &mut result.losses);
            report_comments(location.file, start, definition, Dialect::KptSet, losses);
            result.changes.add_at(location.file, definition, EditOp::Remove(definition));
        }
        result.losses.extend(overridden(setter, location, outer));
        result.setters.push(setter.name.clone());
    }
    for substitution in setters.definitions().substitutions() {
        let NodeLocation { file, node } = substitution.location;
        let loss =
            Dialect::KptSet.loss(format!("the name of substitution `{}`", substitution.name));
        let loss = warning_at(file, node.full_span(), loss);
        result.losses.push(loss.note("its pattern is written to every reference"));
        if !is_removed(file) {
            result.changes.add_at(file, node, EditOp::Remove(node));
        }
    }
    // With each setter set to its own marker, the value of a substitution is its expanded pattern.
    let markers: Values = own
        .iter()
        .map(|it| (it.name.clone(), SetterValue::Scalar(format!("${{{}}}", it.name))))
        .collect();
    let mut resolver = FieldResolver::new(setters.definitions(), &markers);
    let no_values = Values::new();
    let mut current = FieldResolver::new(setters.definitions(), &no_values);
    for field in setters.fields() {
        let pattern = match setters.definitions().get(&field.reference.target) {
            Some(Definition::Setter(setter)) => format!("${{{}}}", setter.name),
            Some(Definition::Substitution(it)) => {
                resolver.substitution(&it.name).map_err(|kind| field.location().error(kind))?
            }
            None => continue,
        };
        if Pattern::with_names(&pattern).is_err() {
            let loss = Dialect::KptSet.loss(format!("the pattern `{pattern}`"));
            return Err(field.location().error(loss));
        }
        let differs = current.resolve(field).ok().and_then(|op| differing_value(field, &op));
        result.losses.extend(differs.map(|value| {
            let kind = SetterKind::FieldDiffers { value: value.into() };
            warning_at(field.file, field.node.full_span(), kind)
        }));
        let reference = reference::write(ReferenceSyntax::Pattern, "", "", &pattern);
        replace_reference(field, &reference, Dialect::KptSet, &mut result);
    }
    new_definition::define_in_function(setters, &values, &mut result.changes)?;
    Ok(result)
}

/// The value of a field's setter, if the field has another one: nobody applies definitions, but apply-setters runs with each render.
fn differing_value(field: &SetterField<'_>, op: &EditOp<'_>) -> Option<String> {
    let (old, new) = match op {
        EditOp::Set(node, value) => {
            (node.as_scalar()?.value().into_owned(), scalar_text(value).to_owned())
        }
        EditOp::SetItems(node, items) => {
            let new: Vec<&str> = (0..items.len()).map(|at| items.text(at)).collect();
            (scalar_elements(*node).join(", "), new.join(", "))
        }
        _ => return None,
    };
    (old != new && field.node.kind() != NodeKind::Mapping).then_some(new)
}

/// A loss for a setter that an outer package has with another value: the functions of that package run last, and would set it.
fn overridden(
    setter: &Setter<'_>,
    location: NodeLocation<'_>,
    outer: &[&Setters<'_>],
) -> Option<Diagnostic> {
    let mut same = outer.iter().filter_map(|it| it.definitions().setter(&setter.name));
    let other = same.find(|it| it.location.is_some() && it.value != setter.value)?;
    let what = format!("another value of setter `{}` in a subpackage", setter.name);
    let loss = warning_at(location.file, location.node.full_span(), Dialect::KptSet.loss(what));
    Some(loss.note(format!("the outer package has it at {}", other.location?)))
}

/// Reports the fields of a definition that are neither name nor value.
fn report_extra_fields(
    setter: &Setter<'_>,
    location: NodeLocation<'_>,
    definition: NodeRef<'_>,
    losses: &mut Vec<Diagnostic>,
) {
    let SetterSource::OpenApi { setter: inside, .. } = setter.source else { return };
    let is_array = setter.schema_type() == Some("array");
    let schema =
        mapping_entries(definition).filter(|it| !(it.is("x-k8s-cli") || is_array && it.is("type")));
    // `isSet` is no loss: without `required` nobody reads it.
    let extension = mapping_entries(inside)
        .filter(|it| !["name", "value", "listValues", "isSet"].iter().any(|known| it.is(known)));
    for entry in schema.chain(extension) {
        let what = format!("`{}` of setter `{}`", entry.key.text(), setter.name);
        losses.push(warning_at(location.file, entry.key.full_span(), Dialect::KptSet.loss(what)));
    }
}

/// Reports comments that are removed together with a node.
pub(super) fn report_comments(
    file: &PackageFile,
    start: u32,
    node: NodeRef<'_>,
    to: Dialect,
    losses: &mut Vec<Diagnostic>,
) {
    let source = node.document().file();
    let removed = Span::new(start, source.line_at(node.end()).end.max(node.end()));
    let comments = node.document().comments().into_iter();
    for comment in comments.filter(|comment| removed.contains(comment.span)) {
        losses.push(warning_at(file, comment.span, to.loss("this comment")));
    }
}

/// Replaces the reference of a field. The new one is written at the end of the comment.
pub(super) fn replace_reference<'a>(
    field: &SetterField<'a>,
    new: &str,
    to: Dialect,
    result: &mut MigrateResult<'a>,
) {
    let text = reference::remove(field.comment.text, &field.reference.range);
    if let Some(text) = text.clone().filter(|_| to == Dialect::KptSet) {
        let kind = SetterKind::ReferenceAfterText { text: text.into() };
        result.losses.push(warning_at(field.file, field.comment.span, kind));
    }
    let comment = reference::append(text.as_deref(), new);
    let op = EditOp::SetComment(field.comment, Some(comment));
    result.changes.add_at(field.file, field.node, op);
    result.fields.push(field.location());
}
