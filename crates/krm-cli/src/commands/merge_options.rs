//! What all commands that merge are told in the same way, and how they end.

use clap::{Args, ValueEnum};
use krm_core::merge::node::{self, Conflict, Rules};
use krm_core::schema::Schema;
use krm_core::{Diagnostic, Severity};
use krm_yaml::{File, ReadOptions};

use crate::console::Console;
use crate::{Exit, Failure, disk};

/// How lists merge.
#[derive(Clone, Debug, Args)]
pub(crate) struct ListFlags {
    /// Where the keys of lists come from that no schema knows
    #[arg(long, value_name = "WAY", default_value = "infer")]
    list_keys: ListKeys,

    /// Keys of the list at a path, as in spec.rules=host,port; items are left out of the path
    #[arg(long, value_name = "PATH=KEY[,KEY]", value_parser = list_key)]
    list_key: Vec<(String, Vec<String>)>,

    /// A CustomResourceDefinition or an OpenAPI document that knows the keys of lists
    #[arg(long, value_name = "FILE")]
    schema: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ListKeys {
    /// From what the elements have in common: mountPath, devicePath, ip, type, topologyKey, name, containerPort
    Infer,
    /// From nowhere: such a list is taken whole
    Schema,
}

/// Where new items go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NewItems {
    /// Behind all others
    Last,
    /// Before all others
    First,
    /// Behind the one that the source has before them
    SourceOrder,
}

/// What becomes of conflicts.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConflictFlags {
    /// What becomes of what both sides changed
    #[arg(long, value_name = "WAY", default_value = "upstream")]
    on_conflict: OnConflict,

    /// How much comes back of what was deleted locally and changed upstream
    #[arg(long, value_name = "HOW", default_value = "delta")]
    restore: Restore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnConflict {
    /// Upstream's is taken, with a warning
    Upstream,
    /// Local's stays, with a warning
    Local,
    /// Nothing is written, and the exit code is 1
    Fail,
    /// Upstream's is taken with local's in a comment, and the exit code is 1
    Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Restore {
    /// The keys, and what changed
    Delta,
    /// All of it
    Whole,
}

fn list_key(text: &str) -> Result<(String, Vec<String>), String> {
    let (path, keys) = text.split_once('=').ok_or("it is written as PATH=KEY[,KEY]")?;
    let path: krm_yaml::Path = path.parse().map_err(|error| format!("{error}"))?;
    let fields = path.segments().iter().filter_map(|segment| match segment {
        krm_yaml::Segment::Key(key) => Some(key.as_str()),
        _ => None,
    });
    let fields: Vec<&str> = fields.collect();
    let keys: Vec<String> = keys.split(',').map(|key| key.trim().to_owned()).collect();
    if keys.iter().any(String::is_empty) {
        return Err("a key is missing behind the equals sign".to_owned());
    }
    Ok((fields.join("."), keys))
}

impl ListFlags {
    /// The schema of Kubernetes' own kinds, of what the files say, and of what was named for it.
    pub(crate) fn schema(&self, files: &[&File], console: &mut Console) -> Result<Schema, Failure> {
        let mut schema = Schema::kubernetes();
        for file in files {
            console.report_all(&node::learn(&mut schema, file));
        }
        for name in &self.schema {
            let file = disk::parse(name, ReadOptions::default()).map_err(Failure::input)?;
            let mut faults: Vec<Diagnostic> =
                file.errors().map(|error| Diagnostic::from_syntax(error, &file)).collect();
            faults.extend(node::learn_schema(&mut schema, &file));
            let faults: Vec<Diagnostic> =
                faults.into_iter().map(|fault| fault.in_file(disk::display_name(name))).collect();
            if faults.iter().any(Diagnostic::is_error) {
                return Err(Failure::Diagnostics(Exit::Input, faults));
            }
            console.report_all(&faults);
        }
        Ok(schema)
    }

    /// The rules that these flags give.
    pub(crate) fn rules<'r>(&self, schema: &'r Schema) -> Rules<'r> {
        Rules {
            list_keys: match self.list_keys {
                ListKeys::Infer => node::ListKeys::Infer,
                ListKeys::Schema => node::ListKeys::Schema,
            },
            keys_at: self.list_key.clone(),
            schema: Some(schema),
            ..Rules::default()
        }
    }
}

impl NewItems {
    pub(crate) fn rule(self) -> node::NewItems {
        match self {
            Self::Last => node::NewItems::Last,
            Self::First => node::NewItems::First,
            Self::SourceOrder => node::NewItems::SourceOrder,
        }
    }
}

impl ConflictFlags {
    /// The rules with what these flags say.
    pub(crate) fn rules<'r>(&self, rules: Rules<'r>) -> Rules<'r> {
        let on_conflict = match self.on_conflict {
            OnConflict::Upstream => node::OnConflict::Upstream,
            OnConflict::Local => node::OnConflict::Local,
            OnConflict::Fail => node::OnConflict::Fail,
            OnConflict::Mark => node::OnConflict::Mark,
        };
        let restore = match self.restore {
            Restore::Delta => node::Restore::Delta,
            Restore::Whole => node::Restore::Whole,
        };
        Rules { on_conflict, restore, ..rules }
    }

    /// What conflicts mean for the end of the command.
    pub(crate) fn judge(&self, conflicts: &[Conflict]) -> Verdict {
        let is_marked = conflicts.iter().all(|conflict| conflict.is_marked);
        match self.on_conflict {
            OnConflict::Fail | OnConflict::Mark if conflicts.is_empty() => Verdict::Write,
            OnConflict::Upstream | OnConflict::Local => Verdict::Write,
            OnConflict::Mark if is_marked => Verdict::WriteAndFail,
            OnConflict::Mark | OnConflict::Fail => Verdict::Fail,
        }
    }

    /// Conflicts in words. Where nothing is written because of them they are errors.
    pub(crate) fn told(&self, conflicts: &[Conflict], verdict: Verdict) -> Vec<Diagnostic> {
        let one = |conflict: &Conflict| {
            let mut diagnostic = conflict.to_diagnostic();
            if verdict != Verdict::Write {
                diagnostic.severity = Severity::Error;
            }
            if verdict == Verdict::Fail {
                let told =
                    diagnostic.message().rsplit_once("; ").map_or("", |(told, _)| told).to_owned();
                let why = match (self.on_conflict, conflict.is_marked) {
                    (OnConflict::Mark, false) => "no comment can keep local's here, and ",
                    _ => "",
                };
                diagnostic.set_untyped(format!("{told}; {why}nothing was written"));
            }
            diagnostic
        };
        conflicts.iter().map(one).collect()
    }
}

/// How a command with conflicts ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The result is written.
    Write,
    /// The result is written, and the exit code is 1.
    WriteAndFail,
    /// Nothing is written, and the exit code is 1.
    Fail,
}

/// Conflicts as one JSON list, one a line.
pub(crate) fn conflicts_json(conflicts: &[Conflict]) -> String {
    let lines: Vec<String> = conflicts.iter().map(Conflict::to_json).collect();
    if lines.is_empty() { "[]\n".to_owned() } else { format!("[\n{}\n]\n", lines.join(",\n")) }
}
