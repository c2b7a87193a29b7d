//! `krm cfg diff`: semantic differences between two packages.

use std::collections::BTreeMap;

use clap::ValueEnum;
use krm_core::diff::{self, ResourceDiff};
use krm_core::print::{self, Record};
use krm_core::{Diagnostic, Package, PackageFile};

use super::package_merge;
use crate::cli::{Global, Recursion};
use crate::commands::check_stdin_once;
use crate::commands::merge_options::ListOptions;
use crate::console::Console;
use crate::loader::{self, LoadedPackage, Origin};
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm cfg diff shop@v1 shop
  krm cfg diff ../shop@v1
  krm cfg diff old.yaml new.yaml --only-meaning
  krm cfg diff shop@v1 shop -o json
  kubectl get deploy web -o yaml | krm cfg diff - web.yaml

Exit codes: 0 no differences, 1 differences, 2 invalid usage, 3 invalid input";

/// Show semantic differences between two packages.
///
/// Resources are matched by group, kind, namespace and name, in whichever file they are; fields by path; list elements as krm cfg merge
/// matches them. Changes of comments and formatting are listed separately.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Old directory or file; - is standard input
    old: String,

    /// New directory or file [default: current directory]; - is standard input
    #[arg(default_value = ".", hide_default_value = true)]
    new: String,

    #[command(flatten)]
    recursion: Recursion,

    #[command(flatten)]
    options: DiffOptions,
}

/// How differences are found and shown.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct DiffOptions {
    /// Format of the differences
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Format,

    /// Ignore comments and formatting
    #[arg(long)]
    only_meaning: bool,

    #[command(flatten)]
    lists: ListOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Resources and their fields, with both values
    Text,
    /// One JSON array, one resource per line
    Json,
    /// Unified diff of the files
    Unified,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    check_stdin_once([&*args.old, &*args.new])?;
    let options = args.recursion.load_options(global);
    let old = loader::load(&args.old, options).map_err(Failure::input)?;
    let beside = [&old.package];
    let new = loader::load_beside(&args.new, options, &beside).map_err(Failure::input)?;
    let diagnostics: Vec<Diagnostic> =
        [&old, &new].into_iter().flat_map(LoadedPackage::diagnostics).collect();
    console.report_all(&diagnostics);
    if diagnostics.iter().any(Diagnostic::is_error) {
        // A resource that cannot be read on one side would be shown as added or removed.
        return Ok(Exit::Input);
    }
    let reports_moves = old.origin == Origin::Directory && new.origin == Origin::Directory;
    let differs = match args.options.compare([&old.package, &new.package], reports_moves, console) {
        // Only differences fill a pipe.
        Err(Failure::ClosedPipe) => true,
        differs => differs?,
    };
    Ok(if differs { Exit::Findings } else { Exit::Success })
}

impl DiffOptions {
    /// Whether files are compared line by line.
    pub(crate) fn is_unified(&self) -> bool {
        self.output == Format::Unified
    }

    /// Whether programs read the output.
    pub(crate) fn is_json(&self) -> bool {
        self.output == Format::Json
    }

    /// Prints the differences of two packages. Returns whether there are any.
    pub(crate) fn compare(
        &self,
        packages: [&Package; 2],
        reports_moves: bool,
        console: &mut Console,
    ) -> Result<bool, Failure> {
        let changes = self.changes(packages, reports_moves, console)?;
        match self.output {
            Format::Text => print_text(&changes, self, console)?,
            Format::Json => {
                let list: Vec<_> = changes.iter().map(|it| self.record(it, console)).collect();
                console.data(&print::records_to_json(&list).map_err(Failure::input)?)?;
            }
            Format::Unified => print_files(&changes, packages, console)?,
        }
        Ok(!changes.is_empty())
    }

    /// The differences of two packages as records, for a caller that prints one array of several comparisons.
    pub(crate) fn records<'a>(
        &self,
        packages: [&'a Package; 2],
        reports_moves: bool,
        console: &mut Console,
    ) -> Result<Vec<Record<'a>>, Failure> {
        let changes = self.changes(packages, reports_moves, console)?;
        Ok(changes.iter().map(|it| self.record(it, console)).collect())
    }

    fn changes<'a>(
        &self,
        packages: [&'a Package; 2],
        reports_moves: bool,
        console: &mut Console,
    ) -> Result<Vec<ResourceDiff<'a>>, Failure> {
        let schema = package_merge::schema(&self.lists, &packages, console)?;
        let lists = self.lists.pairing(&schema);
        let mut changes = diff::diff_packages(packages[0], packages[1], reports_moves, lists)
            .map_err(|errors| Failure::Diagnostics(Exit::Input, errors))?;
        changes.retain(|change| !self.only_meaning || change.is_semantic());
        Ok(changes)
    }

    fn record<'a>(&self, change: &ResourceDiff<'a>, console: &Console) -> Record<'a> {
        diff::record(change, console.shows_secrets(), self.only_meaning)
    }
}

fn print_text(
    changes: &[ResourceDiff<'_>],
    options: &DiffOptions,
    console: &mut Console,
) -> Result<(), Failure> {
    let mut is_first = true;
    for change in changes.iter().filter(|change| change.is_semantic()) {
        if !std::mem::take(&mut is_first) {
            console.line("")?;
        }
        console.line(&diff::heading(change))?;
        for line in diff::field_lines(change, console.shows_secrets()) {
            console.line(&format!("  {line}"))?;
        }
    }
    if options.only_meaning {
        return Ok(());
    }
    let mut title = Some("only comments and formatting");
    for change in changes {
        let lines = diff::formatting_lines(change, console.shows_secrets());
        let Some(item) = change.new.filter(|_| !lines.is_empty()) else { continue };
        if let Some(title) = title.take() {
            if !is_first {
                console.line("")?;
            }
            console.line(title)?;
        }
        console.line(&format!("  {} in {}", item.label(), item.path()))?;
        for line in lines {
            console.line(&format!("    {line}"))?;
        }
    }
    Ok(())
}

/// Prints a unified diff of each file that has changes.
fn print_files(
    changes: &[ResourceDiff<'_>],
    packages: [&Package; 2],
    console: &mut Console,
) -> Result<(), Failure> {
    let text = |file: Option<&PackageFile>| {
        file.and_then(PackageFile::file).map_or(String::new(), |file| file.text().to_owned())
    };
    let name = |file: Option<&PackageFile>| {
        file.map_or("/dev/null".to_owned(), |file| file.display_path.clone())
    };
    for [old, new] in files(changes, packages) {
        console.compare((&name(old), &text(old)), (&name(new), &text(new)))?;
    }
    Ok(())
}

/// Pairs old and new files: by path, or, if one was removed and one added, by a resource that moved between them.
fn files<'a>(
    changes: &[ResourceDiff<'a>],
    packages: [&'a Package; 2],
) -> Vec<[Option<&'a PackageFile>; 2]> {
    let is_single = packages.iter().all(|package| package.files().len() == 1);
    let by_path = packages.map(|package| {
        let files = package.files().iter().map(|file| (file.path.as_str(), file));
        files.collect::<BTreeMap<_, _>>()
    });
    let mut links = [BTreeMap::new(), BTreeMap::new()];
    for sides in changes.iter().filter_map(|change| Some([change.old?, change.new?])) {
        for side in [0, 1] {
            let (here, there) = (sides[side].file, sides[1 - side].file);
            let is_free = is_single || !by_path[side].contains_key(there.path.as_str());
            if is_free {
                links[side].entry(here.path.as_str()).or_insert(there);
            }
        }
    }
    let mut found = BTreeMap::new();
    for change in changes {
        for (side, item) in [change.old, change.new].into_iter().enumerate() {
            let Some(file) = item.map(|item| item.file) else { continue };
            let path = file.path.as_str();
            let same = by_path[1 - side].get(path).or_else(|| links[side].get(path)).copied();
            let pair = if side == 0 { [Some(file), same] } else { [same, Some(file)] };
            let names = pair.map(|file| file.map(|file| file.path.as_str()));
            found.insert((names[1].or(names[0]), names), pair);
        }
    }
    found.into_values().collect()
}
