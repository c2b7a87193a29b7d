//! `cargo xtask dist`: builds the release binary reproducibly, with a bill of materials and checksums.
//!
//! The sources are exported from the last commit, so nothing uncommitted is released, and every path of the building machine is
//! replaced: two machines with the same toolchain get the same bytes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::supply_chain::{Tool, tool};
use crate::{TaskResult, shell};

/// Writes the bill of materials, and the release that this was written for.
const CYCLONEDX: Tool = Tool { name: "cargo-cyclonedx", version: "0.5.9", features: "" };

/// The bill of materials beside the binary.
const BILL_OF_MATERIALS: &str = "krm.cdx.json";

pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
    let mut verify = false;
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Long("verify") => verify = true,
            _ => return Err(arg.unexpected().into()),
        }
    }
    let dist = shell::target().join("dist");
    let build = Build::export(&dist.join("source"))?;
    let binary = build.binary(&dist.join("build"))?;
    refuse_build_paths(&binary, &build.paths()?)?;
    let bill = build.bill_of_materials()?;

    let out = dist.join("out");
    fs::create_dir_all(&out)?;
    fs::copy(&binary, out.join("krm"))?;
    fs::copy(&bill, out.join(BILL_OF_MATERIALS))?;
    let sums = sha256(&out, &["krm", BILL_OF_MATERIALS])?;
    fs::write(out.join("SHA256SUMS"), &sums)?;
    print!("{sums}");
    if verify { verify_again(&dist, &binary, &bill) } else { Ok(()) }
}

/// Builds once more at another path and compares the bytes.
fn verify_again(dist: &Path, binary: &Path, bill: &Path) -> TaskResult {
    let elsewhere = dist.join("verify/at/another/path");
    let build = Build::export(&elsewhere.join("source"))?;
    let again = build.binary(&elsewhere.join("build"))?;
    same_bytes(binary, &again)?;
    same_bytes(bill, &build.bill_of_materials()?)?;
    println!("a second build at another path has the same bytes");
    Ok(())
}

/// The sources of the last commit, and what the build needs to know about it.
struct Build {
    source: PathBuf,
    /// The time of the commit, which replaces the time of the build.
    epoch: String,
}

impl Build {
    fn export(source: &Path) -> TaskResult<Self> {
        if source.exists() {
            fs::remove_dir_all(source)?;
        }
        fs::create_dir_all(source)?;
        let archive = source.with_extension("tar");
        shell::run(shell::program("git").args(["archive", "--output"]).arg(&archive).arg("HEAD"))?;
        shell::run(shell::program("tar").arg("-xf").arg(&archive).arg("-C").arg(source))?;
        fs::remove_file(archive)?;
        let epoch = shell::output(shell::program("git").args(["log", "-1", "--format=%ct"]))?;
        Ok(Self { source: source.to_path_buf(), epoch: epoch.trim().to_owned() })
    }

    fn cargo(&self) -> std::process::Command {
        let mut cargo = shell::cargo();
        cargo.current_dir(&self.source).env("SOURCE_DATE_EPOCH", &self.epoch);
        cargo
    }

    /// The paths of this machine that the compiler would write into the binary, and what it writes instead.
    fn paths(&self) -> TaskResult<Vec<(PathBuf, &'static str)>> {
        let cargo_home = match std::env::var_os("CARGO_HOME") {
            Some(home) => PathBuf::from(home),
            None => std::env::home_dir().ok_or("no home directory")?.join(".cargo"),
        };
        let sysroot = shell::output(shell::program("rustc").args(["--print", "sysroot"]))?;
        Ok(vec![
            (self.source.clone(), "/krm"),
            (cargo_home, "/cargo"),
            (PathBuf::from(sysroot.trim()), "/rust"),
        ])
    }

    fn binary(&self, target: &Path) -> TaskResult<PathBuf> {
        // Encoded, because a path may contain a blank.
        let flags: Vec<String> = self
            .paths()?
            .iter()
            .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
            .collect();
        let mut cargo = self.cargo();
        cargo.args(["build", "--profile", "dist", "--locked", "--package", "krm-cli"]);
        cargo.args(["--features", "full", "--target-dir"]);
        cargo.arg(target).env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
        shell::run(&mut cargo)?;
        Ok(target.join("dist/krm"))
    }

    /// The bill of materials of the binary, in CycloneDX's JSON.
    fn bill_of_materials(&self) -> TaskResult<PathBuf> {
        let mut command = shell::program(tool(CYCLONEDX)?);
        command.current_dir(&self.source).env("SOURCE_DATE_EPOCH", &self.epoch);
        command.args(["cyclonedx", "--format", "json", "--spec-version", "1.5", "--quiet"]);
        command.args(["--describe", "binaries", "--no-build-deps", "--features", "full"]);
        shell::run(command.args(["--manifest-path", "crates/krm-cli/Cargo.toml"]))?;
        let file = self.source.join("crates/krm-cli/krm_bin.cdx.json");
        // Crates of the workspace are identified by their path.
        let bill = fs::read_to_string(&file)?;
        fs::write(&file, bill.replace(&*self.source.to_string_lossy(), "/krm"))?;
        Ok(file)
    }
}

/// An error if the binary contains a path of the machine that built it.
fn refuse_build_paths(binary: &Path, paths: &[(PathBuf, &'static str)]) -> TaskResult {
    let bytes = fs::read(binary)?;
    for (path, _) in paths {
        let needle = path.as_os_str().as_encoded_bytes();
        let count = bytes.windows(needle.len()).filter(|window| *window == needle).count();
        if count > 0 {
            return Err(format!("the binary contains `{}` {count} times", path.display()).into());
        }
    }
    Ok(())
}

fn same_bytes(first: &Path, second: &Path) -> TaskResult {
    if fs::read(first)? == fs::read(second)? {
        return Ok(());
    }
    Err(format!("{} and {} differ", first.display(), second.display()).into())
}

/// The lines of `sha256sum` for files of a directory.
fn sha256(directory: &Path, names: &[&str]) -> TaskResult<String> {
    shell::output(shell::program("sha256sum").current_dir(directory).args(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_paths_in_a_binary_are_an_error() -> TaskResult {
        let directory = shell::target().join("dist-test");
        fs::create_dir_all(&directory)?;
        let binary = directory.join(format!("binary-{}", std::process::id()));
        fs::write(&binary, "…/home/builder/krm/src/main.rs…")?;
        let clean = refuse_build_paths(&binary, &[(PathBuf::from("/opt/build"), "/krm")]);
        let found = refuse_build_paths(&binary, &[(PathBuf::from("/home/builder/krm"), "/krm")]);
        fs::remove_file(&binary)?;
        assert!(clean.is_ok());
        assert!(found.is_err_and(|error| error.to_string().contains("1 times")));
        Ok(())
    }
}
