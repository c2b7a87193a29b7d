//! Getting a function: fetched by its own package manager, as a static program and, where it compiles, as a WASI module.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::list::Source;
use crate::{Outcome, shell};

/// The forms in which a function is here.
pub(super) struct Installed {
    /// A command, in words.
    pub(super) command: Vec<String>,
    /// Whether the command is one static program, which runs in an empty container.
    pub(super) is_static: bool,
    /// The WASI module, or why there is none.
    pub(super) module: Result<PathBuf, String>,
}

/// Where everything goes, so that a second run fetches nothing.
fn folder() -> PathBuf {
    shell::target().join("peers/functions")
}

pub(super) fn install(source: &Source) -> Outcome<Installed> {
    match source {
        Source::Go(package, versions) => go(package, versions),
        Source::Gopeer(word) => gopeer(word),
        Source::Node(package) => node(package),
    }
}

fn go(package: &str, versions: &[&str]) -> Outcome<Installed> {
    let mut refusals = Vec::new();
    for version in versions {
        match go_install(package, version) {
            Ok(installed) => return Ok(installed),
            Err(error) => {
                let said = error.to_string();
                // Who says no to a name says no to all of its versions.
                if let Some(code) = ["403", "404"].into_iter().find(|code| is_refused(&said, code))
                {
                    return Err(format!("the module proxy refuses {package} ({code})").into());
                }
                refusals.push(last_line(&said));
            }
        }
    }
    Err(refusals.join("; ").into())
}

fn is_refused(said: &str, code: &str) -> bool {
    said.contains(&format!("{code} Forbidden")) || said.contains(&format!("{code} Not Found"))
}

fn go_install(package: &str, version: &str) -> Outcome<Installed> {
    let stage = folder().join("go");
    let name = package.rsplit('/').find(|part| !is_major(part)).unwrap_or(package);
    let at = format!("{package}@{version}");
    let native = stage.join("bin").join(name);
    if !native.is_file() {
        println!("go install {at}");
        shell::output(in_stage(&stage)?.env("CGO_ENABLED", "0").args(["install", &at]))?;
    }
    let module = stage.join("bin/wasip1_wasm").join(name);
    let mut wasi = in_stage(&stage)?;
    wasi.envs([("GOOS", "wasip1"), ("GOARCH", "wasm")]).args(["install", &at]);
    let built = if module.is_file() { Ok(String::new()) } else { shell::output(&mut wasi) };
    let module = built.map(|_| module).map_err(|error| last_line(&error.to_string()));
    Ok(Installed { command: vec![native.display().to_string()], is_static: true, module })
}

/// `v4` at the end of a package is no name of a program.
fn is_major(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Go with a place of its own for programs, and the modules where they always are.
fn in_stage(stage: &Path) -> Outcome<Command> {
    let modules = shell::output(shell::program("go").args(["env", "GOMODCACHE"]))?;
    let mut go = shell::program("go");
    go.env("GOPATH", stage).env("GOMODCACHE", modules.trim()).env_remove("GOBIN");
    Ok(go)
}

fn gopeer(word: &str) -> Outcome<Installed> {
    let out = folder().join("gopeer");
    fs::create_dir_all(&out)?;
    let build = |target: &Path, variables: &[(&str, &str)]| {
        let mut go = shell::program("go");
        go.current_dir(shell::root().join("xtask/peers/go")).envs(variables.iter().copied());
        go.args([
            "build",
            "-trimpath",
            "-mod=readonly",
            "-ldflags",
            &format!("-X main.word={word}"),
        ]);
        shell::output(go.arg("-o").arg(target).arg("."))
    };
    let (native, module) = (out.join(word), out.join(format!("{word}.wasm")));
    build(&native, &[("CGO_ENABLED", "0")])?;
    let built = build(&module, &[("GOOS", "wasip1"), ("GOARCH", "wasm")]);
    let module = built.map(|_| module).map_err(|error| last_line(&error.to_string()));
    Ok(Installed { command: vec![native.display().to_string()], is_static: true, module })
}

fn node(package: &str) -> Outcome<Installed> {
    let out = folder().join("node");
    fs::create_dir_all(&out)?;
    fs::write(out.join("package.json"), "{\"private\": true}\n")?;
    let mut npm = shell::program("npm");
    npm.current_dir(&out).args(["install", "--no-audit", "--no-fund", "--silent", package]);
    shell::output(&mut npm)?;
    let script = out.join("function.js");
    fs::copy(shell::root().join("xtask/peers/node/function.js"), &script)?;
    let command = vec!["node".to_owned(), script.display().to_string()];
    Ok(Installed { command, is_static: false, module: Err("it is a script".to_owned()) })
}

fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_apart_from_what_another_version_may_mend() {
        assert!(is_refused("go: x@latest: reading y: 403 Forbidden", "403"));
        assert!(!is_refused("go: x@latest requires go >= 1.403", "403"));
    }

    #[test]
    fn a_major_version_is_no_name() {
        assert!(is_major("v4") && !is_major("vet") && !is_major("yq"));
    }
}
