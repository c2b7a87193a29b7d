//! One HTML file for people: what changes, by which function, and the findings. It loads nothing from the network.
//!
//! The page is data and a script that shows it: as markup, the diffs of 10,000 resources would be many times as large.

use krm_core::diff::{DiffItem, Differ, ResourceDiff, diff_packages, field_lines, heading};
use krm_core::print::{json, visible_line};
use krm_core::{Package, PackageFile, Severity};
use krm_yaml::Value;
use similar::{ChangeTag, TextDiff};

use super::changes::Changes;
use super::json::{object, text};
use super::{Finding, count};
use crate::console::masked_texts;

const PAGE: &str = include_str!("report.html");

/// How many unchanged lines surround a change.
const CONTEXT: usize = 2;

pub(super) fn write(findings: &[Finding], changes: &Changes, show_secrets: bool) -> String {
    let mut functions = Functions::default();
    let files = changes.files.iter().map(|change| {
        let name = change.display_path.as_str();
        let old = change.old.as_deref().unwrap_or_default();
        let new = change.new.as_deref().unwrap_or_default();
        let fields = fields(name, old, new, show_secrets);
        let action = match (&change.old, &change.new) {
            (None, _) => "created",
            (_, None) => "deleted",
            _ => "changed",
        };
        let (old, new) = masked_texts(old, new, show_secrets);
        let lines = lines(name, &old, &new, changes, &mut functions);
        let resources = fields.into_iter().map(|(resource, fields)| {
            let fields = fields.into_iter().map(text).collect();
            Value::Sequence(vec![text(resource), Value::Sequence(fields)])
        });
        let resources = Value::Sequence(resources.collect());
        Value::Sequence(vec![text(shown(name)), text(action), resources, Value::Sequence(lines)])
    });
    let files: Vec<Value<'_>> = files.collect();
    let counts = [Severity::Error, Severity::Warning, Severity::Info].map(|severity| {
        let number = i64::try_from(count(findings, severity)).unwrap_or(i64::MAX);
        (severity.name(), Value::int(number))
    });
    let findings = findings.iter().map(|finding| {
        let source = finding.diagnostic.location.as_ref().map(|it| it.text.clone());
        Value::Sequence(vec![
            text(finding.diagnostic.severity.name()),
            text(&finding.rule),
            text(finding.text()),
            text(shown(finding.file().unwrap_or_default())),
            Value::int(finding.line().unwrap_or(0).into()),
            text(shown(&finding.subject())),
            text(source.unwrap_or_default()),
        ])
    });
    let data = object([
        ("counts", object(counts)),
        ("findings", Value::Sequence(findings.collect())),
        ("functions", Value::Sequence(functions.0.iter().map(text).collect())),
        ("files", Value::Sequence(files)),
    ]);
    // Inside of a script element, only `<` could end it.
    let data = json::display(&data).replace('<', "\\u003c");
    PAGE.replace("{{version}}", env!("CARGO_PKG_VERSION")).replace("{{data}}", &data)
}

fn shown(name: &str) -> String {
    visible_line(name).into_owned()
}

/// The functions that changed something, by number.
#[derive(Default)]
struct Functions(Vec<String>);

impl Functions {
    fn number(&mut self, name: &str) -> usize {
        let found = self.0.iter().position(|it| it == name);
        found.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
    }
}

/// The changed fields of each resource of a file.
fn fields(name: &str, old: &str, new: &str, show_secrets: bool) -> Vec<(String, Vec<String>)> {
    let package = |text: &str| {
        let name = name.rsplit('/').next().unwrap_or(name);
        let file = PackageFile::from_text(name, text.to_owned()).ok()?;
        Some(Package::new(vec![file]))
    };
    let (Some(old), Some(new)) = (package(old), package(new)) else { return Vec::new() };
    let changes = by_position(&old, &new).or_else(|| {
        diff_packages(&old, &new, false, krm_core::compare::ListOptions::default()).ok()
    });
    let changes = changes.unwrap_or_default();
    let semantic = changes.iter().filter(|change| change.is_semantic());
    semantic.map(|change| (heading(change), field_lines(change, show_secrets))).collect()
}

/// Pairs the resources of a file by their position if it has the same kinds before and after: a function that sets a namespace changes
/// a resource, and does not replace it.
fn by_position<'a>(old: &'a Package, new: &'a Package) -> Option<Vec<ResourceDiff<'a>>> {
    let items = |package: &'a Package| -> Vec<DiffItem<'a>> {
        let resources = package.resources().map(|it| DiffItem {
            file: it.file,
            node: it.resource.node,
            resource: Some(it.resource),
        });
        resources.collect()
    };
    let (old, new) = (items(old), items(new));
    let kind = |item: &DiffItem<'_>| item.resource.map(|it| it.kind().into_owned());
    let is_same = old.len() == new.len() && old.iter().zip(&new).all(|(a, b)| kind(a) == kind(b));
    is_same.then(|| {
        let mut differ = Differ::default();
        let pairs = old.into_iter().zip(new);
        let changes = pairs.map(|(old, new)| ResourceDiff {
            nodes: differ.compare(old.node, new.node),
            old: Some(old),
            new: Some(new),
            is_moved: false,
            is_renamed: false,
        });
        changes.collect()
    })
}

/// The lines of a diff: a sign and the text, followed by the number of the function that added it. `@` begins a hunk, with the first
/// lines of both sides.
fn lines(
    name: &str,
    old: &str,
    new: &str,
    changes: &Changes,
    functions: &mut Functions,
) -> Vec<Value<'static>> {
    let diff = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for group in diff.grouped_ops(CONTEXT) {
        let Some(first) = group.first() else { continue };
        let start = (first.old_range().start + 1, first.new_range().start + 1);
        lines.push(text(format!("@{} {}", start.0, start.1)));
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let value = change.value().trim_end_matches(['\n', '\r']);
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            lines.push(text(format!("{sign}{}", shown(value))));
            let author = changes.author(name, value).filter(|_| sign == '+');
            if let Some(author) = author {
                let number = functions.number(author);
                lines.push(Value::int(i64::try_from(number).unwrap_or(0)));
            }
        }
    }
    lines
}
