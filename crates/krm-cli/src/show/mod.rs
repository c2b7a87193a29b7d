//! Everything that is printed: data on standard output, words for people on standard error.

mod diff;
mod snippet;
mod table;

pub(crate) use table::Table;

use std::io::{self, BufWriter, Stdout, Write};

use anstream::{AutoStream, ColorChoice};
use krm_core::{Change, Diagnostic, Severity};

use crate::cli::{Color, Global};
use crate::{Exit, Failure, disk};

/// The two streams of the process, and how much is said on them.
pub(crate) struct Screen {
    out: BufWriter<Stdout>,
    colored_out: bool,
    colored_err: bool,
    quiet: bool,
    verbose: bool,
    /// Whether something was told: what follows it stands apart.
    told: bool,
}

impl Screen {
    pub(crate) fn new(global: &Global) -> Self {
        let colored = |auto: ColorChoice| match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => auto != ColorChoice::Never,
        };
        Self {
            out: BufWriter::new(io::stdout()),
            colored_out: colored(AutoStream::choice(&io::stdout())),
            colored_err: colored(AutoStream::choice(&io::stderr())),
            quiet: global.quiet,
            verbose: global.verbose,
            told: false,
        }
    }

    /// Prints data, to the byte.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// Prints a change as a unified diff.
    pub(crate) fn diff(&mut self, change: &Change, show_secrets: bool) -> Result<(), Failure> {
        Ok(diff::write(change, show_secrets, self.colored_out, &mut self.out)?)
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }

    /// Says something to people.
    pub(crate) fn tell(&mut self, diagnostic: &Diagnostic) {
        if !self.quiet || diagnostic.severity == Severity::Error {
            let gap = if std::mem::replace(&mut self.told, true) { "\n" } else { "" };
            write_err(&format!("{gap}{}", snippet::render(diagnostic, self.colored_err)));
        }
    }

    pub(crate) fn tell_all(&mut self, diagnostics: &[Diagnostic]) {
        diagnostics.iter().for_each(|diagnostic| self.tell(diagnostic));
    }

    /// Says what was done.
    pub(crate) fn say(&mut self, text: &str) {
        if !self.quiet {
            write_err(&format!("{text}\n"));
        }
    }

    /// Says something to people who want to know more.
    pub(crate) fn note(&mut self, text: &str) {
        if self.verbose {
            write_err(&format!("{text}\n"));
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        Self::input(Diagnostic::error(format!(
            "the output cannot be written: {}",
            disk::reason(&error)
        )))
    }
}

/// What clap has to say: help on standard output, and what is wrong with the command line on standard error.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    // A reader that went away is no reason to fail.
    let _ = error.print();
    if error.use_stderr() { Exit::Usage } else { Exit::Done }
}

/// The help for somebody who typed nothing else.
pub(crate) fn help(command: &mut clap::Command) -> Exit {
    let help = command.render_help();
    let colored = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    write_err(&if colored { help.ansi().to_string() } else { help.to_string() });
    Exit::Usage
}

/// A panic, told once.
pub(crate) fn bug(panic: &str) {
    let panic = panic.trim_end();
    write_err(&format!(
        "error: this is a bug in krm {}: {panic}\nhelp: please report it with the command line and, if you can, the file\n",
        env!("CARGO_PKG_VERSION")
    ));
}

/// Nobody can be told when standard error fails.
fn write_err(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
