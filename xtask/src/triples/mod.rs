//! Merges triples of real histories and checks with an independent model that nothing is lost.
//!
//! `cargo xtask triples REPOSITORY…` reads local clones. A triple is a file at the base and at both parents of a merge commit, or three
//! neighbouring versions of a file: the middle one is the base, and the others are two people's edits of it.

mod comments;
mod history;
mod model;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use krm_core::compare::ListOptions;
use krm_core::merge::{
    MergeOptions, MergedFile, NamedFile, Nulls, Sequences, merge_files_three_way,
};
use krm_core::schema::Schema;
use krm_yaml::File;

use crate::TaskResult;

/// The number of triples, unless `--count` says otherwise.
const COUNT: usize = 300;

/// The maximum number of faults to print, unless `--show` says otherwise.
const SHOWN: usize = 10;

/// Three versions of one file.
pub(crate) struct Triple {
    /// The repository, the path and the commit, for messages.
    name: String,
    base: String,
    local: String,
    upstream: String,
}

/// A promise that the merge of a triple broke.
struct Fault {
    /// What was broken, as counted in the summary.
    class: &'static str,
    description: String,
}

impl Fault {
    fn new(class: &'static str, description: impl Into<String>) -> Self {
        Self { class, description: description.into() }
    }
}

/// Merges the triples of the repositories; a fault is an error.
pub(crate) fn run(mut parser: lexopt::Parser) -> TaskResult {
    let (mut repositories, mut count, mut shown) = (Vec::<PathBuf>::new(), COUNT, SHOWN);
    while let Some(argument) = parser.next()? {
        match argument {
            lexopt::Arg::Long("count") => count = parser.value()?.to_string_lossy().parse()?,
            lexopt::Arg::Long("show") => shown = parser.value()?.to_string_lossy().parse()?,
            lexopt::Arg::Value(path) => repositories.push(path.into()),
            _ => return Err(argument.unexpected().into()),
        }
    }
    if repositories.is_empty() {
        return Err("expected the paths of one or more git repositories".into());
    }
    let mut triples = Vec::new();
    for (at, repository) in repositories.iter().enumerate() {
        // Repositories with few triples leave more to those that follow.
        let wanted = (count - triples.len()).div_ceil(repositories.len() - at);
        triples.extend(history::triples(repository, wanted)?);
    }
    check_all(&triples, shown)
}

fn check_all(triples: &[Triple], shown: usize) -> TaskResult {
    let schema = Schema::built_in();
    let (mut conflicts, mut classes, mut faults) = (0, BTreeMap::new(), Vec::new());
    for triple in triples {
        let (found, has_conflict) = check(triple, &schema)?;
        conflicts += usize::from(has_conflict);
        let mut seen = BTreeSet::new();
        // One of each class: the same cause often shows in many fields of a file.
        for fault in found.into_iter().filter(|fault| seen.insert(fault.class)) {
            *classes.entry(fault.class).or_insert(0_usize) += 1;
            faults.push((triple, fault));
        }
    }
    println!("{} triples merged, {conflicts} with conflicts", triples.len());
    for (class, count) in &classes {
        println!("  {count:5} {class}");
    }
    for (triple, fault) in faults.iter().take(shown) {
        println!("\n{}: {}: {}", triple.name, fault.class, fault.description);
    }
    match faults.len() {
        0 => Ok(()),
        count => Err(format!("{count} faults").into()),
    }
}

/// The faults of one triple, and whether its merge has conflicts.
fn check(triple: &Triple, schema: &Schema) -> TaskResult<(Vec<Fault>, bool)> {
    let Triple { base, local, upstream, .. } = triple;
    let merged = match merge([base, local, upstream], schema)? {
        Ok(merged) => merged,
        Err(message) => return Ok((vec![Fault::new("the merge fails", message)], false)),
    };
    let mut faults = model::lost([base, local, upstream, &merged.text], &merged)?;
    faults.extend(comments::lost([base, local, upstream, &merged.text], &merged));
    let mut check_unchanged = |class, upstream: &str, expected: &str| -> TaskResult {
        let again = merge([base, expected, upstream], schema)?.map(|merged| merged.text);
        let again = again.unwrap_or_else(|message| message);
        if again != expected {
            faults.push(Fault::new(class, first_difference(&again, expected)));
        }
        Ok(())
    };
    if merged.conflicts.is_empty() {
        check_unchanged("repeating the merge changes the file", upstream, &merged.text)?;
    }
    check_unchanged("an update without changes changes the file", base, local)?;
    Ok((faults, !merged.conflicts.is_empty()))
}

/// Merges as the git merge driver does: nothing may be lost.
fn merge(versions: [&str; 3], schema: &Schema) -> TaskResult<Result<MergedFile, String>> {
    let [base, local, upstream] = versions.map(|text| File::parse(text.to_owned()).map(Arc::new));
    let (base, local, upstream) = (base?, local?, upstream?);
    let named = |name, file| NamedFile { name, file };
    let lists = ListOptions { schema: Some(schema), ..ListOptions::default() };
    let options = MergeOptions {
        lists,
        nulls: Nulls::Value,
        sequences: Sequences::Diff3,
        ..MergeOptions::default()
    };
    let merged = merge_files_three_way(
        named("base", &base),
        named("local", &local),
        named("upstream", &upstream),
        &options,
    );
    Ok(merged.map_err(|error| error.message().to_string()))
}

/// The first line in which two texts differ.
fn first_difference(one: &str, other: &str) -> String {
    let mut lines = one.lines().zip(other.lines()).enumerate();
    match lines.find(|(_, (one, other))| one != other) {
        Some((at, (one, other))) => format!("line {}: `{one}` instead of `{other}`", at + 1),
        None => format!("{} lines instead of {}", one.lines().count(), other.lines().count()),
    }
}
