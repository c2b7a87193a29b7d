//! The end of `eval`, `run` and `render`: results are recorded, files are assembled, and the package is written or printed.

use std::collections::BTreeMap;
use std::path::Path;

use krm_core::files::{DeletedResource, Deletions, assemble_with};
use krm_core::functions::kptfile::Role;
use krm_core::functions::resource_list::{FunctionResult, Item, without_wire_annotations};
use krm_core::{Diagnostic, FileText, OriginalFile, Package, PackageFile, PackagePath, Plan};
use krm_run::{DocumentChange, FunctionRun, PipelineRun, changes_between};

use super::kinds::FnCommandKind;
use super::output::Output;
use super::run_report;
use super::save::SavedFunction;
use crate::cli::{FailOn, Preview};
use crate::commands::cfg::edit_session::EditSession;
use crate::commands::fix::{self, Choices};
use crate::console::Console;
use crate::disk::{self, FileKind};
use crate::loader::LoadedPackage;
use crate::{CommandResult, Exit, Failure, parallel};

/// New contents of files by path; none for a file that is removed.
pub(super) type FileContents = BTreeMap<PackagePath, Option<FileText>>;

/// Flags for the results of functions.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ResultFlags {
    /// Write the results to results.yaml in this directory
    #[arg(long, value_name = "DIR")]
    results_dir: Option<String>,

    /// Fail if a function, or krm itself, reports a finding of this severity or above
    #[arg(long, value_name = "SEVERITY")]
    pub(super) fail_on: Option<FailOn>,

    /// Apply the values that results propose
    #[arg(long)]
    pub(super) fix: bool,

    #[command(flatten)]
    pub(super) choices: Choices,

    /// Allow functions to delete all resources, or a Kptfile
    #[arg(long)]
    pub(super) allow_delete: bool,

    /// Fail if the package contains documents that are not resources
    #[arg(long)]
    pub(super) strict: bool,
}

impl ResultFlags {
    pub(super) fn fail_on_severity(&self) -> Option<krm_core::Severity> {
        self.fail_on.map(FailOn::severity)
    }

    /// The exit code of a command that succeeded. Results of functions were counted where the function ran; here are the warnings of krm
    /// itself, such as a selector that matches nothing.
    pub(super) fn exit(&self, exit: Exit, console: &mut Console) -> Exit {
        let is_counted = |it| console.worst_reported().is_some_and(|worst| worst >= it);
        match self.fail_on_severity().is_some_and(is_counted) {
            true if exit == Exit::Success => Exit::Findings,
            _ => exit,
        }
    }

    /// Whether something else is written than what functions return.
    pub(super) fn writes_more(&self) -> bool {
        self.results_dir.is_some() || self.fix
    }

    /// Writes results.yaml, also for a run that failed.
    pub(super) fn record(
        &self,
        pipeline: &PipelineRun,
        console: &mut Console,
    ) -> Result<(), Failure> {
        let Some(directory) = &self.results_dir else { return Ok(()) };
        let text = pipeline.report().to_yaml().map_err(Failure::input)?;
        let path = crate::loader::join_display_path(directory, "results.yaml");
        let written = disk::write_output(Path::new(directory), "results.yaml", &text);
        written.map_err(|error| {
            let reason = disk::io_reason(&error);
            let error = Diagnostic::error(FileKind::CannotCreate { reason });
            Failure::input(error.in_file(path.as_str()))
        })?;
        console.status(&format!("wrote the results to {path}"));
        Ok(())
    }
}

/// A run of `eval` or `run` on a package that is to be finished.
pub(super) struct PackageRun<'a> {
    pub(super) before: &'a [Item],
    pub(super) pipeline: &'a mut PipelineRun,
    pub(super) save: Option<&'a SavedFunction>,
    pub(super) output: Option<&'a Output>,
    pub(super) preview: &'a Preview,
}

/// Writes what a run changed, unless a function failed. The exit code tells what failed.
pub(super) fn finish(
    flags: &ResultFlags,
    session: EditSession<'_>,
    run: PackageRun<'_>,
    console: &mut Console,
) -> CommandResult {
    let PackageRun { before, pipeline, save, output, preview } = run;
    let package = &session.loaded.package;
    run_report::count(pipeline, console);
    if let ([only], true) = (&mut pipeline.runs[..], console.recorder().records_changes()) {
        only.changes = changes_between(before, &pipeline.items);
    }
    run_report::record_authors(pipeline, |path| session.loaded.display_path(path), console);
    flags.record(pipeline, console)?;
    let errors = run_report::unreported_errors(pipeline, package);
    let failure = run_report::exit(pipeline);
    if pipeline.is_stopped && !flags.fix {
        return Err(Failure::Diagnostics(failure, errors));
    }
    let mut contents = FileContents::new();
    if !pipeline.is_stopped {
        let after = persistent_items(pipeline)?;
        let deletions = if flags.allow_delete { Deletions::Any } else { Deletions::Some };
        let (changed, deleted) = assembled(package, (before, after), deletions, console)?;
        report_deletions(&deleted, &session.loaded, preview, console);
        contents = changed;
    }
    if let Some(save) = save {
        save.apply(package, &mut contents, console)?;
    }
    if flags.fix {
        let changed = with_contents(package, &contents)?;
        let fixes = flags.choices.apply(&changed, &pipeline.report());
        fix::report(&fixes, preview.is_on(), console);
        contents.extend(fixes.texts.into_iter().map(|(path, text)| (path, Some(text.into()))));
    }
    let exit = write(session, contents, (output, pipeline), console)?;
    match failure {
        Exit::Success => Ok(exit),
        failure => Err(Failure::Diagnostics(failure, errors)),
    }
}

/// Takes the items of a run as they are written to files: without annotations that only belong to a ResourceList. A run without
/// mutators leaves everything as it was.
pub(super) fn persistent_items(pipeline: &mut PipelineRun) -> Result<Vec<Item>, Failure> {
    let is_mutator = |run: &FunctionRun| run.role != Some(Role::Validator) && !run.is_skipped();
    let mut items = std::mem::take(&mut pipeline.items);
    if pipeline.runs.iter().any(is_mutator) {
        let found = parallel::find_each(&items, |it| without_wire_annotations(it).transpose());
        for (at, stripped) in found {
            items[at] = stripped.map_err(Failure::function)?;
        }
    }
    Ok(items)
}

/// The contents of the files that changed, and the resources that are deleted.
pub(super) fn assembled(
    package: &Package,
    (before, after): (&[Item], Vec<Item>),
    deletions: Deletions,
    console: &mut Console,
) -> Result<(FileContents, Vec<DeletedResource>), Failure> {
    let assembly = assemble_with(package, before, after, deletions, parallel::for_each_index)
        .map_err(|errors| Failure::Diagnostics(Exit::Function, errors))?;
    assembly.warnings.iter().for_each(|warning| console.report(warning));
    let changes = assembly.changes.into_iter();
    Ok((changes.map(|it| (it.path, it.new)).collect(), assembly.deleted))
}

/// Names the resources that are deleted, or would be.
pub(super) fn report_deletions(
    deleted: &[DeletedResource],
    loaded: &LoadedPackage,
    preview: &Preview,
    console: &mut Console,
) {
    let verb = if preview.is_on() { "would delete" } else { "deleted" };
    for DeletedResource { resource, path, .. } in deleted {
        let path = loaded.display_path(path.as_str());
        console.status(&format!("{verb} {resource} in {path}"));
    }
}

/// Prints the changed package or writes its changes.
pub(super) fn write(
    session: EditSession<'_>,
    contents: FileContents,
    (output, pipeline): (Option<&Output>, &PipelineRun),
    console: &mut Console,
) -> CommandResult {
    match output {
        Some(output) => {
            let results = pipeline.runs.iter().flat_map(|run| run.record.results.clone());
            let results: Vec<FunctionResult> = results.collect();
            let package = with_contents(&session.loaded.package, &contents)?;
            let documents = changed_documents(pipeline);
            let lost = documents.iter().filter(|it| output.is_printed() && it.old != it.new);
            for document in lost {
                let warning = Diagnostic::warning(FnCommandKind::DocumentNotPrinted);
                let path = session.loaded.display_path(document.path.as_str());
                console.report(&warning.in_file(path));
            }
            output.write(&package, &results, &documents, console)
        }
        None => {
            let plan = plan(&session, contents, pipeline)?;
            session.finish(plan, console)
        }
    }
}

/// The package with new contents of files.
pub(super) fn with_contents(
    package: &Package,
    contents: &FileContents,
) -> Result<Package, Failure> {
    let input = |errors| Failure::Diagnostics(Exit::Input, errors);
    let mut files = Vec::new();
    for file in package.files() {
        match contents.get(&file.path) {
            Some(Some(text)) => {
                files.push(file.with_text(text.text().into_owned()).map_err(input)?);
            }
            Some(None) => {}
            None => files.push(PackageFile {
                path: file.path.clone(),
                display_path: file.display_path.clone(),
                is_external_symlink: file.is_external_symlink,
                content: file.content.clone(),
            }),
        }
    }
    for (path, text) in contents {
        let is_new = !package.files().iter().any(|file| file.path == *path);
        if let (true, Some(text)) = (is_new, text) {
            let file = PackageFile::from_text(path.as_str(), text.text());
            files.push(file.map_err(|error| Failure::input(invalid_path(&error)))?);
        }
    }
    Ok(Package::new(files))
}

fn plan(
    session: &EditSession<'_>,
    contents: FileContents,
    pipeline: &PipelineRun,
) -> Result<Plan, Failure> {
    let refused = |error| Failure::Diagnostics(Exit::Function, vec![error]);
    let mut plan = Plan::default();
    for change in changed_documents(pipeline) {
        let display_path = session.loaded.display_path(change.path.as_str());
        let old = Some(change.old.clone());
        let original = OriginalFile::new(change.path.clone(), display_path, old);
        let original = session.loaded.original(original);
        plan.set(original, Some(change.new.clone())).map_err(refused)?;
    }
    for (path, new) in contents {
        let planned = plan.set(session.loaded.original_at(&path), new);
        planned.map_err(refused)?;
    }
    Ok(plan)
}

/// The documents that functions replaced, by path. Of several changes of one document the last counts: each is made from the text that was
/// read.
fn changed_documents(pipeline: &PipelineRun) -> Vec<&DocumentChange> {
    let runs = pipeline.runs.iter().filter(|_| !pipeline.is_stopped);
    let documents: BTreeMap<&PackagePath, &DocumentChange> =
        runs.flat_map(|run| &run.documents).map(|it| (&it.path, it)).collect();
    documents.into_values().collect()
}

/// A path that is not inside a package.
pub(super) fn invalid_path(error: &krm_core::PackagePathError) -> Diagnostic {
    Diagnostic::error(FnCommandKind::InvalidPath { reason: error.to_string() })
}
