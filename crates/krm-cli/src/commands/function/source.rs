//! `krm fn source`: prints packages as one ResourceList.

use clap::ValueEnum;
use krm_core::functions::adapter::Input;
use krm_core::functions::resource_list::{InputList, InputOptions, Item};
use krm_core::{Diagnostic, Package, PackageFile, PackagePath};
use krm_yaml::File;

use super::kinds::FnCommandKind;
use super::piped_list::PipedList;
use super::version_flag::VersionFlag;
use super::{finish, function_config, open_package};
use crate::cli::{Global, Recursion};
use crate::console::Console;
use crate::loader::{self, LoadOptions, LoadedPackage};
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm fn source shop
  krm fn source shop | ./function | krm fn sink shop --prune
  krm fn source base overlay --fn-config config.yaml";

/// Print the resources of packages as a ResourceList.
///
/// Annotations of each resource name its file and its index in that file. If several directories are given, each path begins with its
/// directory.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Directories or files [default: current directory]; - reads standard input
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    dirs: Vec<String>,

    /// Output format: one list, or documents
    #[arg(short, long, value_name = "FORMAT", default_value = "stdout", hide_default_value = true)]
    output: Output,

    /// Kind of the list
    #[arg(long, value_name = "KIND", default_value = "ResourceList")]
    wrap_kind: String,

    /// apiVersion of the list [default: config.kubernetes.io/v1 for a ResourceList, otherwise v1]
    #[arg(long, value_name = "VERSION")]
    wrap_version: Option<String>,

    #[command(flatten)]
    version: VersionFlag,

    /// File with the functionConfig of the list
    #[arg(long, visible_alias = "function-config", value_name = "FILE")]
    fn_config: Option<String>,

    #[command(flatten)]
    recursion: Recursion,

    /// Fail if a package contains documents that are not resources
    #[arg(long)]
    strict: bool,
}

/// The output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// One list
    Stdout,
    /// Documents
    Unwrap,
}

pub(super) fn run(args: &Args, global: &Global, console: &mut Console) -> CommandResult {
    let items = match &args.dirs[..] {
        [dir] if dir == disk::STDIN => {
            let mut list = PipedList::read()?;
            list.warn_if_empty(console);
            match list.skipped_documents(args.strict) {
                Some(error) if error.is_error() => return Err(Failure::input(error)),
                warning => warning.iter().for_each(|warning| console.report(warning)),
            }
            list.take_items()
        }
        dirs => {
            let mut package = combined(dirs, args.recursion.load_options(global), console)?;
            open_package::take_items(&mut package, args.strict, console)?
        }
    };
    let config = args.fn_config.as_deref().map(function_config::from_file).transpose();
    let config = config.map_err(Failure::input)?;
    let options = InputOptions {
        version: args.version.version(),
        function_config: config.as_ref(),
        without_ids: true,
        ..InputOptions::default()
    };
    match args.output {
        Output::Stdout => {
            let pieces = pieces(items, &options).map_err(Failure::input)?;
            console.data(&args.head())?;
            for piece in pieces {
                console.data(&piece)?;
            }
        }
        Output::Unwrap => {
            let list = InputList::of(&items, &options).map_err(Failure::input)?;
            let file = File::parse(list.text().to_owned());
            let file = file.map_err(|error| Failure::input(Diagnostic::from(&error)))?;
            let texts = Input::new(&file).map_err(Failure::input)?.texts();
            console.data(&texts.join("---\n"))?;
        }
    }
    Ok(Exit::Success)
}

/// How many items become one piece of text. Small pieces take the memory that dropped items leave.
const PIECE: usize = 16;

/// The list below its kind, in pieces. Items are dropped as soon as their text is there, so that a large package needs no memory for both.
/// Nothing is printed before all pieces are there, because one item may be an error.
fn pieces(items: Vec<Item>, options: &InputOptions<'_>) -> Result<Vec<String>, Diagnostic> {
    let below_items =
        |list: InputList<'_>| list.text().splitn(4, '\n').nth(3).unwrap_or_default().to_owned();
    let mut pieces = vec![if items.is_empty() { "items: []\n" } else { "items:\n" }.to_owned()];
    let without_config = InputOptions { function_config: None, ..options.clone() };
    let mut items = items.into_iter();
    loop {
        let next: Vec<Item> = items.by_ref().take(PIECE).collect();
        if next.is_empty() {
            break;
        }
        pieces.push(below_items(InputList::of(&next, &without_config)?));
    }
    pieces.push(below_items(InputList::of([], options)?));
    Ok(pieces)
}

impl Args {
    /// The first two lines of the list, which are its apiVersion and kind.
    fn head(&self) -> String {
        let default = match self.wrap_kind == "ResourceList" {
            true => self.version.version().api_version(),
            false => "v1".to_owned(),
        };
        let version = self.wrap_version.as_deref().unwrap_or(&default);
        let quoted = krm_core::print::json::string;
        let plain = |text: &str| match text
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || b"./-_".contains(&it))
        {
            true => text.to_owned(),
            false => quoted(text),
        };
        format!("apiVersion: {}\nkind: {}\n", plain(version), plain(&self.wrap_kind))
    }
}

/// The files of all directories as one package. Nothing is printed if one of them is not readable.
fn combined(
    dirs: &[String],
    options: LoadOptions,
    console: &mut Console,
) -> Result<Package, Failure> {
    let mut files: Vec<PackageFile> = Vec::new();
    for dir in dirs {
        let loaded = loader::load(dir, options).map_err(Failure::input)?;
        let diagnostics = loaded.diagnostics();
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(Failure::Diagnostics(Exit::Input, diagnostics));
        }
        console.report_all(&diagnostics);
        files.extend(if dirs.len() == 1 { loaded.package.into_files() } else { prefixed(loaded)? });
    }
    let package = Package::new(files);
    match package.files().windows(2).find(|pair| pair[0].path == pair[1].path) {
        Some(pair) => Err(Failure::usage(duplicate_path(&pair[1]))),
        None => Ok(package),
    }
}

/// The files with their directory in front of their paths. Functions never see absolute paths of the host.
fn prefixed(loaded: LoadedPackage) -> Result<Vec<PackageFile>, Failure> {
    let title = loaded.title.clone();
    let inside = PackagePath::new(&title).map(|path| path.as_str().to_owned());
    let own = || title.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let prefix = inside.unwrap_or_else(|_| own());
    let renamed = |mut file: PackageFile| {
        let path = loader::join_display_path(&prefix, file.path.as_str());
        file.path = PackagePath::new(&path)
            .map_err(|error| Failure::usage(finish::invalid_path(&error)))?;
        Ok(file)
    };
    loaded.package.into_files().into_iter().map(renamed).collect()
}

fn duplicate_path(file: &PackageFile) -> Diagnostic {
    let kind = FnCommandKind::DuplicatePath { path: file.path.to_string() };
    Diagnostic::error(kind).in_file(&*file.display_path)
}
