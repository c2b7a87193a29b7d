//! `-o`: prints the resources or writes a new directory, instead of changing the package.

use std::path::Path;

use krm_core::functions::resource_list::{FunctionResult, InputList, InputOptions, Item, Items};
use krm_core::print::source_text;
use krm_core::{Package, Plan};
use krm_sdk::ResourceList;
use krm_sdk::stream::Stream;

use super::piped_list::stdin_failure;
use crate::cli::Preview;
use crate::commands::plan;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

/// The flag.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct OutputFlag {
    /// Print a ResourceList (stdout) or documents (unwrap), or create a directory, instead of changing the package
    #[arg(short, long, value_name = "stdout|unwrap|DIR", conflicts_with_all = ["dry_run", "diff", "check"])]
    pub(super) output: Option<Output>,
}

/// Where resources are written instead of the package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// Standard output, as a ResourceList.
    Stdout,
    /// Standard output, as documents.
    Unwrap,
    /// A new directory.
    Directory(String),
}

impl std::str::FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "stdout" => Ok(Self::Stdout),
            "unwrap" => Ok(Self::Unwrap),
            "" => Err("expected stdout, unwrap or a directory".to_owned()),
            directory if Path::new(directory).exists() => {
                Err(format!("`{directory}` exists; expected a new directory"))
            }
            directory => Ok(Self::Directory(directory.to_owned())),
        }
    }
}

impl Output {
    /// Prints a package with the results of its functions, or writes it to a new directory.
    pub(super) fn write(
        &self,
        package: &Package,
        results: &[FunctionResult],
        console: &mut Console,
    ) -> CommandResult {
        let items = || {
            let taken = Items::from_package(package, |_| true);
            taken.map(|it| it.items).map_err(|errors| Failure::Diagnostics(Exit::Input, errors))
        };
        match self {
            Self::Stdout => {
                let items = items()?;
                let options = InputOptions { without_ids: true, ..InputOptions::default() };
                let list = InputList::of(&items, &options).map_err(Failure::input)?;
                console.data(&with_results(list.text(), results)?)?;
            }
            Self::Unwrap => console.data(&documents(&items()?))?,
            Self::Directory(directory) => return create(directory, package, console),
        }
        Ok(Exit::Success)
    }
}

/// A list with results.
fn with_results(list: &str, results: &[FunctionResult]) -> Result<String, Failure> {
    let (stream, items) = Stream::read(list.to_owned()).map_err(stdin_failure)?;
    let list = ResourceList { results: results.to_vec(), ..items };
    stream.write(&list).map_err(stdin_failure)
}

/// Resources as a stream of documents.
pub(super) fn documents(items: &[Item]) -> String {
    let texts =
        items.iter().map(|item| source_text::ensure_trailing_newline(item.text().to_owned()));
    texts.collect::<Vec<_>>().join("---\n")
}

/// Writes the files of a package to a new directory.
fn create(directory: &str, package: &Package, console: &mut Console) -> CommandResult {
    let mut plan = Plan::default();
    for file in package.files() {
        let text = file.file().map(|file| file.text().to_owned());
        plan.set(plan::file_in(directory, file.path.as_str(), None)?, text)
            .map_err(Failure::input)?;
    }
    // `-o` conflicts with the flags of a preview.
    let preview = Preview::default();
    let lock = plan::lock_directory(directory, &preview, console)?;
    plan::apply_or_preview(&plan, &preview, &lock, console)
}
