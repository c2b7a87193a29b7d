//! `krm cfg cat`: prints the resources of a package as they are written.

use krm_core::print::ListWrapper;
use krm_core::print::cat::{Entry, Options};
use krm_core::{Diagnostic, OriginalFile, PackageFile, Plan};

use super::resource_printer::{ResourceFormat, ResourcePrinter, texts};
use super::{LocalConfig, PackageInput, report_load_errors};
use crate::cli::{Global, Preview, optional_bool};
use crate::commands::function::function_config;
use crate::commands::kinds::CommandKind;
use crate::commands::plan;
use crate::console::Console;
use crate::disk::FileKind;
use crate::loader::LoadedPackage;
use crate::{CommandResult, Exit, Failure, loader};

const EXAMPLES: &str = "\
Examples:
  krm cfg cat shop
  krm cfg cat shop --wrap-kind List | kubectl apply -f -
  krm cfg cat shop --include-local
  krm cfg cat shop --no-recurse -o json
  krm cfg cat shop --wrap-kind ResourceList --function-config fn.yaml
  krm cfg cat shop --strip-comments --dest out --diff";

/// Print the resources of a package.
///
/// Each document is printed as it is written, with its comments. Documents are separated by ---, and items of a List are printed as
/// documents. LocalConfig configuration is left out (see --include-local); --wrap-kind includes resources only.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, mut_args(adjust_arg))]
pub(crate) struct Args {
    #[command(flatten)]
    input: PackageInput,

    #[command(flatten)]
    local: LocalConfig,

    /// Format of the resources
    #[arg(short, long, value_name = "FORMAT", default_value = "yaml", hide_default_value = true)]
    output: ResourceFormat,

    /// Format the resources as krm cfg fmt does
    #[arg(long, default_value = "false", hide_default_value = true)]
    format: bool,

    /// Annotate each resource with its file and its index in the file
    #[arg(long, default_value = "false", hide_default_value = true)]
    annotate: bool,

    /// Remove comments
    #[arg(long, default_value = "false", hide_default_value = true)]
    strip_comments: bool,

    /// FlowStyle prints each resource on one line; by default styles are kept as written
    #[arg(long, value_name = "STYLE", value_parser = parse_style)]
    style: Vec<()>,

    #[command(flatten)]
    wrap: WrapOptions,

    /// Write to this directory instead, with the same file names
    #[arg(long, value_name = "DIR", conflicts_with = "wrap_kind")]
    dest: Option<String>,

    #[command(flatten)]
    preview: Preview,
}

/// Options to print one list instead of many documents.
#[derive(Clone, Debug, clap::Args)]
struct WrapOptions {
    /// Print one list of this kind, such as ResourceList or List
    #[arg(long, value_name = "KIND", conflicts_with = "output")]
    wrap_kind: Option<String>,

    /// apiVersion of the list [default: config.kubernetes.io/v1 for ResourceList, otherwise v1]
    #[arg(long, value_name = "VERSION", requires = "wrap_kind")]
    wrap_version: Option<String>,

    /// File with the object to use as functionConfig of the list
    #[arg(long, value_name = "FILE", requires = "wrap_kind")]
    function_config: Option<String>,
}

/// Adjusts flattened arguments: preview options need `--dest` here.
fn adjust_arg(arg: clap::Arg) -> clap::Arg {
    match arg.get_id().as_str() {
        "format" | "annotate" | "strip_comments" => optional_bool(arg),
        "dry_run" | "diff" | "check" => arg.requires("dest"),
        _ => arg,
    }
}

/// Compat: kustomize sets the style on the outermost mapping, where only FlowStyle has a visible effect.
fn parse_style(name: &str) -> Result<(), String> {
    match name {
        "FlowStyle" => Ok(()),
        "TaggedStyle" | "DoubleQuotedStyle" | "SingleQuotedStyle" | "LiteralStyle"
        | "FoldedStyle" => {
            Err("not supported: values keep the style in which they are written".to_owned())
        }
        _ => Err("expected FlowStyle".to_owned()),
    }
}

pub(crate) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let loaded = args.input.load(global)?;
    match (&args.dest, &args.wrap.wrap_kind) {
        (Some(dest), _) => return write_to(args, dest, &loaded, global, console),
        (None, Some(kind)) => console.data(&args.wrapped(kind, &loaded)?)?,
        (None, None) => {
            let mut printer = ResourcePrinter::new(args.format());
            for file in files(&loaded) {
                printer.file(args.texts(file), console)?;
            }
            return printer.finish(&loaded, Exit::Success, global, console);
        }
    }
    report_load_errors(&loaded, Exit::Success, global, console)
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
        texts(file, self.format(), look, |entry| self.includes(entry))
    }

    /// Documents that are not resources are printed, but not included in a list.
    fn includes(&self, entry: &Entry<'_>) -> bool {
        match entry.resource {
            Some((resource, _)) => self.local.includes(resource),
            None => self.wrap.wrap_kind.is_none() && !self.local.exclude_non_local,
        }
    }

    fn wrapped(&self, kind: &str, loaded: &LoadedPackage) -> Result<String, Failure> {
        let config = self.wrap.function_config.as_deref();
        let version = match kind {
            "ResourceList" => "config.kubernetes.io/v1",
            _ => "v1",
        };
        let wrapper = ListWrapper {
            kind: kind.to_owned(),
            version: self.wrap.wrap_version.as_deref().unwrap_or(version).to_owned(),
            function_config: config
                .map(function_config::text)
                .transpose()
                .map_err(Failure::input)?,
        };
        let texts: Result<Vec<Vec<String>>, _> =
            files(loaded).map(|file| self.texts(file)).collect();
        let texts = texts.map_err(incomplete)?;
        wrapper.wrap(&texts.concat()).map_err(Failure::input)
    }
}

/// A list or a directory without some of its resources would be wrong, so an error in one file fails the command.
fn incomplete(errors: Vec<Diagnostic>) -> Failure {
    Failure::Diagnostics(Exit::Input, errors)
}

/// Writes to `--dest` what would be printed, file by file. An existing file that differs is not overwritten.
fn write_to(
    args: &Args,
    dest: &str,
    loaded: &LoadedPackage,
    global: &Global,
    console: &mut Console,
) -> CommandResult {
    let mut plan = Plan::default();
    for file in files(loaded) {
        let texts = args.texts(file).map_err(incomplete)?;
        if texts.len() > 1 && file.path.is_json() {
            let error = Diagnostic::error(CommandKind::SeveralResourcesInJson);
            return Err(Failure::input(error.in_file(&*file.display_path)));
        }
        if !texts.is_empty() {
            let new = texts.join("---\n");
            plan.set(original(dest, file, &new)?, Some(new)).map_err(Failure::input)?;
        }
    }
    let lock = plan::lock_directory(dest, &args.preview, console)?;
    let exit = plan::apply_or_preview(&plan, &args.preview, &lock, console)?;
    report_load_errors(loaded, exit, global, console)
}

/// The file of the destination, which must not exist with other content.
fn original(dest: &str, file: &PackageFile, new: &str) -> Result<OriginalFile, Failure> {
    let name = if file.path.is_stream() { "stdin.yaml" } else { file.path.as_str() };
    let display_path = loader::join_display_path(dest, name);
    let old = plan::existing_content(&display_path)?;
    if old.as_ref().is_some_and(|old| old != new) {
        return Err(Failure::input(Diagnostic::error(FileKind::FileExists).in_file(display_path)));
    }
    plan::file_in(dest, name, old)
}
