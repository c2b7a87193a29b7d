//! KRM functions: the ResourceList protocol, Kptfile pipelines, functions declared by annotations, package trees, results and fixes.
//!
//! Functions are run by `krm-run`; this folder knows what they are sent and what they return.

pub mod adapter;
mod annotated_functions;
pub mod kptfile;
mod package_tree;
pub mod resource_list;
pub mod results;

pub use annotated_functions::{
    AnnotatedFunction, AnnotatedFunctionKind, AnnotatedRuntime, FunctionDeclaration,
    annotated_functions, declared_function,
};
pub use package_tree::{PackageNode, PackageTree};
