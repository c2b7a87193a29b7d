//! Who transforms it, and what may they touch? Functions as processes, as containers and as WASI modules.
//!
//! A [`Function`] gets the bytes of its standard input and gives an [`Outcome`], or a [`Failure`] that says by name which
//! function failed, how, and what it said last. What a function may take is a value, [`Limits`]; stopping it is one, too,
//! [`Interrupt`]. Paths, environment and permissions are what the caller passes in: nothing here looks them up.
//!
//! ```
//! # #[cfg(unix)] {
//! use krm_run::{Environment, Exec, ExecSettings, Function, Interrupt, Limits};
//!
//! let settings = ExecSettings {
//!     allow_exec: true,
//!     stands: "/".into(),
//!     folder: "/".into(),
//!     environment: Environment::from_iter([("PATH", "/usr/bin:/bin")]),
//!     variables: Vec::new(),
//! };
//! let function = Exec::new("tr a-z A-Z", settings)?;
//! let outcome = function.run(b"kind: list\n", &Limits::default(), &Interrupt::new())?;
//! assert_eq!(outcome.stdout, "KIND: LIST\n");
//! # }
//! # Ok::<(), krm_run::Failure>(())
//! ```

mod container;
mod environment;
mod exec;
mod failure;
mod function;
mod interrupt;
mod limits;
mod process;
mod programs;
pub mod render;
mod resolution;
mod step;
mod tail;
mod tell;
mod wasi;

pub use container::{Container, ContainerSettings, Engine, Image, Mount, Network, Pull, User};
pub use environment::{Environment, Variable};
pub use exec::{Exec, ExecSettings};
pub use failure::{Failure, Reason};
pub use function::{Function, Listener, Outcome};
pub use interrupt::Interrupt;
pub use limits::Limits;
pub use programs::Programs;
pub use resolution::{
    BadConstraint, CATALOG, Configuration, Constraint, NOT_BUILT_IN, Resolution, ScalarType,
    Target, UseBuiltin, meant,
};
pub use step::{RunScript, Runner, Script, Step, StepFailure, Stepped, named};
pub use tail::Tail;
pub use wasi::{Wasi, WasiSettings};
