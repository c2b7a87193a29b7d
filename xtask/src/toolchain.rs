//! The toolchain that `rust-toolchain.toml` pins, under the name that rustup has for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{TaskResult, shell};

/// An installed toolchain of the pinned release.
///
/// The same release may be installed as `stable` only. And a task may have been started without cargo, so that nothing says which
/// toolchain compiled it: then the programs on PATH, and those that they start, choose again, each by its own directory.
pub(crate) struct Toolchain {
    /// The name for rustup.
    name: String,
    /// The directory of its programs.
    programs: PathBuf,
}

impl Toolchain {
    pub(crate) fn pinned() -> TaskResult<Self> {
        let pinned =
            pinned_release(&fs::read_to_string(shell::root().join("rust-toolchain.toml"))?)?;
        let current = std::env::var("RUSTUP_TOOLCHAIN").ok();
        let names: Vec<&str> = current.as_deref().into_iter().chain([&*pinned, "stable"]).collect();
        let name = choose(&pinned, &names, installed_release).ok_or_else(|| {
            format!("Rust {pinned} is not installed; run `rustup toolchain install {pinned}`")
        })?;
        let cargo =
            shell::output(shell::program("rustup").args(["which", "--toolchain", name, "cargo"]))?;
        let programs = Path::new(cargo.trim()).parent().ok_or("rustup printed no path of cargo")?;
        Ok(Self { name: name.to_owned(), programs: programs.to_path_buf() })
    }

    /// Its cargo, which uses the other programs of this toolchain, as do the programs that it starts.
    pub(crate) fn cargo(&self) -> Command {
        let mut cargo = shell::program(self.programs.join("cargo"));
        self.select(&mut cargo);
        cargo
    }

    /// Makes a program that runs cargo use this toolchain.
    pub(crate) fn select(&self, command: &mut Command) {
        command.env("RUSTUP_TOOLCHAIN", &self.name);
        for (variable, program) in [("CARGO", "cargo"), ("RUSTC", "rustc"), ("RUSTDOC", "rustdoc")]
        {
            command.env(variable, self.programs.join(program));
        }
        // Compilers that replace or wrap that of the toolchain.
        for variable in ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"] {
            command.env_remove(variable);
        }
    }

    /// The directory of the compiler and the standard library.
    pub(crate) fn sysroot(&self) -> TaskResult<PathBuf> {
        let rustc = self.programs.join("rustc");
        let sysroot = shell::output(shell::program(rustc).args(["--print", "sysroot"]))?;
        Ok(PathBuf::from(sysroot.trim()))
    }

    /// Installs the standard library of a target.
    pub(crate) fn add_target(&self, target: &str) -> TaskResult {
        let mut rustup = shell::program("rustup");
        shell::output(rustup.args(["target", "add", "--toolchain", &self.name, target])).map(|_| ())
    }
}

/// The first of these toolchains that is the pinned release.
fn choose<'a>(
    pinned: &str,
    names: &[&'a str],
    release: impl Fn(&str) -> Option<String>,
) -> Option<&'a str> {
    names.iter().copied().find(|name| release(name).is_some_and(|found| found == pinned))
}

/// The release of an installed toolchain.
fn installed_release(name: &str) -> Option<String> {
    let mut rustup = shell::program("rustup");
    let version = shell::output(rustup.args(["run", name, "rustc", "--version"])).ok()?;
    version.split_whitespace().nth(1).map(str::to_owned)
}

fn pinned_release(toolchain_file: &str) -> TaskResult<String> {
    let file: toml::Table = toolchain_file.parse()?;
    let channel = file.get("toolchain").and_then(|toolchain| toolchain.get("channel"));
    let channel = channel.and_then(toml::Value::as_str);
    Ok(channel.ok_or("rust-toolchain.toml has no channel")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pinned_release_is_found_under_another_name() {
        let installed = |name: &str| match name {
            "nightly" => Some("1.99.0-nightly".to_owned()),
            "stable" => Some("1.95.0".to_owned()),
            _ => None,
        };
        assert_eq!(choose("1.95.0", &["nightly", "1.95.0", "stable"], installed), Some("stable"));
        assert_eq!(choose("1.95.0", &["stable", "1.95.0"], installed), Some("stable"));
        assert_eq!(choose("1.96.0", &["nightly", "1.96.0", "stable"], installed), None);
    }

    #[test]
    fn commands_do_not_choose_a_toolchain_by_themselves() -> TaskResult {
        let toolchain = Toolchain::pinned()?;
        let pinned =
            pinned_release(&fs::read_to_string(shell::root().join("rust-toolchain.toml"))?)?;
        // In a directory without a `rust-toolchain.toml`, where rustup would choose the default.
        let mut cargo = toolchain.cargo();
        let version = shell::output(cargo.current_dir("/").arg("--version"))?;
        assert!(version.starts_with(&format!("cargo {pinned} ")), "{version}");
        // What cargo-zigbuild does: it starts the `rustc` on PATH or in RUSTC.
        let mut rustc = shell::program("sh");
        toolchain.select(&mut rustc);
        rustc.current_dir("/").args(["-c", "\"$RUSTC\" --version && rustc --version"]);
        let versions = shell::output(&mut rustc)?;
        assert_eq!(versions.matches(&format!("rustc {pinned} ")).count(), 2, "{versions}");
        Ok(())
    }
}
