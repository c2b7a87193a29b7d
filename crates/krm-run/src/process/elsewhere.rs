//! Systems without process groups: only WASI modules run there.

use std::io;
use std::process::Command;

use crate::function::Ran;
use crate::{Interrupt, Limits};

pub(crate) fn run(_: Command, _: &[u8], _: &Limits, _: &Interrupt) -> io::Result<Ran> {
    let words = "commands and containers need a Unix system; WASI modules run everywhere";
    Err(io::Error::new(io::ErrorKind::Unsupported, words))
}

pub(crate) fn is_executable(metadata: &std::fs::Metadata) -> bool {
    metadata.is_file()
}
