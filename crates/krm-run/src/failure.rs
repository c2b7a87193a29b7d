//! Why a function gave no outcome: which one, how it ended, and what it said last.

use std::fmt;
use std::time::Duration;

use crate::{Image, Tail};

/// A function that failed, was refused or could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What people call the function: the command, the image, the file.
    pub function: Box<str>,
    /// What happened.
    pub reason: Reason,
    said: Box<Said>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Said {
    stdout: Vec<u8>,
    stderr: Tail,
    time: Duration,
    image: Option<Image>,
}

/// What happened to a function.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It is a command, and nobody allowed commands.
    ExecNotAllowed,
    /// It wants the network, and nobody allowed that.
    NetworkNotAllowed,
    /// Its declaration or its settings make no sense; the words say how.
    Unusable(Box<str>),
    /// There is no such command; the words say where it was looked for.
    NotFound(Box<str>),
    /// The command is a folder.
    IsFolder(Box<str>),
    /// The command is a file that nobody may execute.
    NotExecutable(Box<str>),
    /// It could not be started, or not be listened to.
    CannotStart(Box<str>),
    /// It ended with this exit code.
    Exit(i32),
    /// A signal ended it.
    Signal(i32),
    /// It took longer than this.
    Timeout(Duration),
    /// Somebody wanted an end.
    Interrupted,
    /// It ended well and wrote nothing.
    Empty,
    /// Its output is no UTF-8.
    NotUtf8 {
        /// The first byte that is not.
        at: usize,
    },
    /// It wrote more than this many bytes.
    TooMuchOutput(usize),
    /// There is no container engine; the words say what was tried.
    NoEngine(Box<str>),
    /// The container engine itself failed, with this exit code.
    Engine {
        /// `docker`, `podman`, `nerdctl`.
        engine: &'static str,
        /// Its exit code.
        code: i32,
    },
    /// The image is not here; the words say why it did not come.
    NoImage(Box<str>),
    /// The file is no module that can run here.
    NotAModule(Box<str>),
    /// The module did what no module may; the words name it.
    Trap(Box<str>),
    /// The module took more steps than this.
    TooManySteps(u64),
    /// It wanted more memory than this many bytes.
    TooMuchMemory(u64),
}

impl Failure {
    pub(crate) fn new(function: &str, reason: Reason) -> Self {
        Self { function: function.into(), reason, said: Box::default() }
    }

    pub(crate) fn saying(mut self, stdout: Vec<u8>, stderr: Tail, time: Duration) -> Self {
        *self.said = Said { stdout, stderr, time, image: self.said.image.take() };
        self
    }

    pub(crate) fn of_image(mut self, image: Option<Image>) -> Self {
        self.said.image = image;
        self
    }

    /// What it had written to standard output. Results can be in it also when it failed.
    pub fn stdout(&self) -> &[u8] {
        &self.said.stdout
    }

    /// The end of its standard error.
    pub fn stderr(&self) -> &Tail {
        &self.said.stderr
    }

    /// How long it ran; zero for one that was never started.
    pub fn time(&self) -> Duration {
        self.said.time
    }

    /// The image that ran, for a container.
    pub fn image(&self) -> Option<&Image> {
        self.said.image.as_ref()
    }

    /// Its exit code, where it had one.
    pub fn exit_code(&self) -> Option<i32> {
        match self.reason {
            Reason::Exit(code) => Some(code),
            Reason::Empty | Reason::NotUtf8 { .. } => Some(0),
            _ => None,
        }
    }
}

impl std::error::Error for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function `{}` {}", one_line(&self.function), self.reason)
    }
}

/// A name on a line of words: what cannot be seen is spelled out, quotes stay as they were typed.
pub(crate) fn one_line(name: &str) -> String {
    let shown = |c: char| match c {
        '\'' | '"' | '\\' => c.to_string(),
        _ => c.escape_debug().to_string(),
    };
    name.chars().map(shown).collect()
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExecNotAllowed => f.write_str("is a command, and commands are not allowed here"),
            Self::NetworkNotAllowed => f.write_str("wants the network, which is not allowed here"),
            Self::Unusable(words) => write!(f, "cannot be used: {words}"),
            Self::NotFound(words) => write!(f, "was not found {words}"),
            Self::IsFolder(path) => write!(f, "is a folder: {path}"),
            Self::NotExecutable(path) => write!(f, "is not executable: {path}"),
            Self::CannotStart(words) => write!(f, "cannot be started: {words}"),
            Self::Exit(code) => write!(f, "ended with exit code {code}"),
            Self::Signal(number) => write!(f, "was ended by signal {}", signal(*number)),
            Self::Timeout(time) => write!(f, "was stopped after {}", seconds(*time)),
            Self::Interrupted => f.write_str("was interrupted"),
            Self::Empty => f.write_str("ended with exit code 0 and wrote nothing"),
            Self::NotUtf8 { at } => write!(f, "wrote what is not UTF-8, from byte {at} on"),
            Self::TooMuchOutput(most) => write!(f, "wrote more than {}", bytes(*most as u64)),
            Self::NoEngine(words) => write!(f, "needs a container engine: {words}"),
            Self::Engine { engine, code } => {
                write!(f, "was not run: {engine} ended with exit code {code}")
            }
            Self::NoImage(words) => write!(f, "has no image here: {words}"),
            Self::NotAModule(words) => write!(f, "cannot be run: {words}"),
            Self::Trap(words) => write!(f, "crashed: {words}"),
            Self::TooManySteps(most) => write!(f, "took more than {most} steps"),
            Self::TooMuchMemory(most) => write!(f, "wanted more than {} of memory", bytes(*most)),
        }
    }
}

/// The signal with its name, where every system gives it the same number.
pub(crate) fn signal(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _ => return number.to_string(),
    };
    format!("{number} ({name})")
}

fn seconds(time: Duration) -> String {
    match (time.as_secs(), time.subsec_millis()) {
        (1, 0) => "1 second".to_owned(),
        (seconds, 0) => format!("{seconds} seconds"),
        _ => format!("{} seconds", time.as_secs_f64()),
    }
}

/// A number of bytes in the largest unit that divides it.
pub(crate) fn bytes(count: u64) -> String {
    for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
        if count >= size && count.is_multiple_of(size) {
            return format!("{} {unit}", count / size);
        }
    }
    format!("{count} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_told_as_people_do() {
        assert_eq!(bytes(2 << 30), "2 GiB");
        assert_eq!(bytes(1536), "1536 bytes");
        assert_eq!(bytes(64 << 20), "64 MiB");
        assert_eq!(seconds(Duration::from_secs(300)), "300 seconds");
        assert_eq!(seconds(Duration::from_millis(1500)), "1.5 seconds");
    }

    #[test]
    fn a_failure_is_small_enough_to_be_returned() {
        assert!(size_of::<Failure>() <= 64, "{}", size_of::<Failure>());
    }
}
