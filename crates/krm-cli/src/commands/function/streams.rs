//! Functions on standard input: a list comes in, and the same list goes out with what changed in it.

use krm_core::functions::resource_list::{Item, Items};
use krm_core::{Diagnostic, Package, PackageFile};
use krm_sdk::stream::{Form, Stream};
use krm_sdk::{Error, FunctionResult, Resource, ResourceList};
use krm_yaml::ReadOptions;

use super::output::{self, Output};
use super::running::Run;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, disk};

/// What was read from standard input.
pub(super) struct Piped {
    stream: Stream,
    list: ResourceList,
}

impl Piped {
    pub(super) fn read() -> Result<Self, Failure> {
        let file = disk::parse(disk::STDIN, ReadOptions::default()).map_err(Failure::input)?;
        let (stream, list) = Stream::read(file.into_text()).map_err(told)?;
        Ok(Self { stream, list })
    }

    /// The functionConfig of the list.
    pub(super) fn config(&self) -> Option<Item> {
        self.list.function_config.clone().map(Item::from)
    }

    /// The resources, with their places.
    pub(super) fn items(&mut self) -> Vec<Item> {
        std::mem::take(&mut self.list.items).into_iter().map(Item::from).collect()
    }

    /// Whether it says itself that it has no items.
    pub(super) fn is_list_of_none(&self) -> bool {
        let file = krm_yaml::File::parse(self.stream.text().to_owned()).ok();
        let root = file.as_ref().and_then(|file| file.document(0)?.root());
        let items = root.and_then(|root| root.as_mapping()?.get("items"));
        items.is_some_and(|items| items.as_sequence().is_some())
    }

    /// What there is to say about documents that are no resources, where resources alone go on.
    pub(super) fn left_out(&self, is_strict: bool) -> Option<Diagnostic> {
        if self.stream.form() != Form::Documents {
            return None;
        }
        let mut file = PackageFile::from_text("stdin.yaml", self.stream.text().to_owned()).ok()?;
        file.display_path = disk::display_name(disk::STDIN).to_owned();
        Items::from_package(&Package::new(vec![file]), |_| true).ok()?.skipped_diagnostic(is_strict)
    }

    /// Prints what came of a run: the list with its results. A run that failed prints its results and no resources that it changed.
    pub(super) fn finish(
        mut self,
        run: &Run,
        after: Vec<Item>,
        output: Option<&Output>,
        console: &mut Console,
    ) -> CommandResult {
        run.sum_up(console);
        let ran = run.report.ran.iter();
        let results: Vec<FunctionResult> = ran.flat_map(|ran| ran.results.clone()).collect();
        let is_list = output.is_none_or(|output| *output == Output::Stdout);
        if !run.is_good {
            if is_list && self.stream.has_room_for_results() {
                console.print(&self.stream.write_failed(&results).map_err(told)?)?;
            }
            return Err(Failure::Diagnostics(run.exit, run.errors.clone()));
        }
        if is_list {
            self.list.items = after.into_iter().map(Resource::from).collect();
            self.list.results.extend(results);
            console.print(&self.stream.write(&self.list).map_err(told)?)?;
        } else {
            self.left_out(false).iter().for_each(|told| console.report(told));
            console.print(&output::documents(&after))?;
        }
        match run.exit {
            Exit::Success => Ok(Exit::Success),
            failed => Err(Failure::Diagnostics(failed, run.errors.clone())),
        }
    }
}

/// What is wrong with standard input.
fn told(error: Error) -> Failure {
    let told = error.diagnostics.into_iter();
    let told: Vec<Diagnostic> =
        told.map(|it| it.in_file(disk::display_name(disk::STDIN))).collect();
    Failure::Diagnostics(Exit::Input, told)
}
