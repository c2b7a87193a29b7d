//! `krm pkg init`: makes a directory a package with a Kptfile.

use std::fs;
use std::path::{Path, PathBuf};

use krm_core::{Diagnostic, Plan};
use krm_yaml::{Edit, File, Value};

use super::kinds::PkgKind;
use crate::cli::Preview;
use crate::commands::cfg::edit_session::ChangesOutput;
use crate::commands::kinds::CommandKind;
use crate::commands::{plan, refuse_stdin};
use crate::console::Console;
use crate::disk::FileKind;
use crate::loader::join_display_path;
use crate::{CommandResult, Failure};

const EXAMPLES: &str = "\
Examples:
  krm pkg init shop
  krm pkg init shop --description 'The web shop' --keywords shop,web --context";

pub(super) const KPTFILE: &str = "\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: example
  annotations:
    config.kubernetes.io/local-config: \"true\"
";

pub(super) const CONTEXT: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: kptfile.kpt.dev
  annotations:
    config.kubernetes.io/local-config: \"true\"
data:
  name: example
";

/// Make a directory a package with a Kptfile.
///
/// Writes a Kptfile and, unless there is one, a README. The directory is created if it does not exist; manifests in it stay as they
/// are. An existing Kptfile is never overwritten.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directory of the package
    #[arg(default_value = ".")]
    dir: String,

    /// Name of the package [default: name of the directory]
    #[arg(long)]
    name: Option<String>,

    /// Description of the package
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// Keywords of the package
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    keywords: Vec<String>,

    /// Link to a page with information about the package
    #[arg(long, value_name = "URL")]
    site: Option<String>,

    /// Also write package-context.yaml, a ConfigMap with the name of the package for functions
    #[arg(long)]
    context: bool,

    #[command(flatten)]
    changes: ChangesOutput,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    args.changes.apply(&args.preview, console)?;
    let dir = directory(&args.dir);
    refuse_stdin(dir)?;
    if Path::new(dir).exists() && !Path::new(dir).is_dir() {
        return Err(Failure::input(Diagnostic::error(FileKind::NotADirectory).in_file(dir)));
    }
    let name = match &args.name {
        Some(name) => name.clone(),
        None => name_of(dir).ok_or_else(|| {
            Failure::usage(Diagnostic::error(PkgKind::NoPackageName).in_file(dir))
        })?,
    };
    let exists = |file: &str| fs::symlink_metadata(Path::new(dir).join(file)).is_ok();
    if exists("Kptfile") {
        let error = Diagnostic::error(CommandKind::AlreadyAPackage);
        return Err(Failure::input(error.in_file(join_display_path(dir, "Kptfile"))));
    }
    let lock = plan::lock_directory(dir, &args.preview, console)?;
    let mut files = vec![("Kptfile", kptfile(args, &name)?)];
    if !exists("README.md") {
        files.push(("README.md", readme(args, &name)));
    }
    if args.context && !exists("package-context.yaml") {
        let context = with_values(CONTEXT, vec![("data.name", Value::string(name))])?;
        files.push(("package-context.yaml", context));
    }
    let mut plan = Plan::default();
    for (file, text) in files {
        plan.set(plan::file_in(dir, file, None)?, Some(text)).map_err(Failure::input)?;
    }
    plan::apply_or_preview(&plan, &args.preview, &lock, console)
}

fn directory(dir: &str) -> &str {
    match dir.trim_end_matches('/') {
        "" if dir.starts_with('/') => "/",
        "" => ".",
        dir => dir,
    }
}

/// The name of a directory, which may not exist yet.
pub(super) fn name_of(dir: &str) -> Option<String> {
    let path = fs::canonicalize(dir).or_else(|_| std::path::absolute(dir)).ok();
    let path: PathBuf = path?.components().collect();
    Some(path.file_name()?.to_str()?.to_owned())
}

fn kptfile(args: &Args, name: &str) -> Result<String, Failure> {
    let string = |text: &String| Value::string(text.clone());
    let mut values = vec![("metadata.name", Value::string(name.to_owned()))];
    values.extend(args.site.as_ref().map(|it| ("info.site", string(it))));
    values.extend(args.description.as_ref().map(|it| ("info.description", string(it))));
    if !args.keywords.is_empty() {
        values.push(("info.keywords", Value::Sequence(args.keywords.iter().map(string).collect())));
    }
    with_values(KPTFILE, values)
}

/// A text with values at paths, one after the other, so that new fields keep their order.
pub(super) fn with_values(
    template: &str,
    values: Vec<(&str, Value<'static>)>,
) -> Result<String, Failure> {
    let mut text = template.to_owned();
    for (path, value) in values {
        let file = File::parse(text).map_err(|error| Failure::input(Diagnostic::from(&error)))?;
        let refused = |error| Failure::input(Diagnostic::from_edit(&error, &file));
        let path = path.parse().expect("the path is a constant");
        let mut edit = Edit::new(&file);
        let document = file.document(0).expect("the template has a document");
        edit.set_at(document, &path, value).map_err(refused)?;
        text = edit.apply().map_err(refused)?;
    }
    Ok(text)
}

fn readme(args: &Args, name: &str) -> String {
    let mut text = format!("# {name}\n");
    if let Some(description) = &args.description {
        text.push_str(&format!("\n{description}\n"));
    }
    text.push_str(
        "\n## Usage\n\n\
         Get the package, render it and look at its resources:\n\n\
         ```sh\n",
    );
    text.push_str(&format!(
        "krm pkg get REPO.git/DIR@VERSION {name}\nkrm fn render {name}\nkrm pkg tree {name}\n```\n\n\
         Take over changes of a newer version:\n\n\
         ```sh\nkrm pkg update {name}@VERSION\n```\n"
    ));
    text
}
