//! `cargo xtask package`: packages every published crate and checks the metadata that crates.io shows.

use toml::{Table, Value};

use crate::{TaskResult, shell};

/// The published crates, each after the crates that it depends on: the order in which they are published.
const CRATES: &[&str] = &[
    "krm-yaml",
    "krm-core",
    "krm-oci",
    "krm-grpc",
    "krm-sdk",
    "krm-catalog",
    "krm-run",
    "krm-cli",
];

/// The members that are never published.
const PRIVATE: &[&str] = &["krm-testkit", "xtask"];

/// The fields that a published manifest sets itself or inherits from the workspace.
const FIELDS: &[&str] = &[
    "description",
    "license",
    "repository",
    "homepage",
    "documentation",
    "readme",
    "keywords",
    "categories",
    "rust-version",
];

/// The files that the licence demands in every package; symlinks to those of the checkout.
const FILES: &[&str] = &["LICENSE", "NOTICE"];

pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
    let mut verify = false;
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Long("verify") => verify = true,
            _ => return Err(arg.unexpected().into()),
        }
    }
    package(verify, false)?;
    println!("packaged {}", CRATES.join(", "));
    Ok(())
}

/// Packages all crates without building them: their sources were built and tested before.
pub(crate) fn check(locked: bool) -> TaskResult {
    package(false, locked)
}

fn package(verify: bool, locked: bool) -> TaskResult {
    let findings =
        CRATES.iter().map(|name| missing_metadata(name)).collect::<Result<Vec<_>, _>>()?;
    let findings = findings.concat();
    if !findings.is_empty() {
        return Err(findings.join("\n").into());
    }
    let mut cargo = shell::cargo();
    // One call for all crates, because cargo then resolves a crate that is not on crates.io yet to the package it has
    // just made. `--allow-dirty`, because the check is also run before a commit.
    cargo.args(["package", "--workspace", "--allow-dirty", "--quiet"]);
    cargo.args(PRIVATE.iter().flat_map(|name| ["--exclude", name]));
    cargo.args((!verify).then_some("--no-verify")).args(locked.then_some("--locked"));
    shell::run(&mut cargo)
}

fn missing_metadata(name: &str) -> TaskResult<Vec<String>> {
    let path = format!("crates/{name}/Cargo.toml");
    let manifest: Table = std::fs::read_to_string(shell::root().join(&path))?.parse()?;
    let fields = missing_fields(&manifest).map(|field| format!("{path}: missing field `{field}`"));
    let directory = shell::root().join("crates").join(name);
    let files = FILES.iter().filter(|file| !directory.join(file).is_file());
    let files = files.map(|file| format!("crates/{name}: missing file `{file}`"));
    Ok(fields.chain(files).collect())
}

fn missing_fields(manifest: &Table) -> impl Iterator<Item = &'static str> {
    let package = manifest.get("package").and_then(Value::as_table);
    FIELDS.iter().copied().filter(move |field| !package.is_some_and(|it| it.contains_key(*field)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_manifests_have_all_metadata() {
        for name in CRATES {
            assert_eq!(missing_metadata(name).expect("the manifest is read"), [""; 0]);
        }
    }

    #[test]
    fn a_missing_field_is_found_and_an_inherited_one_is_not() {
        let manifest = "[package]\nname = \"a\"\nlicense.workspace = true\ndescription = \"x\"\n";
        let manifest: Table = manifest.parse().expect("valid TOML");
        let missing: Vec<&str> = missing_fields(&manifest).collect();
        assert!(missing.contains(&"readme"), "{missing:?}");
        assert!(!missing.contains(&"license"), "{missing:?}");
    }
}
