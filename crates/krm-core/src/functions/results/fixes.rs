//! Proposals of functions, applied: each is an edit of the one field that its result names.

use std::collections::BTreeMap;

use krm_yaml::{Edit, EditError, File, NodeRef, Value};

use super::field::FieldLookup;
use super::locate::{LocatedResult, ResultLocator};
use crate::diagnostics::CommonKind;
use crate::functions::resource_list::FunctionResult;
use crate::functions::resource_list::results::FieldRef;
use crate::print::json;
use crate::{Diagnostic, Package, PackagePath, Severity};

/// One result with the folder of the package whose function gave it.
#[derive(Clone, Debug)]
pub struct PackageResult<'r> {
    /// The folder of the package that declares the function; empty for the one that was read.
    pub folder: &'r str,
    /// The result.
    pub result: &'r FunctionResult,
}

/// What came of the proposals.
#[derive(Clone, Debug, Default)]
pub struct Fixes {
    /// New texts, by file.
    pub texts: BTreeMap<PackagePath, String>,
    /// What was changed, in words.
    pub done: Vec<String>,
    /// What was not, and why.
    pub left: Vec<Diagnostic>,
}

/// A proposal that can be applied.
struct Fix<'a> {
    field: FieldLookup<'a>,
    value: Value<'static>,
    finding: usize,
}

impl Fixes {
    /// Applies the proposals of results to a package. Of several proposals `choose` says which one is taken, by the number of the
    /// result and its proposals; none leaves all.
    pub fn apply(
        package: &Package,
        findings: &[PackageResult<'_>],
        mut choose: impl FnMut(usize, &FunctionResult) -> Option<usize>,
    ) -> Self {
        let locator = ResultLocator::new(package);
        let mut fixes = Self::default();
        let mut by_file: BTreeMap<&PackagePath, Vec<Fix<'_>>> = BTreeMap::new();
        for (number, finding) in findings.iter().enumerate() {
            let Some(field) = finding.result.field.as_ref().filter(|it| !it.proposed.is_empty())
            else {
                continue;
            };
            let left = |words: &str| {
                not_changed(locator.diagnostic(finding.folder, finding.result), words)
            };
            let value = match &field.proposed[..] {
                [one] => one,
                many => match choose(number, finding.result).and_then(|it| many.get(it)) {
                    Some(chosen) => chosen,
                    None => {
                        let words = format!("{} values are proposed", many.len());
                        fixes.left.push(offered(left(&words), number, many));
                        continue;
                    }
                },
            };
            let target = locator.locate(finding.folder, finding.result);
            match wanted(target, field, value) {
                Ok(Some((path, field, value))) => {
                    by_file.entry(path).or_default().push(Fix { field, value, finding: number });
                }
                Ok(None) => {}
                Err(words) => fixes.left.push(left(&words)),
            }
        }
        for (path, all) in by_file {
            fixes.file(package, path, &all, |number| {
                let finding = &findings[number];
                locator.diagnostic(finding.folder, finding.result)
            });
        }
        fixes
    }

    /// One file: all proposals at once, or one by one where they do not go together.
    fn file(
        &mut self,
        package: &Package,
        path: &PackagePath,
        all: &[Fix<'_>],
        tell: impl Fn(usize) -> Diagnostic,
    ) {
        let files = package.files();
        let found = files.binary_search_by(|file| file.path.cmp(path)).ok();
        let Some((file, text)) = found.and_then(|at| Some((&files[at], files[at].file()?))) else {
            return;
        };
        if file.is_external_symlink {
            let skipped = Diagnostic::warning(CommonKind::SymlinkOutsidePackage);
            self.left.push(skipped.in_file(&*file.display_path));
            return;
        }
        let json = path.is_json();
        let (mut apart, mut refused) = without_meetings(all);
        let new = edited(text, &apart, json).or_else(|_| {
            let mut together: Vec<&Fix<'_>> = Vec::new();
            for fix in apart.drain(..) {
                together.push(fix);
                if let Err(words) = edited(text, &together, json) {
                    together.pop();
                    refused.push((fix, words.to_string()));
                }
            }
            apart = together;
            edited(text, &apart, json)
        });
        self.left
            .extend(refused.into_iter().map(|(fix, words)| not_changed(tell(fix.finding), &words)));
        self.done.extend(apart.iter().map(|fix| said(&tell(fix.finding), &fix.field)));
        self.texts.extend(new.ok().map(|text| (path.clone(), text)));
    }
}

/// The proposals that are about different fields, and those that another one stands against.
fn without_meetings<'f, 'a>(all: &'f [Fix<'a>]) -> (Vec<&'f Fix<'a>>, Vec<(&'f Fix<'a>, String)>) {
    let mut by_path: BTreeMap<(usize, String), &Fix<'a>> = BTreeMap::new();
    let (mut apart, mut refused) = (Vec::new(), Vec::new());
    for fix in all {
        let place = (fix.field.node.document().index(), fix.field.path().to_string());
        match by_path.get(&place) {
            Some(other) if same(&other.value, &fix.value) => {}
            Some(_) => {
                refused.push((fix, "another result proposes something else for it".to_owned()));
            }
            None => {
                by_path.insert(place, fix);
                apart.push(fix);
            }
        }
    }
    (apart, refused)
}

fn not_changed(mut told: Diagnostic, words: &str) -> Diagnostic {
    told.severity = Severity::Warning;
    told.set_untyped(format!("not changed: {words}"));
    told.hints.clear();
    told
}

fn said(told: &Diagnostic, field: &FieldLookup<'_>) -> String {
    let line = told.location.as_ref().map_or(String::new(), |place| format!(":{}", place.line));
    let file = told.file.as_deref().unwrap_or_default();
    let what = told.field.as_deref().map_or_else(|| field.path().to_string(), str::to_owned);
    format!("{file}{line}: {what}")
}

fn edited(file: &File, fixes: &[&Fix<'_>], json: bool) -> Result<String, EditError> {
    let mut edit = Edit::new(file).json(json);
    for fix in fixes {
        match fix.field.exists() {
            true => edit.set(fix.field.node, fix.value.clone())?,
            false => {
                let (document, path) = (fix.field.node.document(), fix.field.path());
                edit.set_at(document, &path, fix.value.clone())?;
            }
        }
    }
    edit.apply()
}

/// The proposals with the numbers by which they are chosen.
fn offered(told: Diagnostic, number: usize, proposed: &[Value<'_>]) -> Diagnostic {
    let choices = proposed.iter().enumerate().map(|(at, value)| {
        format!("`--choose {}={}` sets {}", number + 1, at + 1, json::write(value))
    });
    choices.fold(told, Diagnostic::hint)
}

type Wanted<'a> = Option<(&'a PackagePath, FieldLookup<'a>, Value<'static>)>;

/// The edit that a result asks for; none where the value is there already, and words where it cannot be.
fn wanted<'a>(
    target: Option<LocatedResult<'a>>,
    field: &FieldRef,
    value: &Value<'static>,
) -> Result<Wanted<'a>, String> {
    let Some(LocatedResult { placed, field: found }) = target else {
        return Err("there is no such resource".to_owned());
    };
    let Some(found) = found else { return Err(format!("`{}` is no path", field.path)) };
    let current = field.current.as_ref().filter(|current| !matches!(current, Value::Null));
    let value = match found.exists() {
        true if wrote_texts(found.node, field)? => as_written(value),
        true => value.clone(),
        false if current.is_some() => return Err("the field is not there any more".to_owned()),
        false => value.clone(),
    };
    let is_done = found.exists() && means(found.node, &value);
    Ok((!is_done).then_some((&placed.file.path, found, value)))
}

/// Whether the function wrote all values as text. An error where something else stands there now.
fn wrote_texts(node: NodeRef<'_>, field: &FieldRef) -> Result<bool, String> {
    let Some(current) = &field.current else { return Ok(false) };
    let is_proposed = || field.proposed.iter().any(|value| means(node, value));
    if means(node, current) || is_proposed() {
        return Ok(false);
    }
    // Compat: kpt writes the values of results as text, whatever they are.
    let text = node.resolve().as_scalar().map(|scalar| scalar.value());
    match (current, text) {
        (Value::String(seen), Some(text)) if *seen == text => Ok(true),
        _ => {
            let was = json::write(current);
            Err(format!("`{}` is not {was} any more", field.path))
        }
    }
}

/// The value that a text spells.
fn as_written(value: &Value<'static>) -> Value<'static> {
    match value {
        Value::String(text) => Value::plain(text.clone().into_owned()),
        other => other.clone(),
    }
}

fn means(node: NodeRef<'_>, value: &Value<'_>) -> bool {
    node.to_value().is_ok_and(|there| same(&there, value))
}

fn same(a: &Value<'_>, b: &Value<'_>) -> bool {
    json::flow(a) == json::flow(b)
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
        let findings: Vec<PackageResult<'_>> =
            read.results.iter().map(|result| PackageResult { folder: "", result }).collect();
        let fixes = Fixes::apply(&package, &findings, |_, _| None);
        let text = fixes.texts.into_values().next().unwrap_or_default();
        (text, fixes.left.into_iter().map(|told| told.message().to_owned()).collect())
    }

    fn one(field: &str) -> (String, Vec<String>) {
        fixed(&format!("- {{message: m, file: {{path: a.yaml}}, field: {{{field}}}}}\n"))
    }

    #[test]
    fn a_proposal_is_an_edit_of_one_field() {
        let text = |field: &str| {
            let (text, left) = one(field);
            assert_eq!(left, Vec::<String>::new(), "{field}");
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
        // Values as text, as kpt writes them.
        assert_eq!(
            text("path: spec.x, currentValue: '1', proposedValue: '2'"),
            POD.replace("x: 1", "x: 2")
        );
        // It is done already.
        assert_eq!(text("path: spec.x, currentValue: 0, proposedValue: 1"), "");
    }

    #[test]
    fn a_proposal_for_something_else_is_left() {
        for (field, why) in [
            ("path: spec.x, currentValue: 7, proposedValue: 2", "`spec.x` is not 7 any more"),
            ("path: spec.q, currentValue: 7, proposedValue: 2", "the field is not there any more"),
            ("path: 'spec[', proposedValue: 2", "`spec[` is no path"),
            ("path: spec.x, proposedValues: [2, 3]", "2 values are proposed"),
        ] {
            assert_eq!(one(field), (String::new(), vec![format!("not changed: {why}")]), "{field}");
        }
        let nobody = "- {message: m, resourceRef: {kind: Pod, name: z}, field: {path: a, proposedValue: 1}}\n";
        assert_eq!(fixed(nobody).1, ["not changed: there is no such resource"]);
        let two = "- {message: m, file: {path: a.yaml}, field: {path: spec.x, proposedValue: 2}}\n- {message: n, file: {path: a.yaml}, field: {path: spec.x, proposedValue: 3}}\n";
        let (text, left) = fixed(two);
        assert_eq!(text, POD.replace("x: 1", "x: 2"));
        assert_eq!(left, ["not changed: another result proposes something else for it"]);
    }
}
