//! A failure as people are told it: what happened, the last lines that the function said, and what to do.

use krm_core::Diagnostic;

use crate::failure::{Failure, Reason, bytes, signal};

/// How many lines of standard error are shown.
const LINES: usize = 10;

/// ```
/// use krm_core::Diagnostic;
/// # use krm_run::{Environment, Exec, ExecSettings};
///
/// # let settings = ExecSettings {
/// #     allow_exec: false,
/// #     stands: "/".into(),
/// #     folder: "/".into(),
/// #     environment: Environment::default(),
/// #     variables: Vec::new(),
/// # };
/// let failure = Exec::new("./generate.sh", settings).expect_err("nobody allowed it");
/// let diagnostic = Diagnostic::from(&failure);
/// assert_eq!(diagnostic.message(), "function `./generate.sh` is a command, and commands are not allowed here");
/// assert_eq!(diagnostic.hints, ["allow commands with `--allow-exec`, if you trust this package"]);
/// ```
impl From<&Failure> for Diagnostic {
    fn from(failure: &Failure) -> Self {
        told(failure, failure.to_string())
    }
}

impl Failure {
    /// What happened, in words that follow the name of the function.
    pub(crate) fn deed(&self) -> Diagnostic {
        told(self, self.reason.to_string())
    }
}

fn told(failure: &Failure, mut message: String) -> Diagnostic {
    let lines = failure.stderr().last_lines(LINES);
    if !lines.is_empty() {
        message += "; it said last:";
        lines.iter().for_each(|line| message += &format!("\n  {line}"));
    }
    hints(failure).into_iter().fold(Diagnostic::untyped_error(message), Diagnostic::hint)
}

fn hints(failure: &Failure) -> Vec<String> {
    let hint = match &failure.reason {
        Reason::ExecNotAllowed => {
            "allow commands with `--allow-exec`, if you trust this package".to_owned()
        }
        Reason::NetworkNotAllowed => {
            "allow it with `--network`, if you trust this function".to_owned()
        }
        Reason::NotExecutable(path) => format!("make it so with `chmod +x {path}`"),
        // 128 + SIGKILL is what a shell and a container engine make of it.
        Reason::Exit(137) if failure.image().is_some() => {
            "something killed it; give it more memory with `--memory`, if that is the cause"
                .to_owned()
        }
        Reason::Exit(137) | Reason::Signal(9) => {
            "something killed it; too little memory is the usual cause".to_owned()
        }
        Reason::Exit(code @ 129..=159) => {
            format!("an exit code above 128 is usually a signal: {}", signal(code - 128))
        }
        // Where pulling was tried, the engine said what is wrong.
        Reason::NoImage(_) if failure.stderr().total() == 0 => {
            "pull it yourself, or let krm do it with another `--image-pull-policy`".to_owned()
        }
        Reason::Timeout(_) => "give it more time with `--timeout`".to_owned(),
        Reason::TooMuchMemory(_) => "give it more with `--memory`".to_owned(),
        Reason::Empty => "a function writes a ResourceList to standard output".to_owned(),
        Reason::TooMuchOutput(_) => {
            let wrote = bytes(failure.stdout().len() as u64);
            format!("it was stopped after {wrote}; does it write without end?")
        }
        Reason::NoEngine(_) => {
            "install docker, podman or nerdctl, or name one with `--runtime`".to_owned()
        }
        _ => return Vec::new(),
    };
    vec![hint]
}
