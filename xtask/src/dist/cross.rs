//! Builds for other targets than this machine, and for static binaries.

use std::path::PathBuf;
use std::process::Command;

use crate::toolchain::Toolchain;
use crate::{TaskResult, shell};

/// Zig has a C compiler and a linker for every target, which cargo-zigbuild hands to cargo. Both are packages of PyPI with prebuilt
/// programs.
const PACKAGES: &[&str] = &["cargo-zigbuild==0.24.0", "ziglang==0.17.0"];

/// Makes `cargo` build for `target`; the caller adds the other arguments.
pub(super) fn set_up(cargo: &mut Command, toolchain: &Toolchain, target: &str) -> TaskResult {
    toolchain.add_target(target)?;
    let programs = python_environment(PACKAGES)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(programs).chain(std::env::split_paths(&path));
    cargo.env("PATH", std::env::join_paths(path)?);
    // The cache of Zig's compiler is keyed by the flags, so one for all builds is safe.
    cargo.env("ZIG_GLOBAL_CACHE_DIR", shell::target().join("tools/zig-cache"));
    cargo.arg("zigbuild");
    Ok(())
}

/// An environment of Python with these packages, installed into the target directory unless it is there. Returns the directory of its
/// programs.
pub(super) fn python_environment(packages: &[&str]) -> TaskResult<PathBuf> {
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
