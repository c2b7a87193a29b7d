//! What `eval` and `run` have in common: flags, and a package that is opened, given to functions and written back.

use krm_core::Package;
use krm_core::functions::resource_list::{Item, Items};

use super::interrupt;
use super::output::Elsewhere;
use super::permissions::Permissions;
use super::running::Run;
use super::saving::Saving;
use super::writing_back::{Ending, Results};
use crate::cli::{Global, Preview};
use crate::commands::cfg::edit_session::{EditOptions, EditSession};
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

/// Flags of both commands.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Flags {
    #[command(flatten)]
    pub(super) elsewhere: Elsewhere,

    #[command(flatten)]
    pub(super) results: Results,

    #[command(flatten)]
    pub(super) permissions: Permissions,

    #[command(flatten)]
    pub(super) preview: Preview,
}

impl Flags {
    /// A run in which nothing has happened yet.
    pub(super) fn run(&self, title: &str) -> Run {
        Run {
            interrupt: interrupt::on_signals(),
            fail_on: self.results.fail_on,
            title: title.to_owned(),
            is_good: true,
            ..Run::default()
        }
    }

    /// Opens a package, lets functions change its resources, and writes back what they did.
    pub(super) fn on_package(
        &self,
        dir: &str,
        saving: Option<&Saving>,
        global: &Global,
        console: &mut Console,
        functions: impl FnOnce(&Package, &[Item], &mut Run, &mut Console) -> Result<Vec<Item>, Failure>,
    ) -> CommandResult {
        let output = self.elsewhere.output.as_ref();
        // What goes elsewhere leaves the package alone.
        let dry_run = self.preview.dry_run || output.is_some();
        let edit_options = EditOptions::atomic(Preview { dry_run, ..self.preview.clone() });
        let session = EditSession::open_at(dir, &[], true, &edit_options, global, console)?;
        let mut run = self.run(&session.loaded.title);
        let package = &session.loaded.package;
        // The program ends with them: to take thousands of texts apart would only cost time.
        let before = items(package, self.results.strict, console)?.leak();
        let after = functions(package, before, &mut run, console)?.leak();
        let ending = Ending { saving, output, preview: &self.preview };
        self.results.finish(&run, session, [before, after], ending, console)
    }
}

/// The resources of a package; documents that are none are told.
pub(super) fn items(
    package: &Package,
    is_strict: bool,
    console: &mut Console,
) -> Result<Vec<Item>, Failure> {
    let taken = Items::from_package(package, |_| true)
        .map_err(|told| Failure::Diagnostics(Exit::Input, told))?;
    if let Some(told) = taken.skipped_diagnostic(is_strict) {
        if told.is_error() {
            return Err(Failure::input(told));
        }
        console.report(&told);
    }
    Ok(taken.items)
}
