//! `krm fn render`: the pipelines of a package and of the packages inside it.

use krm_core::Diagnostic;
use krm_run::Pull;

use super::images::Images;
use super::limits::LimitFlags;
use super::output::Elsewhere;
use super::rendering::Settings;
use super::writing_back::Results;
use crate::cli::{Global, Preview};
use crate::commands::plan;
use crate::console::Console;
use crate::disk::Lock;
use crate::loader::{self, LoadedPackage, Origin};
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm fn render
  krm fn render shop --diff
  krm fn render shop --explain --dry-run
  krm fn render shop -o unwrap | kubectl apply -f -";

/// Run the pipelines of a package and of the packages inside it.
///
/// Sub-packages come before the package that holds them. Functions of the catalog are built in; others run in containers, as commands
/// or as WASI modules. Only what they changed is edited into the files, and nothing is written where one fails.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder of the package
    #[arg(value_name = "PKG", default_value = ".", hide_default_value = true)]
    pub(super) dir: String,

    /// Run functions that are commands
    #[arg(long)]
    pub(super) allow_exec: bool,

    /// Give containers the network
    #[arg(long)]
    pub(super) allow_network: bool,

    /// When images are fetched: Always, IfNotPresent or Never
    #[arg(long, value_name = "POLICY", default_value = "IfNotPresent", hide_default_value = true)]
    pub(super) image_pull_policy: Pull,

    /// The container engine: docker, podman or nerdctl
    #[arg(long, value_name = "ENGINE")]
    pub(super) runtime: Option<String>,

    #[command(flatten)]
    pub(super) elsewhere: Elsewhere,

    #[command(flatten)]
    pub(super) results: Results,

    /// Print what each function changed, field by field
    #[arg(long)]
    pub(super) explain: bool,

    /// Write what came of the run into the outermost Kptfile, as kpt does
    #[arg(long)]
    pub(super) write_status: bool,

    /// Compat: modules need no permission here
    #[arg(long, hide = true)]
    allow_alpha_wasm: bool,

    #[command(flatten)]
    pub(super) images: Images,

    #[command(flatten)]
    pub(super) limits: LimitFlags,

    #[command(flatten)]
    pub(super) preview: Preview,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    if args.dir == disk::STDIN {
        let told = Diagnostic::untyped_error("a folder is rendered, and this is standard input");
        let hint = "`krm fn eval -` runs a function on what it reads from there";
        return Err(Failure::usage(told.hint(hint)));
    }
    let lock = match args.elsewhere.output {
        None => plan::lock(std::slice::from_ref(&args.dir), &args.preview, console)?,
        Some(_) => Lock::none(),
    };
    let loaded = load(args, global, &lock, console)?;
    Settings::new(args, &loaded, global)?.run(&lock, console)
}

/// The package with everything in it. What cannot be read is the end of it.
fn load(
    args: &Args,
    global: &Global,
    lock: &Lock,
    console: &mut Console,
) -> Result<LoadedPackage, Failure> {
    let load = || loader::load(&args.dir, global.jobs).map_err(Failure::input);
    let mut loaded = load()?;
    if loaded.origin != Origin::Directory {
        let told = Diagnostic::untyped_error("a folder is rendered, and this is none");
        return Err(Failure::Diagnostics(Exit::Usage, vec![told.in_file(&*loaded.title)]));
    }
    let tell = &mut |diagnostic: &Diagnostic| console.report(diagnostic);
    if lock.recover(&loaded.journals, tell).map_err(Failure::input)? {
        loaded = load()?;
    }
    let told = loaded.diagnostics();
    if told.iter().any(Diagnostic::is_error) {
        return Err(Failure::Diagnostics(Exit::Input, told));
    }
    console.report_all(&told);
    match no_package(&loaded) {
        Some(told) => Err(Failure::input(told)),
        None => Ok(loaded),
    }
}

/// A folder without any package is hardly the one that was meant. That one is empty has been told already.
fn no_package(loaded: &LoadedPackage) -> Option<Diagnostic> {
    let files = loaded.package.files();
    if files.is_empty() || files.iter().any(|file| file.path.is_package_file()) {
        return None;
    }
    let words = "there is no Kptfile and no Krmfile, so there is nothing to render";
    let hint = "name the folder of a package; `krm fn eval` runs a function on any folder";
    Some(Diagnostic::untyped_error(words).in_file(&*loaded.title).hint(hint))
}
