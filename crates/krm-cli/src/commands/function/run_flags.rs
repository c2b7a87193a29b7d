//! The flags of `eval` and `run`, and their common walk: open the package, run its steps, finish.

use krm_core::Package;
use krm_core::functions::resource_list::Item;
use krm_run::{PipelineRun, Step};

use super::finish::{self, PackageRun, ResultFlags};
use super::output::OutputFlag;
use super::permissions::PermissionFlags;
use super::piped_list::PipedList;
use super::save::SavedFunction;
use super::version_flag::VersionFlag;
use super::{open_package, run_report};
use crate::cli::{Global, Preview, Recursion};
use crate::commands::conflict_records;
use crate::console::Console;
use crate::{CommandResult, Failure, disk};

/// Flags of both commands.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct RunFlags {
    #[command(flatten)]
    pub(super) output: OutputFlag,

    #[command(flatten)]
    pub(super) recursion: Recursion,

    #[command(flatten)]
    pub(super) results: ResultFlags,

    #[command(flatten)]
    pub(super) version: VersionFlag,

    #[command(flatten)]
    pub(super) permissions: PermissionFlags,

    #[command(flatten)]
    pub(super) preview: Preview,
}

/// Where the steps of a run come from.
pub(super) enum Steps<'a> {
    /// The command line. Boxed, because a step is much larger than a reference.
    Given(Box<Step>),
    /// The package, by this function.
    Declared(&'a DeclaredSteps<'a>),
}

/// Creates the steps that a package declares.
pub(super) type DeclaredSteps<'a> =
    dyn Fn(&Package, &[Item], &mut Console) -> Result<Vec<Step>, Failure> + 'a;

impl Steps<'_> {
    /// Whether the documents of the package are read, and not only its items.
    fn reads_package(&self) -> bool {
        match self {
            Self::Given(step) => step.is_validator(),
            Self::Declared(_) => true,
        }
    }

    fn get(
        self,
        package: &Package,
        items: &[Item],
        console: &mut Console,
    ) -> Result<Vec<Step>, Failure> {
        match self {
            Self::Given(step) => Ok(vec![*step]),
            Self::Declared(declared) => declared(package, items, console),
        }
    }
}

impl RunFlags {
    /// Opens a package, runs steps on its resources and writes what they changed.
    pub(super) fn run_on_package(
        &self,
        (dir, recurses): (&str, bool),
        save: Option<&SavedFunction>,
        global: &Global,
        console: &mut Console,
        steps: Steps<'_>,
    ) -> CommandResult {
        let output = self.output.destination(&self.preview, false, console)?;
        let output = output.as_ref();
        let options = open_package::edit_options(&self.preview, output);
        let mut session = open_package::open((dir, recurses), &options, global, console)?;
        conflict_records::check_resolved(&session.loaded.package)?;
        self.permissions.lock.check_packages(dir, &session.loaded)?;
        let package = &session.loaded.package;
        save.map_or(Ok(()), |save| save.check(package))?;
        let mut items = match steps.reads_package() {
            true => open_package::items(package, self.results.strict, console)?,
            false => {
                let package = &mut session.loaded.package;
                open_package::take_items(package, self.results.strict, console)?
            }
        };
        console.summary().add_resources(items.len());
        let package = &session.loaded.package;
        let steps = steps.get(package, &items, console)?;
        if steps.iter().any(Step::is_validator) {
            open_package::check_validated_files(package)?;
        }
        session.loaded.package.release_tables();
        let package = &session.loaded.package;
        let pipeline =
            self.run_steps(&steps, &mut items, (package, &session.loaded.title), console);
        // Leaked, because the process exits soon: dropping thousands of texts takes measurable time.
        let (before, pipeline) = (items.leak(), Box::leak(Box::new(pipeline)));
        let run = PackageRun { before, pipeline, save, output, preview: &self.preview };
        finish::finish(&self.results, session, run, console)
    }

    /// Runs steps on a list from standard input and prints the list.
    pub(super) fn run_on_list(
        &self,
        mut list: PipedList,
        steps: &[Step],
        mut items: Vec<Item>,
        console: &mut Console,
    ) -> CommandResult {
        let title = disk::display_name(disk::STDIN);
        console.summary().add_resources(items.len());
        let mut pipeline = self.run_steps(steps, &mut items, (&Package::default(), title), console);
        self.results.record(&pipeline, console)?;
        list.set_items(std::mem::take(&mut pipeline.items));
        list.finish(&pipeline, self.output.of_list()?.as_ref(), console)
    }

    fn run_steps(
        &self,
        steps: &[Step],
        items: &mut [Item],
        package: (&Package, &str),
        console: &mut Console,
    ) -> PipelineRun {
        let interrupt = crate::interrupt::on_signals();
        let run = run_report::run_and_report(steps, items, package, &interrupt, console);
        self.permissions.cache.report(console);
        run
    }
}
