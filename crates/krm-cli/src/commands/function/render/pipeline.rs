//! One run of `render`: the pipelines of the package run, are reported, and their output is written.

use std::collections::BTreeSet;

use krm_core::files::Deletions;
use krm_core::functions::PackageTree;
use krm_core::functions::kptfile;
use krm_core::functions::resource_list::Item;
use krm_core::functions::results::FunctionRecord;
use krm_core::{Diagnostic, FileText, Package, PackagePath, Severity};
use krm_run::{Environment, Permissions, PipelineRun, Renderer, RuntimeFactory};
use krm_yaml::File;

use super::super::finish::{self, FileContents};
use super::super::kinds::FnCommandKind;
use super::super::output::Output;
use super::super::{interpreter, open_package, remote, run_report};
use super::index::IndexSession;
use super::{Args, report};
use crate::commands::cfg::edit_session::EditSession;
use crate::commands::fix;
use crate::console::{Activity, Console};
use crate::{CommandResult, Exit, Failure, package_source, parallel};

/// The pipelines of a package, and the items before and after they ran.
pub(super) struct Rendering {
    pub(super) tree: PackageTree,
    pub(super) before: Vec<Item>,
    pub(super) pipeline: PipelineRun,
}

/// Renders an open package, reports what happened and writes the result.
pub(super) fn run(
    args: &Args,
    mut session: EditSession<'_>,
    (output, mut index): (Option<&Output>, Option<&mut IndexSession>),
    console: &mut Console,
) -> CommandResult {
    if let Some(index) = &mut index {
        index.set_loaded(&session.loaded);
    }
    let skipped = index.as_ref().map(|it| it.skipped()).unwrap_or_default();
    let renderer = renderer(args, console)?;
    let fixes = match args.results.fix {
        true => fixes(args, &renderer, &session.loaded.package, console)?,
        false => FileContents::new(),
    };
    let mut fixed = match fixes.is_empty() {
        true => None,
        false => Some(finish::with_contents(&session.loaded.package, &fixes)?),
    };
    let package = fixed.as_mut().unwrap_or(&mut session.loaded.package);
    let tree = package_tree(package)?;
    for warning in tree.nodes().iter().flat_map(|node| &node.pipeline.warnings) {
        console.report(warning);
    }
    if tree.nodes().iter().any(|node| !node.pipeline.validators.is_empty()) {
        open_package::check_validated_files(package)?;
    }
    let items = open_package::take_items(package, args.results.strict, console)?;
    console.summary().add_resources(items.len() + skipped.resources);
    let activity = Activity::begin(&format!("rendering {}", session.loaded.title));
    let mut rendering = render(&renderer, tree, items);
    drop(activity);
    args.cache.report(console);
    run_report::count(&rendering.pipeline, console);
    let package = fixed.as_ref().unwrap_or(&session.loaded.package);
    if !rendering.pipeline.is_stopped && skipped.functions > 0 {
        let infos = vec![(Severity::Info, skipped.infos)];
        console.summary().add_functions(skipped.functions, infos);
    }
    if rendering.pipeline.runs.is_empty() && skipped.functions == 0 {
        console.report(&Diagnostic::warning(FnCommandKind::NoPipeline));
    }
    report::report(&rendering.pipeline, package, &session.loaded, index.as_deref_mut(), console);
    args.results.record(&rendering.pipeline, console)?;
    if args.explain {
        report::explain(&rendering.pipeline, &session.loaded, args.output.is_json(), console)?;
    }
    let display = |path: &str| session.loaded.display_path(path);
    run_report::record_authors(&rendering.pipeline, display, console);
    rendering.forget_changes();
    let errors = run_report::errors(&rendering.pipeline.runs, &session.loaded.package);
    let unreported = run_report::unreported_errors(&rendering.pipeline, &session.loaded.package);
    let contents = contents(
        args,
        &mut rendering,
        (package, fixes, skipped.resources),
        errors.last(),
        console,
    )?;
    if let Some(index) = index {
        let run = (&rendering.pipeline, &rendering.before[..]);
        index.store(&session.loaded, run, &changed(package, &contents), console);
    }
    let pipeline = &rendering.pipeline;
    let lists_explanations = args.explain && args.output.is_json();
    if lists_explanations {
        console.print_changes_as_json();
    }
    if pipeline.is_stopped && is_discarded(output, &contents) {
        return Err(Failure::Diagnostics(report::failure_exit(pipeline), unreported));
    }
    let exit = finish::write(session, contents, (output, pipeline), console)?;
    if lists_explanations {
        // The explanations are the list that was asked for. A preview only adds its exit code.
        console.discard_json_changes();
    }
    match pipeline.is_stopped {
        false => Ok(exit),
        true => Err(Failure::Diagnostics(report::failure_exit(pipeline), unreported)),
    }
}

/// Whether a failed run prints or creates nothing. `krm fn render … -o unwrap | kubectl apply -f -` would apply a package that was
/// not rendered, because a shell ignores the exit code of the first command.
fn is_discarded(output: Option<&Output>, contents: &FileContents) -> bool {
    match output {
        Some(Output::Unwrap { .. }) => true,
        Some(Output::Directory(_)) => contents.is_empty(),
        _ => false,
    }
}

impl Rendering {
    /// Drops what functions changed, apart from removed resources, so that the items can be dropped while files are assembled.
    fn forget_changes(&mut self) {
        for run in &mut self.pipeline.runs {
            run.changes.retain(|change| change.after.is_none());
        }
    }
}

fn renderer(args: &Args, console: &mut Console) -> Result<Renderer, Failure> {
    let permissions = Permissions {
        allow_exec: args.allow_exec,
        allow_network: args.allow_network,
        ..Permissions::default()
    };
    let mut resolution = args.images.resolution()?;
    resolution.lock = args.lock.images(&args.dir)?;
    let factory = RuntimeFactory {
        resolution,
        permissions,
        pull: args.image_pull_policy,
        engine: args.runtime.clone(),
        sandbox: package_source::sandbox(interpreter::program()),
        working_directory: std::env::current_dir()?,
        environment: std::env::vars_os().collect::<Environment>(),
        interpreter: interpreter::program(),
        schemas: args.schemas.settings()?,
        cache: args.cache.open(args.images.cache_server()?.as_deref())?,
        remote: remote::evaluator(args.runtime.as_deref())?,
    };
    Ok(Renderer {
        factory,
        limits: args.limits.limits(),
        version: args.version.version(),
        fail_on: args.results.fail_on_severity(),
        interrupt: crate::interrupt::on_signals(),
        records_changes: args.explain || console.recorder().records_changes(),
        directory: std::fs::canonicalize(&args.dir)?,
    })
}

fn render(renderer: &Renderer, tree: PackageTree, items: Vec<Item>) -> Rendering {
    let before = items.iter().map(Item::unparsed).collect();
    let pipeline = renderer.run(&tree, items);
    Rendering { tree, before, pipeline }
}

fn package_tree(package: &Package) -> Result<PackageTree, Failure> {
    PackageTree::of_with(package, parallel::for_each_index)
        .map_err(|errors| Failure::Diagnostics(Exit::Input, errors))
}

/// Runs the pipelines once for the values that their results propose. The package is then rendered with these values.
fn fixes(
    args: &Args,
    renderer: &Renderer,
    package: &Package,
    console: &mut Console,
) -> Result<FileContents, Failure> {
    let tree = package_tree(package)?;
    let items = open_package::items_quietly(package, args.results.strict)?;
    let rendering = render(renderer, tree, items);
    let fixes = args.results.choices.apply(package, &rendering.pipeline.report());
    fix::report(&fixes, args.preview.is_on(), console);
    Ok(fixes.texts.into_iter().map(|(path, text)| (path, Some(text.into()))).collect())
}

/// The new contents of files. After a failure the output is only used if the package asks for that.
fn contents(
    args: &Args,
    rendering: &mut Rendering,
    (package, fixes, skipped): (&Package, FileContents, usize),
    error: Option<&Diagnostic>,
    console: &mut Console,
) -> Result<FileContents, Failure> {
    let pipeline = &mut rendering.pipeline;
    if !args.results.allow_delete
        && let Some(error) = report::deletion_error(pipeline, rendering.before.len(), skipped)
    {
        return Err(Failure::Diagnostics(Exit::Function, vec![error]));
    }
    let mut contents = fixes;
    if !pipeline.is_stopped || rendering.tree.root().pipeline.save_on_failure {
        // Deletions were checked above, with the name of the function.
        let after = finish::persistent_items(pipeline)?;
        let items = (&rendering.before[..], after);
        contents.extend(finish::assembled(package, items, Deletions::Any, console)?.0);
    }
    if args.write_status {
        add_status(package, pipeline, error, &mut contents)?;
    }
    Ok(contents)
}

/// The files whose contents change.
fn changed<'a>(package: &Package, contents: &'a FileContents) -> BTreeSet<&'a PackagePath> {
    let is_same = |path: &PackagePath, new: Option<&FileText>| {
        let old = package.file(path).and_then(|it| it.file());
        old.is_some() == new.is_some() && old.zip(new).is_none_or(|(old, new)| *new == *old.text())
    };
    let changed = contents.iter().filter(|(path, new)| !is_same(path, new.as_ref()));
    changed.map(|(path, _)| path).collect()
}

/// Adds the status of the run to the root Kptfile.
fn add_status(
    package: &Package,
    pipeline: &PipelineRun,
    error: Option<&Diagnostic>,
    contents: &mut FileContents,
) -> Result<(), Failure> {
    let kptfile = package.files().iter().find(|file| file.path.as_str() == "Kptfile");
    let Some(kptfile) = kptfile else { return Ok(()) };
    let text = match contents.get(&kptfile.path) {
        Some(None) => return Ok(()),
        Some(Some(text)) => text.text().into_owned(),
        None => kptfile.file().map_or("", File::text).to_owned(),
    };
    let file = kptfile.with_text(text).map_err(|it| Failure::Diagnostics(Exit::Input, it))?;
    let Some(file) = file.file() else { return Ok(()) };
    let steps: Vec<(kptfile::Role, &FunctionRecord)> = pipeline
        .runs
        .iter()
        .filter(|run| !run.is_skipped())
        .filter_map(|run| Some((run.role?, &run.record)))
        .collect();
    let text = kptfile::write_status(file, &steps, error.map(Diagnostic::message))
        .map_err(|error| Failure::input(error.in_file(&*kptfile.display_path)))?;
    contents.insert(kptfile.path.clone(), Some(text.into()));
    Ok(())
}
