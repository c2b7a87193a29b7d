//! Functions that resources declare in their annotations: what runs, what it may ask for, and in which order.

mod order;
mod parse;

pub use order::{AnnotatedFunction, annotated_functions};

use crate::{Diagnostic, Resource};

/// A function as a resource declares it; the resource is its functionConfig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionDeclaration {
    /// What runs.
    pub runtime: AnnotatedRuntime,
    /// Whether its output is taken and the rest runs when it fails; the end of the run tells all the same.
    pub defer_failure: bool,
}

/// What runs, and what it asks for. Whether it gets that is for the person to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnnotatedRuntime {
    /// An image.
    Container {
        /// Its name.
        image: String,
        /// Whether it wants the network.
        network: bool,
        /// What it wants to see, in the spelling of `--mount`.
        mounts: Vec<String>,
        /// Its variables: `NAME=value`, or `NAME` to be passed on.
        envs: Vec<String>,
    },
    /// A command.
    Exec {
        /// The program.
        path: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its variables.
        envs: Vec<String>,
    },
    /// A script.
    Starlark {
        /// What people call it.
        name: Option<String>,
        /// Its file, from the folder of the resource.
        path: String,
    },
    /// A WASI module.
    Wasm {
        /// Its file, from the folder of the resource.
        path: String,
    },
}

impl AnnotatedRuntime {
    /// What people call it.
    pub fn name(&self) -> &str {
        match self {
            Self::Container { image, .. } => image,
            Self::Exec { path, .. } | Self::Wasm { path } => path,
            Self::Starlark { name, path } => name.as_deref().unwrap_or(path),
        }
    }
}

/// The function that a resource declares; none for most resources.
///
/// ```
/// use krm_core::functions::{AnnotatedRuntime, declared_function};
/// use krm_core::PackageFile;
///
/// let text = "apiVersion: v1\nkind: Check\nmetadata:\n  annotations:\n    config.kubernetes.io/function: |\n      exec:\n        path: ./check.sh\n";
/// let file = PackageFile::from_text("check.yaml", text)?;
/// let resource = file.resources().next().expect("it is there");
/// let declaration = declared_function(resource).expect("it declares one").expect("and rightly");
/// assert_eq!(declaration.runtime.name(), "./check.sh");
/// # Ok::<(), krm_core::PackagePathError>(())
/// ```
pub fn declared_function(
    resource: Resource<'_>,
) -> Option<Result<FunctionDeclaration, Diagnostic>> {
    parse::declaration(resource)
}
