//! `krm cfg cat`: what a package holds, as it is written.

use krm_core::print::ListWrapper;
use krm_core::print::cat::{Entry, Options};
use krm_core::{Change, Diagnostic, PackageFile, Plan};

use super::resource_printer::{Printer, ResourceFormat, texts};
use super::{Input, Local, finish};
use crate::cli::{Global, Preview, yes_or_no};
use crate::commands::function::configuration;
use crate::commands::plan;
use crate::console::Console;
use crate::loader::LoadedPackage;
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm cfg cat shop
  krm cfg cat shop --wrap-kind List | kubectl apply -f -
  krm cfg cat shop --include-local
  krm cfg cat shop -R=false -o json
  krm cfg cat shop --wrap-kind ResourceList --function-config fn.yaml
  krm cfg cat shop --strip-comments --dest out --diff";

/// Print what a package holds.
///
/// Each document is printed as it is written, with its comments; documents are joined by ---, and items of lists are
/// moved to the left edge. What is for tools only is left out, and lists hold resources only.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_args(put_right))]
pub(crate) struct Args {
    #[command(flatten)]
    input: Input,

    #[command(flatten)]
    local: Local,

    /// How to print resources
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml", hide_default_value = true)]
    output: ResourceFormat,

    /// Put the fields in the order that krm cfg fmt knows
    #[arg(long, default_value = "false", hide_default_value = true)]
    format: bool,

    /// Add annotations that say which file a resource is from, and where in it it stands
    #[arg(long, default_value = "false", hide_default_value = true)]
    annotate: bool,

    /// Leave out comments
    #[arg(long, default_value = "false", hide_default_value = true)]
    strip_comments: bool,

    /// FlowStyle prints each resource on one line; other styles are those that are written
    #[arg(long, value_name = "STYLE", value_parser = style)]
    style: Vec<()>,

    #[command(flatten)]
    wrapping: Wrapping,

    /// Write into this folder, under the names that the files have
    #[arg(long, value_name = "DIR", conflicts_with = "wrap_kind")]
    dest: Option<String>,

    #[command(flatten)]
    preview: Preview,
}

/// One list instead of many documents.
#[derive(Clone, Debug, clap::Args)]
struct Wrapping {
    /// Print one list of this kind: ResourceList, List
    #[arg(long, value_name = "KIND", conflicts_with = "output")]
    wrap_kind: Option<String>,

    /// The list's apiVersion [default: config.kubernetes.io/v1 for a ResourceList, or else v1]
    #[arg(long, value_name = "VERSION", requires = "wrap_kind")]
    wrap_version: Option<String>,

    /// The file of the one object that becomes functionConfig of the list
    #[arg(long, value_name = "FILE", requires = "wrap_kind")]
    function_config: Option<String>,
}

/// What the flags are besides what is said above them.
fn put_right(arg: clap::Arg) -> clap::Arg {
    match arg.get_id().as_str() {
        "format" | "annotate" | "strip_comments" => yes_or_no(arg),
        "dry_run" | "diff" | "check" => arg.requires("dest"),
        _ => arg,
    }
}

/// Compat: kustomize sets a style on the outermost mapping, where only one of them can be seen.
fn style(name: &str) -> Result<(), String> {
    match name {
        "FlowStyle" => Ok(()),
        "TaggedStyle" | "DoubleQuotedStyle" | "SingleQuotedStyle" | "LiteralStyle"
        | "FoldedStyle" => Err("values keep the style that they are written in".to_owned()),
        _ => Err("there is only FlowStyle".to_owned()),
    }
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let loaded = args.input.load(global)?;
    match (&args.dest, &args.wrapping.wrap_kind) {
        (Some(dest), _) => return write(args, dest, &loaded, global, console),
        (None, Some(kind)) => console.print(&args.wrapped(kind, &loaded)?)?,
        (None, None) => {
            let mut printer = Printer::new(args.format());
            for file in files(&loaded) {
                printer.file(args.texts(file), console)?;
            }
            return printer.finish(&loaded, Exit::Success, global, console);
        }
    }
    finish(&loaded, Exit::Success, global, console)
}

fn files(loaded: &LoadedPackage) -> impl Iterator<Item = &PackageFile> {
    loaded.package.by_root().into_iter().flat_map(|(_, files)| files)
}

impl Args {
    fn format(&self) -> ResourceFormat {
        if self.style.is_empty() { self.output } else { ResourceFormat::Json }
    }

    fn texts(&self, file: &PackageFile) -> Result<Vec<String>, Vec<Diagnostic>> {
        let look = Options {
            annotated: self.annotate,
            formatted: self.format,
            without_comments: self.strip_comments,
        };
        texts(file, self.format(), look, |entry| self.keeps(entry))
    }

    /// What is no resource is for nobody but people: it is shown, and goes into no list.
    fn keeps(&self, entry: &Entry<'_>) -> bool {
        match entry.resource {
            Some((resource, _)) => self.local.keeps(resource),
            None => self.wrapping.wrap_kind.is_none() && !self.local.exclude_non_local,
        }
    }

    fn wrapped(&self, kind: &str, loaded: &LoadedPackage) -> Result<String, Failure> {
        let config = self.wrapping.function_config.as_deref();
        let version = match kind {
            "ResourceList" => "config.kubernetes.io/v1",
            _ => "v1",
        };
        let wrapper = ListWrapper {
            kind: kind.to_owned(),
            version: self.wrapping.wrap_version.as_deref().unwrap_or(version).to_owned(),
            function_config: config.map(configuration::text).transpose().map_err(Failure::input)?,
        };
        let texts: Result<Vec<Vec<String>>, _> =
            files(loaded).map(|file| self.texts(file)).collect();
        let texts = texts.map_err(not_whole)?;
        wrapper.wrap(&texts.concat()).map_err(Failure::input)
    }
}

/// One list, or a folder to be written, is whole or not made.
fn not_whole(told: Vec<Diagnostic>) -> Failure {
    Failure::Diagnostics(Exit::Input, told)
}

/// Writes what would be printed, file by file. A file that is there and differs is not overwritten.
fn write(
    args: &Args,
    dest: &str,
    loaded: &LoadedPackage,
    global: &Global,
    console: &mut Console,
) -> CommandResult {
    let mut plan = Plan::default();
    for file in files(loaded) {
        let texts = args.texts(file).map_err(not_whole)?;
        if texts.len() > 1 && file.path.is_json() {
            let words = "it holds several resources, and a JSON file is only one";
            return Err(Failure::input(
                Diagnostic::untyped_error(words).in_file(&*file.display_path),
            ));
        }
        if !texts.is_empty() {
            plan.add(change(dest, file, texts.join("---\n"))?);
        }
    }
    let lock = plan::lock_directory(dest, &args.preview, console)?;
    let exit = plan::apply_or_preview(plan, &args.preview, &lock, console)?;
    finish(loaded, exit, global, console)
}

fn change(dest: &str, file: &PackageFile, new: String) -> Result<Change, Failure> {
    let name = if file.path.as_str() == disk::STDIN { "stdin.yaml" } else { file.path.as_str() };
    let path = format!("{}/{name}", dest.trim_end_matches('/'));
    let old = plan::existing_content(&path)?;
    if old.as_ref().is_some_and(|old| *old != new) {
        let words = "there is such a file already, and it is not overwritten";
        let hint = "remove it, or choose another folder";
        return Err(Failure::input(Diagnostic::untyped_error(words).hint(hint).in_file(path)));
    }
    Ok(Change { path, old, new: Some(new) })
}
