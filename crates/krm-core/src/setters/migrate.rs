//! `Migrate`: setters go from one dialect to the other, and what the other cannot hold is told.

use std::collections::BTreeMap;

use krm_yaml::{NodeKind, NodeRef, Span};

use super::changes::{Changes, Op};
use super::definition::{Setter, SetterSource, SetterValue, warning_at};
use super::definitions::Definition;
use super::fields::SetterField;
use super::new_definition::{self, APPLY_SETTERS, Entries, NewSetter};
use super::pattern::Pattern;
use super::reference::{self, ReferenceTarget, SETTER_PREFIX, SUBSTITUTION_PREFIX};
use super::resolve::{FieldResolver, Values};
use super::{NodeLocation, ReferenceSyntax, Setters, function_config};
use crate::{Diagnostic, PackageFile};

/// How a package keeps its setters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Definitions in OpenAPI, references `{"$openapi":"x"}`.
    OpenApi,
    /// Values in the functionConfig of apply-setters, references `kpt-set: ${x}`.
    KptSet,
}

/// Takes setters from one dialect to the other.
#[derive(Clone, Copy, Debug)]
pub struct MigrateSetters {
    /// Where to.
    pub to: Dialect,
}

/// What migrating comes to.
#[derive(Debug, Default)]
pub struct MigrateResult<'a> {
    /// What changes.
    pub changes: Changes<'a>,
    /// The setters that move.
    pub setters: Vec<String>,
    /// The fields whose references change.
    pub fields: Vec<NodeLocation<'a>>,
    /// What the new dialect cannot hold.
    pub losses: Vec<Diagnostic>,
}

impl MigrateSetters {
    /// What it comes to in a package.
    pub fn compute<'a>(&self, setters: &Setters<'a>) -> Result<MigrateResult<'a>, Vec<Diagnostic>> {
        if !setters.errors().is_empty() {
            return Err(setters.errors().to_vec());
        }
        let outcome = match self.to {
            Dialect::KptSet => to_kpt_set(setters),
            Dialect::OpenApi => to_openapi(setters),
        };
        outcome.map_err(|error| vec![error])
    }
}

/// Setters of one home in the order in which they are written.
fn in_order<'s, 'a>(
    setters: &'s Setters<'a>,
    is_meant: impl Fn(&Setter<'a>) -> bool,
) -> Vec<&'s Setter<'a>> {
    let mut found: Vec<&Setter<'a>> =
        setters.definitions().setters().filter(|it| is_meant(it)).collect();
    found.sort_by_key(|it| {
        it.location
            .map(|location| (location.file.path.clone(), location.node.start()))
            .map_or((None, 0), |(path, at)| (Some(path), at))
    });
    found
}

fn to_kpt_set<'a>(setters: &Setters<'a>) -> Result<MigrateResult<'a>, Diagnostic> {
    let mut done = MigrateResult::default();
    let own = in_order(setters, |it| matches!(it.source, SetterSource::OpenApi { .. }));
    let mut values = Vec::new();
    for setter in &own {
        let (Some(location), SetterSource::OpenApi { definition, .. }) =
            (setter.location, setter.source)
        else {
            continue;
        };
        lose_extras(setter, location, definition, &mut done.losses);
        let value = match &setter.value {
            SetterValue::Text(text) => SetterValue::Text(setter.meaning(text).to_owned()),
            other => other.clone(),
        };
        values.push((setter.name.clone(), value));
        done.changes.at(location.file, definition, Op::Remove(definition));
        done.setters.push(setter.name.clone());
    }
    for substitution in setters.definitions().substitutions() {
        let NodeLocation { file, node } = substitution.location;
        let words = format!(
            "kpt-set has no name for the substitution `{}`: its pattern goes into each reference",
            substitution.name
        );
        done.losses.push(warning_at(file, node.full_span(), words));
        done.changes.at(file, node, Op::Remove(node));
    }
    let names: Values = own
        .iter()
        .map(|it| (it.name.clone(), SetterValue::Text(format!("${{{}}}", it.name))))
        .collect();
    let mut filler = FieldResolver::new(setters.definitions(), &names);
    for field in setters.fields() {
        let pattern = match setters.definitions().get(&field.reference.target) {
            Some(Definition::Setter(setter)) => format!("${{{}}}", setter.name),
            Some(Definition::Substitution(it)) => {
                filler.substitution(&it.name).map_err(|words| field.location().error(words))?
            }
            None => continue,
        };
        if Pattern::with_names(&pattern).is_err() {
            return Err(field
                .location()
                .error(format!("kpt-set cannot hold the pattern `{pattern}`")));
        }
        replace(field, &reference::write(ReferenceSyntax::Pattern, "", "", &pattern), &mut done);
    }
    new_definition::define_in_function(setters, &values, &mut done.changes)?;
    Ok(done)
}

/// What stands in a definition beside name and value.
fn lose_extras(
    setter: &Setter<'_>,
    location: NodeLocation<'_>,
    definition: NodeRef<'_>,
    losses: &mut Vec<Diagnostic>,
) {
    let mut lose = |node: NodeRef<'_>, what: &str| {
        let words = format!("kpt-set cannot hold {what} of the setter `{}`", setter.name);
        losses.push(warning_at(location.file, node.full_span(), words));
    };
    let SetterSource::OpenApi { setter: inside, .. } = setter.source else { return };
    let is_array = setter.schema_type() == Some("array");
    for entry in definition.as_mapping().into_iter().flat_map(|it| it.entries().collect::<Vec<_>>())
    {
        if !(entry.is("x-k8s-cli") || is_array && entry.is("type")) {
            lose(entry.key, &format!("`{}`", entry.key.text()));
        }
    }
    for entry in inside.as_mapping().into_iter().flat_map(|it| it.entries().collect::<Vec<_>>()) {
        if !["name", "value", "listValues"].iter().any(|known| entry.is(known)) {
            lose(entry.key, &format!("`{}`", entry.key.text()));
        }
    }
    lose_comments(location.file, location.node.start(), definition, losses);
}

/// Comments that go with what is removed.
fn lose_comments(file: &PackageFile, start: u32, node: NodeRef<'_>, losses: &mut Vec<Diagnostic>) {
    let source = node.document().file();
    let removed = Span::new(start, source.line_at(node.end()).end.max(node.end()));
    for comment in node.document().comments() {
        if removed.contains(comment.span) {
            losses.push(warning_at(
                file,
                comment.span,
                "this comment has no place in the other dialect",
            ));
        }
    }
}

/// Another reference in place of a field's own. A pattern goes to the end of its comment.
fn replace<'a>(field: &SetterField<'a>, new: &str, done: &mut MigrateResult<'a>) {
    let words = reference::without(field.comment.text, &field.reference.range);
    if let Some(words) = &words
        && new.starts_with("kpt-set")
    {
        let warning =
            format!("kpt itself reads no reference behind other words, as in `{words}`; krm does");
        done.losses.push(warning_at(field.file, field.comment.span, warning));
    }
    let comment = reference::join(words.as_deref(), new);
    done.changes.at(field.file, field.node, Op::Comment(field.comment, Some(comment)));
    done.fields.push(field.location());
}

fn to_openapi<'a>(setters: &Setters<'a>) -> Result<MigrateResult<'a>, Diagnostic> {
    let mut done = MigrateResult::default();
    let mut new: Entries<'a> = Vec::new();
    for setter in in_order(setters, |it| !matches!(it.source, SetterSource::OpenApi { .. })) {
        let value = value_in_openapi(setter, setters)?;
        let is_list = matches!(value, SetterValue::List(_));
        let text = |text: &str| krm_yaml::Value::string(text.to_owned());
        let schema = if is_list { vec![(text("type"), text("array"))] } else { Vec::new() };
        let made = NewSetter { name: setter.name.clone(), value, schema, ..NewSetter::default() };
        new.push(made.definition());
        done.setters.push(setter.name.clone());
    }
    let mut named: BTreeMap<String, String> = BTreeMap::new();
    for field in setters.fields() {
        let ReferenceTarget::Pattern(pattern) = &field.reference.target else { continue };
        let name = match pattern.only_marker() {
            Some(name) => name.to_owned(),
            None => substitution(pattern, setters, &mut named, &mut new),
        };
        replace(field, &reference::write(ReferenceSyntax::OpenApi, "", &name, ""), &mut done);
    }
    for function in &setters.functions {
        remove_function(function, &mut done);
    }
    if !new.is_empty() {
        new_definition::define(new_definition::definition_file(setters)?, new, &mut done.changes);
    }
    Ok(done)
}

/// The value of a setter of kpt; a list where a list follows it.
fn value_in_openapi(setter: &Setter<'_>, setters: &Setters<'_>) -> Result<SetterValue, Diagnostic> {
    let is_list = |it: &&SetterField<'_>| it.node.kind() == NodeKind::Sequence;
    match &setter.value {
        SetterValue::Unset => {
            let words =
                format!("the setter `{}` has no value, and its fields do not tell it", setter.name);
            Err(Diagnostic::untyped_error(words).hint("give it one with `krm cfg set`"))
        }
        SetterValue::Text(text) if setters.reached_by(&setter.name).iter().any(is_list) => {
            Ok(function_config::list(text).map_or_else(|| setter.value.clone(), SetterValue::List))
        }
        other => Ok(other.clone()),
    }
}

/// The substitution for a pattern, made once.
fn substitution<'a>(
    pattern: &Pattern,
    setters: &Setters<'a>,
    named: &mut BTreeMap<String, String>,
    new: &mut Entries<'a>,
) -> String {
    if let Some(name) = named.get(pattern.as_str()) {
        return name.clone();
    }
    let base = slug(pattern.as_str());
    let definitions = setters.definitions();
    let is_free = |name: &String| {
        definitions.setter(name).is_none()
            && definitions.substitution(name).is_none()
            && !named.values().any(|other| other == name)
    };
    let numbered = (2_usize..).map(|at| format!("{base}-{at}"));
    let name = std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base.clone());
    let key = |name: &str| {
        let is_substitution =
            definitions.setter(name).is_none() && definitions.substitution(name).is_some();
        let prefix = if is_substitution { SUBSTITUTION_PREFIX } else { SETTER_PREFIX };
        (format!("${{{name}}}"), format!("{prefix}{name}"))
    };
    let values: Vec<(String, String)> = pattern.markers().into_iter().map(key).collect();
    new.push(new_definition::substitution(&name, pattern.as_str(), &values));
    named.insert(pattern.as_str().to_owned(), name.clone());
    name
}

/// `image-tag` for `${image}:${tag}`: letters, digits and dots, and one dash for whatever stands between them.
fn slug(pattern: &str) -> String {
    let parts = pattern.split(|c: char| !c.is_alphanumeric() && c != '.');
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// The call of apply-setters goes: its values are in the definitions.
fn remove_function<'a>(function: &function_config::Function<'a>, done: &mut MigrateResult<'a>) {
    let (file, node) = (function.kptfile, function.node);
    for entry in node.as_mapping().into_iter().flat_map(|it| it.entries().collect::<Vec<_>>()) {
        let is_usual = entry.is("image") && entry.value.as_str().as_deref() == Some(APPLY_SETTERS);
        if !is_usual && !["configMap", "configPath"].iter().any(|known| entry.is(known)) {
            let words = format!("OpenAPI cannot hold `{}` of the function", entry.key.text());
            done.losses.push(warning_at(file, entry.key.full_span(), words));
        }
        if entry.is("configPath") {
            let words = "the file with the values stays, and nothing reads it any more";
            done.losses.push(warning_at(file, entry.value.full_span(), words));
        }
    }
    lose_comments(file, node.start(), node, &mut done.losses);
    done.changes.at(file, node, Op::Remove(node));
}

impl Changes<'_> {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.files().next().is_none()
    }
}
