//! `krm fn new`: a project for a function of one's own, that builds, has a test and runs at once.

use std::fs;
use std::path::Path;

use clap::ValueEnum;
use krm_core::{Change, Diagnostic, Plan};

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

/// Make a project for a function of your own.
///
/// Writes a folder of this name with the function, its test, an example of its configuration, a Dockerfile and a README that
/// says how to build and run it. A folder that is there is never touched.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The name of the function: lower case letters, digits and dashes; a path to it makes the folder there
    name: String,

    /// The language
    #[arg(long, value_enum, default_value = "rust")]
    lang: Lang,

    /// Where krm-sdk is for a function in Rust: a checkout of krm, or a git address
    #[arg(long, value_name = "PATH|URL")]
    sdk: Option<String>,

    #[command(flatten)]
    preview: Preview,
}

/// Languages that there are templates for.
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
    /// A script that prints resources, wrapped by krm
    Shell,
    /// A script that krm runs itself
    Starlark,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let folder = args.name.trim_end_matches('/');
    let name = folder.rsplit('/').next().unwrap_or_default();
    check(name)?;
    if fs::symlink_metadata(folder).is_ok() {
        let exists = Diagnostic::untyped_error("this is there already, and is not touched");
        return Err(Failure::input(exists.in_file(folder).hint("choose another name")));
    }
    let sdk = match args.lang {
        Lang::Rust => dependency(args.sdk.as_deref())?,
        _ => String::new(),
    };
    let mut plan = Plan::default();
    for (path, text) in templates::files(args.lang) {
        let text = text.replace("{{name}}", name).replace("{{sdk}}", &sdk);
        plan.add(Change { path: format!("{folder}/{path}"), old: None, new: Some(text) });
    }
    let lock = plan::lock_directory(folder, &args.preview, console)?;
    let outcome = plan::apply_or_preview(plan, &args.preview, &lock, console)?;
    if !args.preview.is_on() {
        console.detail(&format!("made {folder}; {folder}/README.md says how to build and run it"));
    }
    Ok(outcome)
}

/// The name is that of a crate, a module, an image and a resource.
fn check(name: &str) -> Result<(), Failure> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_fine = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.ends_with(|c: char| c != '-')
        && name.chars().all(is_plain);
    if is_fine {
        return Ok(());
    }
    let words = format!("`{name}` cannot be the name of a function");
    let hint = "lower case letters, digits and dashes, as in set-owner";
    Err(Failure::usage(Diagnostic::untyped_error(words).hint(hint)))
}

/// The line of the manifest that brings krm-sdk.
fn dependency(sdk: Option<&str>) -> Result<String, Failure> {
    let Some(sdk) = sdk else {
        let words = "a function in Rust needs krm-sdk, which is not published yet";
        let hint =
            "say where it is: `--sdk PATH` for a checkout of krm, `--sdk URL` for its git address";
        return Err(Failure::usage(Diagnostic::untyped_error(words).hint(hint)));
    };
    if sdk.contains("://") || sdk.starts_with("git@") {
        return Ok(format!("krm-sdk = {{ git = \"{sdk}\" }}"));
    }
    let inner = Path::new(sdk).join("crates/krm-sdk");
    let crate_folder = if inner.is_dir() { inner } else { Path::new(sdk).to_owned() };
    let path =
        fs::canonicalize(&crate_folder).ok().filter(|path| path.join("Cargo.toml").is_file());
    match path {
        Some(path) => Ok(format!("krm-sdk = {{ path = \"{}\" }}", path.display())),
        None => {
            let words = Diagnostic::untyped_error("there is no krm-sdk").in_file(sdk);
            Err(Failure::input(words.hint("name a checkout of krm")))
        }
    }
}
