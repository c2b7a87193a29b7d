//! `krm fn new`: creates a project for a function, with a test and a Dockerfile.

use std::fs;
use std::path::Path;

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
  krm fn new set-owner --lang python
  krm fn new set-owner --lang rust --sdk ../krm
  krm fn new set-owner --lang go --dry-run";

/// Create a project for a function.
///
/// Writes a directory with the function, a test, an example functionConfig, a Dockerfile and a README that explains how to build and
/// run it. An existing directory is never changed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Name of the function: lower case letters, digits and dashes; may be preceded by the path of the parent directory
    name: String,

    /// Programming language
    #[arg(long, value_enum, default_value = "rust")]
    lang: Lang,

    /// Location of krm-sdk for Rust: a checkout of krm, or the URL of its git repository
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
    /// A program on yaml.v3
    Go,
    /// A script on PyYAML
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
        plan.set(plan::file_in(directory, path, None)?, Some(text)).map_err(Failure::input)?;
    }
    let lock = plan::lock_directory(directory, &args.preview, console)?;
    let outcome = plan::apply_or_preview(&plan, &args.preview, &lock, console)?;
    if !args.preview.is_on() {
        console.detail(&format!(
            "created {directory}; see {directory}/README.md for how to build and run it"
        ));
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
    let Some(sdk) = sdk else {
        return Err(Failure::usage(Diagnostic::error(FnCommandKind::SdkMissing)));
    };
    if sdk.contains("://") || sdk.starts_with("git@") {
        return Ok(format!("krm-sdk = {{ git = \"{sdk}\" }}"));
    }
    let inner = Path::new(sdk).join("crates/krm-sdk");
    let crate_directory = if inner.is_dir() { inner } else { Path::new(sdk).to_owned() };
    let path =
        fs::canonicalize(&crate_directory).ok().filter(|path| path.join("Cargo.toml").is_file());
    match path {
        Some(path) => Ok(format!("krm-sdk = {{ path = \"{}\" }}", path.display())),
        None => Err(Failure::input(Diagnostic::error(FnCommandKind::SdkNotFound).in_file(sdk))),
    }
}
