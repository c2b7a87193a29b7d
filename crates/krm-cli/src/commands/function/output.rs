//! `-o`: prints the resources or writes a new directory, instead of changing the package.

use std::path::Path;

use krm_core::functions::resource_list::{FunctionResult, InputList, InputOptions, Item, Items};
use krm_core::print::source_text;
use krm_core::{Diagnostic, Package, Plan};
use krm_run::DocumentChange;
use krm_sdk::ResourceList;
use krm_sdk::stream::Stream;

use super::kinds::FnCommandKind;
use super::piped_list::stdin_failure;
use crate::cli::Preview;
use crate::commands::cfg::edit_session::ChangesFormat;
use crate::commands::plan;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

/// The flag.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct OutputFlag {
    /// Print a ResourceList (stdout) or documents (unwrap), or create a directory, instead of changing the package; json prints the
    /// changes of a preview
    #[arg(short, long, value_name = "stdout|unwrap|json|DIR")]
    output: Option<Output>,

    /// With -o unwrap, also print what is not for the cluster: local configuration, Kptfiles, Krmfiles and Kustomizations
    #[arg(long, requires = "output")]
    include_local_config: bool,
}

impl OutputFlag {
    /// Where resources are written instead of the package. `is_explained` means that the command lists its changes anyway.
    pub(super) fn destination(
        &self,
        preview: &Preview,
        is_explained: bool,
        console: &mut Console,
    ) -> Result<Option<Output>, Failure> {
        match self.output() {
            Some(Output::Json) if is_explained => Ok(None),
            Some(Output::Json) => ChangesFormat::Json.apply(preview, console).map(|()| None),
            Some(_) if preview.is_on() => {
                Err(Failure::usage(Diagnostic::error(FnCommandKind::OutputWithPreview)))
            }
            output => Ok(output),
        }
    }

    /// Where a list from standard input is written; nothing else is possible with one.
    pub(super) fn of_list(&self) -> Result<Option<Output>, Failure> {
        let option = match self.output() {
            Some(Output::Directory(_)) => "--output DIR",
            Some(Output::Json) => "--output json",
            output => return Ok(output),
        };
        let error = Diagnostic::error(FnCommandKind::OptionNeedsPackage { option });
        Err(Failure::usage(error))
    }

    /// The output with the options that belong to it.
    fn output(&self) -> Option<Output> {
        let with_local_config = self.include_local_config;
        match self.output.clone()? {
            Output::Unwrap { .. } => Some(Output::Unwrap { with_local_config }),
            output => Some(output),
        }
    }

    /// Whether the flag is given.
    pub(super) fn is_given(&self) -> bool {
        self.output.is_some()
    }

    /// Whether changes are printed as JSON.
    pub(super) fn is_json(&self) -> bool {
        self.output == Some(Output::Json)
    }
}

/// Where resources are written instead of the package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// Standard output, as a ResourceList.
    Stdout,
    /// Standard output, as documents.
    Unwrap {
        /// Whether what is not for the cluster is printed, too.
        with_local_config: bool,
    },
    /// The changes of a preview, as JSON.
    Json,
    /// A new directory.
    Directory(String),
}

impl std::str::FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "stdout" => Ok(Self::Stdout),
            "unwrap" => Ok(Self::Unwrap { with_local_config: false }),
            "json" => Ok(Self::Json),
            "" => Err("expected stdout, unwrap, json or a directory".to_owned()),
            directory if Path::new(directory).exists() => {
                Err(format!("`{directory}` exists; expected a new directory"))
            }
            directory => Ok(Self::Directory(directory.to_owned())),
        }
    }
}

impl Output {
    /// Whether resources are printed, and nothing else can be.
    pub(super) fn is_printed(&self) -> bool {
        matches!(self, Self::Stdout | Self::Unwrap { .. })
    }

    /// Prints a package with the results of its functions, or writes it to a new directory, with the documents that functions changed.
    pub(super) fn write(
        &self,
        package: &Package,
        results: &[FunctionResult],
        changed: &[&DocumentChange],
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
            Self::Unwrap { with_local_config } => {
                let documents = unwrap(items()?, *with_local_config, console);
                console.data(&documents)?;
            }
            Self::Json => {}
            Self::Directory(directory) => return create(directory, package, changed, console),
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

/// Resources as a stream of documents that can be applied to a cluster.
pub(super) fn unwrap(
    mut items: Vec<Item>,
    with_local_config: bool,
    console: &mut Console,
) -> String {
    let all = items.len();
    items.retain(|item| with_local_config || !is_local_config(item));
    if let left_out @ 1.. = all - items.len() {
        let are = if left_out == 1 { "resource that is" } else { "resources that are" };
        let what = format!("left out {left_out} {are} not for the cluster");
        console.detail(&format!("{what}; --include-local-config keeps them"));
    }
    documents(&items)
}

/// Whether a resource is for tools only, so that a cluster does not know its kind or must not get it.
fn is_local_config(item: &Item) -> bool {
    let resource = item.resource();
    let (group, kind) = (resource.group(), resource.kind());
    let is_for_tools = match &*kind {
        "Kptfile" => group == "kpt.dev",
        "Krmfile" => true,
        "Kustomization" | "Component" => group == "kustomize.config.k8s.io",
        _ => false,
    };
    is_for_tools || resource.is_local()
}

/// Resources as a stream of documents.
pub(super) fn documents(items: &[Item]) -> String {
    let texts =
        items.iter().map(|item| source_text::ensure_trailing_newline(item.text().to_owned()));
    texts.collect::<Vec<_>>().join("---\n")
}

/// Writes the files of a package, and the documents that functions changed, to a new directory.
fn create(
    directory: &str,
    package: &Package,
    changed: &[&DocumentChange],
    console: &mut Console,
) -> CommandResult {
    let mut plan = Plan::default();
    for file in package.files() {
        let text = file.file().map(|file| file.text().to_owned());
        plan.set(plan::file_in(directory, file.path.as_str(), None)?, text)
            .map_err(Failure::input)?;
    }
    for document in changed {
        let original = plan::file_in(directory, document.path.as_str(), None)?;
        plan.set(original, Some(document.new.clone())).map_err(Failure::input)?;
    }
    // `-o` conflicts with the flags of a preview.
    let preview = Preview::default();
    let lock = plan::lock_directory(directory, &preview, console)?;
    plan::apply_or_preview(&plan, &preview, &lock, console)
}
