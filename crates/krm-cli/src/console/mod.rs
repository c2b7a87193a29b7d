//! Everything that is printed: data on standard output, words for people on standard error.

mod diff;
mod format;
mod progress;
mod snippet;
mod table;

pub(crate) use table::Table;

pub(crate) use progress::{Activity, Progress};

use std::borrow::Cow;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use krm_core::{Change, Diagnostic, Severity};

use crate::cli::{Color, ErrorFormat, Global};
use crate::{Exit, Failure, disk};

/// The two streams of the process, and how much is said on them.
pub(crate) struct Console {
    out: BufWriter<Stdout>,
    colored_out: bool,
    colored_err: bool,
    quiet: bool,
    verbose: bool,
    format: ErrorFormat,
    show_secrets: bool,
    /// Whether something was told: what follows it stands apart.
    told: bool,
}

impl Console {
    pub(crate) fn new(global: &Global) -> Self {
        let colored = |auto: ColorChoice| match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => auto != ColorChoice::Never,
        };
        progress::allow(global.quiet);
        Self {
            out: BufWriter::new(io::stdout()),
            colored_out: colored(AutoStream::choice(&io::stdout())),
            colored_err: colored(AutoStream::choice(&io::stderr())),
            quiet: global.quiet,
            verbose: global.verbose,
            format: global.error_format,
            show_secrets: global.show_secrets,
            told: false,
        }
    }

    /// Prints data, to the byte.
    pub(crate) fn print(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// Whether the user wants to know more.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Whether the values of Secrets are for the user to see.
    pub(crate) fn shows_secrets(&self) -> bool {
        self.show_secrets
    }

    /// Prints a change as a unified diff.
    pub(crate) fn diff(&mut self, change: &Change) -> Result<(), Failure> {
        Ok(diff::write(change, self.show_secrets, self.colored_out, &mut self.out)?)
    }

    /// Prints how two texts differ, each with its name; equal ones print nothing.
    pub(crate) fn compare(&mut self, old: (&str, &str), new: (&str, &str)) -> Result<(), Failure> {
        Ok(diff::compare(old, new, self.show_secrets, self.colored_out, &mut self.out)?)
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }

    /// Says something to people.
    pub(crate) fn report(&mut self, diagnostic: &Diagnostic) {
        if !self.quiet || diagnostic.severity == Severity::Error {
            let apart = std::mem::replace(&mut self.told, true) && self.format == ErrorFormat::Text;
            let gap = if apart { "\n" } else { "" };
            let text = format::write(&self.as_shown(diagnostic), self.format, self.colored_err);
            write_err(&format!("{gap}{text}"));
        }
    }

    fn as_shown<'a>(&self, diagnostic: &'a Diagnostic) -> Cow<'a, Diagnostic> {
        let mut shown = Cow::Borrowed(diagnostic);
        if let Some(name) = diagnostic.file.as_deref().and_then(from_here) {
            shown.to_mut().file = Some(name.into());
        }
        if self.show_secrets {
            shown.to_mut().reveal();
        }
        shown
    }

    pub(crate) fn report_all(&mut self, diagnostics: &[Diagnostic]) {
        diagnostics.iter().for_each(|diagnostic| self.report(diagnostic));
    }

    /// Says what was done.
    pub(crate) fn status(&mut self, text: &str) {
        if !self.quiet {
            write_err(&format!("{text}\n"));
        }
    }

    /// Says something to people who want to know more.
    pub(crate) fn detail(&mut self, text: &str) {
        match self.format {
            _ if !self.verbose => {}
            ErrorFormat::Text => write_err(&format!("{text}\n")),
            _ => self.report(&Diagnostic::untyped(Severity::Info, text)),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        Self::input(Diagnostic::untyped_error(format!(
            "the output cannot be written: {}",
            disk::reason(&error)
        )))
    }
}

/// A file's name from where the user stands, where they typed the whole of it.
fn from_here(name: &str) -> Option<&str> {
    let inside = Path::new(name).strip_prefix(std::env::current_dir().ok()?).ok()?;
    inside.to_str().filter(|name| !name.is_empty())
}

/// What clap has to say: help on standard output, and what is wrong with the command line on standard error.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    let format = format_asked_for();
    if error.use_stderr() && format != ErrorFormat::Text {
        write_err(&format::write(&format::of_usage(error), format, false));
        return Exit::Usage;
    }
    // A reader that went away is no reason to fail.
    let _ = error.print();
    if error.use_stderr() { Exit::Usage } else { Exit::Success }
}

/// The help for somebody who typed nothing else.
pub(crate) fn help(command: &mut clap::Command) -> Exit {
    let format = format_asked_for();
    if format != ErrorFormat::Text {
        write_err(&format::write(&format::no_command(), format, false));
        return Exit::Usage;
    }
    let help = command.render_help();
    let colored = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    write_err(&if colored { help.ansi().to_string() } else { help.to_string() });
    Exit::Usage
}

fn format_asked_for() -> ErrorFormat {
    format::asked_for(std::env::args_os().map(|word| word.to_string_lossy().into_owned()))
}

/// A panic, told once.
pub(crate) fn bug(panic: &str) {
    let words = format!("this is a bug in krm {}: {}", env!("CARGO_PKG_VERSION"), panic.trim_end());
    let bug = Diagnostic::untyped_error(words)
        .hint("please report it with the command line and, if you can, the file");
    write_err(&format::write(&bug, format_asked_for(), false));
}

/// Nobody can be told when standard error fails.
fn write_err(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
