//! The end of a run: what may be written is put together, and written or shown.

use std::collections::BTreeMap;

use krm_core::files::{Deletions, assemble};
use krm_core::functions::kptfile::{self, Role};
use krm_core::functions::resource_list::Item;
use krm_core::functions::results::Ran;
use krm_core::{Change, Diagnostic, Package, PackageFile, PackagePath, PackagePathError, Plan};
use krm_run::render::Rendered;
use krm_yaml::File;

use super::{Settings, Told, Work, words};
use crate::commands::plan;
use crate::console::Console;
use crate::disk::Lock;
use crate::{CommandResult, Exit, Failure};

impl Settings<'_> {
    /// Writes or shows what came of it, as far as it may be.
    pub(super) fn finish(
        &self,
        work: &Work<'_>,
        rendered: &Rendered<'_, Told>,
        before: &[Item],
        lock: &Lock,
        console: &mut Console,
    ) -> CommandResult {
        let package = work.package;
        let failed = match rendered.failed {
            true => Some(words::failures(rendered, self.loaded)),
            false => None,
        };
        if !self.args.results.allow_delete
            && let Some(told) = words::dangerous(rendered, before.len())
        {
            return Err(Failure::Diagnostics(Exit::Function, vec![told]));
        }
        let mut texts = match failed.is_none() || work.tree.root().pipeline.save_on_failure {
            true => self.texts(package, before, rendered)?,
            false => BTreeMap::new(),
        };
        if self.args.write_status {
            self.with_status(package, rendered, failed.as_deref(), &mut texts)?;
        }
        let exit = self.write(package, texts, lock, console)?;
        match failed {
            None => Ok(exit),
            Some(told) if words::are_findings(rendered) => {
                Err(Failure::Diagnostics(Exit::Findings, told))
            }
            Some(told) => Err(Failure::Diagnostics(Exit::Function, told)),
        }
    }

    /// New texts of files; none for one that goes away.
    fn texts(
        &self,
        package: &Package,
        before: &[Item],
        rendered: &Rendered<'_, Told>,
    ) -> Result<Texts, Failure> {
        // What may be deleted has been settled, with the function that does it.
        let done = assemble(package, before, &rendered.items, Deletions::Any)
            .map_err(|told| Failure::Diagnostics(Exit::Function, told))?;
        Ok(done.changes.into_iter().map(|it| (it.path.clone(), it.into_text())).collect())
    }

    /// The outermost Kptfile gets a status.
    fn with_status(
        &self,
        package: &Package,
        rendered: &Rendered<'_, Told>,
        failed: Option<&[Diagnostic]>,
        texts: &mut Texts,
    ) -> Result<(), Failure> {
        let kptfile = package.files().iter().find(|file| file.path.as_str() == "Kptfile");
        let Some(kptfile) = kptfile else { return Ok(()) };
        let file = match texts.get(&kptfile.path) {
            Some(None) => return Ok(()),
            Some(Some(text)) => kptfile.with_text(text.clone()),
            None => kptfile.with_text(kptfile.file().map_or("", File::text).to_owned()),
        };
        let file = file.map_err(|told| Failure::Diagnostics(Exit::Input, told))?;
        let Some(content) = file.file() else { return Ok(()) };
        let steps: Vec<(Role, &Ran)> =
            rendered.steps.iter().map(|it| (it.function.role, &it.report.ran)).collect();
        let words = failed.and_then(<[_]>::last).map(|told| told.message());
        let text = kptfile::write_status(content, &steps, words)
            .map_err(|told| Failure::input(told.in_file(&*kptfile.display_path)))?;
        texts.insert(kptfile.path.clone(), Some(text));
        Ok(())
    }

    /// Shows the result, or writes it.
    fn write(
        &self,
        package: &Package,
        mut texts: Texts,
        lock: &Lock,
        console: &mut Console,
    ) -> CommandResult {
        // What is printed is the whole package; what was mended changes although no function changed it.
        let is_mended = !std::ptr::eq(package, &self.loaded.package);
        let all =
            if self.args.elsewhere.output.is_some() || is_mended { package.files() } else { &[] };
        for file in all {
            let text = || file.file().map(|file| file.text().to_owned());
            texts.entry(file.path.clone()).or_insert_with(text);
        }
        match &self.args.elsewhere.output {
            None => {
                let plan = self.plan(texts)?;
                plan::apply_or_preview(
                    self.loaded.under_all_names(plan),
                    &self.args.preview,
                    lock,
                    console,
                )
            }
            Some(output) => {
                let package =
                    made(texts).map_err(|error| Diagnostic::untyped_error(error.to_string()));
                output.take(&package.map_err(Failure::input)?, console)
            }
        }
    }

    fn plan(&self, texts: Texts) -> Result<Plan, Failure> {
        let mut plan = Plan::default();
        for (path, new) in texts {
            let files = self.loaded.package.files();
            let found = files.binary_search_by(|file| file.path.cmp(&path));
            let file = found.ok().map(|at| &files[at]);
            let old = file.and_then(PackageFile::file).map(|file| file.text().to_owned());
            if old == new {
                continue;
            }
            if let Some(file) = file.filter(|file| file.is_external_symlink) {
                let words = "the link leads out of the package, and what is outside is not written";
                return Err(Failure::input(
                    Diagnostic::untyped_error(words).in_file(&*file.display_path),
                ));
            }
            let display_path = file.map_or_else(
                || self.loaded.display_path(path.as_str()),
                |it| it.display_path.clone(),
            );
            plan.add(Change { path: display_path, old, new });
        }
        Ok(plan)
    }
}

/// The package that texts of files make up.
fn made(texts: Texts) -> Result<Package, PackagePathError> {
    let there = texts.into_iter().filter_map(|(path, text)| Some((path, text?)));
    let files = there.map(|(path, text)| PackageFile::from_text(path.as_str(), text));
    Ok(Package::new(files.collect::<Result<_, _>>()?))
}

/// New texts of files; none for one that goes away.
type Texts = BTreeMap<PackagePath, Option<String>>;
