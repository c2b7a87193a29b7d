//! Builds for other targets than this machine, and for static binaries.

use std::path::PathBuf;
use std::process::Command;

use crate::toolchain::Toolchain;
use crate::{TaskResult, shell};

/// Zig has a C compiler and a linker for every target, which cargo-zigbuild hands to cargo. Both are packages of PyPI with prebuilt
/// programs.
const PACKAGES: &[&str] = &["cargo-zigbuild==0.24.0", "ziglang==0.17.0"];

/// Makes `cargo` build for `target`; the caller adds the other arguments.
pub(crate) fn set_up(cargo: &mut Command, toolchain: &Toolchain, target: &str) -> TaskResult {
    add_compiler(cargo, toolchain, target)?;
    cargo.arg("zigbuild");
    Ok(())
}

/// The command that runs `cargo clippy` for `target`, with a C compiler for the build scripts of crates; the caller adds the other
/// arguments.
pub(crate) fn clippy(toolchain: &Toolchain, target: &str) -> TaskResult<Command> {
    let programs = python_environment(PACKAGES)?;
    let mut command = shell::program(programs.join("cargo-zigbuild"));
    toolchain.select(&mut command);
    add_compiler(&mut command, toolchain, target)?;
    command.args(["clippy", "--target", target]);
    Ok(command)
}

/// Installs the standard library of `target`, and Zig for the commands that `command` starts.
fn add_compiler(command: &mut Command, toolchain: &Toolchain, target: &str) -> TaskResult {
    toolchain.add_target(target)?;
    let programs = python_environment(PACKAGES)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(programs).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(path)?);
    // The cache of Zig's compiler is keyed by the flags, so one for all builds is safe.
    command.env("ZIG_GLOBAL_CACHE_DIR", shell::target().join("tools/zig-cache"));
    Ok(())
}

/// An environment of Python with these packages, installed into the target directory unless it is there. Returns the directory of its
/// programs.
pub(crate) fn python_environment(packages: &[&str]) -> TaskResult<PathBuf> {
    let environment = shell::target().join("tools").join(packages.join("-"));
    let programs = environment.join("bin");
    // Written last, so that an interrupted installation is repeated.
    let complete = environment.join("complete");
    if !complete.is_file() {
        shell::output(shell::program("python3").args(["-m", "venv"]).arg(&environment))?;
        let mut pip = shell::program(programs.join("pip"));
        shell::output(pip.args(["install", "--quiet"]).args(packages))?;
        std::fs::write(complete, "")?;
    }
    Ok(programs)
}
