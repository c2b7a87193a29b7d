//! `krm pkg migrate`: converts packages of kpt before version 1, and verifies the result by rendering it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use krm_core::{Diagnostic, OriginalFile, Package, PackagePath, Plan};

use super::kinds::PkgKind;
use crate::cli::{Cli, Command, Global, Preview};
use crate::commands::cfg::edit_session::ChangesOutput;
use crate::commands::{function, plan, refuse_stdin};
use crate::console::Console;
use crate::disk::{FileKind, PackageRoot};
use crate::interrupt::UninterruptedSection;
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
    refuse_stdin(&args.dir)?;
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

/// The largest file that the copy contains if it is not a manifest: built-in functions read no larger ones.
const LARGEST_OTHER_FILE: u64 = 16 << 20;

/// How much of such files the copy contains: those that came with an archive can be sparse, and much larger than they take.
const MOST_OF_OTHER_FILES: u64 = 1 << 30;

/// A temporary copy of a package, removed when dropped. Only its owner can read it, since the package can contain Secrets.
struct Copy {
    /// The directory of the package, below the temporary one.
    directory: PathBuf,
    temporary: PathBuf,
    /// A signal must not leave the copy behind.
    _section: UninterruptedSection,
}

impl Copy {
    fn of(loaded: &LoadedPackage) -> Result<Self, Failure> {
        let failed = |path: &Path, error: &std::io::Error| {
            let kind = FileKind::CannotCreate { reason: disk::io_reason(error) };
            Failure::input(Diagnostic::error(kind).in_file(path.to_string_lossy()))
        };
        let source = fs::canonicalize(&loaded.title).unwrap_or_default();
        let name = source.file_name().unwrap_or(OsStr::new("package"));
        let temporary = format!("krm-migrate-{:016x}", disk::random_number());
        let temporary = std::env::temp_dir().join(temporary);
        // Functions can see the name of the directory.
        let directory = temporary.join(name);
        let copy = Self { directory, temporary, _section: UninterruptedSection::begin() };
        disk::create_private_directory(&copy.temporary)
            .map_err(|error| failed(&copy.temporary, &error))?;
        let write = |path: &PackagePath, bytes: &[u8]| {
            disk::not_interrupted().map_err(Failure::input)?;
            let file = copy.directory.join(path.as_str());
            let written = fs::create_dir_all(file.parent().unwrap_or(&copy.directory))
                .and_then(|()| fs::write(&file, bytes));
            written.map_err(|error| failed(&file, &error))
        };
        for file in loaded.package.files() {
            if let Some(content) = file.file() {
                write(&file.path, content.text().as_bytes())?;
            }
        }
        if let Ok(opened) = PackageRoot::open(&source) {
            let mut left = MOST_OF_OTHER_FILES;
            for path in loaded.others.keys() {
                let limit = LARGEST_OTHER_FILE.min(left);
                // A function that needs a file that is not here reports it.
                if let Ok((bytes, _)) = opened.read(Path::new(path.as_str()), limit) {
                    left -= bytes.len() as u64;
                    write(path, &bytes)?;
                }
            }
        }
        Ok(copy)
    }

    fn name(&self) -> String {
        self.directory.to_string_lossy().into_owned()
    }

    fn load(&self, global: &Global) -> Result<Package, Failure> {
        let loaded = loader::load(&self.name(), global.load_options()).map_err(Failure::input)?;
        Ok(loaded.package)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loader::LoadOptions;

    #[test]
    fn copy_is_private_and_leaves_out_files_that_no_function_reads() {
        let package = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(package.path().join(name), text).unwrap();
        write("Kptfile", "apiVersion: kpt.dev/v1alpha1\nkind: Kptfile\nmetadata: {name: p}\n");
        write("README.md", "text\n");
        // It takes no space, and a copy of it takes all there is.
        fs::File::create(package.path().join("sparse.bin")).unwrap().set_len(1 << 42).unwrap();
        let loaded =
            loader::load(package.path().to_str().unwrap(), LoadOptions::default()).unwrap();
        let copy = Copy::of(&loaded).unwrap();
        let names = fs::read_dir(&copy.directory).unwrap().map(|it| it.unwrap().file_name());
        assert_eq!(names.collect::<BTreeSet<_>>(), ["Kptfile", "README.md"].map(Into::into).into());
        assert_eq!(copy.directory.file_name(), package.path().file_name());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&copy.temporary).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        let temporary = copy.temporary.clone();
        drop(copy);
        assert!(!temporary.exists());
    }
}
