//! The program that a library passes to `Sandbox::new` and `RuntimeFactory::interpreter`: it is started again in stages that build sandboxes,
//! and evaluates scripts in a process of its own. `krm` does the same first of all.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Without the arguments of krm-run there is nothing to do.
    krm_run::serve(std::env::args_os()).map_or(ExitCode::from(2), ExitCode::from)
}
