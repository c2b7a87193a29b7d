//! Options of the commands that merge: keys of lists, new elements, conflicts.

use clap::{Args, ValueEnum};
use krm_core::compare;
use krm_core::merge::{self, Conflict, MergeOptions, Resolution};
use krm_core::schema::Schema;
use krm_core::{Diagnostic, Severity};
use krm_yaml::{File, ReadOptions};

use crate::console::Console;
use crate::{Exit, Failure, disk};

/// Options for merging lists.
#[derive(Clone, Debug, Args)]
pub(crate) struct ListOptions {
    /// How to find the merge keys of lists that no schema describes
    #[arg(long, value_name = "MODE", default_value = "infer")]
    list_keys: ListKeys,

    /// How to merge lists that a schema declares atomic
    #[arg(long, value_name = "MODE", default_value = "infer")]
    atomic: AtomicLists,

    /// Merge keys of the list at a path, such as spec.rules=host,port; omit list elements from the path
    #[arg(long, value_name = "PATH=KEY[,KEY]", value_parser = list_key)]
    list_key: Vec<(String, Vec<String>)>,

    /// CustomResourceDefinition or OpenAPI document with merge keys of lists
    #[arg(long, value_name = "FILE")]
    schema: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ListKeys {
    /// Infer from the elements: mountPath, devicePath, ip, type, topologyKey, name, containerPort
    Infer,
    /// Use schemas only; other lists are replaced as a whole
    Schema,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AtomicLists {
    /// Like other lists: by a merge key that all elements have
    Infer,
    /// As the API server does: replaced as a whole
    Schema,
}

/// Where new list elements are inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewItems {
    /// After all others
    Last,
    /// Before all others
    First,
    /// After the element that precedes them in the source
    SourceOrder,
}

/// Options for conflicts.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConflictOptions {
    /// How to resolve a field that both sides changed
    #[arg(long, value_name = "MODE", default_value = "upstream")]
    on_conflict: OnConflict,

    /// How to restore what was deleted locally but changed upstream
    #[arg(long, value_name = "MODE", default_value = "delta")]
    restore: Restore,

    /// What null means
    #[arg(long, value_name = "MODE", default_value = "clear")]
    nulls: Nulls,

    /// How to merge sequences without merge keys
    #[arg(long, value_name = "MODE", default_value = "replace")]
    sequences: Sequences,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnConflict {
    /// Take upstream's value, with a warning, and exit with 1
    Upstream,
    /// Keep the local value, with a warning, and exit with 0
    Local,
    /// Write nothing and exit with 1
    Fail,
    /// Take upstream's value, keep the local one in a comment or in .krm-conflicts.yaml, and exit with 1
    Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Restore {
    /// Of a field, its merge keys and what upstream changed; resources stay deleted
    Delta,
    /// All of upstream's field or resource
    Whole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Nulls {
    /// Null on either side clears the field
    Clear,
    /// Null is a value like any other
    Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sequences {
    /// As one value: take upstream's if it changed
    Replace,
    /// Element by element, aligned by content
    Diff3,
}

fn list_key(text: &str) -> Result<(String, Vec<String>), String> {
    let (path, keys) = text.split_once('=').ok_or("expected PATH=KEY[,KEY]")?;
    let path: krm_yaml::Path = path.parse().map_err(|error| format!("{error}"))?;
    let fields = path.segments().iter().filter_map(|segment| match segment {
        krm_yaml::Segment::Key(key) => Some(key.as_str()),
        _ => None,
    });
    let fields: Vec<&str> = fields.collect();
    let keys: Vec<String> = keys.split(',').map(|key| key.trim().to_owned()).collect();
    if keys.iter().any(String::is_empty) {
        return Err("expected a key after `=`".to_owned());
    }
    Ok((fields.join("."), keys))
}

impl ListOptions {
    /// The schema of the built-in types, of CustomResourceDefinitions in the files, and of `--schema`.
    pub(crate) fn schema(&self, files: &[&File], console: &mut Console) -> Result<Schema, Failure> {
        let mut schema = Schema::built_in();
        for file in files {
            console.report_all(&merge::load_schema(&mut schema, file));
        }
        for name in &self.schema {
            let file = disk::parse(name, ReadOptions::default()).map_err(Failure::input)?;
            let mut diagnostics: Vec<Diagnostic> =
                file.errors().map(|error| Diagnostic::from_syntax(error, &file)).collect();
            diagnostics.extend(merge::load_schema_file(&mut schema, &file));
            let diagnostics: Vec<Diagnostic> =
                diagnostics.into_iter().map(|it| it.in_file(disk::display_name(name))).collect();
            if diagnostics.iter().any(Diagnostic::is_error) {
                return Err(Failure::Diagnostics(Exit::Input, diagnostics));
            }
            console.report_all(&diagnostics);
        }
        Ok(schema)
    }

    /// How lists are paired.
    pub(crate) fn pairing<'r>(&self, schema: &'r Schema) -> compare::ListOptions<'r> {
        compare::ListOptions {
            list_keys: match self.list_keys {
                ListKeys::Infer => compare::ListKeys::Infer,
                ListKeys::Schema => compare::ListKeys::Schema,
            },
            atomic: match self.atomic {
                AtomicLists::Infer => compare::AtomicLists::Infer,
                AtomicLists::Schema => compare::AtomicLists::Schema,
            },
            merge_keys: self.list_key.clone(),
            schema: Some(schema),
        }
    }
}

impl NewItems {
    pub(crate) fn option(self) -> merge::NewItems {
        match self {
            Self::Last => merge::NewItems::Last,
            Self::First => merge::NewItems::First,
            Self::SourceOrder => merge::NewItems::SourceOrder,
        }
    }
}

impl ConflictOptions {
    /// The options of a three-way merge.
    pub(crate) fn merge_options<'r>(&self, lists: compare::ListOptions<'r>) -> MergeOptions<'r> {
        let on_conflict = match self.on_conflict {
            OnConflict::Upstream => merge::OnConflict::Upstream,
            OnConflict::Local => merge::OnConflict::Local,
            OnConflict::Fail => merge::OnConflict::Fail,
            OnConflict::Mark => merge::OnConflict::Mark,
        };
        let restore = match self.restore {
            Restore::Delta => merge::Restore::Delta,
            Restore::Whole => merge::Restore::Whole,
        };
        let nulls = match self.nulls {
            Nulls::Clear => merge::Nulls::Clear,
            Nulls::Value => merge::Nulls::Value,
        };
        let sequences = match self.sequences {
            Sequences::Replace => merge::Sequences::Replace,
            Sequences::Diff3 => merge::Sequences::Diff3,
        };
        let defaults = MergeOptions::default();
        MergeOptions { lists, on_conflict, restore, nulls, sequences, ..defaults }
    }

    /// Whether the result of a merge with these conflicts is written, and how the command exits.
    ///
    /// A conflict that cannot be marked is recorded beside the file, unless there is none (`can_record`).
    pub(crate) fn action(&self, conflicts: &[Conflict], can_record: bool) -> ConflictAction {
        let is_marked = can_record || conflicts.iter().all(|conflict| conflict.is_marked);
        match self.on_conflict {
            _ if conflicts.is_empty() => ConflictAction::Write,
            // With --quiet the exit code is all that tells of a local edit that is lost.
            OnConflict::Upstream => ConflictAction::WriteAndFail,
            OnConflict::Local => ConflictAction::Write,
            OnConflict::Mark if is_marked => ConflictAction::WriteAndFail,
            OnConflict::Mark | OnConflict::Fail => ConflictAction::Fail,
        }
    }

    /// Whether conflicts are marked.
    pub(crate) fn marks(&self) -> bool {
        self.on_conflict == OnConflict::Mark
    }

    /// The conflicts as diagnostics: warnings if the result is written, errors otherwise.
    pub(crate) fn diagnostics(
        &self,
        conflicts: &[Conflict],
        action: ConflictAction,
    ) -> Vec<Diagnostic> {
        let diagnostic = |conflict: &Conflict| {
            let resolution = match (action, self.on_conflict, conflict.is_marked) {
                (ConflictAction::Fail, OnConflict::Mark, false) => Resolution::NoMarkerPossible,
                (ConflictAction::Fail, ..) => Resolution::NothingWritten,
                (_, OnConflict::Mark, false) => Resolution::Recorded,
                _ => conflict.resolution(),
            };
            let mut diagnostic = conflict.to_diagnostic(resolution);
            if matches!(self.on_conflict, OnConflict::Fail | OnConflict::Mark) {
                diagnostic.severity = Severity::Error;
            }
            diagnostic
        };
        conflicts.iter().map(diagnostic).collect()
    }
}

/// Prints warnings, and with `--verbose` what else a merge reports.
pub(crate) fn report_notes(diagnostics: &[Diagnostic], console: &mut Console) {
    let is_verbose = console.is_verbose();
    let shown = diagnostics.iter().filter(|it| is_verbose || it.severity != Severity::Info);
    shown.for_each(|diagnostic| console.report(diagnostic));
}

/// What a command does after a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConflictAction {
    /// Write the result.
    Write,
    /// Write the result and exit with 1.
    WriteAndFail,
    /// Write nothing and exit with 1.
    Fail,
}

/// The conflicts as a JSON array, one per line.
pub(crate) fn conflicts_json(conflicts: &[Conflict]) -> String {
    let lines: Vec<String> = conflicts.iter().map(Conflict::to_json).collect();
    if lines.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", lines.join(",\n")) }
}
