//! The program of `wrap` and `xargs`: it receives a list on standard input and the functionConfig as flags and variables.

use std::env;
use std::io;
use std::time::Duration;

use krm_core::Diagnostic;
use krm_core::functions::adapter;
use krm_core::print::ListWrapper;
use krm_run::{
    DeclaredBy, Environment, Exec, ExecSettings, Function, Invocation, Limits, RunKind, Variable,
    cannot_run, label,
};
use krm_yaml::{File, ReadOptions};

use crate::commands::check_stdin_is_piped;
use crate::console::{Activity, Console};
use crate::{Failure, disk};

/// The program and its list.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Program {
    /// Program and its arguments, after --
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<String>,

    /// Kind of the list that the program reads
    #[arg(long, value_name = "KIND", default_value = "List")]
    wrap_kind: String,

    /// apiVersion of the list [default: v1, or config.kubernetes.io/v1 for a ResourceList]
    #[arg(long, value_name = "VERSION")]
    wrap_version: Option<String>,

    /// Time limit of the program: 30s, 5m
    #[arg(long, value_name = "TIME", value_parser = super::limits::time)]
    timeout: Option<Duration>,
}

/// Reads standard input.
pub(super) fn input() -> Result<File, Failure> {
    check_stdin_is_piped()?;
    let file = disk::parse(disk::STDIN, ReadOptions::default()).map_err(Failure::input)?;
    if let Some(error) = file.errors().next() {
        let error = Diagnostic::from_syntax(error, &file);
        return Err(Failure::input(error.in_file(disk::display_name(disk::STDIN))));
    }
    Ok(file)
}

/// A program that failed, and what it printed.
pub(super) struct FailedProgram {
    pub(super) failure: Failure,
    pub(super) output: String,
}

impl From<Failure> for FailedProgram {
    fn from(failure: Failure) -> Self {
        Self { failure, output: String::new() }
    }
}

impl From<io::Error> for FailedProgram {
    fn from(error: io::Error) -> Self {
        Failure::from(error).into()
    }
}

impl Program {
    /// Runs the program and returns its output. Its standard error is passed through.
    pub(super) fn run(
        &self,
        input: &File,
        with_flags: bool,
        console: &mut Console,
    ) -> Result<String, FailedProgram> {
        let read = adapter::Input::new(input).map_err(Failure::input)?;
        let mut args = self.command.clone();
        let mut variables: Vec<Variable> = env::vars_os()
            .filter_map(|(name, _)| Some(Variable::Pass(name.to_str()?.into())))
            .collect();
        if let Some(config) = read.config() {
            let set = |(name, value): (String, String)| Variable::Set(name.into(), value.into());
            let fields = adapter::environment(config).map_err(Failure::input)?;
            variables.extend(fields.into_iter().map(set));
            if with_flags {
                args.extend(adapter::arguments(config).map_err(Failure::input)?);
            }
        }
        let here = env::current_dir()?;
        let settings = ExecSettings {
            allow_exec: true,
            declared_by: DeclaredBy::User,
            working_directory: here.clone(),
            package_directory: here,
            environment: env::vars_os().collect::<Environment>(),
            variables,
        };
        let label = label(None, &self.name());
        let exec = Exec::from_args(&self.name(), args, settings)
            .map_err(|error| Failure::function(cannot_run(Diagnostic::error(error), &label)))?;
        let list = self.list(read)?;
        let default = Limits::default();
        let limits = Limits { time: self.timeout.unwrap_or(default.time), ..default };
        let interrupt = crate::interrupt::on_signals();
        let activity = Activity::begin(&format!("running {}", self.name()));
        let execution =
            exec.run(&mut Invocation { limits, interrupt, ..Invocation::new(list.as_bytes()) });
        drop(activity);
        match execution.output() {
            Ok(output) => {
                console.program_stderr(&execution.stderr.text());
                Ok(output.to_owned())
            }
            // A program without output adds no resources, which is not a failure.
            Err(RunKind::EmptyOutput) => {
                console.program_stderr(&execution.stderr.text());
                Ok(String::new())
            }
            Err(error) => {
                let output = String::from_utf8_lossy(&execution.stdout).into_owned();
                let failure = Failure::function(execution.failure(error, &label));
                Err(FailedProgram { failure, output })
            }
        }
    }

    /// The list that the program reads. Only a ResourceList contains the functionConfig.
    fn list(&self, read: adapter::Input<'_>) -> Result<String, Failure> {
        let is_function = self.wrap_kind == "ResourceList";
        let default = if is_function { "config.kubernetes.io/v1" } else { "v1" };
        let config = read.config().filter(|_| is_function);
        let text = |config| {
            krm_core::print::source_text::ensure_trailing_newline(
                krm_core::print::source_text::text(config),
            )
        };
        let wrapper = ListWrapper {
            kind: self.wrap_kind.clone(),
            version: self.wrap_version.as_deref().unwrap_or(default).to_owned(),
            function_config: config.map(text),
        };
        let refused =
            |error: Diagnostic| Failure::input(error.in_file(disk::display_name(disk::STDIN)));
        wrapper.wrap(&read.texts()).map_err(refused)
    }

    /// The command line, for messages.
    pub(super) fn name(&self) -> String {
        self.command.join(" ")
    }
}
