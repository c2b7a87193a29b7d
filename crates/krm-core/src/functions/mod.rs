//! KRM functions: the ResourceList protocol, Kptfiles, functions declared by annotations, package trees, results and fixes.
//!
//! Functions are run by `krm-run`; this folder knows what they are sent and what they return.

pub mod adapter;
pub mod annotated_functions;
pub mod kptfile;
pub mod package_tree;
pub mod resource_list;
pub mod results;
