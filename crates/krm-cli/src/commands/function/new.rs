//! `krm fn new`: creates a project for a function, with a test and a Dockerfile.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use krm_core::{Diagnostic, Plan};

use super::kinds::FnCommandKind;
use super::templates;
use crate::cli::Preview;
use crate::commands::plan;
use crate::console::Console;
use crate::{CommandResult, Failure};

const EXAMPLES: &str = "\
Examples:
  krm fn new set-owner
  krm fn new set-owner --lang python
  krm fn new set-owner --lang go --dry-run";

/// Where krm-sdk comes from if there is no checkout.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// Create a project for a function.
///
/// Writes a directory with the function, a test, an example functionConfig, a Dockerfile, a workflow for GitHub and a README that
/// explains how to build and run it. An existing directory is never changed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Name of the function: lower case letters, digits and dashes; may be preceded by the path of the parent directory
    name: String,

    /// Programming language
    #[arg(long, value_enum, default_value = "rust")]
    lang: Lang,

    /// Location of krm-sdk for Rust: a checkout of krm, or the URL of its git repository [default: the checkout that krm was built
    /// from, or else krm's repository]
    #[arg(long, value_name = "PATH|URL")]
    sdk: Option<String>,

    #[command(flatten)]
    preview: Preview,
}

/// Languages with a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Lang {
    /// A program on krm-sdk
    Rust,
    /// A program on kyaml
    Go,
    /// A script on ruamel.yaml
    Python,
    /// A program for Node.js on yaml
    Typescript,
    /// A script that prints resources, run by krm fn wrap
    Shell,
    /// A script that krm interprets
    Starlark,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let directory = args.name.trim_end_matches('/');
    let name = directory.rsplit('/').next().unwrap_or_default();
    check(name)?;
    if fs::symlink_metadata(directory).is_ok() {
        let error = Diagnostic::error(FnCommandKind::ProjectExists);
        return Err(Failure::input(error.in_file(directory)));
    }
    let sdk = match args.lang {
        Lang::Rust => dependency(args.sdk.as_deref())?,
        _ => String::new(),
    };
    let mut plan = Plan::default();
    for (path, text) in templates::files(args.lang) {
        let text = text.replace("{{name}}", name).replace("{{sdk}}", &sdk);
        let text = text.replace("{{repository}}", REPOSITORY);
        plan.set(plan::file_in(directory, path, None)?, Some(text)).map_err(Failure::input)?;
    }
    let lock = plan::lock_directory(directory, &args.preview, console)?;
    let outcome = plan::apply_or_preview(&plan, &args.preview, &lock, console)?;
    if !args.preview.is_on() {
        let count = templates::files(args.lang).len();
        console.status(&format!("created {directory} with {count} files. Next steps:"));
        let flags = templates::function_flags(args.lang);
        let eval = format!("krm fn eval DIR {flags} --fn-config config.yaml");
        let steps = templates::first_steps(args.lang).iter().map(|&step| step.to_owned());
        for step in std::iter::once(format!("cd {directory}")).chain(steps).chain([eval]) {
            console.status(&format!("  {}", step.replace("{{name}}", name)));
        }
    }
    Ok(outcome)
}

/// The name must be valid for a crate, a Go module, an image and a resource.
fn check(name: &str) -> Result<(), Failure> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_valid = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.ends_with(|c: char| c != '-')
        && name.chars().all(is_plain);
    if is_valid {
        return Ok(());
    }
    let kind = FnCommandKind::InvalidProjectName { name: name.to_owned() };
    Err(Failure::usage(Diagnostic::error(kind)))
}

/// The dependency on krm-sdk in the manifest.
fn dependency(sdk: Option<&str>) -> Result<String, Failure> {
    let at = |path: &Path| format!("krm-sdk = {{ path = \"{}\" }}", path.display());
    let Some(sdk) = sdk else {
        let from_repository = || format!("krm-sdk = {{ git = \"{REPOSITORY}\" }}");
        return Ok(own_checkout().map_or_else(from_repository, |path| at(&path)));
    };
    if sdk.contains("://") || sdk.starts_with("git@") {
        return Ok(format!("krm-sdk = {{ git = \"{sdk}\" }}"));
    }
    match sdk_in(Path::new(sdk)) {
        Some(path) => Ok(at(&path)),
        None => Err(Failure::input(Diagnostic::error(FnCommandKind::SdkNotFound).in_file(sdk))),
    }
}

/// The directory of krm-sdk in a checkout of krm, or the given one if it is that.
fn sdk_in(checkout: &Path) -> Option<PathBuf> {
    let inner = checkout.join("crates/krm-sdk");
    let directory = if inner.is_dir() { &inner } else { checkout };
    fs::canonicalize(directory).ok().filter(|path| {
        let manifest = fs::read_to_string(path.join("Cargo.toml"));
        manifest.is_ok_and(|text| text.contains("name = \"krm-sdk\""))
    })
}

/// The krm-sdk that belongs to this program: it was built in a checkout, or cargo recorded the checkout when it installed it.
fn own_checkout() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let built = program.ancestors().skip(1).find_map(sdk_in);
    built.or_else(|| {
        let installed = program.parent()?.parent()?.join(".crates.toml");
        let record = fs::read_to_string(installed).ok()?;
        let line = record.lines().find(|line| line.starts_with("\"krm-cli "))?;
        let (_, path) = line.split_once("(path+file://")?;
        sdk_in(&Path::new(path.split_once(')')?.0).join("../.."))
    })
}
