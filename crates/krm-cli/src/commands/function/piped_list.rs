//! A list on standard input: it is printed again with what functions changed.

use krm_core::functions::resource_list::{Item, Items};
use krm_core::{Diagnostic, Package, PackageFile};
use krm_run::PipelineRun;
use krm_sdk::stream::{InputFormat, Stream};
use krm_sdk::{Error, FunctionResult, Resource, ResourceList};
use krm_yaml::ReadOptions;

use super::output::{self, Output};
use super::run_report;
use crate::console::Console;
use crate::disk::FileKind;
use crate::{CommandResult, Exit, Failure, disk};

/// A ResourceList, another list or documents from standard input.
pub(super) struct PipedList {
    stream: Stream,
    list: ResourceList,
}

impl PipedList {
    pub(super) fn read() -> Result<Self, Failure> {
        let file = disk::parse(disk::STDIN, ReadOptions::default()).map_err(Failure::input)?;
        let (stream, list) = Stream::read(file.into_text()).map_err(stdin_failure)?;
        Ok(Self { stream, list })
    }

    /// A warning if nothing was read.
    pub(super) fn warn_if_empty(&self, console: &mut Console) {
        if self.stream.text().trim().is_empty() {
            console.report(&Diagnostic::warning(FileKind::EmptyStdin));
        }
    }

    /// The functionConfig of the list.
    pub(super) fn config(&self) -> Option<Item> {
        self.list.function_config.clone().map(Item::from)
    }

    /// Takes the resources out of the list.
    pub(super) fn take_items(&mut self) -> Vec<Item> {
        std::mem::take(&mut self.list.items).into_iter().map(Item::from).collect()
    }

    /// Puts resources into the list.
    pub(super) fn set_items(&mut self, items: Vec<Item>) {
        self.list.items = items.into_iter().map(Resource::from).collect();
    }

    /// Whether the input has an `items` field, which may be empty.
    pub(super) fn has_items_field(&self) -> bool {
        let file = krm_yaml::File::parse(self.stream.text().to_owned()).ok();
        let root = file.as_ref().and_then(|file| file.document(0)?.root());
        let items = root.and_then(|root| root.as_mapping()?.get("items"));
        items.is_some_and(|items| items.as_sequence().is_some())
    }

    /// Reports absolute paths, and refuses paths that leave the package.
    pub(super) fn check_paths(&self, console: &mut Console) -> Result<(), Failure> {
        let warnings = self.stream.check_paths().map_err(stdin_failure)?;
        warnings.iter().for_each(|warning| console.report(warning));
        Ok(())
    }

    /// A diagnostic about documents that are not resources, where only resources are kept.
    pub(super) fn skipped_documents(&self, is_strict: bool) -> Option<Diagnostic> {
        if self.stream.format() != InputFormat::Documents {
            return None;
        }
        let mut file = PackageFile::from_text("stdin.yaml", self.stream.text().to_owned()).ok()?;
        file.display_path = disk::display_name(disk::STDIN).to_owned();
        Items::from_package(&Package::new(vec![file]), |_| true).ok()?.skipped_diagnostic(is_strict)
    }

    /// Prints the list with the results of a run. After a failure it has only results.
    pub(super) fn finish(
        mut self,
        pipeline: &PipelineRun,
        output: Option<&Output>,
        console: &mut Console,
    ) -> CommandResult {
        run_report::count(pipeline, console);
        let results = pipeline.runs.iter().flat_map(|run| run.record.results.clone());
        let results: Vec<FunctionResult> = results.collect();
        let is_list = output.is_none_or(|output| *output == Output::Stdout);
        let with_local_config = matches!(output, Some(Output::Unwrap { with_local_config: true }));
        let errors = run_report::unreported_errors(pipeline, &Package::default());
        let exit = run_report::exit(pipeline);
        if pipeline.is_stopped {
            if is_list && self.stream.can_carry_results() {
                console.data(&self.stream.write_failed(&results).map_err(stdin_failure)?)?;
            }
            return Err(Failure::Diagnostics(exit, errors));
        }
        if is_list {
            self.list.results.extend(results);
            console.data(&self.stream.write(&self.list).map_err(stdin_failure)?)?;
        } else {
            self.skipped_documents(false).iter().for_each(|warning| console.report(warning));
            let items = self.take_items();
            let documents = output::unwrap(items, with_local_config, console);
            console.data(&documents)?;
        }
        match exit {
            Exit::Success => Ok(Exit::Success),
            failure => Err(Failure::Diagnostics(failure, errors)),
        }
    }
}

/// What is wrong with standard input.
pub(super) fn stdin_failure(error: Error) -> Failure {
    let name = disk::display_name(disk::STDIN);
    let errors = error.diagnostics.into_iter().map(|error| error.in_file(name));
    Failure::Diagnostics(Exit::Input, errors.collect())
}
