//! KRM functions: the ResourceList protocol, Kptfile pipelines, functions declared by annotations, package trees, results and fixes.
//!
//! Functions are run by `krm-run`; this module defines what they get and what they return.

pub mod adapter;
mod annotated_functions;
pub mod kptfile;
mod package_tree;
pub mod resource_list;
pub mod results;
mod run_order;

pub use annotated_functions::{
    AnnotatedFunction, AnnotatedFunctionKind, AnnotatedRuntime, FunctionDeclaration,
    annotated_functions,
};
pub use package_tree::{PackageNode, PackageTree, PipelineResult};
