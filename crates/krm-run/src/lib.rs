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
//! # Run one function
//!
//! Every runtime takes bytes and returns bytes. Creating it checks what the user allows; running it has [`Limits`].
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
//!
//! # Render a package
//!
//! A [`Renderer`] runs the pipelines that Kptfiles declare, subpackages before their parents. The result is text for each changed file; the
//! caller writes it.
//!
//! ```
//! use krm_core::files::{Deletions, assemble};
//! use krm_core::functions::PackageTree;
//! use krm_core::functions::resource_list::{Items, Version};
//! use krm_core::{Package, PackageFile};
//! use krm_run::{Environment, Interrupt, Limits, Permissions, Pull, Renderer, Resolution, RuntimeFactory, SchemaSettings};
//!
//! let kptfile = "\
//! apiVersion: kpt.dev/v1
//! kind: Kptfile
//! metadata: {name: shop}
//! pipeline:
//!   mutators:
//!   - image: set-namespace
//!     configMap: {namespace: shop}
//! ";
//! let service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web # public\n";
//! let package = Package::new(vec![
//!     PackageFile::from_text("Kptfile", kptfile)?,
//!     PackageFile::from_text("service.yaml", service)?,
//! ]);
//!
//! let factory = RuntimeFactory {
//!     resolution: Resolution::default(),   // images of the catalog are built in
//!     permissions: Permissions::default(), // no commands, no network, no mounts
//!     pull: Pull::Never,
//!     engine: None,
//!     sandbox: None,
//!     working_directory: "/srv".into(),
//!     environment: Environment::default(),
//!     interpreter: None,
//!     schemas: SchemaSettings::default(),
//!     cache: None,
//!     remote: None,
//! };
//! let renderer = Renderer {
//!     factory,
//!     limits: Limits::default(),
//!     version: Version::default(),
//!     fail_on: None,
//!     interrupt: Interrupt::default(),
//!     records_changes: false,
//!     directory: "/srv/shop".into(),
//! };
//!
//! let tree = PackageTree::of(&package).map_err(|errors| errors[0].message().to_string())?;
//! let before = Items::from_package(&package, |_| true).map_err(|errors| errors[0].message().to_string())?.items;
//! let run = renderer.run(&tree, before.clone());
//! assert!(!run.is_stopped, "a function failed");
//! assert_eq!(run.runs[0].reported()[0].message, "namespace [default] updated to \"shop\", 1 value(s) changed");
//!
//! let files = assemble(&package, &before, &run.items, Deletions::default()).map_err(|errors| errors[0].message().to_string())?;
//! let change = files.changes.into_iter().next().ok_or("nothing changed")?;
//! assert_eq!(change.path.as_str(), "service.yaml");
//! assert_eq!(change.into_text().as_deref(), Some("\
//! apiVersion: v1
//! kind: Service
//! metadata:
//!   name: web # public
//!   namespace: shop
//! "));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Scripts, policies and sandboxes
//!
//! Scripts and policies are evaluated in a process of their own, and images run without a container engine, if the program that uses this
//! crate begins its `main` with [`serve`] and passes its own path as [`RuntimeFactory::interpreter`] and to [`Sandbox::new`]. Without it,
//! scripts are evaluated on a thread, and their memory is not limited.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     if let Some(code) = krm_run::serve(std::env::args_os()) {
//!         return ExitCode::from(code);
//!     }
//!     // The program itself.
//!     ExitCode::SUCCESS
//! }
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
