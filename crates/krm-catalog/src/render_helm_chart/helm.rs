//! What `render-helm-chart` needs of the program that runs it: the files of charts, and `helm`.

use krm_core::Diagnostic;

use crate::kinds::CatalogKind;

/// The directory of the chart in the command line. It is relative to the directory in which `helm` runs, and a path and no name of a
/// repository.
pub const CHART: &str = "./chart";

/// Reads charts and runs `helm`. Built-in functions do not access the disk themselves.
pub trait Helm {
    /// The text of a file of the package or of a mounted directory; none if it does not exist.
    ///
    /// # Errors
    /// If the file may not be read, or cannot be read.
    fn read(&self, path: &str) -> Result<Option<String>, Diagnostic>;

    /// Runs `helm` and returns what it prints.
    ///
    /// # Errors
    /// If the chart may not be read, or `helm` is not allowed, not found, or fails.
    fn run(&self, command: &HelmCommand) -> Result<String, Diagnostic>;
}

/// A command line of `helm`, and the files in the directory in which it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelmCommand {
    /// The directory of the chart in the package or in a mounted directory; [`CHART`] in the arguments.
    pub chart: String,
    /// The texts of the files with values; see [`HelmCommand::values_file`].
    pub values: Vec<String>,
    /// The arguments.
    pub arguments: Vec<String>,
}

impl HelmCommand {
    /// The name of a file with values in the arguments.
    pub fn values_file(index: usize) -> String {
        format!("values-{index}.yaml")
    }
}

/// No charts and no `helm`: for a list from standard input.
#[derive(Clone, Copy, Debug)]
pub struct NoHelm;

impl Helm for NoHelm {
    fn read(&self, path: &str) -> Result<Option<String>, Diagnostic> {
        let path = path.to_owned();
        Err(Diagnostic::error(CatalogKind::NoPackageFiles { path })
            .hint("use `krm fn eval` or `krm fn render` on a package"))
    }

    fn run(&self, command: &HelmCommand) -> Result<String, Diagnostic> {
        self.read(&command.chart).map(Option::unwrap_or_default)
    }
}
