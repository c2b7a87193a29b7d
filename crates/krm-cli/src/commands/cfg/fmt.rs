//! `krm cfg fmt`: the fields of resources in the order that people know.

use std::collections::BTreeMap;
use std::sync::Mutex;

use clap::ValueEnum;
use krm_core::files::{self, FileNamePattern, FileNaming, RenamedFiles};
use krm_core::format::{FormatOptions, format};
use krm_core::schema::Schema;
use krm_core::{Change, Diagnostic, Package, PackageFile, PackagePath, Plan};
use krm_yaml::{Indentation, ListIndent};

use super::edit_session::{EditOptions, EditSession, Target, Targets};
use crate::cli::Global;
use crate::console::Console;
use crate::loader::Origin;
use crate::{CommandResult, Exit, Failure, parallel};

const EXAMPLES: &str = "\
Examples:
  krm cfg fmt shop
  krm cfg fmt shop base --check
  krm cfg fmt - < deployment.yaml";

/// Put the fields of resources in order.
///
/// Every mapping of a resource is ordered, known fields first and the others by name; nothing else changes: comments,
/// blank lines, quotes and lists stay as they are. What is no resource is left alone, and so is a resource with the
/// annotation config.kubernetes.io/formatting: none.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    targets: Targets,

    /// Move every resource into the file that --pattern names; on standard output, note the file in its annotations
    #[arg(long)]
    set_filenames: bool,

    /// How files are named: %n is the name of the resource, %k its kind, %s its namespace
    #[arg(long, value_name = "PATTERN", default_value = "%n_%k.yaml")]
    pattern: FileNamePattern,

    /// Move resources, too, whose annotations name a file
    #[arg(long = "override")]
    overrides: bool,

    /// Keep the annotations that name files, which are kept anyway
    #[arg(long)]
    keep_annotations: bool,

    /// Indent mappings, and texts in them, by this many spaces
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9))]
    indent: Option<u32>,

    /// Indent lists as mappings (wide), or not at all (compact)
    #[arg(long, value_name = "STYLE")]
    seq_indent: Option<SeqIndent>,

    /// Sort containers by name, and the operations of webhooks
    #[arg(long)]
    sort_lists: bool,

    /// Give text its quotes, and take them from numbers and booleans, as the schemas of Kubernetes say
    #[arg(long)]
    use_schema: bool,

    #[command(flatten)]
    edit_options: EditOptions,
}

impl Args {
    fn naming(&self) -> FileNaming {
        FileNaming { pattern: self.pattern.clone(), overrides: self.overrides }
    }
}

/// How much deeper lists stand than their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SeqIndent {
    /// As deep as mappings
    Wide,
    /// Not deeper
    Compact,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let schema = args.use_schema.then(Schema::kubernetes);
    let mut exit = Exit::Success;
    for target in args.targets.each() {
        exit = worse(exit, one(&target, args, schema.as_ref(), global, console)?);
    }
    Ok(exit)
}

fn one(
    target: &Target,
    args: &Args,
    schema: Option<&Schema>,
    global: &Global,
    console: &mut Console,
) -> CommandResult {
    let session = EditSession::open(target, &args.edit_options, global, console)?;
    if args.set_filenames && session.loaded.origin == Origin::File {
        let words = Diagnostic::untyped_error("--set-filenames wants a folder, and this is a file");
        return Err(Failure::Diagnostics(
            Exit::Usage,
            vec![words.in_file(session.loaded.title.as_str())],
        ));
    }
    if args.set_filenames && session.loaded.origin == Origin::Directory {
        return renamed(session, args, schema, global, console);
    }
    let told: Mutex<BTreeMap<PackagePath, Vec<Diagnostic>>> = Mutex::default();
    let exit = session.each_file(global, console, |file| {
        let named = if args.set_filenames { with_paths(file, args)? } else { None };
        let (text, words) = formatted(named.as_ref().unwrap_or(file), args, schema)?;
        if let Ok(mut told) = told.lock() {
            told.insert(file.path.clone(), words);
        }
        let named = named.and_then(PackageFile::into_text);
        Ok(text.or(named))
    });
    let told = told.into_inner().unwrap_or_default();
    console.flush()?;
    told.values().for_each(|told| console.report_all(told));
    exit
}

/// A stream with the files of its resources in their annotations.
fn with_paths(file: &PackageFile, args: &Args) -> Result<Option<PackageFile>, Vec<Diagnostic>> {
    let text = files::annotate_paths(file, &args.naming())?;
    text.map(|text| file.with_text(text)).transpose()
}

/// Formats a folder and moves its resources into the files that are named after them.
fn renamed(
    mut session: EditSession<'_>,
    args: &Args,
    schema: Option<&Schema>,
    global: &Global,
    console: &mut Console,
) -> CommandResult {
    let files = session.loaded.package.files();
    let results = parallel::map(files, global.jobs, |file| {
        let Some(content) = file.file() else { return Ok((None, Vec::new())) };
        let is_ours = file.errors().is_empty() && !file.is_external_symlink;
        let (text, told) =
            if is_ours { formatted(file, args, schema)? } else { (None, Vec::new()) };
        let text = text.unwrap_or_else(|| content.text().to_owned());
        Ok((Some(file.with_text(text)?), told))
    });
    let (mut new, mut told, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok((file, more)) => {
                new.extend(file);
                told.extend(more);
            }
            Err(why) => errors.extend::<Vec<Diagnostic>>(why),
        }
    }
    let new = Package::new(new);
    let moved = match files::rename_files(&new, &session.loaded.closed, &args.naming()) {
        Ok(moved) => moved,
        Err(why) => {
            errors.extend(why);
            RenamedFiles::default()
        }
    };
    told.extend(moved.told);
    session.report(errors, console)?;
    let plan = planned(&session, &new, &moved.files);
    let exit = session.finish(plan, console)?;
    console.flush()?;
    console.report_all(&told);
    Ok(exit)
}

/// The files that were formatted, and those that were renamed.
fn planned(
    session: &EditSession<'_>,
    new: &Package,
    moved: &[(PackagePath, Option<String>)],
) -> Plan {
    let text = |file: &PackageFile| file.file().map(|file| file.text().to_owned());
    let all = |package: &Package| -> BTreeMap<PackagePath, Option<String>> {
        package.files().iter().map(|file| (file.path.clone(), text(file))).collect()
    };
    let (mut old, mut files) = (all(&session.loaded.package), all(new));
    files.extend(moved.iter().cloned());
    let mut plan = Plan::default();
    for (path, new) in files {
        let old = old.remove(&path).flatten();
        if old != new {
            plan.add(Change { path: session.loaded.display_path(path.as_str()), old, new });
        }
    }
    plan
}

/// The new text of a file, and what there is to say about it.
fn formatted(
    file: &PackageFile,
    args: &Args,
    schema: Option<&Schema>,
) -> Result<(Option<String>, Vec<Diagnostic>), Vec<Diagnostic>> {
    // Compat: a Kptfile or Krmfile has an order of its own, which its tools write.
    let Some(content) = file.file().filter(|_| !file.path.is_package_file()) else {
        return Ok((None, Vec::new()));
    };
    let json = file.path.is_json();
    let indentation = Indentation {
        mapping: args.indent,
        list: args.seq_indent.map(|style| match style {
            SeqIndent::Wide => ListIndent::Wide,
            SeqIndent::Compact => ListIndent::Compact,
        }),
    };
    let options = FormatOptions { json, sort_lists: args.sort_lists, indentation, schema };
    let named = |told: Vec<Diagnostic>| {
        told.into_iter()
            .map(|diagnostic| diagnostic.in_file(&*file.display_path))
            .collect::<Vec<_>>()
    };
    let formatted = format(content, options).map_err(named)?;
    Ok((formatted.text, named(formatted.diagnostics)))
}

/// What could not be read counts more than what would change.
fn worse(a: Exit, b: Exit) -> Exit {
    if a == Exit::Input || b == Exit::Success { a } else { b }
}
