//! Installs a function with its own package manager, as a program and, if it compiles, as a Wasm module.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::list::Source;
use crate::{TaskResult, shell};

/// An installed function.
pub(super) struct Installed {
    /// The program and its arguments.
    pub(super) command: Vec<String>,
    /// Whether the command is one statically linked program, which runs in an empty container image.
    pub(super) is_static: bool,
    /// The Wasm module, or why there is none.
    pub(super) module: Result<PathBuf, String>,
}

/// The installation directory; a second run finds everything here.
fn directory() -> PathBuf {
    shell::target().join("peers/functions")
}

pub(super) fn install(source: &Source) -> TaskResult<Installed> {
    match source {
        Source::Go(package, versions) => go(package, versions),
        Source::Gopeer(function) => gopeer(function),
        Source::Node(package) => node(package),
    }
}

fn go(package: &str, versions: &[&str]) -> TaskResult<Installed> {
    let mut errors = Vec::new();
    for version in versions {
        match go_install(package, version) {
            Ok(installed) => return Ok(installed),
            Err(error) => {
                let message = error.to_string();
                // A proxy that rejects a module rejects all of its versions.
                if let Some(code) =
                    ["403", "404"].into_iter().find(|code| is_rejected(&message, code))
                {
                    return Err(format!("the module proxy rejects {package} ({code})").into());
                }
                errors.push(last_line(&message));
            }
        }
    }
    Err(errors.join("; ").into())
}

fn is_rejected(message: &str, code: &str) -> bool {
    message.contains(&format!("{code} Forbidden")) || message.contains(&format!("{code} Not Found"))
}

fn go_install(package: &str, version: &str) -> TaskResult<Installed> {
    let stage = directory().join("go");
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

/// Whether the last part of a package path is a major version such as `v4`, which does not name a program.
fn is_major(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Go with a separate directory for programs but the shared module cache.
fn in_stage(stage: &Path) -> TaskResult<Command> {
    let modules = shell::output(shell::program("go").args(["env", "GOMODCACHE"]))?;
    let mut go = shell::program("go");
    go.env("GOPATH", stage).env("GOMODCACHE", modules.trim()).env_remove("GOBIN");
    Ok(go)
}

fn gopeer(function: &str) -> TaskResult<Installed> {
    let out = directory().join("gopeer");
    fs::create_dir_all(&out)?;
    let build = |target: &Path, variables: &[(&str, &str)]| {
        let mut go = shell::program("go");
        go.current_dir(shell::root().join("xtask/peers/go")).envs(variables.iter().copied());
        go.args([
            "build",
            "-trimpath",
            "-mod=readonly",
            "-ldflags",
            &format!("-X main.function={function}"),
        ]);
        shell::output(go.arg("-o").arg(target).arg("."))
    };
    let (native, module) = (out.join(function), out.join(format!("{function}.wasm")));
    build(&native, &[("CGO_ENABLED", "0")])?;
    let built = build(&module, &[("GOOS", "wasip1"), ("GOARCH", "wasm")]);
    let module = built.map(|_| module).map_err(|error| last_line(&error.to_string()));
    Ok(Installed { command: vec![native.display().to_string()], is_static: true, module })
}

fn node(package: &str) -> TaskResult<Installed> {
    let out = directory().join("node");
    fs::create_dir_all(&out)?;
    fs::write(out.join("package.json"), "{\"private\": true}\n")?;
    let mut npm = shell::program("npm");
    npm.current_dir(&out).args(["install", "--no-audit", "--no-fund", "--silent", package]);
    shell::output(&mut npm)?;
    let script = out.join("function.js");
    fs::copy(shell::root().join("xtask/peers/node/function.js"), &script)?;
    let command = vec!["node".to_owned(), script.display().to_string()];
    Ok(Installed { command, is_static: false, module: Err("a script".to_owned()) })
}

fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejected_module_differs_from_a_version_that_fails() {
        assert!(is_rejected("go: x@latest: reading y: 403 Forbidden", "403"));
        assert!(!is_rejected("go: x@latest requires go >= 1.403", "403"));
    }

    #[test]
    fn major_versions_are_recognized() {
        assert!(is_major("v4") && !is_major("vet") && !is_major("yq"));
    }
}
