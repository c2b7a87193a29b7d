//! Runs KRM functions: as processes, containers, WASI modules, Starlark scripts and built-in functions.
//!
//! | type | role |
//! |---|---|
//! | [`RuntimeFactory`] | creates the runtime of a function within the user's [`Permissions`] |
//! | [`Step`] | one function of a pipeline: runtime, functionConfig, selection |
//! | [`FunctionRun`] | one run of a function: output, results, diagnostics, duration, status |
//! | [`PipelineRun`] | the run of several steps ([`run_steps`]) or of the Kptfiles of a package tree ([`Renderer`]) |
//! | [`Function`] | the interface of external runtimes: an [`Invocation`] in, an [`Execution`] out |
//! | [`RemoteEvaluator`] | evaluates images on a server of the caller |
//! | [`ResultCache`] | results of functions for the same input, in a [`ResultStore`] of the caller |
//! | [`ProcessInterpreter`] | evaluates scripts and policies in a process of their own, in which [`serve`] runs |
//!
//! Paths, environment and permissions are passed in by the caller; nothing here looks them up.
//!
//! ```
//! # #[cfg(unix)] {
//! use krm_run::{Environment, Exec, ExecSettings, Function, Invocation};
//!
//! let settings = ExecSettings {
//!     declared_by: krm_run::DeclaredBy::User,
//!     allow_exec: true,
//!     working_directory: "/".into(),
//!     package_directory: "/".into(),
//!     environment: Environment::from_iter([("PATH", "/usr/bin:/bin")]),
//!     variables: Vec::new(),
//! };
//! let function = Exec::new("tr a-z A-Z", settings)?;
//! let execution = function.run(&mut Invocation::new(b"kind: list\n"));
//! assert_eq!(execution.output()?, "KIND: LIST\n");
//! # }
//! # Ok::<(), krm_run::RunKind>(())
//! ```

mod charts;
mod condition;
mod container;
mod declared_by;
mod documents;
mod environment;
mod exec;
mod execution;
mod function;
mod function_run;
mod interrupt;
mod isolation;
mod kinds;
mod limits;
mod package_files;
mod permissions;
mod pipeline;
mod process;
mod regular_file;
mod remote;
mod resolution;
mod result_cache;
mod runtime_factory;
mod sandbox;
mod schemas;
mod standalone;
mod started_ahead;
mod step;
mod tail;
mod wasi;

pub use charts::GrantedCharts;
pub use container::{
    Container, ContainerSettings, Engine, Image, Mount, Network, Pull, RuntimeReport, User,
    check_runtimes,
};
pub use declared_by::DeclaredBy;
pub use documents::{DocumentChange, GrantedDocuments};
pub use environment::{Environment, Variable};
pub use exec::{Exec, ExecSettings};
pub use execution::{Execution, ExecutionEnd};
pub use function::{Function, Invocation, OutputObserver};
pub use function_run::{FunctionRun, RunStatus, cannot_run, is_crash, label};
pub use interrupt::Interrupt;
pub use isolation::{INTERPRETER_ARGUMENT, ProcessInterpreter, serve};
pub use kinds::{PermissionKind, ResolutionKind, RunKind};
pub use limits::Limits;
pub use package_files::PackageFiles;
pub use permissions::Permissions;
pub use pipeline::{
    ItemChange, PipelineEvent, PipelineRun, Renderer, changes_between, explain, explain_records,
    run_steps,
};
pub use regular_file::{RegularFileError, read_limited, read_opened, read_regular_file};
pub use remote::{RemoteAnswer, RemoteEvaluator};
pub use resolution::{
    BuiltinPolicy, CATALOG, Configuration, Constraint, ImageLock, ImageTarget, InvalidConstraint,
    Resolution, Resolved, SignaturePolicy, similar_builtin, unknown_tag,
};
pub use result_cache::{
    CacheKey, CacheMode, FunctionIdentity, ResultCache, ResultStore, SharedCounts, SharedMode,
    is_entry_of,
};
pub use runtime_factory::{RuntimeFactory, RuntimeRequest, local_directory, suggest_builtin};
pub use sandbox::{ImageStore, Sandbox, UnpackedImage};
pub use schemas::{GrantedSchemas, SchemaSettings};
pub use step::{Interpreted, ItemFilter, Runner, Step};
pub use tail::Tail;
pub use wasi::{Wasi, WasiSettings};

/// The kinds that this crate declares, with their explanations.
pub const EXPLANATIONS: &[krm_core::diagnostics::explain::Area] = &[
    krm_core::diagnostics::explain::Area {
        title: "Running functions",
        ids: &[RunKind::IDS, PermissionKind::IDS],
        text: include_str!("../explain/run.md"),
    },
    krm_core::diagnostics::explain::Area {
        title: "Images and built-in functions",
        ids: &[ResolutionKind::IDS],
        text: include_str!("../explain/resolution.md"),
    },
];

#[cfg(test)]
mod tests {
    use krm_core::diagnostics::explain::Area;

    #[test]
    fn every_kind_is_explained_with_an_example() {
        let gaps: Vec<String> = super::EXPLANATIONS.iter().flat_map(Area::gaps).collect();
        assert!(gaps.is_empty(), "{gaps:#?}");
    }
}
