//! Systems without process groups: only WASI modules run there.

use std::io;
use std::process::Command;

use crate::{Execution, Invocation};

pub(crate) fn run(_: Command, _: &mut Invocation<'_>) -> io::Result<Execution> {
    Err(unsupported())
}

/// Never constructed.
#[derive(Debug)]
pub(crate) enum RunningChild {}

impl RunningChild {
    pub(crate) fn start(_: Command) -> io::Result<Self> {
        Err(unsupported())
    }

    pub(crate) fn finish(self, _: &mut Invocation<'_>) -> io::Result<Execution> {
        match self {}
    }
}

fn unsupported() -> io::Error {
    let message = "exec functions and containers need a Unix system; WASI modules run everywhere";
    io::Error::new(io::ErrorKind::Unsupported, message)
}

pub(crate) fn is_executable(metadata: &std::fs::Metadata) -> bool {
    metadata.is_file()
}
