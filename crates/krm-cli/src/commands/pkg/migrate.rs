//! `krm pkg migrate`: converts packages of kpt before version 1, and verifies the result by rendering it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use krm_core::{Diagnostic, OriginalFile, Package, PackagePath, Plan};

use super::kinds::PkgKind;
use crate::cli::{Cli, Command, Global, Preview};
use crate::commands::cfg::edit_session::ChangesOutput;
use crate::commands::{function, plan};
use crate::console::Console;
use crate::loader::{self, LoadedPackage};
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm pkg migrate shop --diff
  krm pkg migrate shop";

/// Convert packages of kpt before version 1.
///
/// Kptfiles of kpt.dev/v1alpha1 and v1alpha2 become kpt.dev/v1: setters become the functionConfig of apply-setters, packageMetadata becomes
/// info, and annotated functions become a pipeline. The result is rendered, and nothing is written if that changes a resource.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory of the package
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    dir: String,

    /// Write the result even if it cannot be verified
    #[arg(long)]
    no_verify: bool,

    #[command(flatten)]
    changes: ChangesOutput,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    args.changes.apply(&args.preview, console)?;
    let names = [args.dir.clone()];
    let lock = plan::lock(&names, &args.preview, console)?;
    let loaded = loader::load(&args.dir, global.load_options()).map_err(Failure::input)?;
    let errors: Vec<Diagnostic> =
        loaded.diagnostics().into_iter().filter(Diagnostic::is_error).collect();
    if !errors.is_empty() {
        return Err(Failure::Diagnostics(Exit::Input, errors));
    }
    if !loaded.package.files().iter().any(|file| file.path.name() == "Kptfile") {
        return Err(Failure::input(Diagnostic::error(PkgKind::NoKptfile).in_file(&*args.dir)));
    }
    let copy = Copy::of(&loaded)?;
    run_quietly(&["fn", "eval", &copy.name(), "--image", "fix"], &copy, &args.dir)?;
    let fixed = copy.load(global)?;
    let plan = changes(&loaded, &fixed)?;
    if plan.is_empty() {
        console.status("nothing to migrate: every Kptfile is of version kpt.dev/v1");
    } else if !args.no_verify {
        verify(&copy, &fixed, &args.dir, global)?;
    }
    plan::apply_or_preview(&plan, &args.preview, &lock, console)
}

/// Fails if rendering the migrated package changes a resource: before version 1 there was nothing to render.
fn verify(copy: &Copy, fixed: &Package, dir: &str, global: &Global) -> Result<(), Failure> {
    let has_pipeline = |package: &Package| {
        let kptfiles = package.files().iter().filter(|it| it.path.name() == "Kptfile");
        kptfiles.filter_map(|it| it.file()).any(|it| it.text().contains("pipeline:"))
    };
    if !has_pipeline(fixed) {
        return Ok(());
    }
    run_quietly(&["fn", "render", &copy.name(), "--only-builtin"], copy, dir)?;
    let rendered = copy.load(global)?;
    // Rendering writes only what changes, so that texts are compared: every difference is one of meaning.
    let text = |package: &Package, path: &PackagePath| {
        package.file(path).and_then(|it| it.file()).map(|it| it.text().to_owned())
    };
    let paths = fixed.files().iter().chain(rendered.files()).map(|it| &it.path);
    let paths: BTreeSet<&PackagePath> = paths.collect();
    let changed = paths.into_iter().filter(|path| text(fixed, path) != text(&rendered, path));
    let names: Vec<&str> = changed.map(PackagePath::as_str).collect();
    if names.is_empty() {
        return Ok(());
    }
    let error = Diagnostic::error(PkgKind::MigrationChanges { files: names.join(", ") });
    Err(Failure::input(error.in_file(dir)))
}

/// The changes from one version of a package to another.
fn changes(loaded: &LoadedPackage, fixed: &Package) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    for file in loaded.package.files() {
        let new = fixed.file(&file.path).and_then(|it| it.file()).map(|it| it.text().to_owned());
        plan.set(OriginalFile::from(file), new).map_err(Failure::input)?;
    }
    for file in fixed.files().iter().filter(|it| loaded.package.file(&it.path).is_none()) {
        let text = file.file().map(|it| it.text().to_owned());
        plan.set(loaded.new_file(&file.path), text).map_err(Failure::input)?;
    }
    Ok(plan)
}

/// Runs another command of krm on the copy. Its warnings are reported, as they say what the new version cannot represent.
fn run_quietly(arguments: &[&str], copy: &Copy, dir: &str) -> Result<(), Failure> {
    let line = std::iter::once("krm").chain(arguments.iter().copied()).chain(["--quiet"]);
    let cli = Cli::try_parse_from(line);
    let failed = || Failure::input(Diagnostic::error(PkgKind::MigrationFailed));
    let Ok(Cli { command: Some(Command::Function { command, .. }), global, .. }) = cli else {
        return Err(failed());
    };
    let mut console = Console::new(&global);
    console.show_as(&copy.name(), dir);
    match function::run(&command, &global, &mut console) {
        Ok(Exit::Success) => Ok(()),
        // Reported here, where the copy has the name of the package.
        Err(Failure::Diagnostics(_, errors)) => {
            console.report_all(&errors);
            Err(failed())
        }
        Ok(_) => Err(failed()),
        Err(failure) => Err(failure),
    }
}

/// A temporary copy of a package, removed when dropped.
struct Copy(PathBuf);

impl Copy {
    fn of(loaded: &LoadedPackage) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::input(disk::cannot_read(&error));
        let root = std::env::temp_dir().join(format!("krm-migrate-{:016x}", disk::random_number()));
        fs::create_dir(&root).map_err(failed)?;
        let copy = Self(root);
        let directory = copy.0.join(package_name(loaded));
        let texts = loaded
            .package
            .files()
            .iter()
            .filter_map(|it| Some((&it.path, it.file()?.text().as_bytes())));
        for (path, bytes) in texts {
            let file = directory.join(path.as_str());
            fs::create_dir_all(file.parent().unwrap_or(&directory)).map_err(failed)?;
            fs::write(file, bytes).map_err(failed)?;
        }
        for (path, from) in &loaded.others {
            let file = directory.join(path.as_str());
            fs::create_dir_all(file.parent().unwrap_or(&directory)).map_err(failed)?;
            fs::copy(from, file).map_err(failed)?;
        }
        fs::write(copy.0.join(".name"), package_name(loaded)).map_err(failed)?;
        Ok(copy)
    }

    fn name(&self) -> String {
        let name = fs::read_to_string(self.0.join(".name")).unwrap_or_default();
        self.0.join(name).to_string_lossy().into_owned()
    }

    fn load(&self, global: &Global) -> Result<Package, Failure> {
        let loaded = loader::load(&self.name(), global.load_options()).map_err(Failure::input)?;
        Ok(loaded.package)
    }
}

/// The name of the directory, which functions can see.
fn package_name(loaded: &LoadedPackage) -> String {
    let path = fs::canonicalize(Path::new(&loaded.title)).unwrap_or_default();
    path.file_name().map_or("package".to_owned(), |it| it.to_string_lossy().into_owned())
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
