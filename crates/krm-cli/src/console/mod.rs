//! Everything that krm prints: data and text for people on standard output, diagnostics and status on standard error.
//!
//! Names and values come from files that somebody else may have written. What people read, on a terminal or in the log of a CI system,
//! has control characters escaped, and a name cannot begin a line. This happens here and nowhere else: a command chooses between
//! [`Console::data`], which programs read, and [`Console::line`] and [`Console::lines`], which people read.

mod diff;
mod format;
mod progress;
mod snippet;
mod summary;
mod table;

pub(crate) use diff::masked_texts;
pub(crate) use progress::{Activity, Progress, end_progress};
pub(crate) use summary::{Summary, number, plural};
pub(crate) use table::Table;

use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use krm_core::print::{self, Record, log_line, visible_lines, without_commands};
use krm_core::{Diagnostic, PlannedChange, Severity};

use crate::cli::{Color, ErrorFormat, Global};
use crate::commands::kinds::CommandKind;
use crate::reports::{Finding, FunctionFinding, Recorder};
use crate::{Exit, Failure, disk, duplicate_keys};

/// Standard output and standard error, with the options that decide what is printed there.
pub(crate) struct Console {
    out: BufWriter<Stdout>,
    /// Whether output could not be written, which is reported once.
    has_output_failed: bool,
    is_terminal: bool,
    colored_out: bool,
    colored_err: bool,
    quiet: bool,
    verbose: bool,
    format: ErrorFormat,
    show_secrets: bool,
    /// Whether a diagnostic was printed, so that a blank line separates the next one.
    has_reported: bool,
    /// The most severe diagnostic so far, whether it was printed or not.
    worst: Option<Severity>,
    duplicate_keys: duplicate_keys::Reported,
    recorder: Recorder,
    /// A directory, and the one that messages show instead.
    alias: Option<(String, String)>,
    summary: Summary,
    /// Changes of files, where they are printed as JSON.
    changes: Option<Vec<Record<'static>>>,
    /// What was printed to standard error, while it is recorded.
    text: Option<String>,
}

/// How a function ended, for the beginning of its status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Fail,
    Skip,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Skip => "SKIP",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Pass => AnsiColor::Green.on_default().bold(),
            Self::Fail => AnsiColor::Red.on_default().bold(),
            Self::Skip => AnsiColor::Yellow.on_default().bold(),
        }
    }
}

impl Console {
    pub(crate) fn new(global: &Global) -> Self {
        let colored = |auto: ColorChoice| match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => auto != ColorChoice::Never,
        };
        progress::init(!global.quiet && global.error_format == ErrorFormat::Text);
        Self {
            out: BufWriter::new(io::stdout()),
            has_output_failed: false,
            is_terminal: io::stdout().is_terminal(),
            colored_out: colored(AutoStream::choice(&io::stdout())),
            colored_err: colored(AutoStream::choice(&io::stderr())),
            quiet: global.quiet,
            verbose: global.verbose,
            format: global.error_format,
            show_secrets: global.show_secrets,
            has_reported: false,
            worst: None,
            duplicate_keys: duplicate_keys::Reported::default(),
            recorder: Recorder::new(&global.report, global.show_secrets),
            alias: None,
            summary: Summary::new(),
            changes: None,
            text: None,
        }
    }

    /// Shows files of a temporary copy under the name of the directory that was copied.
    pub(crate) fn show_as(&mut self, directory: &str, shown: &str) {
        self.alias = Some((directory.to_owned(), shown.to_owned()));
    }

    /// What the closing line counts.
    pub(crate) fn summary(&mut self) -> &mut Summary {
        &mut self.summary
    }

    /// Prints the closing line, which says what a command did.
    pub(crate) fn close(&mut self, has_failed: bool) {
        if let Some(line) = self.summary.line(has_failed) {
            self.status(&line);
        }
    }

    /// Prints changes of files as one JSON array from now on.
    pub(crate) fn print_changes_as_json(&mut self) {
        self.changes.get_or_insert_default();
    }

    /// The changes to print as JSON; none if they are printed as text.
    pub(crate) fn json_changes(&mut self) -> Option<&mut Vec<Record<'static>>> {
        self.changes.as_mut()
    }

    /// Forgets the changes that were collected for JSON, and prints none.
    pub(crate) fn discard_json_changes(&mut self) {
        self.changes = None;
    }

    /// Prints the changes that were collected for JSON.
    pub(crate) fn write_json_changes(&mut self) -> Result<(), Failure> {
        let Some(changes) = self.changes.take() else { return Ok(()) };
        let text = print::records_to_json(&changes).map_err(Failure::input)?;
        self.data(&text)
    }

    /// Whether infos are for people, who are shown many of one kind as one line.
    pub(crate) fn collapses_infos(&self) -> bool {
        self.is_for_people() && !self.verbose
    }

    /// Whether diagnostics are text for people.
    pub(crate) fn is_for_people(&self) -> bool {
        self.format == ErrorFormat::Text
    }

    /// Prints data to standard output: as it is for programs, with control characters escaped on a terminal.
    pub(crate) fn data(&mut self, text: &str) -> Result<(), Failure> {
        self.before_output();
        match self.is_terminal {
            true => Ok(self.out.write_all(visible_lines(text).as_bytes())?),
            false => Ok(self.out.write_all(text.as_bytes())?),
        }
    }

    /// Prints one line for people to standard output.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.before_output();
        Ok(writeln!(self.out, "{}", log_line(text))?)
    }

    /// Ends the progress line where output goes to the same terminal. The output is buffered, so it may appear at any later time.
    fn before_output(&self) {
        if self.is_terminal {
            progress::end_progress();
        }
    }

    /// Prints lines for people to standard output. Names in them are escaped already, so that each is in one line.
    pub(crate) fn lines(&mut self, text: &str) -> Result<(), Failure> {
        text.lines().try_for_each(|line| self.line(line))
    }

    /// Whether `--verbose` is given.
    pub(crate) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Whether `--quiet` is given.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether `--show-secrets` is given.
    pub(crate) fn shows_secrets(&self) -> bool {
        self.show_secrets
    }

    /// Prints a change as a unified diff.
    pub(crate) fn diff(&mut self, change: &PlannedChange) -> Result<(), Failure> {
        self.before_output();
        Ok(diff::write(change, self.show_secrets, self.colored_out, &mut self.out)?)
    }

    /// The unified diff of a change, without colors.
    pub(crate) fn diff_text(&self, change: &PlannedChange) -> Result<String, Failure> {
        let mut text = Vec::new();
        diff::write(change, self.show_secrets, false, &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Prints a unified diff of two files, each a name and its text; nothing if they are equal.
    pub(crate) fn compare(&mut self, old: (&str, &str), new: (&str, &str)) -> Result<(), Failure> {
        self.before_output();
        Ok(diff::compare(old, new, self.show_secrets, self.colored_out, &mut self.out)?)
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        if self.has_output_failed {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.has_output_failed = flushed.is_err();
        Ok(flushed?)
    }

    /// Prints what is buffered before the diagnostics that follow. If nobody reads it any more, the command still has its exit code.
    pub(crate) fn flush_before_diagnostics(&mut self) -> Result<(), Failure> {
        match self.flush() {
            Err(Failure::ClosedPipe) => Ok(()),
            flushed => flushed,
        }
    }

    /// Whether diagnostics of a severity are printed or recorded.
    pub(crate) fn reports(&self, severity: Severity) -> bool {
        self.prints(severity) || self.records(severity)
    }

    /// With `--quiet` infos are not printed. Warnings are: without them, success could mean that nothing was done.
    fn prints(&self, severity: Severity) -> bool {
        !self.quiet || severity >= Severity::Warning
    }

    /// Whether diagnostics of a severity are recorded for `--report`. Infos say what was done; they are findings with `--verbose`.
    pub(crate) fn records(&self, severity: Severity) -> bool {
        self.recorder.is_on() && (self.verbose || severity != Severity::Info)
    }

    /// Prints a diagnostic to standard error and records it for `--report`.
    pub(crate) fn report(&mut self, diagnostic: &Diagnostic) {
        self.worst = self.worst.max(Some(diagnostic.severity));
        self.print(diagnostic);
        self.record(diagnostic);
    }

    /// The severity of the most severe diagnostic that was reported.
    pub(crate) fn worst_reported(&mut self) -> Option<Severity> {
        self.report_duplicate_keys();
        self.worst
    }

    /// Reports duplicate keys in the files that were read: before functions run, and at the end of every command.
    pub(crate) fn report_duplicate_keys(&mut self) {
        let mut reported = std::mem::take(&mut self.duplicate_keys);
        let name = |it: &Diagnostic| self.for_display(it).file.as_deref().map(str::to_owned);
        let warnings = reported.take(name);
        self.duplicate_keys = reported;
        self.report_all(&warnings);
    }

    /// Reports a result of a function, located as a diagnostic.
    pub(crate) fn report_result(&mut self, diagnostic: &Diagnostic, source: FunctionFinding<'_>) {
        self.print(diagnostic);
        self.record_result(diagnostic, source);
    }

    /// Records a finding without printing it.
    pub(crate) fn record(&mut self, diagnostic: &Diagnostic) {
        if self.records(diagnostic.severity) {
            let shown = self.for_display(diagnostic).into_owned();
            self.recorder.add(Finding::of(shown));
        }
    }

    /// Records a result of a function without printing it.
    pub(crate) fn record_result(&mut self, diagnostic: &Diagnostic, source: FunctionFinding<'_>) {
        if self.records(diagnostic.severity) {
            let shown = self.for_display(diagnostic).into_owned();
            self.recorder.add(Finding::of_function(shown, source));
        }
    }

    /// What reports show besides findings.
    pub(crate) fn recorder(&mut self) -> &mut Recorder {
        &mut self.recorder
    }

    /// Writes the reports of `--report`.
    pub(crate) fn write_reports(&mut self) -> Result<(), Failure> {
        let output = std::mem::take(&mut self.recorder).write().map_err(Failure::input)?;
        if self.has_output_failed {
            return Ok(());
        }
        self.data(&output)?;
        self.flush()
    }

    /// Keeps a copy of what is printed to standard error from now on.
    pub(crate) fn record_text(&mut self) {
        self.text = Some(String::new());
    }

    /// What was printed since [`Console::record_text`].
    pub(crate) fn take_text(&mut self) -> String {
        self.text.take().unwrap_or_default()
    }

    /// Prints what was recorded in another run with the same [`Console::style`].
    pub(crate) fn replay(&mut self, text: &str) {
        write_err(text);
    }

    /// Everything besides options that decides how text looks.
    pub(crate) fn style(&self) -> String {
        format!("{} {} {} {:?}", self.is_terminal, self.colored_out, self.colored_err, self.format)
    }

    fn err(&mut self, text: &str) {
        if let Some(kept) = &mut self.text {
            kept.push_str(text);
        }
        write_err(text);
    }

    fn print(&mut self, diagnostic: &Diagnostic) {
        if self.prints(diagnostic.severity) {
            let separate =
                std::mem::replace(&mut self.has_reported, true) && self.format == ErrorFormat::Text;
            let gap = if separate { "\n" } else { "" };
            let text = format::write(&self.for_display(diagnostic), self.format, self.colored_err);
            self.err(&format!("{gap}{text}"));
        }
    }

    /// The diagnostic with a path relative to the current directory and, with `--show-secrets`, unmasked.
    fn for_display<'a>(&self, diagnostic: &'a Diagnostic) -> Cow<'a, Diagnostic> {
        let mut shown = Cow::Borrowed(diagnostic);
        if let (Some((directory, name)), Some(file)) = (&self.alias, &diagnostic.file)
            && let Some(path) = file.strip_prefix(&**directory)
        {
            let path = crate::loader::join_display_path(name, path.trim_start_matches('/'));
            shown.to_mut().file = Some(path.into());
            return shown;
        }
        if let Some(name) = diagnostic.file.as_deref().and_then(relative_to_current_dir) {
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

    /// Prints what was done to standard error, unless `--quiet` is given. Workflow commands are annotations of files, so there is none
    /// for a status.
    pub(crate) fn status(&mut self, text: &str) {
        match self.format {
            _ if self.quiet => {}
            ErrorFormat::Text => self.err(&format!("{}\n", log_line(text))),
            ErrorFormat::Json => self.print_status(text),
            ErrorFormat::Github => {}
        }
    }

    /// Prints the status of a function, with a colored verdict.
    pub(crate) fn verdict(&mut self, verdict: Verdict, text: &str) {
        self.report_duplicate_keys();
        let (name, style) = (verdict.name(), verdict.style());
        if self.format == ErrorFormat::Text && self.colored_err && !self.quiet {
            self.err(&format!("[{style}{name}{style:#}] {}\n", log_line(text)));
        } else {
            self.status(&format!("[{name}] {text}"));
        }
    }

    /// Prints a detail to standard error if `--verbose` is given.
    pub(crate) fn detail(&mut self, text: &str) {
        match self.format {
            _ if !self.verbose => {}
            ErrorFormat::Text => self.err(&format!("{}\n", log_line(text))),
            _ => self.print_status(text),
        }
    }

    /// Prints the lines that a program wrote to its standard error.
    pub(crate) fn program_stderr(&mut self, text: &str) {
        for line in text.lines() {
            match self.format {
                ErrorFormat::Text => {
                    self.err(&format!("{}\n", log_line(&format!("  [stderr] {line}"))));
                }
                _ => self.print_status(line),
            }
        }
    }

    /// Prints a status in a format for programs.
    fn print_status(&mut self, text: &str) {
        let kind = CommandKind::Status { message: text.to_owned() };
        self.print(&Diagnostic::new(Severity::Info, kind));
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        Self::input(Diagnostic::error(CommandKind::OutputFailed {
            reason: disk::io_reason(&error),
        }))
    }
}

/// An absolute path relative to the current directory, where it is below it.
fn relative_to_current_dir(name: &str) -> Option<&str> {
    let inside = Path::new(name).strip_prefix(std::env::current_dir().ok()?).ok()?;
    inside.to_str().filter(|name| !name.is_empty())
}

/// A diagnostic in a format for other programs.
pub(crate) fn format_diagnostic(diagnostic: &Diagnostic, format: ErrorFormat) -> String {
    format::write(diagnostic, format, false)
}

/// Prints clap's message: help to standard output, errors to standard error.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    let format = requested_format();
    if error.use_stderr() && format != ErrorFormat::Text {
        write_err(&format::write(&format::from_clap(error), format, false));
        return Exit::Usage;
    }
    let printed = match without_commands(&error.render().to_string()) {
        Cow::Owned(text) if error.use_stderr() => {
            write_err(&text);
            Ok(())
        }
        _ => error.print(),
    };
    match printed.map_err(Failure::from) {
        _ if error.use_stderr() => Exit::Usage,
        // A closed pipe is not an error: `krm --help | head -1`.
        Ok(()) | Err(Failure::ClosedPipe) => Exit::Success,
        Err(Failure::Diagnostics(exit, diagnostics)) => {
            diagnostics.iter().for_each(|it| write_err(&format::write(it, format, false)));
            exit
        }
    }
}

/// Prints the help to standard error, for a command line without a command.
pub(crate) fn help(command: &mut clap::Command) -> Exit {
    let format = requested_format();
    if format != ErrorFormat::Text {
        write_err(&format::write(&Diagnostic::error(CommandKind::MissingCommand), format, false));
        return Exit::Usage;
    }
    let help = command.render_help();
    let colored = AutoStream::choice(&io::stderr()) != ColorChoice::Never;
    write_err(&if colored { help.ansi().to_string() } else { help.to_string() });
    Exit::Usage
}

fn requested_format() -> ErrorFormat {
    format::requested(std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()))
}

/// Prints a panic as a bug of krm.
pub(crate) fn bug(panic: &str) {
    let bug = Diagnostic::error(CommandKind::InternalError {
        version: env!("CARGO_PKG_VERSION"),
        panic: panic.trim_end().to_owned(),
    });
    write_err(&format::write(&bug, requested_format(), false));
}

/// Writes a line of a log to standard error, from any thread.
#[cfg(feature = "grpc")]
pub(crate) fn write_log_line(line: &str) {
    write_err(&format!("{line}\n"));
}

/// Writes to standard error. A failure is ignored, as there is nowhere left to report it.
fn write_err(text: &str) {
    progress::without_line(|| {
        let _ = io::stderr().lock().write_all(without_commands(text).as_bytes());
    });
}
