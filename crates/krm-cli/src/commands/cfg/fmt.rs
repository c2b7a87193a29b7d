//! `krm cfg fmt`: orders the fields of resources by the Kubernetes convention.

use std::collections::BTreeMap;
use std::sync::Mutex;

use clap::ValueEnum;
use krm_core::files::{self, FileNamePattern, FileNaming, RenamedFiles};
use krm_core::format::{FormatOptions, format};
use krm_core::schema::Schema;
use krm_core::{Diagnostic, Package, PackageFile, PackagePath, Plan};
use krm_yaml::{Indentation, SequenceIndent};

use super::edit_session::{EditOptions, EditSession, EditablePackage, EditablePackages};
use crate::cli::{FindingsExit, Global};
use crate::commands::conflict_records;
use crate::console::Console;
use crate::disk::FileKind;
use crate::loader::Origin;
use crate::{CommandResult, Exit, Failure, duplicate_keys, parallel};

const EXAMPLES: &str = "\
Examples:
  krm cfg fmt shop
  krm cfg fmt shop base --check --fail-on warning
  krm cfg fmt - < deployment.yaml";

/// Format resources: order fields by the Kubernetes convention.
///
/// Well-known fields come first, then the others by name. Nothing else changes: comments, blank lines, quotes and lists are kept.
/// Documents that are not resources, and resources with the annotation config.kubernetes.io/formatting: none, are skipped.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    packages: EditablePackages,

    /// Move every resource to the file that --pattern names; for standard input, set its path annotations
    #[arg(long)]
    set_filenames: bool,

    /// Pattern of file names: %n is the name of the resource, %k its kind, %s its namespace
    #[arg(long, value_name = "PATTERN", default_value = "%n_%k.yaml")]
    pattern: FileNamePattern,

    /// Also move resources whose annotations name a file
    #[arg(long = "override")]
    overrides: bool,

    /// Compat: accepted; annotations that name files are always kept
    #[arg(long)]
    keep_annotations: bool,

    /// Indent nested mappings and block scalars by this many spaces
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=9))]
    indent: Option<u32>,

    /// Indent sequences relative to their key
    #[arg(long, value_name = "STYLE")]
    seq_indent: Option<SeqIndent>,

    /// Sort containers by name, and operations of webhooks
    #[arg(long)]
    sort_lists: bool,

    /// Quote strings, and unquote numbers and booleans, according to the Kubernetes schemas
    #[arg(long)]
    use_schema: bool,

    #[command(flatten)]
    findings: FindingsExit,

    #[command(flatten)]
    edit_options: EditOptions,
}

impl Args {
    fn naming(&self) -> FileNaming {
        FileNaming { pattern: self.pattern.clone(), overrides: self.overrides }
    }
}

/// How sequences are indented relative to their key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SeqIndent {
    /// Like mappings
    Wide,
    /// Not at all
    Compact,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let schema = args.use_schema.then(Schema::built_in);
    let mut exit = Exit::Success;
    for package in args.packages.each() {
        exit = worse(exit, format_package(&package, args, schema.as_ref(), global, console)?);
    }
    Ok(args.findings.exit(exit, console.worst_reported()))
}

fn format_package(
    package: &EditablePackage,
    args: &Args,
    schema: Option<&Schema>,
    global: &Global,
    console: &mut Console,
) -> CommandResult {
    let session = EditSession::open(package, &args.edit_options, global, console)?;
    if args.edit_options.preview.check {
        conflict_records::check_resolved(&session.loaded.package)?;
    }
    if args.set_filenames && session.loaded.origin == Origin::File {
        let error = Diagnostic::error(FileKind::NotADirectory)
            .hint("--set-filenames moves resources between the files of a directory");
        return Err(Failure::usage(error.in_file(session.loaded.title.as_str())));
    }
    if args.set_filenames && session.loaded.origin == Origin::Directory {
        return format_and_move(session, args, schema, global, console);
    }
    // Keyed by path, so that the order of warnings does not depend on the threads.
    let warnings: Mutex<BTreeMap<PackagePath, Vec<Diagnostic>>> = Mutex::default();
    let exit = session.each_file(global, console, |file| {
        let named = if args.set_filenames { with_paths(file, args)? } else { None };
        let (text, found) = formatted(named.as_ref().unwrap_or(file), args, schema)?;
        if let Ok(mut warnings) = warnings.lock() {
            warnings.insert(file.path.clone(), found);
        }
        let named = named.and_then(PackageFile::into_text);
        Ok(text.or(named))
    });
    let warnings = warnings.into_inner().unwrap_or_default();
    console.flush_before_diagnostics()?;
    warnings.values().for_each(|found| report(found, console));
    exit
}

/// A stream in which each resource is annotated with its file.
fn with_paths(file: &PackageFile, args: &Args) -> Result<Option<PackageFile>, Vec<Diagnostic>> {
    let text = files::annotate_paths(file, &args.naming())?;
    text.map(|text| file.with_text(text)).transpose()
}

/// Formats a directory and moves its resources to the files that are named after them.
fn format_and_move(
    mut session: EditSession<'_>,
    args: &Args,
    schema: Option<&Schema>,
    global: &Global,
    console: &mut Console,
) -> CommandResult {
    let files = session.loaded.package.files();
    let results = parallel::map(files, global.jobs, |file| {
        let Some(content) = file.file() else { return Ok((None, Vec::new())) };
        let is_editable = file.errors().is_empty() && !file.is_external_symlink;
        let (text, warnings) =
            if is_editable { formatted(file, args, schema)? } else { (None, Vec::new()) };
        let text = text.unwrap_or_else(|| content.text().to_owned());
        Ok((Some(file.with_text(text)?), warnings))
    });
    let (mut new, mut warnings, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok((file, more)) => {
                new.extend(file);
                warnings.extend(more);
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
    warnings.extend(moved.warnings);
    session.report(errors, console)?;
    let plan = plan_files(&session, &new, &moved.files).map_err(Failure::input)?;
    let exit = session.finish(plan, console)?;
    console.flush_before_diagnostics()?;
    report(&warnings, console);
    Ok(exit)
}

/// Reports warnings. One that says which fields are not sorted because of a duplicate key replaces the warning about that key.
fn report(warnings: &[Diagnostic], console: &mut Console) {
    warnings.iter().for_each(duplicate_keys::replace_by);
    console.report_all(warnings);
}

/// The plan for the files that were formatted and those that were moved.
fn plan_files(
    session: &EditSession<'_>,
    new: &Package,
    moved: &[(PackagePath, Option<String>)],
) -> Result<Plan, Diagnostic> {
    let text = |file: &PackageFile| file.file().map(|file| file.text().to_owned());
    let formatted = new.files().iter().map(|file| (file.path.clone(), text(file)));
    let mut texts: BTreeMap<PackagePath, Option<String>> = formatted.collect();
    texts.extend(moved.iter().cloned());
    let mut plan = Plan::default();
    for (path, new) in texts {
        plan.set(session.loaded.original_at(&path), new)?;
    }
    Ok(plan)
}

/// The new text of a file, with warnings.
fn formatted(
    file: &PackageFile,
    args: &Args,
    schema: Option<&Schema>,
) -> Result<(Option<String>, Vec<Diagnostic>), Vec<Diagnostic>> {
    // Compat: Kptfiles and Krmfiles have a field order of their own, which kpt writes.
    let Some(content) = file.file().filter(|_| !file.path.is_package_file()) else {
        return Ok((None, Vec::new()));
    };
    let json = file.path.is_json();
    let indentation = Indentation {
        mapping: args.indent,
        sequence: args.seq_indent.map(|style| match style {
            SeqIndent::Wide => SequenceIndent::Wide,
            SeqIndent::Compact => SequenceIndent::Compact,
        }),
    };
    let options = FormatOptions { json, sort_lists: args.sort_lists, indentation, schema };
    let named = |diagnostics: Vec<Diagnostic>| {
        diagnostics
            .into_iter()
            .map(|diagnostic| diagnostic.in_file(&*file.display_path))
            .collect::<Vec<_>>()
    };
    let formatted = format(content, options).map_err(named)?;
    Ok((formatted.text, named(formatted.diagnostics)))
}

/// The more severe of two exit codes: an input error outranks a difference under `--check`.
fn worse(a: Exit, b: Exit) -> Exit {
    if a == Exit::Input || b == Exit::Success { a } else { b }
}
