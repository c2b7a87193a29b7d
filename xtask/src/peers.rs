//! `cargo xtask peers`: the tools that krm is compared with, installed by their own package manager.

use std::fs;
use std::path::PathBuf;

use crate::{Outcome, shell};

/// A tool that is installed with `go install`, under a name that says which release line it is.
struct Peer {
    name: &'static str,
    module: &'static str,
    /// The name that `go install` gives the program.
    program: &'static str,
    /// Tried in order: the newest release may need a newer Go than this machine has.
    versions: &'static [&'static str],
    /// Arguments that show that the program starts.
    hello: &'static str,
}

/// A function of kpt's catalog.
macro_rules! of_catalog {
    ($name:literal) => {
        Peer {
            name: $name,
            module: concat!("github.com/kptdev/krm-functions-catalog/functions/go/", $name),
            program: $name,
            versions: &["latest"],
            hello: "--help",
        }
    };
}

const PEERS: &[Peer] = &[
    Peer {
        name: "yq",
        module: "github.com/mikefarah/yq/v4",
        program: "yq",
        versions: &["latest", "v4.54.1"],
        hello: "--version",
    },
    Peer {
        name: "kustomize-5",
        module: "sigs.k8s.io/kustomize/kustomize/v5",
        program: "kustomize",
        versions: &["latest", "v5.8.2", "v5.8.1"],
        hello: "version",
    },
    // Compat: the last release with `cfg set` and its setters.
    Peer {
        name: "kustomize-4.5.7",
        module: "sigs.k8s.io/kustomize/kustomize/v4",
        program: "kustomize",
        versions: &["v4.5.7"],
        hello: "version",
    },
    Peer {
        name: "kpt",
        module: "github.com/kptdev/kpt",
        program: "kpt",
        versions: &["latest"],
        hello: "version",
    },
    // Functions of the catalog, as programs: what built-in ones are compared with.
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

/// Our own small program around Go's YAML readers.
const GOPEER: &str = "gopeer";

/// Where the peers are; `bench` looks here and nowhere else, so that a table names known versions.
pub(crate) fn bin() -> PathBuf {
    shell::target().join("peers/bin")
}

/// The program of a peer, if it is installed.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    Some(bin().join(name)).filter(|path| path.is_file())
}

pub(crate) fn run(mut args: lexopt::Parser) -> Outcome {
    let mut force = false;
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Long("force") => force = true,
            _ => return Err(arg.unexpected().into()),
        }
    }
    if !shell::output(shell::program("go").arg("version"))
        .is_ok_and(|text| text.starts_with("go version"))
    {
        return Err("the peers are Go programs; install Go first".into());
    }
    fs::create_dir_all(bin())?;
    let mut missing = 0;
    for peer in PEERS {
        let installed = if force || find(peer.name).is_none() { install(peer) } else { Ok(()) };
        missing += usize::from(!report(peer.name, &installed.and_then(|()| hello(peer))));
    }
    // The helper is ours and changes with the checkout; Go's cache makes this quick.
    missing += usize::from(!report(GOPEER, &build_gopeer()));
    println!("{} of {} peers are in target/peers/bin", PEERS.len() + 1 - missing, PEERS.len() + 1);
    Ok(())
}

/// One line for each peer; a missing one is said and not fatal, as the others can still be measured.
fn report(name: &str, outcome: &Outcome<String>) -> bool {
    match outcome {
        Ok(version) => println!("{name}: {version}"),
        Err(error) => println!("{name}: not installed: {error}"),
    }
    outcome.is_ok()
}

fn install(peer: &Peer) -> Outcome {
    let stage = shell::target().join("peers/stage").join(peer.name);
    fs::create_dir_all(&stage)?;
    let mut refusals = Vec::new();
    for version in peer.versions {
        let module = format!("{}@{version}", peer.module);
        println!("{}: go install {module}", peer.name);
        match shell::output(polite_go().env("GOBIN", &stage).args(["install", &module])) {
            Ok(_) => {
                fs::rename(stage.join(peer.program), bin().join(peer.name))?;
                return Ok(());
            }
            Err(error) => refusals.push(format!("{version}: {}", reason(&error.to_string()))),
        }
    }
    Err(refusals.join("; ").into())
}

/// Go lists what it downloads before it says what is wrong.
fn reason(said: &str) -> String {
    let lines = said.lines().filter(|line| !line.contains("go: downloading"));
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}

fn hello(peer: &Peer) -> Outcome<String> {
    let said = shell::output(shell::program(bin().join(peer.name)).arg(peer.hello))?;
    Ok(said.lines().next().unwrap_or("starts").trim().to_owned())
}

fn build_gopeer() -> Outcome<String> {
    let out = bin().join(GOPEER);
    let mut go = polite_go();
    go.current_dir(shell::root().join("xtask/peers/go"));
    shell::output(go.args(["build", "-trimpath", "-mod=readonly", "-o"]).arg(&out).arg("."))?;
    Ok("built from xtask/peers/go".to_owned())
}

/// Compiling the peers takes minutes; whoever works meanwhile comes first.
fn polite_go() -> std::process::Command {
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
    fn the_reason_of_a_refusal_is_not_buried_in_downloads() {
        let said = "go install ended with 1: go: downloading a v1\ngo: downloading b v1\ngo: a@v1 requires go >= 9\n";
        assert_eq!(reason(said), "go: a@v1 requires go >= 9");
    }

    #[test]
    fn peers_have_names_of_their_own() {
        let mut names: Vec<&str> = PEERS.iter().map(|peer| peer.name).chain([GOPEER]).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
