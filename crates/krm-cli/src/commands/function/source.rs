//! `krm fn source`: packages as one list, as functions read it.

use clap::ValueEnum;
use krm_core::functions::adapter::Input;
use krm_core::functions::resource_list::{InputList, InputOptions};
use krm_core::{Diagnostic, Package, PackageFile, PackagePath};
use krm_yaml::{File, Value};

use super::{configuration, opening, streams};
use crate::cli::Global;
use crate::console::Console;
use crate::loader::{self, LoadedPackage};
use crate::{CommandResult, Exit, Failure, disk};

const EXAMPLES: &str = "\
Examples:
  krm fn source shop
  krm fn source shop | ./function | krm fn sink shop --prune
  krm fn source base overlay --fn-config config.yaml";

/// Print the resources of packages as a function reads them.
///
/// One list of all resources, each with its file and its index in that file in its annotations. Of several folders each
/// path begins with the folder.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folders or files; nothing for the current folder, - for standard input
    #[arg(value_name = "DIR", default_value = ".", hide_default_value = true)]
    dirs: Vec<String>,

    /// Print the resources as one list, or as documents
    #[arg(short, long, value_name = "FORMAT", default_value = "stdout", hide_default_value = true)]
    output: Output,

    /// The kind of the list
    #[arg(long, value_name = "KIND", default_value = "ResourceList")]
    wrap_kind: String,

    /// The list's apiVersion [default: config.kubernetes.io/v1 for a ResourceList, or else v1]
    #[arg(long, value_name = "VERSION")]
    wrap_version: Option<String>,

    /// The file of the one object that becomes functionConfig of the list
    #[arg(long, visible_alias = "function-config", value_name = "FILE")]
    fn_config: Option<String>,

    /// Refuse packages with documents that are no resources
    #[arg(long)]
    strict: bool,
}

/// What is printed.
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
            let mut piped = streams::Piped::read()?;
            match piped.left_out(args.strict) {
                Some(told) if told.is_error() => return Err(Failure::input(told)),
                told => told.iter().for_each(|told| console.report(told)),
            }
            piped.items()
        }
        dirs => {
            let package = gathered(dirs, global, console)?;
            opening::items(&package, args.strict, console)?
        }
    };
    let config = args.fn_config.as_deref().map(configuration::of_file).transpose();
    let config = config.map_err(Failure::input)?;
    let options = InputOptions {
        function_config: config.as_ref(),
        without_ids: true,
        ..InputOptions::default()
    };
    let list = InputList::of(&items, &options).map_err(Failure::input)?;
    match args.output {
        Output::Stdout => console.print(&args.with_head(list.text()))?,
        Output::Unwrap => {
            let file = File::parse(list.text().to_owned());
            let file = file.map_err(|error| Failure::input(Diagnostic::from(&error)))?;
            let texts = Input::new(&file).map_err(Failure::input)?.texts();
            console.print(&texts.join("---\n"))?;
        }
    }
    Ok(Exit::Success)
}

impl Args {
    /// The list with the kind and version that are asked for: its first two lines say them.
    fn with_head(&self, list: &str) -> String {
        let default =
            if self.wrap_kind == "ResourceList" { "config.kubernetes.io/v1" } else { "v1" };
        let version = self.wrap_version.as_deref().unwrap_or(default);
        let body = list.splitn(3, '\n').nth(2).unwrap_or_default();
        let word = |text: &str| krm_core::print::json::write(&Value::string(text));
        let plain = |text: &str| match text
            .bytes()
            .all(|it| it.is_ascii_alphanumeric() || b"./-_".contains(&it))
        {
            true => text.to_owned(),
            false => word(text),
        };
        format!("apiVersion: {}\nkind: {}\n{body}", plain(version), plain(&self.wrap_kind))
    }
}

/// The files of all folders as one package. A list is whole or not made.
fn gathered(dirs: &[String], global: &Global, console: &mut Console) -> Result<Package, Failure> {
    let mut files: Vec<PackageFile> = Vec::new();
    for dir in dirs {
        let loaded = loader::load(dir, global.jobs).map_err(Failure::input)?;
        let told = loaded.diagnostics();
        if told.iter().any(Diagnostic::is_error) {
            return Err(Failure::Diagnostics(Exit::Input, told));
        }
        console.report_all(&told);
        files.extend(if dirs.len() == 1 { loaded.package.into_files() } else { prefixed(loaded)? });
    }
    let package = Package::new(files);
    match package.files().windows(2).find(|pair| pair[0].path == pair[1].path) {
        Some(twice) => Err(Failure::Diagnostics(Exit::Usage, vec![two_at(&twice[1])])),
        None => Ok(package),
    }
}

/// The files with their folder before their paths; no path of the machine is told to a function.
fn prefixed(loaded: LoadedPackage) -> Result<Vec<PackageFile>, Failure> {
    let title = loaded.title.clone();
    let inside = PackagePath::new(&title).map(|path| path.as_str().to_owned());
    let own = || title.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let prefix = inside.unwrap_or_else(|_| own());
    let renamed = |mut file: PackageFile| {
        let path = loader::joined(&prefix, file.path.as_str());
        file.path = PackagePath::new(&path).map_err(|error| {
            Failure::Diagnostics(Exit::Usage, vec![Diagnostic::untyped_error(error.to_string())])
        })?;
        Ok(file)
    };
    loaded.package.into_files().into_iter().map(renamed).collect()
}

fn two_at(file: &PackageFile) -> Diagnostic {
    let words = format!("two of these folders have a file `{}`", file.path);
    Diagnostic::untyped_error(words)
        .hint("name them from a folder that holds both")
        .in_file(&*file.display_path)
}
