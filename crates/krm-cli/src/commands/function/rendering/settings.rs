//! What all runs of one command have in common, and one run.

use std::path::PathBuf;

use krm_core::functions::PackageTree;
use krm_core::functions::kptfile::Function;
use krm_core::functions::resource_list::{Item, Items};
use krm_core::{Diagnostic, Package, PackageFile};
use krm_run::render::{Rendered, render};
use krm_run::{Environment, Interrupt, Programs};

use super::super::interrupt;
use super::super::render::Args;
use super::{Told, Work, words};
use crate::cli::Global;
use crate::commands::fix;
use crate::console::Console;
use crate::disk::Lock;
use crate::loader::LoadedPackage;
use crate::{CommandResult, Exit, Failure, parallel};

/// Everything that all runs of this command have in common.
pub(in super::super) struct Settings<'a> {
    pub(super) args: &'a Args,
    pub(super) loaded: &'a LoadedPackage,
    global: &'a Global,
    folder: PathBuf,
    programs: Programs,
    interrupt: Interrupt,
}

impl<'a> Settings<'a> {
    pub(in super::super) fn new(
        args: &'a Args,
        loaded: &'a LoadedPackage,
        global: &'a Global,
    ) -> Result<Self, Failure> {
        let programs = Programs {
            resolution: args.images.resolution()?,
            allow_exec: args.allow_exec,
            allow_network: args.allow_network,
            pull: args.image_pull_policy,
            engine: args.runtime.clone(),
            stands: std::env::current_dir()?,
            environment: std::env::vars_os().collect::<Environment>(),
        };
        let (folder, interrupt) = (std::fs::canonicalize(&args.dir)?, interrupt::on_signals());
        Ok(Self { args, loaded, global, folder, programs, interrupt })
    }

    /// Renders the package, tells of it and writes what came of it.
    pub(in super::super) fn run(&self, lock: &Lock, console: &mut Console) -> CommandResult {
        let mended = match self.args.results.fix {
            true => self.mended(console)?,
            false => None,
        };
        let package = mended.as_ref().unwrap_or(&self.loaded.package);
        self.run_on(package, |work, rendered, before| {
            words::tell(work, rendered, console);
            self.args.results.keep(&words::report(rendered), console)?;
            if self.args.explain {
                words::explain(work, rendered, console)?;
            }
            self.finish(work, rendered, before, lock, console)
        })?
    }

    /// Runs all pipelines of a package, and hands on what came of it.
    fn run_on<T>(
        &self,
        package: &Package,
        then: impl FnOnce(&Work<'_>, &Rendered<'_, Told>, &[Item]) -> T,
    ) -> Result<T, Failure> {
        let input = |told| Failure::Diagnostics(Exit::Input, told);
        let tree = PackageTree::of(package).map_err(input)?;
        let taken = Items::from_package(package, |_| true).map_err(input)?;
        if let Some(told) =
            taken.skipped_diagnostic(self.args.results.strict).filter(Diagnostic::is_error)
        {
            return Err(Failure::input(told));
        }
        let left_out = taken.skipped_diagnostic(false);
        let before = taken.items;
        let work = Work {
            loaded: self.loaded,
            package,
            tree: &tree,
            programs: &self.programs,
            limits: self.args.limits.limits(),
            interrupt: &self.interrupt,
            fail_on: self.args.results.fail_on,
            folder: &self.folder,
            left_out,
        };
        let run = |member: usize, function: &Function, items: Vec<Item>| {
            work.run(member, function, &items)
        };
        let rendered = parallel::within(self.global.jobs, || render(&tree, before.clone(), &run));
        Ok(then(&work, &rendered, &before))
    }

    /// The package with the values that results propose; none where nothing is proposed that can be set.
    fn mended(&self, console: &mut Console) -> Result<Option<Package>, Failure> {
        let package = &self.loaded.package;
        let choices = &self.args.results.choices;
        let fixes = self
            .run_on(package, |_, rendered, _| choices.apply(package, &words::report(rendered)))?;
        fix::report(&fixes, self.args.preview.is_on(), console);
        if fixes.texts.is_empty() {
            return Ok(None);
        }
        let file = |file: &PackageFile| match fixes.texts.get(&file.path) {
            Some(text) => file.with_text(text.clone()),
            None => Ok(PackageFile {
                path: file.path.clone(),
                display_path: file.display_path.clone(),
                is_external_symlink: file.is_external_symlink,
                content: file.content.clone(),
            }),
        };
        let files = package.files().iter().map(file).collect::<Result<Vec<_>, _>>();
        Ok(Some(Package::new(files.map_err(|told| Failure::Diagnostics(Exit::Input, told))?)))
    }
}
