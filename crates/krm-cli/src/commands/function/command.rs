//! What `wrap` and `xargs` have in common: a list is read, and a program is started for it.

use std::env;
use std::io::{self, Write};
use std::time::Duration;

use krm_core::Diagnostic;
use krm_core::functions::adapter;
use krm_core::print::ListWrapper;
use krm_run::{Environment, Exec, ExecSettings, Function, Limits, Reason, Variable};
use krm_yaml::{File, ReadOptions};

use super::interrupt;
use crate::{Failure, disk};

/// The program, and what it is told.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Program {
    /// The program and its arguments, after --
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<String>,

    /// The kind of the list that the program reads
    #[arg(long, value_name = "KIND", default_value = "List")]
    wrap_kind: String,

    /// The list's apiVersion [default: v1, or config.kubernetes.io/v1 for a ResourceList]
    #[arg(long, value_name = "VERSION")]
    wrap_version: Option<String>,

    /// How long the program may run: 30s, 5m
    #[arg(long, value_name = "TIME", value_parser = super::limits::time)]
    timeout: Option<Duration>,
}

/// What is read from standard input.
pub(super) fn input() -> Result<File, Failure> {
    let file = disk::parse(disk::STDIN, ReadOptions::default()).map_err(Failure::input)?;
    if let Some(error) = file.errors().next() {
        let told = Diagnostic::from_syntax(error, &file);
        return Err(Failure::input(told.in_file(disk::display_name(disk::STDIN))));
    }
    Ok(file)
}

impl Program {
    /// Runs the program for a list: what it printed. Its words go where ours go.
    pub(super) fn run(&self, input: &File, with_flags: bool) -> Result<String, Failure> {
        let read = adapter::Input::new(input).map_err(Failure::input)?;
        let mut words = self.command.clone();
        let mut variables: Vec<Variable> = env::vars_os()
            .filter_map(|(name, _)| Some(Variable::Pass(name.to_str()?.into())))
            .collect();
        if let Some(config) = read.config() {
            let set = |(name, value): (String, String)| Variable::Set(name.into(), value.into());
            variables.extend(adapter::environment(config).into_iter().map(set));
            words.extend(with_flags.then(|| adapter::arguments(config)).into_iter().flatten());
        }
        let here = env::current_dir()?;
        let settings = ExecSettings {
            allow_exec: true,
            stands: here.clone(),
            folder: here,
            environment: env::vars_os().collect::<Environment>(),
            variables,
        };
        let function = |error| Failure::function(Diagnostic::from(&error));
        let exec = Exec::of_words(&self.command.join(" "), words, settings).map_err(function)?;
        let list = self.list(read)?;
        let mut limits = Limits::default();
        limits.time = self.timeout.unwrap_or(limits.time);
        match exec.run(list.as_bytes(), &limits, &interrupt::on_signals()) {
            Ok(outcome) => {
                let _ = io::stderr().write_all(outcome.stderr.text().as_bytes());
                Ok(outcome.stdout)
            }
            // A program that has nothing to add is no failure.
            Err(failure) if failure.reason == Reason::Empty => {
                let _ = io::stderr().write_all(failure.stderr().text().as_bytes());
                Ok(String::new())
            }
            Err(failure) => Err(Failure::function(Diagnostic::from(&failure))),
        }
    }

    /// The list that the program reads. A ResourceList has its functionConfig, any other only resources.
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
        let told = |told: Diagnostic| Failure::input(told.in_file(disk::display_name(disk::STDIN)));
        wrapper.wrap(&read.texts()).map_err(told)
    }

    /// What people call the program.
    pub(super) fn name(&self) -> String {
        self.command.join(" ")
    }
}
