//! Starting other programs: where they run, how they are announced, and what their failure says.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Outcome;

/// The root of the checkout, whatever folder the person stands in.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask is a folder of the workspace").to_path_buf()
}

/// Where cargo builds, and where everything else that may be deleted goes.
pub(crate) fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A program that runs at the root of the checkout and never waits for the keyboard.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// The cargo that started us, so that one toolchain builds everything.
pub(crate) fn cargo() -> Command {
    program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs to the end with its output shown; an exit code other than zero is an error.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} ended with {status}", shown(command)).into())
    }
}

/// Runs to the end and gives back what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Outcome<String> {
    let output = command.output().map_err(|error| cannot_start(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{} ended with {}: {}", shown(command), output.status, said.trim()).into())
}

/// Whether a program of this name can be started at all.
pub(crate) fn exists(name: impl AsRef<OsStr>) -> bool {
    let mut command = program(name);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// The command as a person would type it, without the folders in front of the program.
pub(crate) fn shown(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(name).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start `{}`: {error}", shown(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_program_is_named_with_its_arguments() {
        let error = run(program("false").arg("--why")).expect_err("`false` fails");
        assert!(error.to_string().starts_with("false --why ended with"), "{error}");
    }

    #[test]
    fn a_missing_program_is_an_error_and_not_a_panic() {
        assert!(!exists("no-such-program-of-krm"));
        let error = output(&mut program("no-such-program-of-krm")).expect_err("it is missing");
        assert!(error.to_string().contains("cannot start"), "{error}");
    }
}
