//! Systems without process groups: only WASI modules run there.

use std::io;
use std::process::Command;

use crate::function::Ran;
use crate::{Interrupt, Limits, Listener};

pub(crate) fn run(
    _: Command,
    _: &[u8],
    _: &Limits,
    _: &Interrupt,
    _: &mut Listener<'_>,
) -> io::Result<Ran> {
    Err(unsupported())
}

/// There is none.
#[derive(Debug)]
pub(crate) enum Started {}

impl Started {
    pub(crate) fn new(_: Command) -> io::Result<Self> {
        Err(unsupported())
    }

    pub(crate) fn serve(
        self,
        _: &[u8],
        _: &Limits,
        _: &Interrupt,
        _: &mut Listener<'_>,
    ) -> io::Result<Ran> {
        match self {}
    }
}

fn unsupported() -> io::Error {
    let words = "commands and containers need a Unix system; WASI modules run everywhere";
    io::Error::new(io::ErrorKind::Unsupported, words)
}

pub(crate) fn is_executable(metadata: &std::fs::Metadata) -> bool {
    metadata.is_file()
}
