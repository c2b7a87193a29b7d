//! Functions that resources declare in annotations: their runtimes, the permissions that they request, and their order.

mod kinds;
mod order;
mod parse;

pub use kinds::AnnotatedFunctionKind;
pub use order::{AnnotatedFunction, annotated_functions};

use crate::functions::resource_list::Version;
use crate::{Diagnostic, Resource};

/// The declaration of a function; the resource that has the annotation is its functionConfig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionDeclaration {
    /// The runtime.
    pub runtime: AnnotatedRuntime,
    /// Whether the run continues with its output if it fails. The run still fails at its end.
    pub defer_failure: bool,
    /// The version of the ResourceList that it receives, if it declares one.
    pub version: Option<Version>,
}

/// The runtime of a function and the permissions that it requests. Whether they are granted is up to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnnotatedRuntime {
    /// A container.
    Container {
        /// The image.
        image: String,
        /// Whether it requests network access.
        network: bool,
        /// The mounts that it requests, in the syntax of `--mount`.
        mounts: Vec<String>,
        /// Its environment variables: `NAME=value`, or `NAME` to pass the user's on.
        envs: Vec<String>,
    },
    /// A command.
    Exec {
        /// The program.
        path: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment variables.
        envs: Vec<String>,
    },
    /// A Starlark script.
    Starlark {
        /// Its name.
        name: Option<String>,
        /// Its file, relative to the directory of the resource.
        path: String,
    },
    /// A WASI module.
    Wasm {
        /// Its file, relative to the directory of the resource.
        path: String,
    },
}

impl AnnotatedRuntime {
    /// The name of the function: the image, the command or the file.
    pub fn name(&self) -> &str {
        match self {
            Self::Container { image, .. } => image,
            Self::Exec { path, .. } | Self::Wasm { path } => path,
            Self::Starlark { name, path } => name.as_deref().unwrap_or(path),
        }
    }
}

/// The function that a resource declares; none if it declares none.
fn declared_function(resource: Resource<'_>) -> Option<Result<FunctionDeclaration, Diagnostic>> {
    parse::declaration(resource)
}
