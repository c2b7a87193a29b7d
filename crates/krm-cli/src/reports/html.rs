//! One HTML file for people: what changes, by which function, and the findings. It loads nothing from the network.
//!
//! The page is data and a script that shows it: as markup, the diffs of 10,000 resources would be many times as large. Texts are in one
//! table, because most lines of manifests occur many times. What does not fit into the budget is left out and counted.

use std::collections::HashMap;

use krm_core::print::{json, visible_line};
use krm_core::{Action, Severity};
use krm_yaml::Value;
use similar::{ChangeTag, TextDiff};

use super::changes::{ChangedResource, Changes, Part};
use super::json::{object, text};
use super::package_directories::PackageDirectories;
use super::{Finding, by_severity, count};

const PAGE: &str = include_str!("report.html");

/// How many unchanged lines surround a change.
const CONTEXT: usize = 2;

/// Bytes of findings, of findings and diffs, and of everything. A file of 5 MB opens in a second, and can be attached to most mails.
const FINDINGS_BUDGET: usize = 1_500_000;
const DIFF_BUDGET: usize = 4_000_000;
const BUDGET: usize = 4_800_000;

/// What a line of a diff is. In the data, a line is the position of its text times eight plus this number.
#[derive(Clone, Copy)]
enum Line {
    Context = 0,
    Removed = 1,
    Added = 2,
    /// Followed by the position of the function.
    AddedBy = 3,
    /// Followed by the numbers of the first old and new line.
    Hunk = 4,
}

pub(super) fn write(findings: &[Finding], changes: &Changes, show_secrets: bool) -> String {
    let resources = changes.resources(show_secrets);
    let mut data = Data::default();
    let shown_findings = data.findings(findings);
    let shown_resources = data.resources(&resources);
    let counts = [Severity::Error, Severity::Warning, Severity::Info]
        .map(|severity| number(count(findings, severity)));
    let actions = [Action::Update, Action::Create, Action::Delete]
        .map(|action| number(resources.iter().filter(|it| it.action == action).count()));
    let functions = changes.authors.functions.iter().map(|it| text(shown(it)));
    let hidden = |all: usize, shown: &[Value<'_>]| number(all - shown.len());
    let data = object([
        ("counts", Value::Sequence(counts.to_vec())),
        ("actions", Value::Sequence(actions.to_vec())),
        ("functions", Value::Sequence(functions.collect())),
        ("hiddenFindings", hidden(findings.len(), &shown_findings)),
        ("hiddenResources", hidden(resources.len(), &shown_resources)),
        ("packages", Value::Sequence(data.packages.iter().map(text).collect())),
        ("strings", Value::Sequence(data.strings.into_iter().map(Value::string).collect())),
        ("findings", Value::Sequence(shown_findings)),
        ("resources", Value::Sequence(shown_resources)),
    ]);
    // Inside of a script element, only `<` could end it.
    let data = json::display(&data).replace('<', "\\u003c");
    PAGE.replace("{{version}}", env!("CARGO_PKG_VERSION")).replace("{{data}}", &data)
}

fn shown(name: &str) -> String {
    visible_line(name).into_owned()
}

fn number(number: usize) -> Value<'static> {
    Value::int(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The tables of the page, with the bytes that they take.
#[derive(Default)]
struct Data {
    strings: Vec<String>,
    positions: HashMap<String, usize>,
    packages: Vec<String>,
    package_positions: HashMap<String, usize>,
    directories: PackageDirectories,
    bytes: usize,
}

impl Data {
    /// The position of a text in the table.
    fn string(&mut self, text: &str) -> usize {
        if let Some(at) = self.positions.get(text) {
            return *at;
        }
        let escaped = text.matches('<').count() * 5 + text.matches(['"', '\\', '\n']).count();
        self.bytes += text.len() + escaped + 3;
        self.strings.push(text.to_owned());
        self.positions.insert(text.to_owned(), self.strings.len() - 1);
        self.strings.len() - 1
    }

    fn text(&mut self, text: &str) -> Value<'static> {
        let at = self.string(text);
        self.add(number(at))
    }

    /// Counts the bytes of a number.
    fn add(&mut self, number: Value<'static>) -> Value<'static> {
        self.bytes += json::display(&number).len() + 1;
        number
    }

    fn package(&mut self, name: &str) -> Value<'static> {
        if let Some(at) = self.package_positions.get(name).copied() {
            return self.add(number(at));
        }
        self.bytes += name.len() + 3;
        self.packages.push(shown(name));
        let at = self.packages.len() - 1;
        self.package_positions.insert(name.to_owned(), at);
        self.add(number(at))
    }

    /// The findings, errors first, as far as there is room.
    fn findings(&mut self, findings: &[Finding]) -> Vec<Value<'static>> {
        let mut all = Vec::new();
        for finding in by_severity(findings) {
            if self.bytes > FINDINGS_BUDGET {
                break;
            }
            all.push(self.finding(finding));
        }
        all
    }

    /// Severity, rule, message, package, file, line, subject, source line, and the part of it that is marked.
    fn finding(&mut self, finding: &Finding) -> Value<'static> {
        let file = finding.file().unwrap_or_default();
        let package = self.directories.of(file);
        let location = finding.diagnostic.location.as_deref();
        let parts = location.map(|it| {
            let (start, end) = (it.marked.start, it.marked.end);
            [it.text.get(..start), it.text.get(start..end), it.text.get(end..)]
        });
        let [before, marked, after] =
            parts.unwrap_or_default().map(|part| shown(part.unwrap_or_default()));
        // JavaScript counts in units of UTF-16.
        let units = |text: &str| number(text.encode_utf16().count());
        let severity = match finding.diagnostic.severity {
            Severity::Error => 0,
            Severity::Warning => 1,
            Severity::Info => 2,
        };
        self.bytes += 16;
        Value::Sequence(vec![
            number(severity),
            self.text(&finding.rule),
            self.text(&finding.text()),
            self.package(&package),
            self.text(&shown(file)),
            self.add(number(finding.line().unwrap_or(0) as usize)),
            self.text(&shown(&finding.subject())),
            self.text(&format!("{before}{marked}{after}")),
            units(&before),
            units(&marked),
        ])
    }

    fn resources(&mut self, resources: &[ChangedResource]) -> Vec<Value<'static>> {
        let mut all = Vec::new();
        for resource in resources {
            if self.bytes > BUDGET {
                break;
            }
            all.push(self.resource(resource));
        }
        all
    }

    /// Package, file, title, action, changed fields, functions, lines of the diff, and whether these are left out.
    fn resource(&mut self, resource: &ChangedResource) -> Value<'static> {
        let action = match resource.action {
            Action::Create => 1,
            Action::Delete => 2,
            Action::Update | Action::Unchanged => 0,
        };
        let package = self.package(&resource.package);
        let file = self.text(&shown(&resource.file));
        let title = self.text(&shown(&resource.title));
        let fields = resource.fields.iter().map(|field| self.text(&shown(field)));
        let fields = Value::Sequence(fields.collect());
        let functions = resource.functions().into_iter().map(|at| self.add(number(at)));
        let functions = Value::Sequence(functions.collect());
        let is_cut = self.bytes > DIFF_BUDGET;
        let lines = if is_cut { Vec::new() } else { self.lines(resource) };
        self.bytes += 16;
        Value::Sequence(vec![
            package,
            file,
            title,
            number(action),
            fields,
            functions,
            Value::Sequence(lines),
            number(usize::from(is_cut)),
        ])
    }

    /// The lines of a diff.
    fn lines(&mut self, resource: &ChangedResource) -> Vec<Value<'static>> {
        let ChangedResource { old, new, authors, .. } = resource;
        let diff = TextDiff::from_lines(&old.text, &new.text);
        let mut lines = Vec::new();
        for group in diff.grouped_ops(CONTEXT) {
            let Some(first) = group.first() else { continue };
            let start = |part: &Part, at: usize| part.line.max(1) + at;
            lines.push(self.add(number(Line::Hunk as usize)));
            lines.push(self.add(number(start(old, first.old_range().start))));
            lines.push(self.add(number(start(new, first.new_range().start))));
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                let value = change.value().trim_end_matches(['\n', '\r']);
                let at = self.string(&shown(value));
                let author = change.new_index().and_then(|at| authors.get(at).copied().flatten());
                let (line, author) = match (change.tag(), author) {
                    (ChangeTag::Delete, _) => (Line::Removed, None),
                    (ChangeTag::Equal, _) => (Line::Context, None),
                    (ChangeTag::Insert, None) => (Line::Added, None),
                    (ChangeTag::Insert, author) => (Line::AddedBy, author),
                };
                lines.push(self.add(number(at * 8 + line as usize)));
                let author = author.map(|author| self.add(number(author)));
                lines.extend(author);
            }
        }
        lines
    }
}
