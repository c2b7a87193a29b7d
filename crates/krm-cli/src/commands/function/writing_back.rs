//! What becomes of a package after its functions: its files are written, shown or printed, or nothing is.

use std::collections::BTreeMap;
use std::fs;

use krm_core::files::{Deletions, assemble};
use krm_core::functions::resource_list::Item;
use krm_core::functions::results::Report;
use krm_core::{Change, Diagnostic, Package, PackageFile, PackagePath, Plan};

use super::output::Output;
use super::running::Run;
use super::saving::Saving;
use crate::cli::Preview;
use crate::commands::cfg::edit_session::EditSession;
use crate::commands::fix::{self, Choices};
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

/// Flags about what becomes of a run.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Results {
    /// Keep the results in results.yaml in this folder
    #[arg(long, value_name = "DIR")]
    results_dir: Option<String>,

    /// Let results count as a failure, beside the exit codes of functions
    #[arg(long, value_name = "SEVERITY")]
    pub(super) fail_on: Option<super::running::FailOn>,

    /// Apply the values that results propose
    #[arg(long)]
    pub(super) fix: bool,

    #[command(flatten)]
    pub(super) choices: Choices,

    /// Let functions delete all resources, or a Kptfile
    #[arg(long)]
    pub(super) allow_delete: bool,

    /// Refuse packages with documents that are no resources
    #[arg(long)]
    pub(super) strict: bool,
}

/// What is to be done at the end beside changing the package.
#[derive(Clone, Copy)]
pub(super) struct Ending<'a> {
    pub(super) saving: Option<&'a Saving>,
    pub(super) output: Option<&'a Output>,
    pub(super) preview: &'a Preview,
}

impl Results {
    /// Keeps the results of a run, also of one that failed.
    pub(super) fn keep(&self, report: &Report, console: &mut Console) -> Result<(), Failure> {
        let Some(folder) = &self.results_dir else { return Ok(()) };
        let text = report.to_yaml().map_err(Failure::input)?;
        let path = crate::loader::joined(folder, "results.yaml");
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&path, text));
        written.map_err(|error| {
            let words = format!("it cannot be written: {}", crate::disk::io_reason(&error));
            Failure::input(Diagnostic::untyped_error(words).in_file(path.as_str()))
        })?;
        console.status(&format!("the results are in {path}"));
        Ok(())
    }

    /// The end of a run on a package: what it may write is written, and the exit code tells what failed.
    pub(super) fn finish(
        &self,
        run: &Run,
        session: EditSession<'_>,
        [before, after]: [&[Item]; 2],
        ending: Ending<'_>,
        console: &mut Console,
    ) -> CommandResult {
        let Ending { saving, output, preview } = ending;
        run.sum_up(console);
        self.keep(&run.report, console)?;
        if !run.is_good && !self.fix {
            return Err(Failure::Diagnostics(run.exit, run.errors.clone()));
        }
        let package = &session.loaded.package;
        let mut texts = BTreeMap::new();
        if run.is_good {
            let deletions = if self.allow_delete { Deletions::Any } else { Deletions::Some };
            let done = assemble(package, before, after, deletions)
                .map_err(|told| Failure::Diagnostics(Exit::Function, told))?;
            for gone in &done.deleted {
                console.status(&format!("deleted {} in {}", gone.resource, gone.path));
            }
            texts.extend(done.changes.into_iter().map(|it| (it.path.clone(), it.into_text())));
        }
        if let Some(saving) = saving {
            saving.apply(package, &mut texts, console)?;
        }
        if self.fix {
            self.mend(run, package, &mut texts, preview, console)?;
        }
        let exit = match output {
            Some(output) => {
                let new = changed(package, &texts);
                output
                    .take(&new.map_err(|told| Failure::Diagnostics(Exit::Input, told))?, console)?
            }
            None => {
                let plan = plan(&session, &texts);
                session.finish(plan, console)?
            }
        };
        match run.exit {
            Exit::Success => Ok(exit),
            failed => Err(Failure::Diagnostics(failed, run.errors.clone())),
        }
    }

    /// Applies what results propose to the files as they are to be.
    fn mend(
        &self,
        run: &Run,
        package: &Package,
        texts: &mut BTreeMap<PackagePath, Option<String>>,
        preview: &Preview,
        console: &mut Console,
    ) -> Result<(), Failure> {
        let new =
            changed(package, texts).map_err(|told| Failure::Diagnostics(Exit::Input, told))?;
        let fixes = self.choices.apply(&new, &run.report);
        fix::report(&fixes, preview.is_on(), console);
        texts.extend(fixes.texts.into_iter().map(|(path, text)| (path, Some(text))));
        Ok(())
    }
}

/// The package with new texts of files.
fn changed(
    package: &Package,
    texts: &BTreeMap<PackagePath, Option<String>>,
) -> Result<Package, Vec<Diagnostic>> {
    let mut files = Vec::new();
    for file in package.files() {
        match texts.get(&file.path) {
            Some(Some(text)) => files.push(file.with_text(text.clone())?),
            Some(None) => {}
            None => files.push(PackageFile {
                path: file.path.clone(),
                display_path: file.display_path.clone(),
                is_external_symlink: file.is_external_symlink,
                content: file.content.clone(),
            }),
        }
    }
    for (path, text) in texts {
        let is_new = !package.files().iter().any(|file| file.path == *path);
        if let (true, Some(text)) = (is_new, text) {
            let told = |error: krm_core::PackagePathError| {
                vec![Diagnostic::untyped_error(error.to_string())]
            };
            files.push(PackageFile::from_text(path.as_str(), text.clone()).map_err(told)?);
        }
    }
    Ok(Package::new(files))
}

fn plan(session: &EditSession<'_>, texts: &BTreeMap<PackagePath, Option<String>>) -> Plan {
    let files = session.loaded.package.files();
    let mut plan = Plan::default();
    for (path, new) in texts {
        let old = files.binary_search_by(|file| file.path.cmp(path)).ok().map(|at| &files[at]);
        let text = |file: &PackageFile| file.file().map(|file| file.text().to_owned());
        let display_path = old.map_or_else(
            || session.loaded.display_path(path.as_str()),
            |it| it.display_path.clone(),
        );
        plan.add(Change { path: display_path, old: old.and_then(text), new: new.clone() });
    }
    plan
}
