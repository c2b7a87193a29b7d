//! `krm fn render`: runs the pipelines of a package and its subpackages.

mod index;
mod pipeline;
mod report;
mod selected_packages;

use std::path::PathBuf;

use krm_core::{Diagnostic, Severity};
use krm_run::Pull;

use super::cache_flags::CacheFlags;
use super::finish::ResultFlags;
use super::images::Images;
use super::kinds::FnCommandKind;
use super::limits::LimitFlags;
use super::locked::LockFlag;
use super::open_package;
use super::output::OutputFlag;
use super::schema_flags::SchemaFlags;
use super::version_flag::VersionFlag;
use crate::cli::{Global, Preview, Recursion};
use crate::commands::cfg::edit_session::{EditSession, SubpackageScope};
use crate::commands::conflict_records;
use crate::commands::kinds::CommandKind;
use crate::console::Console;
use crate::disk::FileKind;
use crate::loader::{LoadedPackage, Origin};
use crate::walk::PackageSelection;
use crate::{CommandResult, Exit, Failure, disk, loader};
use index::IndexSession;
use selected_packages::PackageFlags;

const EXAMPLES: &str = "\
Examples:
  krm fn render
  krm fn render shop --diff
  krm fn render shop --explain --dry-run
  krm fn render shop -o unwrap | kubectl apply -f -
  krm fn render --check --changed-since origin/main... --shard 2/5";

/// Run the pipelines of a package and its subpackages.
///
/// Subpackages are rendered before their parents. Functions of the catalog are built in; others run as containers, commands or WASI
/// modules. Their changes are edited into the files; everything else stays byte for byte as it was. If a function fails, no file is
/// written.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory of the package [default: current directory]
    #[arg(value_name = "PKG", default_value = ".", hide_default_value = true)]
    dir: String,

    /// Run commands that packages declare
    #[arg(long)]
    allow_exec: bool,

    /// Give containers access to the network of the host
    #[arg(long)]
    allow_network: bool,

    /// When to pull images: Always, IfNotPresent or Never
    #[arg(long, value_name = "POLICY", default_value = "IfNotPresent", hide_default_value = true)]
    image_pull_policy: Pull,

    /// Runtime of images: auto, krm, bubblewrap, docker, podman, nerdctl or grpc://HOST:PORT
    #[arg(long, value_name = "RUNTIME")]
    runtime: Option<String>,

    #[command(flatten)]
    output: OutputFlag,

    #[command(flatten)]
    recursion: Recursion,

    #[command(flatten)]
    results: ResultFlags,

    /// Print the changes of each function, field by field
    #[arg(long)]
    explain: bool,

    /// Write the status of the run to the root Kptfile, like kpt
    #[arg(long)]
    write_status: bool,

    /// Compat: Wasm modules need no permission
    #[arg(long, hide = true)]
    allow_alpha_wasm: bool,

    #[command(flatten)]
    packages: PackageFlags,

    #[command(flatten)]
    version: VersionFlag,

    #[command(flatten)]
    schemas: SchemaFlags,

    #[command(flatten)]
    lock: LockFlag,

    #[command(flatten)]
    images: Images,

    #[command(flatten)]
    limits: LimitFlags,

    #[command(flatten)]
    cache: CacheFlags,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    if args.dir == disk::STDIN {
        let error = Diagnostic::error(CommandKind::StdinIsNotAPackage);
        let hint = "use `krm fn eval -` to run a function on standard input";
        return Err(Failure::usage(error.hint(hint)));
    }
    let output = args.output.destination(&args.preview, args.explain, console)?;
    let output = output.as_ref();
    let options = open_package::edit_options(&args.preview, output);
    let selection = match args.packages.is_on() {
        true => select(args, global, console)?,
        false => None,
    };
    let mut index = IndexSession::open(args, global, console);
    if let Some(index) = index.as_mut().filter(|it| it.is_complete()) {
        return Ok(unchanged(args, index, console));
    }
    let selection = selection.or_else(|| index.as_ref()?.selection());
    let scope = match &selection {
        Some(selection) if selection.is_empty() => return Ok(Exit::Success),
        Some(selection) => SubpackageScope::Selected(selection),
        None => args.recursion.includes_subpackages().into(),
    };
    let session = EditSession::open_at(&args.dir, &[], scope, &options, global, console)?;
    check_package(&session.loaded)?;
    conflict_records::check_resolved(&session.loaded.package)?;
    args.lock.check_packages(&args.dir, &session.loaded)?;
    let exit = pipeline::run(args, session, (output, index.as_mut()), console)?;
    Ok(args.results.exit(exit, console))
}

/// Reports a directory of which no package changed since it was rendered last.
fn unchanged(args: &Args, index: &mut IndexSession, console: &mut Console) -> Exit {
    index.end_report(false, console);
    let skipped = index.skipped();
    console.summary().add_resources(skipped.resources);
    console.summary().add_functions(skipped.functions, vec![(Severity::Info, skipped.infos)]);
    console.summary().add_files(std::iter::empty(), args.preview.is_on());
    Exit::Success
}

/// The packages of `--changed-since` and `--shard`.
fn select(
    args: &Args,
    global: &Global,
    console: &mut Console,
) -> Result<Option<PackageSelection>, Failure> {
    let found = loader::find(&args.dir, global.load_options()).map_err(Failure::input)?;
    let inputs = args.images.files().chain(args.schemas.files());
    let inputs: Vec<PathBuf> = inputs.filter_map(|it| std::fs::canonicalize(it).ok()).collect();
    args.packages.select(&found, &inputs, console)
}

/// A file cannot be rendered. A directory without any package is probably the wrong one; an empty one was reported before.
fn check_package(loaded: &LoadedPackage) -> Result<(), Failure> {
    if loaded.origin != Origin::Directory {
        let error = Diagnostic::error(FileKind::NotADirectory);
        return Err(Failure::usage(error.in_file(&*loaded.title)));
    }
    let files = loaded.package.files();
    if files.is_empty() || files.iter().any(|file| file.path.is_package_file()) {
        return Ok(());
    }
    let error = Diagnostic::error(FnCommandKind::NoPackage);
    Err(Failure::input(error.in_file(&*loaded.title)))
}
