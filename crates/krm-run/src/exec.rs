//! Exec functions: commands, looked up as a shell does and started in the directory of the package with a small environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{DeclaredBy, Environment, Execution, Function, Invocation, RunKind, Variable, process};

/// Variables that every command receives.
const BASE_VARIABLES: [&str; 4] = ["PATH", "HOME", "TMPDIR", "LANG"];

/// What is needed to find and start a command.
#[derive(Clone, Debug)]
pub struct ExecSettings {
    /// Whether exec functions are allowed.
    pub allow_exec: bool,
    /// Who declares the command: one that a package names by a path is a file of that package.
    pub declared_by: DeclaredBy,
    /// The user's working directory, from which relative commands of the user are looked up. An absolute path.
    pub working_directory: PathBuf,
    /// The directory of the package, in which the command runs. An absolute path.
    pub package_directory: PathBuf,
    /// Where PATH and the variables that are passed on come from.
    pub environment: Environment,
    /// Variables of the command beside PATH, HOME, TMPDIR and LANG.
    pub variables: Vec<Variable>,
}

/// A command as a function.
///
/// The command line is split as a shell splits it; nothing is expanded. A command with a slash is looked up from the
/// working directory if the user typed it, and inside the package if a package declares it. One without is looked up on PATH and
/// then in that directory: a file that happens to be called `cat` must not shadow the `cat` of the system.
#[derive(Clone, Debug)]
pub struct Exec {
    name: Box<str>,
    program: PathBuf,
    args: Vec<String>,
    directory: PathBuf,
    variables: Vec<(OsString, OsString)>,
}

impl Exec {
    /// Splits a command line and finds its program.
    ///
    /// # Errors
    /// If exec functions are not allowed, or the command line cannot be split, found or executed.
    pub fn new(command_line: &str, settings: ExecSettings) -> Result<Self, RunKind> {
        if !settings.allow_exec {
            return Err(RunKind::ExecNotAllowed);
        }
        let args = shell_words::split(command_line)
            .map_err(|error| RunKind::InvalidSettings { reason: error.to_string() })?;
        Self::from_args(command_line, args, settings)
    }

    /// Finds the program of a command line that is already split; the name is used in messages.
    ///
    /// # Errors
    /// If exec functions are not allowed, or the program cannot be found or executed.
    pub fn from_args(
        name: &str,
        args: Vec<String>,
        settings: ExecSettings,
    ) -> Result<Self, RunKind> {
        if !settings.allow_exec {
            return Err(RunKind::ExecNotAllowed);
        }
        let mut args = args.into_iter();
        let command = args.next().filter(|command| !command.is_empty());
        let command = command.ok_or_else(|| RunKind::InvalidSettings {
            reason: "the command is empty".to_owned(),
        })?;
        Ok(Self {
            name: name.into(),
            program: find_program(&command, &settings)?,
            args: args.collect(),
            variables: visible_variables(&settings),
            directory: settings.package_directory,
        })
    }

    /// The file that is started.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Explains an error of the operating system for a file that existed a moment ago.
    fn explain(&self, error: &std::io::Error) -> RunKind {
        use std::io::ErrorKind::{NotADirectory, NotFound};
        let reason = match error.kind() {
            NotFound | NotADirectory if !self.directory.is_dir() => {
                format!("the directory {} does not exist", self.directory.display())
            }
            NotFound => "the interpreter in its `#!` line does not exist".to_owned(),
            // ENOEXEC has no `ErrorKind`.
            _ if error.raw_os_error() == Some(8) => {
                "the file is not a program; a script begins with `#!`".to_owned()
            }
            _ => error.to_string(),
        };
        RunKind::CannotStart { reason }
    }
}

impl Function for Exec {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, invocation: &mut Invocation<'_>) -> Execution {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.directory).env_clear();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        process::run(command, invocation)
            .unwrap_or_else(|error| Execution::not_started(self.explain(&error)))
    }
}

fn visible_variables(settings: &ExecSettings) -> Vec<(OsString, OsString)> {
    let environment = &settings.environment;
    let pass = |name: &str| environment.get(name).map(|value| (name.into(), value.to_owned()));
    let requested = settings.variables.iter().filter_map(|variable| match variable {
        Variable::Set(name, value) => Some((OsString::from(&**name), OsString::from(&**value))),
        Variable::Pass(name) => pass(name),
    });
    BASE_VARIABLES.into_iter().filter_map(pass).chain(requested).collect()
}

fn find_program(command: &str, settings: &ExecSettings) -> Result<PathBuf, RunKind> {
    let local = settings.declared_by.locate(command, &settings.working_directory)?;
    let check_local = |local: PathBuf| {
        settings.declared_by.check_symlinks(command, &local)?;
        check_executable(local)
    };
    if command.contains('/') {
        let searched = format!("at {}", local.display());
        return match exists(&local) {
            true => check_local(local),
            false => Err(RunKind::CommandNotFound { searched }),
        };
    }
    let on_path = settings.environment.search_path().into_iter().map(|dir| dir.join(command));
    let searched = format!("on PATH or in {}", local.parent().unwrap_or(&local).display());
    let on_path = on_path.filter(|path| path.is_file()).map(check_executable);
    let local = exists(&local).then(|| check_local(local));
    let mut first_error = None;
    for found in on_path.chain(local) {
        match found {
            Ok(path) => return Ok(path),
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(first_error.unwrap_or(RunKind::CommandNotFound { searched }))
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn check_executable(path: PathBuf) -> Result<PathBuf, RunKind> {
    let display = || path.display().to_string();
    match path.metadata() {
        Err(error) => Err(RunKind::CannotStart { reason: format!("{}: {error}", display()) }),
        Ok(metadata) if metadata.is_dir() => Err(RunKind::CommandIsDirectory { path: display() }),
        Ok(metadata) if !process::is_executable(&metadata) => {
            Err(RunKind::CommandNotExecutable { path: display() })
        }
        Ok(_) => Ok(path),
    }
}
