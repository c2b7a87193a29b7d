//! The program that evaluates scripts, policies and conditions: krm itself, in another process.

use std::path::{Path, PathBuf};

use krm_catalog::{BuiltinRelease, Host, Run};
use krm_run::{Limits, ProcessInterpreter};
use krm_sdk::{Error, ResourceList};

use crate::interrupt;

/// The file that is running, even if it was replaced or deleted since.
const RUNNING_FILE: &str = "/proc/self/exe";

/// The program; none where it cannot be found, and scripts are evaluated in this process.
pub(crate) fn program() -> Option<PathBuf> {
    if !cfg!(unix) {
        return None;
    }
    match Path::new(RUNNING_FILE).exists() {
        true => Some(RUNNING_FILE.into()),
        false => std::env::current_exe().ok(),
    }
}

/// Runs a built-in function.
pub(super) fn call(builtin: BuiltinRelease, list: &mut ResourceList) -> Result<(), Error> {
    match (builtin.function.run, program()) {
        (Run::Interpreted(_), Some(program)) => {
            let interrupt = interrupt::on_signals();
            let interpreter = ProcessInterpreter::new(&program, Limits::default(), interrupt);
            builtin.call_with(list, Host { interpreter: &interpreter, ..Host::default() })
        }
        _ => builtin.call(list),
    }
}
