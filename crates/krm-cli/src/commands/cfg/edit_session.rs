//! What commands that edit packages have in common: the package is opened, changed file by file, and written as a whole.

use krm_core::{Diagnostic, PackageFile, Plan};

use crate::cli::{Global, Preview, yes_or_no};
use crate::commands::plan;
use crate::console::Console;
use crate::disk::Lock;
use crate::loader::{self, LoadedPackage, Origin};
use crate::walk::Subpackages;
use crate::{CommandResult, Exit, Failure, disk, parallel};

/// What a command edits.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Target {
    /// The folder or file; - or nothing edits standard input to standard output
    #[arg(value_name = "DIR", default_value = disk::STDIN, hide_default_value = true)]
    dir: String,

    #[command(flatten)]
    recursion: Recursion,
}

/// What a command edits that takes several folders, one after the other.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Targets {
    /// The folders or files; - or nothing edits standard input to standard output
    #[arg(value_name = "DIR", default_value = disk::STDIN, hide_default_value = true)]
    dirs: Vec<String>,

    #[command(flatten)]
    recursion: Recursion,
}

impl Targets {
    pub(super) fn each(&self) -> impl Iterator<Item = Target> {
        let recursion = &self.recursion;
        self.dirs.iter().map(|dir| Target { dir: dir.clone(), recursion: recursion.clone() })
    }
}

#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("recurse_subpackages", yes_or_no))]
struct Recursion {
    /// Edit packages inside the package, too
    #[arg(short = 'R', long, default_value = "false", hide_default_value = true)]
    recurse_subpackages: bool,
}

/// Flags of every command that edits packages.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct EditOptions {
    /// Edit the other files where one cannot be read or edited
    #[arg(long)]
    pub(crate) keep_going: bool,

    #[command(flatten)]
    pub(crate) preview: Preview,

    /// Whether the command has no such flag: a part of a package is no package.
    #[arg(skip)]
    pub(crate) is_whole: bool,
}

impl EditOptions {
    /// For commands that write all files of a package or none.
    pub(crate) fn whole(preview: Preview) -> Self {
        Self { keep_going: false, preview, is_whole: true }
    }
}

/// A package that is being edited.
pub(crate) struct EditSession<'a> {
    pub(crate) loaded: LoadedPackage,
    edit_options: &'a EditOptions,
    lock: Lock,
    /// What was said about the package already; with `--keep-going` that may be errors.
    pub(crate) has_errors: bool,
}

impl<'a> EditSession<'a> {
    /// Opens a package. While a file of it cannot be read nothing is written, unless `--keep-going`.
    pub(super) fn open(
        target: &Target,
        edit_options: &'a EditOptions,
        global: &Global,
        console: &mut Console,
    ) -> Result<Self, Failure> {
        Self::open_at(
            &target.dir,
            &[],
            target.recursion.recurse_subpackages,
            edit_options,
            global,
            console,
        )
    }

    /// The same for a folder that another argument names. The other files may be written, too.
    pub(crate) fn open_at(
        dir: &str,
        others: &[String],
        recurse_subpackages: bool,
        edit_options: &'a EditOptions,
        global: &Global,
        console: &mut Console,
    ) -> Result<Self, Failure> {
        let names: Vec<String> =
            [dir.to_owned()].into_iter().chain(others.iter().cloned()).collect();
        let lock = plan::lock(&names, &edit_options.preview, console)?;
        let wanted = match recurse_subpackages {
            true => Subpackages::Include,
            false => Subpackages::JournalsOnly,
        };
        let load = || loader::load_with(dir, global.jobs, wanted).map_err(Failure::input);
        let mut loaded = load()?;
        let tell = &mut |diagnostic: &Diagnostic| console.report(diagnostic);
        if lock.recover(&loaded.journals, tell).map_err(Failure::input)? {
            loaded = load()?;
        }
        let told = loaded.diagnostics();
        let has_errors = told.iter().any(Diagnostic::is_error);
        if has_errors && !edit_options.keep_going {
            return Err(Failure::Diagnostics(
                Exit::Input,
                unreadable(told, loaded.origin, edit_options.is_whole),
            ));
        }
        console.report_all(&told);
        Ok(Self { loaded, edit_options, lock, has_errors })
    }

    /// Edits the files side by side and writes those that change. A file that cannot be edited stops all of them,
    /// unless `--keep-going`; one that cannot be read is left alone.
    pub(super) fn each_file(
        mut self,
        global: &Global,
        console: &mut Console,
        change: impl Fn(&PackageFile) -> Result<Option<String>, Vec<Diagnostic>> + Sync,
    ) -> CommandResult {
        let change = |file: &PackageFile| match file.errors().is_empty() {
            true => change(file).and_then(|new| may_be_written(file, new)),
            false => Ok(None),
        };
        let results = parallel::map(self.loaded.package.files(), global.jobs, change);
        let (mut plan, mut errors) = (Plan::default(), Vec::new());
        let is_stream = self.loaded.origin == Origin::Stdin;
        let files = std::mem::take(&mut self.loaded.package).into_files();
        for (file, result) in files.into_iter().zip(results) {
            let new = result.unwrap_or_else(|told| {
                errors.extend(told);
                None
            });
            let path = if is_stream { disk::STDIN.to_owned() } else { file.display_path.clone() };
            let Some(old) = file.into_text() else { continue };
            match new {
                Some(new) => plan.write(path, old, new),
                // What goes through the pipe comes out of it, changed or not.
                None if is_stream => plan.write(path, old.clone(), old),
                None => {}
            }
        }
        self.report(errors, console)?;
        self.finish(plan, console)
    }

    /// Says what cannot be edited; that is the end of it, unless `--keep-going`.
    pub(crate) fn report(
        &mut self,
        errors: Vec<Diagnostic>,
        console: &mut Console,
    ) -> Result<(), Failure> {
        if errors.is_empty() {
            return Ok(());
        }
        if !self.edit_options.keep_going {
            return Err(Failure::Diagnostics(Exit::Input, errors));
        }
        console.report_all(&errors);
        self.has_errors = true;
        Ok(())
    }

    /// Shows the plan, or carries it out.
    pub(crate) fn finish(self, plan: Plan, console: &mut Console) -> CommandResult {
        let plan = self.loaded.under_all_names(plan);
        let exit = plan::apply_or_preview(plan, &self.edit_options.preview, &self.lock, console)?;
        // The program ends here: to take thousands of texts apart would only cost time.
        std::mem::forget(self.loaded);
        Ok(if self.has_errors { Exit::Input } else { exit })
    }
}

/// Says what stands in the way, and how to go on.
fn unreadable(mut told: Vec<Diagnostic>, origin: Origin, is_whole: bool) -> Vec<Diagnostic> {
    if origin == Origin::Directory {
        let words = "nothing was written, because files of the package cannot be read";
        let hint = match is_whole {
            true => "mend them, or name them in .krmignore",
            false => "mend them, or name them in .krmignore, or edit the others with --keep-going",
        };
        told.push(Diagnostic::untyped_error(words).hint(hint));
    }
    told
}

/// A link to a file outside the package is looked at and never written.
fn may_be_written(
    file: &PackageFile,
    new: Option<String>,
) -> Result<Option<String>, Vec<Diagnostic>> {
    let differs = new.as_deref().is_some_and(|new| file.file().is_none_or(|old| old.text() != new));
    if !(file.is_external_symlink && differs) {
        return Ok(new.filter(|_| differs));
    }
    let words = "the link leads out of the package, and what is outside is not written";
    let hint = "name it in .krmignore, or edit the file that it leads to";
    Err(vec![Diagnostic::untyped_error(words).hint(hint).in_file(&*file.display_path)])
}
