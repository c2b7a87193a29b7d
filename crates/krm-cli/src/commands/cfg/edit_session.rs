//! Sessions of commands that edit a package: open and lock it, edit its files, write all changes at once.

use krm_core::{Diagnostic, Package, PackageFile, PackagePath, Plan, Severity};

use crate::cli::{Global, Preview, Recursion};
use crate::commands::kinds::CommandKind;
use crate::commands::plan;
use crate::console::Console;
use crate::disk::Lock;
use crate::loader::{self, LoadOptions, LoadedPackage, Origin};
use crate::walk::{PackageSelection, Subpackages};
use crate::{CommandResult, Exit, Failure, parallel};

/// The package argument of a command that edits.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct EditablePackage {
    /// Directory or file to edit [default: current directory]; - edits standard input to standard output
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    dir: String,

    #[command(flatten)]
    recursion: Recursion,
}

/// The arguments of a command that edits several packages, one after the other.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct EditablePackages {
    /// Directories or files to edit [default: current directory]; - edits standard input to standard output
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    dirs: Vec<String>,

    #[command(flatten)]
    recursion: Recursion,
}

impl EditablePackages {
    pub(super) fn each(&self) -> impl Iterator<Item = EditablePackage> {
        let recursion = &self.recursion;
        let package =
            |dir: &String| EditablePackage { dir: dir.clone(), recursion: recursion.clone() };
        self.dirs.iter().map(package)
    }
}

/// Options of every command that edits packages.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct EditOptions {
    /// Edit the remaining files if one cannot be read or edited
    #[arg(long)]
    pub(crate) keep_going: bool,

    /// Print the changes of --check, --diff or --dry-run in this format
    #[arg(short, long, value_name = "FORMAT")]
    pub(crate) output: Option<ChangesFormat>,

    #[command(flatten)]
    pub(crate) preview: Preview,

    /// Whether the command has no `--keep-going`, because it writes all files of a package or none.
    #[arg(skip)]
    pub(crate) is_atomic: bool,

    /// Whether the command also reads files that are not manifests.
    #[arg(skip)]
    pub(crate) with_other_files: bool,
}

impl EditOptions {
    /// Options of a command that writes all files of a package or none.
    pub(crate) fn atomic(preview: Preview) -> Self {
        let (keep_going, output, with_other_files) = (false, None, false);
        Self { keep_going, output, preview, is_atomic: true, with_other_files }
    }

    /// How the packages of the command are read.
    pub(super) fn load_options(&self, options: LoadOptions) -> LoadOptions {
        LoadOptions { with_other_files: self.with_other_files, ..options }
    }

    /// Checks that `-o` is used with a preview: what a command writes needs no format.
    pub(crate) fn check_output(&self, console: &mut Console) -> Result<(), Failure> {
        match self.output {
            Some(format) => format.apply(&self.preview, console),
            None => Ok(()),
        }
    }
}

/// The option of a command that writes files but is not about a package.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ChangesOutput {
    /// Print the changes of --check, --diff or --dry-run in this format
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<ChangesFormat>,
}

impl ChangesOutput {
    /// Makes a preview print its changes in this format. Without a preview it is an error.
    pub(crate) fn apply(&self, preview: &Preview, console: &mut Console) -> Result<(), Failure> {
        self.output.map_or(Ok(()), |format| format.apply(preview, console))
    }
}

/// Format of changes for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ChangesFormat {
    /// One JSON array
    Json,
}

impl ChangesFormat {
    /// Makes a preview print its changes in this format.
    pub(crate) fn apply(self, preview: &Preview, console: &mut Console) -> Result<(), Failure> {
        if !preview.is_on() {
            return Err(Failure::usage(Diagnostic::error(CommandKind::FormatWithoutPreview)));
        }
        console.print_changes_as_json();
        Ok(())
    }
}

/// Whether a session includes subpackages.
#[derive(Clone, Copy)]
pub(crate) enum SubpackageScope<'s> {
    All,
    None,
    /// If the package reaches into them.
    If(fn(&Package) -> bool),
    /// Some packages of a directory, with all their subpackages.
    Selected(&'s PackageSelection),
}

impl From<bool> for SubpackageScope<'_> {
    fn from(recurse_subpackages: bool) -> Self {
        if recurse_subpackages { Self::All } else { Self::None }
    }
}

/// A package that is being edited.
pub(crate) struct EditSession<'a> {
    pub(crate) loaded: LoadedPackage,
    edit_options: &'a EditOptions,
    lock: Lock,
    /// The directory of the package, relative to the one that is locked.
    directory: String,
    /// Whether errors were reported; only with `--keep-going` does a session go on after that.
    pub(crate) has_errors: bool,
}

impl<'a> EditSession<'a> {
    /// Opens a package. If one of its files cannot be read, that is an error, unless `--keep-going` is given.
    pub(super) fn open(
        package: &EditablePackage,
        edit_options: &'a EditOptions,
        global: &Global,
        console: &mut Console,
    ) -> Result<Self, Failure> {
        edit_options.check_output(console)?;
        let scope = package.recursion.includes_subpackages();
        let session = Self::open_at(&package.dir, &[], scope, edit_options, global, console)?;
        session.count_resources(console);
        Ok(session)
    }

    /// Counts the resources for the closing line. A filter has none, as its output is all that it does.
    pub(crate) fn count_resources(&self, console: &mut Console) {
        if self.loaded.origin != Origin::Stdin && !console.is_quiet() {
            console.summary().add_resources(self.loaded.package.resources().count());
        }
    }

    /// Opens the package in `dir`. `others` are files outside of it that are locked because they may be written, too.
    pub(crate) fn open_at<'s>(
        dir: &str,
        others: &[String],
        scope: impl Into<SubpackageScope<'s>>,
        edit_options: &'a EditOptions,
        global: &Global,
        console: &mut Console,
    ) -> Result<Self, Failure> {
        let names: Vec<String> =
            [dir.to_owned()].into_iter().chain(others.iter().cloned()).collect();
        let lock = plan::lock(&names, &edit_options.preview, console)?;
        let is_locked = lock.is_held();
        let (scope, all) = (scope.into(), edit_options.load_options(global.load_options()));
        let own = LoadOptions { subpackages: Subpackages::JournalsOnly, ..all };
        let load = || match scope {
            SubpackageScope::All => loader::load_to_edit(dir, all, is_locked),
            SubpackageScope::None => loader::load_to_edit(dir, own, is_locked),
            SubpackageScope::If(reaches) => loader::load_if(dir, own, reaches, is_locked),
            SubpackageScope::Selected(only) => loader::load_selected(dir, all, only, is_locked),
        };
        let load = || load().map_err(Failure::input);
        let mut loaded = load()?;
        let report = &mut |diagnostic: &Diagnostic| console.report(diagnostic);
        // An interrupted run may have left files half written: they are completed or restored, and read again.
        if lock.recover(&loaded.journals, report).map_err(Failure::input)? {
            loaded = load()?;
        }
        let mut diagnostics = loaded.diagnostics();
        if edit_options.preview.check {
            // A check of nothing must not pass.
            diagnostics.iter_mut().filter(|it| loader::is_about_nothing(it)).for_each(|it| {
                it.severity = Severity::Error;
            });
        }
        let has_errors = diagnostics.iter().any(Diagnostic::is_error);
        if has_errors && !edit_options.keep_going {
            return Err(Failure::Diagnostics(
                Exit::Input,
                with_summary(diagnostics, loaded.origin, edit_options.is_atomic),
            ));
        }
        console.report_all(&diagnostics);
        let directory = lock.directory_of(dir);
        Ok(Self { loaded, edit_options, lock, directory, has_errors })
    }

    /// Edits the files in parallel and writes those that change. If a file cannot be edited, nothing is written, unless
    /// `--keep-going` is given. Files that cannot be read are skipped.
    pub(super) fn each_file(
        mut self,
        global: &Global,
        console: &mut Console,
        change: impl Fn(&PackageFile) -> Result<Option<String>, Vec<Diagnostic>> + Sync,
    ) -> CommandResult {
        let differs = |file: &PackageFile, new: &String| {
            file.file().is_some_and(|old| old.text() != new.as_str())
        };
        let change = |file: &PackageFile| match file.errors().is_empty() {
            true => change(file).map(|new| new.filter(|new| differs(file, new))),
            false => Ok(None),
        };
        let results = parallel::map(self.loaded.package.files(), global.jobs, change);
        let (mut plan, mut errors) = (Plan::default(), Vec::new());
        let is_stream = self.loaded.origin == Origin::Stdin;
        let files = std::mem::take(&mut self.loaded.package).into_files();
        for (file, result) in files.into_iter().zip(results) {
            let new = result.unwrap_or_else(|diagnostics| {
                errors.extend(diagnostics);
                None
            });
            if new.is_none() && !is_stream || file.file().is_none() {
                continue;
            }
            let original = self.loaded.original(file);
            // A filter prints its input even if nothing changes.
            let new = new.or_else(|| original.text().map(str::to_owned));
            errors.extend(plan.set(original, new).err());
        }
        self.report(errors, console)?;
        self.finish(plan, console)
    }

    /// Reports errors. Without `--keep-going` they end the session.
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

    /// The path of a file in a plan: of the package, or of a document outside it that was named, too.
    pub(super) fn plan_path(&self, file: &PackageFile) -> Result<PackagePath, Diagnostic> {
        let own = self.loaded.package.file(&file.path);
        match own.is_some_and(|own| own.display_path == file.display_path) {
            true => Ok(file.path.in_directory(&self.directory)),
            false => self.lock.package_path(&file.display_path),
        }
    }

    /// Previews or writes the plan.
    pub(crate) fn finish(self, plan: Plan, console: &mut Console) -> CommandResult {
        let plan = self.loaded.with_hard_links(plan, &self.directory).map_err(Failure::input)?;
        let exit = plan::apply_or_preview(&plan, &self.edit_options.preview, &self.lock, console)?;
        // The process ends after this: dropping thousands of files would only cost time.
        std::mem::forget(self.loaded);
        Ok(if self.has_errors { Exit::Input } else { exit })
    }
}

/// Adds that nothing was written and how to continue, where a directory has files that cannot be read.
fn with_summary(
    mut diagnostics: Vec<Diagnostic>,
    origin: Origin,
    is_atomic: bool,
) -> Vec<Diagnostic> {
    let has_files = !diagnostics.iter().any(loader::is_about_nothing);
    if origin == Origin::Directory && has_files {
        let keep_going = if is_atomic { "" } else { ", or edit the others with --keep-going" };
        let hint = format!("fix them, or exclude them in .krmignore{keep_going}");
        diagnostics.push(Diagnostic::error(CommandKind::UnreadableFiles).hint(hint));
    }
    diagnostics
}
