//! `cargo xtask dist`: builds the archives of a release reproducibly, with a bill of materials and checksums.
//!
//! The sources are exported from the last commit, so nothing uncommitted is released, and every path of the building machine is
//! replaced: two machines with the same toolchain get the same bytes. The binaries are static, so they run on every distribution.

mod archive;
mod manifests;
mod packages;

use std::fs;
use std::path::{Path, PathBuf};

use crate::supply_chain::{Tool, tool};
use crate::toolchain::Toolchain;
use crate::{TaskResult, cross, shell};

/// Writes the bill of materials, and the release that this was written for.
const CYCLONEDX: Tool = Tool { name: "cargo-cyclonedx", version: "0.5.9", features: "" };

/// The bill of materials beside the archives.
const BILL_OF_MATERIALS: &str = "krm.cdx.json";

/// What krm is, for package managers.
const SUMMARY: &str =
    "Edit, merge, validate and transform Kubernetes manifests without reformatting";

/// The targets of a release. The one of this machine also writes the manual pages and completions of all archives.
const TARGETS: &[&str] = &["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"];

pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
    let mut verify = false;
    let mut native_only = false;
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Long("verify") => verify = true,
            lexopt::Arg::Long("native") => native_only = true,
            _ => return Err(arg.unexpected().into()),
        }
    }
    let native = format!("{}-unknown-linux-musl", std::env::consts::ARCH);
    if !TARGETS.contains(&native.as_str()) {
        return Err(format!("releases are built on Linux, on one of {TARGETS:?}").into());
    }
    let others = TARGETS.iter().copied().filter(|target| *target != native && !native_only);
    let targets: Vec<&str> = std::iter::once(native.as_str()).chain(others).collect();

    let dist = shell::target().join("dist");
    let out = dist.join("out");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    let names = release(&dist, &out, &targets)?;
    print!("{}", fs::read_to_string(out.join("SHA256SUMS"))?);
    if verify {
        let elsewhere = dist.join("verify/at/another/path");
        release(&elsewhere, &elsewhere.join("out"), &targets)?;
        for name in &names {
            same_bytes(&out.join(name), &elsewhere.join("out").join(name))?;
        }
        println!("a second build at another path has the same bytes");
    }
    Ok(())
}

/// Builds everything that a release consists of into `out`, and returns the names of the files.
fn release(work: &Path, out: &Path, targets: &[&str]) -> TaskResult<Vec<String>> {
    let build = Build::export(&work.join("source"))?;
    let target_directory = work.join("build");
    fs::create_dir_all(out)?;
    fs::copy(build.bill_of_materials()?, out.join(BILL_OF_MATERIALS))?;
    let mut names = vec![BILL_OF_MATERIALS.to_owned()];
    // Inside of the sources, because the manifest lists the files of packages relative to itself.
    let documents = build.source.join("documents");
    let mut archives = Vec::new();
    for target in targets {
        let binary = build.binary(&target_directory, target)?;
        refuse_build_paths(&binary, &build.paths()?)?;
        if !documents.exists() {
            archive::write_documents(&documents, &binary)?;
        }
        let archive = archive::Archive { source: &build.source, epoch: &build.epoch };
        let archive = archive.write(&binary, &documents, target, out)?;
        let architecture = platform_architecture(target);
        archive::write_image_context(
            &build.source,
            &binary,
            &work.join("image").join(architecture),
        )?;
        let packages = packages::Packages {
            source: &build.source,
            target_directory: &target_directory,
            target,
            epoch: &build.epoch,
            out,
        };
        names.extend(packages.write()?);
        archives.push((*target, archive));
    }
    let mut downloads = Vec::new();
    for (target, file) in &archives {
        let line = sha256(out, std::slice::from_ref(file))?;
        let sum = line.split_whitespace().next().unwrap_or_default().to_owned();
        downloads.push((*target, file, sum));
    }
    let downloads: Vec<_> = downloads
        .iter()
        .map(|(target, file, sha256)| manifests::Download { target, file, sha256 })
        .collect();
    let changelog = fs::read_to_string(build.source.join("CHANGELOG.md"))?;
    let texts = [
        ("RELEASE_NOTES.md", archive::release_notes(&changelog)?),
        ("krm.rb", manifests::homebrew(&downloads)),
        ("krm.yaml", manifests::krew(&downloads)),
    ];
    for (name, text) in texts {
        fs::write(out.join(name), text)?;
        names.push(name.to_owned());
    }
    names.extend(archives.into_iter().map(|(_, archive)| archive));
    names.sort();
    fs::write(out.join("SHA256SUMS"), sha256(out, &names)?)?;
    Ok(names)
}

/// The name of a target's architecture in image indexes and in packages of Debian.
fn platform_architecture(target: &str) -> &'static str {
    if target.starts_with("aarch64") { "arm64" } else { "amd64" }
}

/// The sources of the last commit, and what the build needs to know about it.
struct Build {
    source: PathBuf,
    /// The time of the commit, which replaces the time of the build.
    epoch: String,
    toolchain: Toolchain,
}

impl Build {
    fn export(source: &Path) -> TaskResult<Self> {
        if source.exists() {
            fs::remove_dir_all(source)?;
        }
        fs::create_dir_all(source)?;
        let archive = source.with_extension("tar");
        shell::run(shell::program("git").args(["archive", "--output"]).arg(&archive).arg("HEAD"))?;
        // With the time of now: cargo compares it with that of the last build, and a commit can be older than a build of another one.
        shell::run(shell::program("tar").arg("-xmf").arg(&archive).arg("-C").arg(source))?;
        fs::remove_file(archive)?;
        let epoch = shell::output(shell::program("git").args(["log", "-1", "--format=%ct"]))?;
        let toolchain = Toolchain::pinned()?;
        Ok(Self { source: source.to_path_buf(), epoch: epoch.trim().to_owned(), toolchain })
    }

    fn cargo(&self) -> std::process::Command {
        let mut cargo = self.toolchain.cargo();
        cargo.current_dir(&self.source).env("SOURCE_DATE_EPOCH", &self.epoch);
        // Settings of a developer that change the code.
        for (name, _) in std::env::vars_os() {
            if name.as_encoded_bytes().starts_with(b"CARGO_PROFILE_") {
                cargo.env_remove(name);
            }
        }
        cargo.env("CARGO_INCREMENTAL", "0");
        cargo
    }

    /// The paths of this machine that the compiler would write into the binary, and what it writes instead.
    fn paths(&self) -> TaskResult<Vec<(PathBuf, &'static str)>> {
        let cargo_home = match std::env::var_os("CARGO_HOME") {
            Some(home) => PathBuf::from(home),
            None => std::env::home_dir().ok_or("no home directory")?.join(".cargo"),
        };
        Ok(vec![
            (self.source.clone(), "/krm"),
            (cargo_home, "/cargo"),
            (self.toolchain.sysroot()?, "/rust"),
        ])
    }

    fn binary(&self, target_directory: &Path, target: &str) -> TaskResult<PathBuf> {
        // Encoded, because a path may contain a blank.
        let flags: Vec<String> = self
            .paths()?
            .iter()
            .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
            .collect();
        let mut cargo = self.cargo();
        cross::set_up(&mut cargo, &self.toolchain, target)?;
        cargo.args(["--profile", "dist", "--locked", "--package", "krm-cli"]);
        cargo.args(["--features", "full", "--target", target, "--target-dir"]);
        cargo.arg(target_directory).env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
        // For crates with C code: the same replacements for the C compiler.
        let flags = self.paths()?;
        let flags =
            flags.iter().map(|(from, to)| format!("-ffile-prefix-map={}={to}", from.display()));
        cargo.env("CFLAGS", flags.collect::<Vec<_>>().join(" "));
        shell::run(&mut cargo)?;
        Ok(target_directory.join(target).join("dist/krm"))
    }

    /// The bill of materials of the binary, in CycloneDX's JSON.
    fn bill_of_materials(&self) -> TaskResult<PathBuf> {
        let mut command = shell::program(tool(CYCLONEDX)?);
        self.toolchain.select(&mut command);
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
fn sha256(directory: &Path, names: &[String]) -> TaskResult<String> {
    shell::output(shell::program("sha256sum").current_dir(directory).args(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exported_sources_are_newer_than_the_last_build() -> TaskResult {
        let source = shell::target().join(format!("dist-test/source-{}", std::process::id()));
        // The clock of files is coarser than that of the system.
        let before = std::time::SystemTime::now() - std::time::Duration::from_secs(1);
        let build = Build::export(&source)?;
        let modified = fs::metadata(build.source.join("Cargo.toml"))?.modified()?;
        fs::remove_dir_all(&source)?;
        assert!(modified > before, "cargo would not notice that the sources changed");
        Ok(())
    }

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
