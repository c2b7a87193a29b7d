//! `--report FORMAT=FILE`: the findings of a run for code review, CI systems and other programs.
//!
//! A finding is every diagnostic and every result of a function that a command reports, also those that `--quiet` does not print, and
//! every file that `--check` would change.

mod authors;
mod changes;
mod checkstyle;
mod finding;
mod fix;
mod github;
mod gitlab;
mod html;
mod json;
mod junit;
mod markdown;
mod package_directories;
mod sarif;
mod xml;

pub(crate) use authors::ResourceText;
pub(crate) use finding::{Finding, FunctionFinding};

use std::path::Path;

use changes::Changes;
use fix::Fix;
use krm_core::functions::resource_list::FunctionResult;
use krm_core::functions::results::ResultLocator;
use krm_core::{Diagnostic, Package, PlannedChange, Severity};

use crate::disk::{self, FileKind};

/// A report that the user asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    format: Format,
    /// `-` is standard output.
    file: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Sarif,
    Junit,
    Gitlab,
    Checkstyle,
    Github,
    Markdown,
    Json,
    Html,
}

impl std::str::FromStr for Report {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || {
            let formats = <Format as clap::ValueEnum>::value_variants().iter();
            let names: Vec<String> = formats.map(|it| it.name()).collect();
            names.join(", ")
        };
        let Some((format, file)) = text.split_once('=').filter(|(_, file)| !file.is_empty()) else {
            return Err(format!("expected FORMAT=FILE, where FORMAT is one of {}", names()));
        };
        let format = <Format as clap::ValueEnum>::from_str(format, false)
            .map_err(|_| format!("unknown format `{format}`, expected one of {}", names()))?;
        Ok(Self { format, file: file.to_owned() })
    }
}

impl Format {
    fn name(self) -> String {
        let value = clap::ValueEnum::to_possible_value(&self);
        value.map(|it| it.get_name().to_owned()).unwrap_or_default()
    }

    fn write(self, findings: &[Finding], changes: &Changes, show_secrets: bool) -> String {
        match self {
            Self::Sarif => sarif::write(findings),
            Self::Junit => junit::write(findings),
            Self::Gitlab => gitlab::write(findings),
            Self::Checkstyle => checkstyle::write(findings),
            Self::Github => github::write(findings),
            Self::Markdown => markdown::write(findings, changes, show_secrets),
            Self::Json => json::write(findings),
            Self::Html => html::write(findings, changes, show_secrets),
        }
    }
}

/// Collects the findings of a run.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    reports: Vec<Report>,
    findings: Vec<Finding>,
    changes: Changes,
    show_secrets: bool,
    /// How many fixes were computed.
    fixes: usize,
}

/// A fix takes as long as an edit of its file, so only this many are computed for a run.
const MAX_FIXES: usize = 1000;

impl Recorder {
    pub(crate) fn new(reports: &[Report], show_secrets: bool) -> Self {
        Self { reports: reports.to_vec(), show_secrets, ..Self::default() }
    }

    /// Whether a report shows what changed.
    pub(crate) fn records_changes(&self) -> bool {
        self.reports.iter().any(|report| match report.format {
            Format::Html | Format::Markdown => true,
            Format::Github => github::step_summary().is_some(),
            _ => false,
        })
    }

    pub(crate) fn add_change(&mut self, change: &PlannedChange) {
        if self.records_changes() {
            self.changes.add_file(change);
        }
    }

    /// Records that a function changed or created a resource.
    pub(crate) fn add_author(
        &mut self,
        before: Option<ResourceText<'_>>,
        after: ResourceText<'_>,
        function: &str,
    ) {
        self.changes.authors.record(before, after, function);
    }

    /// The edit that resolves a finding, for reports that have it.
    pub(crate) fn fix(
        &mut self,
        package: &Package,
        locator: &ResultLocator<'_>,
        directory: &str,
        result: &FunctionResult,
    ) -> Option<Fix> {
        let has_fixes = |it: &Report| matches!(it.format, Format::Sarif | Format::Json);
        if self.fixes >= MAX_FIXES || !self.reports.iter().any(has_fixes) {
            return None;
        }
        let found = fix::of(package, locator, directory, result);
        self.fixes += usize::from(found.is_some());
        found
    }

    /// Whether there is a report to write.
    pub(crate) fn is_on(&self) -> bool {
        !self.reports.is_empty()
    }

    pub(crate) fn add(&mut self, finding: Finding) {
        if self.is_on() {
            self.findings.push(finding);
        }
    }

    /// Writes all reports, and returns the text for standard output.
    pub(crate) fn write(mut self) -> Result<String, Diagnostic> {
        let mut output = String::new();
        if !self.is_on() {
            return Ok(output);
        }
        finding::order(&mut self.findings);
        for report in &self.reports {
            let text = report.format.write(&self.findings, &self.changes, self.show_secrets);
            match report.file.as_str() {
                disk::STDIN | "/dev/stdout" | "/dev/fd/1" => output.push_str(&text),
                file => write_file(file, &text)?,
            }
            if report.format == Format::Github {
                let (findings, changes) = (&self.findings, &self.changes);
                github::append_to_step_summary(findings, changes, self.show_secrets)?;
            }
        }
        Ok(output)
    }
}

fn write_file(file: &str, text: &str) -> Result<(), Diagnostic> {
    let path = Path::new(file);
    if disk::is_output_stream(file) {
        return disk::write_to_stream(file, text).map_err(|error| {
            let reason = disk::io_reason(&error);
            Diagnostic::error(FileKind::CannotWrite { reason }).in_file(file)
        });
    }
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let written = disk::write_output(directory.unwrap_or(Path::new(".")), &name, text);
    written.map_err(|error| {
        Diagnostic::error(FileKind::CannotCreate { reason: disk::io_reason(&error) }).in_file(file)
    })
}

/// The findings with errors first, then warnings, so that what is cut off matters least.
fn by_severity(findings: &[Finding]) -> Vec<&Finding> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| std::cmp::Reverse(finding.diagnostic.severity));
    sorted
}

/// How many findings have a severity.
fn count(findings: &[Finding], severity: Severity) -> usize {
    findings.iter().filter(|it| it.diagnostic.severity == severity).count()
}
