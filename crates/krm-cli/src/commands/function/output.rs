//! `-o`: where resources go that are not written into the package.

use std::path::Path;

use krm_core::functions::resource_list::{InputList, InputOptions, Item, Items};
use krm_core::print::source_text;
use krm_core::{Change, Package, Plan};

use crate::cli::Preview;
use crate::commands::plan;
use crate::console::Console;
use crate::loader;
use crate::{CommandResult, Exit, Failure};

/// The flag.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Elsewhere {
    /// Print a ResourceList (stdout) or documents (unwrap), or make a folder, instead of changing the package
    #[arg(short, long, value_name = "stdout|unwrap|DIR", conflicts_with_all = ["dry_run", "diff", "check"])]
    pub(super) output: Option<Output>,
}

/// Where resources go that are not written into the package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// One ResourceList.
    Stdout,
    /// Documents.
    Unwrap,
    /// A new folder.
    Folder(String),
}

impl std::str::FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "stdout" => Ok(Self::Stdout),
            "unwrap" => Ok(Self::Unwrap),
            "" => Err("stdout, unwrap or a folder is wanted".to_owned()),
            folder if Path::new(folder).exists() => {
                Err(format!("`{folder}` is there already; a new folder is wanted"))
            }
            folder => Ok(Self::Folder(folder.to_owned())),
        }
    }
}

impl Output {
    /// Prints a package, or makes a folder of it.
    pub(super) fn take(&self, package: &Package, console: &mut Console) -> CommandResult {
        let items = || {
            let taken = Items::from_package(package, |_| true);
            taken.map(|it| it.items).map_err(|told| Failure::Diagnostics(Exit::Input, told))
        };
        match self {
            Self::Stdout => {
                let items = items()?;
                let options = InputOptions { without_ids: true, ..InputOptions::default() };
                let list = InputList::of(&items, &options).map_err(Failure::input)?;
                console.print(list.text())?;
            }
            Self::Unwrap => console.print(&documents(&items()?))?,
            Self::Folder(folder) => return make(folder, package, console),
        }
        Ok(Exit::Success)
    }
}

/// Resources as documents, one after the other.
pub(super) fn documents(items: &[Item]) -> String {
    let texts =
        items.iter().map(|item| source_text::ensure_trailing_newline(item.text().to_owned()));
    texts.collect::<Vec<_>>().join("---\n")
}

/// A new folder with the files of a package.
fn make(folder: &str, package: &Package, console: &mut Console) -> CommandResult {
    let mut plan = Plan::default();
    for file in package.files() {
        let path = loader::joined(folder, file.path.as_str());
        let text = file.file().map(|file| file.text().to_owned());
        plan.add(Change { path, old: None, new: text });
    }
    // Neither flag of a preview goes with `-o`.
    let preview = Preview::default();
    let lock = plan::lock_directory(folder, &preview, console)?;
    plan::apply_or_preview(plan, &preview, &lock, console)
}
