//! `cargo xtask peers`: installs the tools that krm is compared with.

use std::fs;
use std::path::PathBuf;

use crate::{TaskResult, shell};

/// A tool that is installed with `go install`, under a name that includes its release line.
struct Peer {
    name: &'static str,
    module: &'static str,
    /// The file name that `go install` uses.
    program: &'static str,
    /// Versions to try in order: the newest may need a newer Go.
    versions: &'static [&'static str],
    /// An argument with which the program starts and exits.
    version_flag: &'static str,
}

/// A function of kpt's catalog.
macro_rules! of_catalog {
    ($name:literal) => {
        Peer {
            name: $name,
            module: concat!("github.com/kptdev/krm-functions-catalog/functions/go/", $name),
            program: $name,
            versions: &["latest"],
            version_flag: "--help",
        }
    };
}

const PEERS: &[Peer] = &[
    Peer {
        name: "yq",
        module: "github.com/mikefarah/yq/v4",
        program: "yq",
        versions: &["latest", "v4.54.1"],
        version_flag: "--version",
    },
    Peer {
        name: "kustomize-5",
        module: "sigs.k8s.io/kustomize/kustomize/v5",
        program: "kustomize",
        versions: &["latest", "v5.8.2", "v5.8.1"],
        version_flag: "version",
    },
    // Compat: the last release with `cfg set` and its setters.
    Peer {
        name: "kustomize-4.5.7",
        module: "sigs.k8s.io/kustomize/kustomize/v4",
        program: "kustomize",
        versions: &["v4.5.7"],
        version_flag: "version",
    },
    Peer {
        name: "kpt",
        module: "github.com/kptdev/kpt",
        program: "kpt",
        versions: &["latest"],
        version_flag: "version",
    },
    Peer {
        name: "kubeconform",
        module: "github.com/yannh/kubeconform/cmd/kubeconform",
        program: "kubeconform",
        versions: &["latest", "v0.8.0", "v0.7.0"],
        version_flag: "-v",
    },
    // Renders the charts of the tests of render-helm-chart.
    Peer {
        name: "helm",
        module: "helm.sh/helm/v3/cmd/helm",
        program: "helm",
        versions: &["v3.17.3"],
        version_flag: "version",
    },
    // Its post-renderers are plugins, which the tests of `integrations/helm` need.
    Peer {
        name: "helm-4",
        module: "helm.sh/helm/v4/cmd/helm",
        program: "helm",
        versions: &["v4.3.1"],
        version_flag: "version",
    },
    // Functions of the catalog as programs, which built-in functions are compared with.
    Peer { versions: &["latest", "v0.2.4", "v0.2.0"], ..of_catalog!("apply-setters") },
    of_catalog!("create-setters"),
    of_catalog!("ensure-name-substring"),
    of_catalog!("list-setters"),
    of_catalog!("remove-local-config-resources"),
    of_catalog!("search-replace"),
    of_catalog!("set-annotations"),
    of_catalog!("set-image"),
    of_catalog!("set-labels"),
    of_catalog!("set-namespace"),
    of_catalog!("starlark"),
    of_catalog!("upsert-resource"),
];

/// A program that is built in a directory of `xtask/peers`, with the versions of its `go.mod`.
struct Module {
    name: &'static str,
    directory: &'static str,
    package: &'static str,
}

const MODULES: &[Module] = &[
    // Go's YAML libraries.
    Module { name: "gopeer", directory: "go", package: "." },
    // The interpreter of kpt's starlark function.
    Module { name: "starlark-oracle", directory: "starlark", package: "." },
    // The server of shared caches, v2.6.1. `go install` fails, because the module asks for a version of a dependency that is not available
    // any more.
    Module {
        name: "bazel-remote",
        directory: "bazel-remote",
        package: "github.com/buchgr/bazel-remote/v2",
    },
    // Porch's programs. `go install` fails, because its module replaces others.
    Module {
        name: "porch-client",
        directory: "porch",
        package: "github.com/nephio-project/porch/func/client",
    },
    Module {
        name: "porch-function-runner",
        directory: "porch",
        package: "github.com/nephio-project/porch/func/server",
    },
    Module {
        name: "porch-wrapper-server",
        directory: "porch",
        package: "github.com/nephio-project/porch/func/wrapper-server",
    },
];

/// The installation directory. `bench` ignores other installations, so that the versions in its tables are known.
pub(crate) fn bin() -> PathBuf {
    shell::target().join("peers/bin")
}

/// The program of a peer, if it is installed.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    Some(bin().join(name)).filter(|path| path.is_file())
}

pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
    let (mut force, mut only) = (false, String::new());
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Long("force") => force = true,
            lexopt::Arg::Long("only") => only = args.value()?.to_string_lossy().into_owned(),
            _ => return Err(arg.unexpected().into()),
        }
    }
    if !shell::output(shell::program("go").arg("version"))
        .is_ok_and(|text| text.starts_with("go version"))
    {
        return Err("Go is not installed".into());
    }
    fs::create_dir_all(bin())?;
    let (mut count, mut missing) = (0, 0);
    for peer in PEERS.iter().filter(|peer| peer.name.contains(&only)) {
        count += 1;
        let installed = if force || find(peer.name).is_none() { install(peer) } else { Ok(()) };
        missing += usize::from(!report(peer.name, &installed.and_then(|()| version(peer))));
    }
    // Always rebuilt, because they change with the checkout; Go's build cache makes this fast.
    for module in MODULES.iter().filter(|module| module.name.contains(&only)) {
        count += 1;
        missing += usize::from(!report(module.name, &build(module)));
    }
    println!("{} of {count} peers are installed in target/peers/bin", count - missing);
    Ok(())
}

/// Installs one peer, unless it is there. A failure is an error.
pub(crate) fn install_one(name: &str) -> TaskResult {
    fs::create_dir_all(bin())?;
    if find(name).is_some() {
        return Ok(());
    }
    if let Some(module) = MODULES.iter().find(|module| module.name == name) {
        return build(module).map(|_| ());
    }
    install(PEERS.iter().find(|peer| peer.name == name).ok_or("no such peer")?)
}

/// Prints one line; a missing peer is not an error, because the others can still be measured.
fn report(name: &str, result: &TaskResult<String>) -> bool {
    match result {
        Ok(version) => println!("{name}: {version}"),
        Err(error) => println!("{name}: not installed: {error}"),
    }
    result.is_ok()
}

fn install(peer: &Peer) -> TaskResult {
    let stage = shell::target().join("peers/stage").join(peer.name);
    fs::create_dir_all(&stage)?;
    let mut errors = Vec::new();
    for version in peer.versions {
        let module = format!("{}@{version}", peer.module);
        println!("{}: go install {module}", peer.name);
        match shell::output(low_priority_go().env("GOBIN", &stage).args(["install", &module])) {
            Ok(_) => {
                fs::rename(stage.join(peer.program), bin().join(peer.name))?;
                return Ok(());
            }
            Err(error) => errors.push(format!("{version}: {}", reason(&error.to_string()))),
        }
    }
    Err(errors.join("; ").into())
}

/// The error message of Go without its list of downloads.
fn reason(message: &str) -> String {
    let lines = message.lines().filter(|line| !line.contains("go: downloading"));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

fn version(peer: &Peer) -> TaskResult<String> {
    let output = shell::output(shell::program(bin().join(peer.name)).arg(peer.version_flag))?;
    Ok(output.lines().next().unwrap_or("starts").trim().to_owned())
}

fn build(module: &Module) -> TaskResult<String> {
    let Module { name, directory, package } = module;
    let out = bin().join(name);
    let mut go = low_priority_go();
    go.current_dir(shell::root().join("xtask/peers").join(directory));
    shell::output(go.args(["build", "-trimpath", "-mod=readonly", "-o"]).arg(&out).arg(package))?;
    Ok(format!("built from xtask/peers/{directory}"))
}

/// Go with low priority, because compiling the peers takes minutes.
fn low_priority_go() -> std::process::Command {
    let mut command = shell::program(if shell::exists("nice") { "nice" } else { "go" });
    if command.get_program() == "nice" {
        command.args(["-n", "15", "go"]);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn downloads_are_removed_from_error_messages() {
        let message = "go install failed: 1: go: downloading a v1\ngo: downloading b v1\ngo: a@v1 requires go >= 9\n";
        assert_eq!(reason(message), "go: a@v1 requires go >= 9");
    }

    #[test]
    fn peer_names_are_unique() {
        let mut names: Vec<&str> =
            PEERS.iter().map(|peer| peer.name).chain(MODULES.iter().map(|it| it.name)).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
