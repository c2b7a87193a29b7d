//! Functions as commands: found as a shell finds them, started in the package's folder with a small environment.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{
    Environment, Failure, Function, Interrupt, Limits, Listener, Outcome, Reason, Variable, process,
};

/// What a command sees of the environment without being asked for.
const ALWAYS: [&str; 4] = ["PATH", "HOME", "TMPDIR", "LANG"];

/// What a command needs to be found and started.
#[derive(Clone, Debug)]
pub struct ExecSettings {
    /// Whether the person allowed commands at all.
    pub allow_exec: bool,
    /// Where the person stands: relative commands are looked up from here. An absolute path.
    pub stands: PathBuf,
    /// The package's folder, in which the command runs. An absolute path.
    pub folder: PathBuf,
    /// Where PATH is, and what can be passed on.
    pub environment: Environment,
    /// What the command sees beside PATH, HOME, TMPDIR and LANG.
    pub variables: Vec<Variable>,
}

/// A command as a function.
///
/// The command line is split as a shell splits it, and nothing in it is expanded. A command with a slash is looked up from
/// where the person stands. One without is looked up on PATH, and then where the person stands: a file that happens to be
/// called `cat` must not come before the `cat` that was meant.
#[derive(Clone, Debug)]
pub struct Exec {
    name: Box<str>,
    program: PathBuf,
    args: Vec<String>,
    folder: PathBuf,
    variables: Vec<(OsString, OsString)>,
}

impl Exec {
    /// Finds the command.
    ///
    /// # Errors
    /// A [`Failure`] where commands are not allowed, and where this one cannot be split, found or executed.
    pub fn new(command_line: &str, settings: ExecSettings) -> Result<Self, Failure> {
        let failure = |reason| Failure::new(command_line, reason);
        if !settings.allow_exec {
            return Err(failure(Reason::ExecNotAllowed));
        }
        let words = shell_words::split(command_line)
            .map_err(|error| failure(Reason::Unusable(error.to_string().into())))?;
        Self::of_words(command_line, words, settings)
    }

    /// The same of words that are a program and its arguments already; the name is for people.
    ///
    /// # Errors
    /// A [`Failure`] where commands are not allowed, and where this one cannot be found or executed.
    pub fn of_words(
        name: &str,
        words: Vec<String>,
        settings: ExecSettings,
    ) -> Result<Self, Failure> {
        let failure = |reason| Failure::new(name, reason);
        if !settings.allow_exec {
            return Err(failure(Reason::ExecNotAllowed));
        }
        let mut words = words.into_iter();
        let command = words.next().filter(|command| !command.is_empty());
        let command =
            command.ok_or_else(|| failure(Reason::Unusable("there is no command in it".into())))?;
        let program = find(&command, &settings).map_err(failure)?;
        Ok(Self {
            name: name.into(),
            program,
            args: words.collect(),
            variables: visible(&settings),
            folder: settings.folder,
        })
    }

    /// The file that is started.
    pub fn program(&self) -> &Path {
        &self.program
    }
}

impl Function for Exec {
    fn name(&self) -> &str {
        &self.name
    }

    fn run_heard(
        &self,
        input: &[u8],
        limits: &Limits,
        interrupt: &Interrupt,
        listener: &mut Listener<'_>,
    ) -> Result<Outcome, Failure> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.folder).env_clear();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        match process::run(command, input, limits, interrupt, listener) {
            Ok(ran) => ran.judge(&self.name),
            Err(error) => Err(Failure::new(&self.name, self.why_not(&error))),
        }
    }
}

impl Exec {
    /// What the system's short words mean for a file that was there a moment ago.
    fn why_not(&self, error: &std::io::Error) -> Reason {
        use std::io::ErrorKind::{NotADirectory, NotFound};
        let words = match error.kind() {
            NotFound | NotADirectory if !self.folder.is_dir() => {
                format!("there is no folder {}", self.folder.display())
            }
            NotFound => "the interpreter that its first line names is not there".to_owned(),
            // ENOEXEC has no kind of its own.
            _ if error.raw_os_error() == Some(8) => {
                "it is no program; does its first line begin with `#!`?".to_owned()
            }
            _ => error.to_string(),
        };
        Reason::CannotStart(words.into())
    }
}

fn visible(settings: &ExecSettings) -> Vec<(OsString, OsString)> {
    let environment = &settings.environment;
    let pass = |name: &str| environment.get(name).map(|value| (name.into(), value.to_owned()));
    let asked = settings.variables.iter().filter_map(|variable| match variable {
        Variable::Set(name, value) => Some((OsString::from(&**name), OsString::from(&**value))),
        Variable::Pass(name) => pass(name),
    });
    ALWAYS.into_iter().filter_map(pass).chain(asked).collect()
}

fn find(command: &str, settings: &ExecSettings) -> Result<PathBuf, Reason> {
    let here = settings.stands.join(command);
    if command.contains('/') {
        return if is_there(&here) {
            usable(here)
        } else {
            Err(Reason::NotFound(format!("at {}", here.display()).into()))
        };
    }
    let on_path = settings.environment.search_path().into_iter().map(|folder| folder.join(command));
    let mut found: Vec<PathBuf> = on_path.filter(|path| path.is_file()).collect();
    found.extend(is_there(&here).then_some(here));
    let mut refusal = None;
    for path in found {
        match usable(path) {
            Ok(path) => return Ok(path),
            Err(reason) => refusal = refusal.or(Some(reason)),
        }
    }
    let looked = format!("on PATH, nor in {}", settings.stands.display());
    Err(refusal.unwrap_or(Reason::NotFound(looked.into())))
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The file, if somebody may execute it.
fn usable(path: PathBuf) -> Result<PathBuf, Reason> {
    let shown = || path.display().to_string().into_boxed_str();
    match path.metadata() {
        Err(error) => Err(Reason::CannotStart(format!("{}: {error}", path.display()).into())),
        Ok(metadata) if metadata.is_dir() => Err(Reason::IsFolder(shown())),
        Ok(metadata) if !process::is_executable(&metadata) => Err(Reason::NotExecutable(shown())),
        Ok(_) => Ok(path),
    }
}
