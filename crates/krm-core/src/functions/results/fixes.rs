//! Fixes: applies the values that results propose, each as an edit of one field.

use std::collections::BTreeMap;

use krm_yaml::{Edit, File, NodeRef, Path, Segment, Value};

use super::ResultKind;
use super::field::FieldLookup;
use super::locate::{LocatedResult, ResultLocator};
use crate::diagnostics::CommonKind;
use crate::functions::resource_list::FunctionResult;
use crate::functions::resource_list::results::FieldRef;
use crate::print::json;
use crate::{Diagnostic, Package, PackagePath};

/// A result and the package whose function returned it.
#[derive(Clone, Debug)]
pub struct PackageResult<'r> {
    /// The directory of the package that declares the function; empty for the root package.
    pub directory: &'r str,
    /// The result.
    pub result: &'r FunctionResult,
}

/// The fixes of a package.
#[derive(Clone, Debug, Default)]
pub struct Fixes {
    /// The new texts of files.
    pub texts: BTreeMap<PackagePath, String>,
    /// The fields that are fixed, as `file:line: path`.
    pub applied: Vec<String>,
    /// Warnings for the results that are not fixed.
    pub skipped: Vec<Diagnostic>,
}

/// A fix that can be applied.
struct Fix<'a> {
    field: FieldLookup<'a>,
    value: Value<'static>,
    /// The index of its result.
    result: usize,
}

impl Fixes {
    /// Computes the fixes of a package. If a result proposes several values, `choose` returns the index of the one to use, given the
    /// index of the result; none skips the result.
    pub fn apply(
        package: &Package,
        results: &[PackageResult<'_>],
        mut choose: impl FnMut(usize, &FunctionResult) -> Option<usize>,
    ) -> Self {
        let locator = ResultLocator::new(package);
        let mut fixes = Self::default();
        let mut by_file: BTreeMap<&PackagePath, Vec<Fix<'_>>> = BTreeMap::new();
        for (index, it) in results.iter().enumerate() {
            let Some(field) = it.result.field.as_ref().filter(|field| !field.proposed.is_empty())
            else {
                continue;
            };
            let skip = |kind| not_fixed(kind, &locator.diagnostic(it.directory, it.result));
            let value = match &field.proposed[..] {
                [value] => value,
                values => match choose(index, it.result).and_then(|at| values.get(at)) {
                    Some(chosen) => chosen,
                    None => {
                        let kind = ResultKind::SeveralProposals { count: values.len() };
                        fixes.skipped.push(with_choices(skip(kind), index, values));
                        continue;
                    }
                },
            };
            match requested_edit(locator.locate(it.directory, it.result), field, value) {
                Ok(Some((path, field, value))) => {
                    by_file.entry(path).or_default().push(Fix { field, value, result: index });
                }
                Ok(None) => {}
                Err(kind) => fixes.skipped.push(skip(kind)),
            }
        }
        for (path, all) in by_file {
            fixes.fix_file(package, path, &all, |index| {
                locator.diagnostic(results[index].directory, results[index].result)
            });
        }
        fixes
    }

    /// Fixes one file: all edits at once, or one by one if they cannot be combined.
    fn fix_file(
        &mut self,
        package: &Package,
        path: &PackagePath,
        all: &[Fix<'_>],
        diagnostic: impl Fn(usize) -> Diagnostic,
    ) {
        let file = package.file(path);
        let Some((file, text)) = file.and_then(|file| Some((file, file.file()?))) else { return };
        if file.is_external_symlink {
            let skipped = Diagnostic::warning(CommonKind::SymlinkOutsidePackage);
            self.skipped.push(skipped.in_file(&*file.display_path));
            return;
        }
        let json = path.is_json();
        let (mut distinct, mut refused) = without_conflicts(all);
        let new = edited(text, &distinct, json).or_else(|_| {
            let mut combined: Vec<&Fix<'_>> = Vec::new();
            for fix in distinct.drain(..) {
                combined.push(fix);
                if let Err(kind) = edited(text, &combined, json) {
                    combined.pop();
                    refused.push((fix, kind));
                }
            }
            distinct = combined;
            edited(text, &distinct, json)
        });
        let refused = refused.into_iter();
        self.skipped.extend(refused.map(|(fix, kind)| not_fixed(kind, &diagnostic(fix.result))));
        self.applied.extend(distinct.iter().map(|fix| label(&diagnostic(fix.result), &fix.field)));
        self.texts.extend(new.ok().map(|text| (path.clone(), text)));
    }
}

type Refused<'f, 'a> = (&'f Fix<'a>, ResultKind);

/// The fixes of different fields, and those that another fix contradicts.
fn without_conflicts<'f, 'a>(all: &'f [Fix<'a>]) -> (Vec<&'f Fix<'a>>, Vec<Refused<'f, 'a>>) {
    let mut by_path: BTreeMap<(usize, String), &Fix<'a>> = BTreeMap::new();
    let (mut distinct, mut refused) = (Vec::new(), Vec::new());
    for fix in all {
        let key = (fix.field.node.document().index(), fix.field.path().to_string());
        match by_path.get(&key) {
            Some(other) if is_equal(&other.value, &fix.value) => {}
            Some(_) => refused.push((fix, ResultKind::ConflictingProposals)),
            None => {
                by_path.insert(key, fix);
                distinct.push(fix);
            }
        }
    }
    (distinct, refused)
}

fn not_fixed(kind: ResultKind, result: &Diagnostic) -> Diagnostic {
    Diagnostic::warning(kind).located_as(result)
}

fn label(diagnostic: &Diagnostic, field: &FieldLookup<'_>) -> String {
    let line = diagnostic.location.as_ref().map_or(String::new(), |it| format!(":{}", it.line));
    let file = diagnostic.file.as_deref().unwrap_or_default();
    let path = diagnostic.field.as_deref().map_or_else(|| field.path().to_string(), str::to_owned);
    format!("{file}{line}: {path}")
}

fn edited(file: &File, fixes: &[&Fix<'_>], json: bool) -> Result<String, ResultKind> {
    let mut edit = Edit::new(file).json(json);
    let (existing, missing): (Vec<&Fix<'_>>, Vec<&Fix<'_>>) =
        fixes.iter().copied().partition(|fix| fix.field.exists());
    let queued = existing.iter().try_for_each(|fix| edit.set(fix.field.node, fix.value.clone()));
    let queued = queued.and_then(|()| {
        new_fields(&missing)
            .into_iter()
            .try_for_each(|new| edit.set_at(new.at.document(), &new.path, new.value))
    });
    let text = queued.and_then(|()| edit.apply());
    text.map_err(|error| ResultKind::CannotEdit { reason: error.to_string() })
}

/// A field that an edit creates, with everything that fixes set inside it.
struct NewField<'a> {
    /// The last node on the path that exists.
    at: NodeRef<'a>,
    path: Path,
    value: Value<'static>,
}

/// The fields that several fixes create. Those below the same missing parent are one: an edit can create a parent only once.
fn new_fields<'a>(fixes: &[&Fix<'a>]) -> Vec<NewField<'a>> {
    let mut all: Vec<NewField<'a>> = Vec::new();
    for fix in fixes {
        let keys = fix.field.missing.iter().map(|segment| match segment {
            Segment::Key(key) => Some(key.as_str()),
            _ => None,
        });
        let keys: Option<Vec<&str>> = keys.collect();
        let at = fix.field.node;
        let Some((first, inner)) = keys.as_deref().and_then(|keys| keys.split_first()) else {
            all.push(NewField { at, path: fix.field.path(), value: fix.value.clone() });
            continue;
        };
        let path = at.path().join(first);
        let value = inner.iter().rev().fold(fix.value.clone(), |value, key| {
            Value::Mapping(vec![(Value::string((*key).to_owned()), value)])
        });
        match all.iter_mut().find(|new| new.at == at && new.path.segments() == path.segments()) {
            Some(new) => add_fields(&mut new.value, value),
            None => all.push(NewField { at, path, value }),
        }
    }
    all
}

/// Adds the fields of a mapping to another one. Fixes of one field contradict each other before this is called, so only a fix of a parent
/// and one of its fields meet here: the field wins, because it is more specific.
fn add_fields(into: &mut Value<'static>, from: Value<'static>) {
    match (into, from) {
        (Value::Mapping(entries), Value::Mapping(new)) => {
            for (key, value) in new {
                match entries.iter_mut().find(|(other, _)| is_equal(other, &key)) {
                    Some((_, existing)) => add_fields(existing, value),
                    None => entries.push((key, value)),
                }
            }
        }
        (into, from) => *into = from,
    }
}

/// Adds the flags that choose each of the proposed values.
fn with_choices(diagnostic: Diagnostic, index: usize, proposed: &[Value<'_>]) -> Diagnostic {
    let choices = proposed.iter().enumerate().map(|(at, value)| {
        format!("use `--choose {}={}` to set {}", index + 1, at + 1, json::display(value))
    });
    choices.fold(diagnostic, Diagnostic::hint)
}

type RequestedEdit<'a> = Option<(&'a PackagePath, FieldLookup<'a>, Value<'static>)>;

/// The edit that a result asks for; none if the field has the value already.
fn requested_edit<'a>(
    located: Option<LocatedResult<'a>>,
    field: &FieldRef,
    value: &Value<'static>,
) -> Result<RequestedEdit<'a>, ResultKind> {
    let Some(LocatedResult { resource, field: found }) = located else {
        return Err(ResultKind::ResourceNotFound);
    };
    let Some(found) = found else {
        return Err(ResultKind::InvalidFieldPath { path: field.path.clone() });
    };
    let current = field.current.as_ref().filter(|current| !matches!(current, Value::Null));
    let value = match found.exists() {
        true if writes_strings(found.node, field)? => parsed(value),
        true => value.clone(),
        false if current.is_some() => return Err(ResultKind::FieldDeleted),
        false => value.clone(),
    };
    let is_done = found.exists() && has_value(found.node, &value);
    Ok((!is_done).then_some((&resource.file.path, found, value)))
}

/// Whether the function writes all values as strings. Fails if the field has another value than the function saw.
fn writes_strings(node: NodeRef<'_>, field: &FieldRef) -> Result<bool, ResultKind> {
    let Some(current) = &field.current else { return Ok(false) };
    let is_proposed = || field.proposed.iter().any(|value| has_value(node, value));
    if has_value(node, current) || is_proposed() {
        return Ok(false);
    }
    // Compat: kpt's functions write the values of results as strings, whatever their type.
    let text = node.resolve().as_scalar().map(|scalar| scalar.value());
    match (current, text) {
        (Value::String(seen), Some(text)) if *seen == text => Ok(true),
        _ => {
            let expected = json::display(current).into();
            Err(ResultKind::FieldChanged { path: field.path.clone(), expected })
        }
    }
}

/// The value that a string spells.
fn parsed(value: &Value<'static>) -> Value<'static> {
    match value {
        Value::String(text) => Value::plain(text.clone().into_owned()),
        other => other.clone(),
    }
}

fn has_value(node: NodeRef<'_>, value: &Value<'_>) -> bool {
    node.to_value().is_ok_and(|current| is_equal(&current, value))
}

fn is_equal(a: &Value<'_>, b: &Value<'_>) -> bool {
    json::display(a) == json::display(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::resource_list::results;
    use crate::model::package::tests::package;

    const POD: &str =
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a # it\nspec:\n  x: 1 # one\n  y: [a, b]\n";

    fn fixed(results: &str) -> (String, Vec<String>) {
        let package = package(&[("a.yaml", POD)]);
        let file = File::parse(format!("results:\n{results}")).unwrap();
        let read = results::parse(file.document(0).unwrap().root().unwrap());
        let results: Vec<PackageResult<'_>> =
            read.results.iter().map(|result| PackageResult { directory: "", result }).collect();
        let fixes = Fixes::apply(&package, &results, |_, _| None);
        let text = fixes.texts.into_values().next().unwrap_or_default();
        (text, fixes.skipped.into_iter().map(|it| it.message().to_owned()).collect())
    }

    fn one(field: &str) -> (String, Vec<String>) {
        fixed(&format!("- {{message: m, file: {{path: a.yaml}}, field: {{{field}}}}}\n"))
    }

    #[test]
    fn fix_is_an_edit_of_one_field() {
        let text = |field: &str| {
            let (text, skipped) = one(field);
            assert_eq!(skipped, Vec::<String>::new(), "{field}");
            text
        };
        assert_eq!(text("path: spec.x, proposedValue: 2"), POD.replace("x: 1", "x: 2"));
        assert_eq!(
            text("path: spec.x, currentValue: 1, proposedValue: 2"),
            POD.replace("x: 1", "x: 2")
        );
        assert_eq!(text("path: 'spec.y[1]', proposedValue: c"), POD.replace("b]", "c]"));
        assert_eq!(
            text("path: spec.z.w, proposedValue: true"),
            format!("{POD}  z:\n    w: true\n")
        );
        // Values as strings, as kpt's functions write them.
        assert_eq!(
            text("path: spec.x, currentValue: '1', proposedValue: '2'"),
            POD.replace("x: 1", "x: 2")
        );
        // The field has the value already.
        assert_eq!(text("path: spec.x, currentValue: 0, proposedValue: 1"), "");
    }

    #[test]
    fn fixes_below_one_missing_parent_are_applied_together() {
        let fix = |path: &str, value: &str| {
            format!(
                "- {{message: m, file: {{path: a.yaml}}, field: {{path: {path}, proposedValue: {value}}}}}\n"
            )
        };
        let all = [
            fix("spec.r.limits.cpu", "1"),
            fix("spec.x", "2"),
            fix("spec.r.limits.memory", "64Mi"),
            fix("spec.r.requests.cpu", "1"),
            fix("status", "{}"),
        ];
        let (text, skipped) = fixed(&all.concat());
        assert_eq!(skipped, Vec::<String>::new());
        let added = "  r:\n    limits:\n      cpu: 1\n      memory: 64Mi\n    requests:\n      cpu: 1\nstatus: {}\n";
        assert_eq!(text, format!("{}{added}", POD.replace("x: 1", "x: 2")));
    }

    #[test]
    fn fix_of_a_changed_field_is_skipped() {
        for (field, why) in [
            ("path: spec.x, currentValue: 7, proposedValue: 2", "`spec.x` is no longer 7"),
            (
                "path: spec.q, currentValue: 7, proposedValue: 2",
                "the field was deleted since the function ran",
            ),
            ("path: 'spec[', proposedValue: 2", "`spec[` is not a valid path"),
            ("path: spec.x, proposedValues: [2, 3]", "2 values are proposed"),
        ] {
            assert_eq!(one(field), (String::new(), vec![format!("not fixed: {why}")]), "{field}");
        }
        let missing = "- {message: m, resourceRef: {kind: Pod, name: z}, field: {path: a, proposedValue: 1}}\n";
        assert_eq!(fixed(missing).1, ["not fixed: the resource does not exist"]);
        let two = "- {message: m, file: {path: a.yaml}, field: {path: spec.x, proposedValue: 2}}\n- {message: n, file: {path: a.yaml}, field: {path: spec.x, proposedValue: 3}}\n";
        let (text, skipped) = fixed(two);
        assert_eq!(text, POD.replace("x: 1", "x: 2"));
        assert_eq!(skipped, ["not fixed: another result proposes a different value"]);
    }
}
