//! Starting other programs from the root of the checkout, with readable errors.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::TaskResult;
use crate::toolchain::Toolchain;

/// The root of the checkout, independent of the current directory.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask is a directory of the workspace").to_path_buf()
}

/// Cargo's target directory; all other generated files go here, too.
pub(crate) fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A command that runs at the root of the checkout and never reads from the terminal.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// The cargo that started xtask, so that everything is built by one toolchain. If xtask was started without cargo, that of the pinned
/// toolchain.
pub(crate) fn cargo() -> Command {
    match std::env::var_os("CARGO") {
        Some(cargo) => program(cargo),
        None => Toolchain::pinned().map_or_else(|_| program("cargo"), |pinned| pinned.cargo()),
    }
}

/// Runs a command and shows its output; a non-zero exit code is an error.
pub(crate) fn run(command: &mut Command) -> TaskResult {
    let status = command.status().map_err(|error| cannot_start(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} failed: {status}", display(command)).into())
    }
}

/// Runs a command and returns its standard output; a non-zero exit code is an error.
pub(crate) fn output(command: &mut Command) -> TaskResult<String> {
    let output = command.output().map_err(|error| cannot_start(command, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("{} failed: {}: {}", display(command), output.status, stderr.trim()).into())
}

/// Whether a program of this name can be started.
pub(crate) fn exists(name: impl AsRef<OsStr>) -> bool {
    let mut command = program(name);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// Installs packages of Debian. Only used in CI, where a fresh machine may not know any package yet.
pub(crate) fn install(packages: &[&str]) -> TaskResult {
    println!("installing {}", packages.join(" "));
    let apt = |arguments: &[&str]| {
        let mut command = program("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        output(&mut command).map(|_| ())
    };
    let install = || apt(&[&["install", "--yes", "--no-install-recommends"], packages].concat());
    install().or_else(|_| apt(&["update"]).and_then(|()| install()))
}

/// The command line for messages, with the program's file name only.
pub(crate) fn display(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let arguments = std::iter::once(name).chain(command.get_args());
    arguments.map(|argument| argument.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn cannot_start(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start `{}`: {error}", display(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_program_and_its_arguments() {
        let error = run(program("false").arg("--why")).expect_err("`false` fails");
        assert!(error.to_string().starts_with("false --why failed"), "{error}");
    }

    #[test]
    fn a_missing_program_is_an_error() {
        assert!(!exists("no-such-program-of-krm"));
        let error = output(&mut program("no-such-program-of-krm")).expect_err("it is missing");
        assert!(error.to_string().contains("cannot start"), "{error}");
    }
}
