//! `cargo xtask deny` checks dependencies for advisories, licences and sources; `cargo xtask advisories` updates the advisories.
//!
//! The advisories of RustSec are copied into the repository, without their descriptions and only for crates in the lock files: a
//! check then needs no network, and a commit gets the same answer on every machine.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::{TaskResult, shell};

/// The checks, and the release that they were written for.
const CARGO_DENY: Tool = Tool { name: "cargo-deny", version: "0.20.2", features: "" };

/// Where cargo-deny looks for RustSec's database below `db-path` of deny.toml: the last part is its digest of the address.
const DATABASE: &str = "advisory-dbs/advisory-db-3157b0e258782691";

/// The copied advisories, below the root of the checkout.
const ADVISORIES: &str = "supply-chain/advisories";

/// The crates that the copy covers, below [`ADVISORIES`].
const COVERED: &str = "covered.txt";

pub(crate) fn deny(mut args: lexopt::Parser) -> TaskResult {
    if let Some(arg) = args.next()? {
        return Err(arg.unexpected().into());
    }
    check()
}

/// Checks the dependencies against deny.toml and the copied advisories.
pub(crate) fn check() -> TaskResult {
    let covered = fs::read_to_string(shell::root().join(ADVISORIES).join(COVERED))?;
    println!("{}", covered.lines().next().unwrap_or_default());
    let covered: BTreeSet<&str> = covered.lines().filter(|line| !line.starts_with('#')).collect();
    let locked = locked_crates()?;
    let missing: Vec<_> = locked.iter().filter(|name| !covered.contains(name.as_str())).collect();
    if !missing.is_empty() {
        return Err(format!(
            "{ADVISORIES} was made before these crates became dependencies: {missing:?}; run `cargo xtask advisories REPOSITORY` with a clone of RustSec's advisory-db"
        )
        .into());
    }
    database()?;
    // The check reads the manifests of all crates in the lock file, also of those that are built on other platforms only.
    shell::run(shell::cargo().args(["fetch", "--locked"]))?;
    let mut command = shell::program(tool(CARGO_DENY)?);
    command.args(["--offline", "--locked", "check", "--hide-inclusion-graph"]);
    // Duplicate crates are a warning with a page of text each, and the interpreters have many.
    command.args(["--allow", "duplicate"]);
    shell::run(&mut command)
}

/// Makes the git repository that cargo-deny expects out of the copied advisories.
fn database() -> TaskResult {
    let database = shell::target().join(DATABASE);
    if database.exists() {
        fs::remove_dir_all(&database)?;
    }
    copy_directory(&shell::root().join(ADVISORIES), &database.join("crates"))?;
    fs::remove_file(database.join("crates").join(COVERED))?;
    let git = |args: &[&str]| {
        let mut command = shell::program("git");
        command.arg("-C").arg(&database);
        command.args(["-c", "user.name=krm", "-c", "user.email=krm@localhost"]);
        shell::output(command.args(args))
    };
    git(&["init", "--quiet"])?;
    git(&["add", "--all"])?;
    git(&["commit", "--quiet", "--no-verify", "--message", "Copied advisories"])?;
    Ok(())
}

fn copy_directory(from: &Path, to: &Path) -> TaskResult {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_directory(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Copies the advisories of all locked crates from a clone of RustSec's advisory-db.
pub(crate) fn advisories(mut args: lexopt::Parser) -> TaskResult {
    let Some(lexopt::Arg::Value(repository)) = args.next()? else {
        return Err("expected a clone of RustSec's advisory-db".into());
    };
    let git =
        |args: &[&str]| shell::output(shell::program("git").arg("-C").arg(&repository).args(args));
    let date = git(&["log", "-1", "--format=%cs", "HEAD"])?;
    let files = git(&["ls-tree", "-r", "--name-only", "HEAD", "crates"])?;

    let copy = shell::root().join(ADVISORIES);
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    let crates = locked_crates()?;
    let mut count = 0;
    for file in files.lines() {
        let Some((name, id)) = file.strip_prefix("crates/").and_then(|rest| rest.split_once('/'))
        else {
            continue;
        };
        if crates.contains(name) {
            let text = git(&["show", &format!("HEAD:{file}")])?;
            fs::create_dir_all(copy.join(name))?;
            fs::write(copy.join(name).join(id), without_description(&text)?)?;
            count += 1;
        }
    }
    fs::create_dir_all(&copy)?;
    let names: String = crates.iter().map(|name| format!("{name}\n")).collect();
    let covered = format!("# Crates whose advisories are here, as of {}\n{names}", date.trim());
    fs::write(copy.join(COVERED), covered)?;
    println!("copied {count} advisories for {} crates", crates.len());
    Ok(())
}

/// The metadata and the title of an advisory.
fn without_description(advisory: &str) -> TaskResult<String> {
    let title = advisory.lines().find(|line| line.starts_with("# "));
    let metadata =
        advisory.split_inclusive("\n```\n").next().filter(|_| advisory.contains("\n```\n"));
    match (metadata, title) {
        (Some(metadata), Some(title)) => Ok(format!("{metadata}\n{title}\n")),
        _ => Err("expected an advisory with metadata and a title".into()),
    }
}

/// The names of all crates in the lock files of the workspace and of the fuzz targets.
fn locked_crates() -> TaskResult<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for file in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let path = shell::root().join(file);
        if path.exists() {
            let lock: Table = fs::read_to_string(path)?.parse()?;
            let packages = lock.get("package").and_then(Value::as_array).into_iter().flatten();
            names.extend(
                packages.filter_map(|package| package.get("name")?.as_str().map(str::to_owned)),
            );
        }
    }
    Ok(names)
}

/// A program from crates.io that a task runs.
#[derive(Clone, Copy)]
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// Separated by commas; default features are off.
    pub(crate) features: &'static str,
}

/// The path of a tool, which is built into the target directory unless it is there.
///
/// Without optimization: the tools run once, and building them takes longer than running them.
pub(crate) fn tool(tool: Tool) -> TaskResult<PathBuf> {
    let Tool { name, version, features } = tool;
    let root = shell::target().join("tools").join(format!("{name}-{version}"));
    let program = root.join("bin").join(name);
    if !program.exists() {
        let mut cargo = shell::cargo();
        cargo.args(["install", name, "--version", version, "--locked", "--debug", "--quiet"]);
        cargo.args(["--no-default-features", "--features", features, "--root"]).arg(&root);
        // Debug information takes time to write, and nobody reads it.
        cargo.env("CARGO_PROFILE_DEV_DEBUG", "0");
        // Its own target directory, so that no other build waits for it.
        cargo.arg("--target-dir").arg(root.join("build"));
        shell::run(&mut cargo)?;
        fs::remove_dir_all(root.join("build"))?;
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_metadata_and_title_of_an_advisory_are_copied() -> TaskResult {
        let advisory =
            "```toml\n[advisory]\nid = \"A\"\n```\n\n# Title\n\nLong text.\n```\ncode\n```\n";
        let copied = without_description(advisory)?;
        assert_eq!(copied, "```toml\n[advisory]\nid = \"A\"\n```\n\n# Title\n");
        assert!(without_description("# Title\n").is_err());
        Ok(())
    }

    #[test]
    fn all_locked_crates_are_covered_by_the_copied_advisories() -> TaskResult {
        assert!(locked_crates()?.contains("krm-yaml"));
        let covered = fs::read_to_string(shell::root().join(ADVISORIES).join(COVERED))?;
        assert!(covered.starts_with("# "), "the date of the copy comes first");
        Ok(())
    }
}
