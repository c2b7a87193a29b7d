//! `cargo xtask ci`: every check that a change must pass, fastest first.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::engine::Engine;
use crate::{TaskResult, book, package, peers, shell, supply_chain};

/// The features of krm-catalog, each linted alone. All together are the default, which `--workspace` covers.
const CATALOG_FEATURES: &[&str] = &["", "gatekeeper", "starlark"];

/// The features that a quick first build leaves out, and releases have, and those of the SDK.
pub(crate) const ALL_FEATURES: &str = "krm-cli/full,krm-sdk/schemars,krm-sdk/templates";

/// The server of shared caches, and Porch's client, server and functions.
const PROTOCOL_PEERS: [&str; 4] =
    ["bazel-remote", "porch-client", "porch-function-runner", "porch-wrapper-server"];

pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
    if let Some(arg) = args.next()? {
        return Err(arg.unexpected().into());
    }
    let in_ci = std::env::var_os("CI").is_some();
    let mut tally = Tally::default();

    if in_ci {
        // Building xtask itself may have updated the lock file, before any `--locked` could fail.
        step("lock file", || {
            shell::run(shell::program("git").args(["diff", "--exit-code", "--stat", "Cargo.lock"]))
        })?;
    }
    step("format", || shell::run(shell::cargo().args(["fmt", "--all", "--check"])))?;
    step("lints", || {
        shell::run(
            cargo(&["clippy", "--workspace", "--all-targets", "--features", ALL_FEATURES], in_ci)
                .args(["--", "-D", "warnings"]),
        )
    })?;
    step("dependencies", supply_chain::check)?;
    let mut engine = None;
    step("container engine", || container_engine(in_ci, &mut engine))?;
    step("python", || python(in_ci))?;
    step("validators of reports", || report_validators(in_ci))?;
    let mut has_registry = false;
    step("registry", || {
        has_registry = registry(in_ci)?;
        Ok(())
    })?;
    step("ssh server", || ssh_server(in_ci))?;
    step("shells", || shells(in_ci))?;
    step("hosts of integrations", || integration_hosts(in_ci))?;
    step("protocol peers", || protocol_peers(in_ci))?;
    let mut helm = None;
    step("helm", || {
        helm = find_helm();
        Ok(())
    })?;
    step("tests", || {
        let mut command =
            cargo(&["test", "--workspace", "--no-fail-fast", "--features", ALL_FEATURES], in_ci);
        if has_registry {
            command.env("KRM_REQUIRE_REGISTRY", "1");
        }
        if let Some(helm) = &helm {
            command.env("KRM_HELM", helm).env("KRM_REQUIRE_HELM", "1");
        }
        if in_ci {
            command.env("KRM_REQUIRE_PYTHON", "1").env("KRM_PROJECTS", "1");
            command.env("KRM_REQUIRE_VALIDATORS", "1").env("KRM_REQUIRE_BROWSER", "1");
            command.env("KRM_REQUIRE_SSHD", "1").env("KRM_REQUIRE_SHELLS", "1");
            command.env("KRM_REQUIRE_INTEGRATIONS", "1").env("KRM_REQUIRE_BAZEL_REMOTE", "1");
            command.env("KRM_REQUIRE_PORCH", "1").env("KRM_REQUIRE_SANDBOX", "1");
        }
        engine.iter().for_each(|engine| engine.set_environment(&mut command));
        tests(&mut command, &mut tally)
    })?;
    drop(engine);
    step("features", || features(in_ci))?;
    step("packages", || package::check(in_ci))?;
    step("documentation", || {
        let args = ["doc", "--workspace", "--no-deps", "--document-private-items"];
        let args = [&args[..], &["--features", ALL_FEATURES]].concat();
        shell::run(cargo(&args, in_ci).env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    step("book", book::build)?;
    let fuzz = shell::root().join("fuzz");
    if fuzz.join("Cargo.toml").is_file() {
        let locked = in_ci && fuzz.join("Cargo.lock").is_file();
        step("fuzz targets", || {
            shell::run(&mut cargo(&["check", "--manifest-path", "fuzz/Cargo.toml"], locked))
        })?;
    }
    println!(
        "\ntests: {} passed, {} failed, {} skipped",
        tally.passed, tally.failed, tally.skipped
    );
    Ok(())
}

/// Lints krm-catalog without its optional interpreters and with each alone, and krm-cli as a first build has it. Tests would compile
/// krm-core once more for each of them.
fn features(in_ci: bool) -> TaskResult {
    let lint = |selection: &[&str]| {
        let mut lints = cargo(&["clippy", "--all-targets"], in_ci);
        shell::run(lints.args(selection).args(["--", "-D", "warnings"]))
    };
    for features in CATALOG_FEATURES {
        lint(&["-p", "krm-catalog", "--no-default-features", "--features", features])?;
    }
    lint(&["-p", "krm-cli"])
}

/// Adds `--locked` in CI only: locally, a new dependency should update the lock file.
fn cargo(args: &[&str], locked: bool) -> Command {
    let mut command = shell::cargo();
    command.args(args);
    if locked {
        command.arg("--locked");
    }
    command
}

/// Starts a container engine. CI fails without one; elsewhere the container tests are skipped with a message.
fn container_engine(in_ci: bool, engine: &mut Option<Engine>) -> TaskResult {
    match Engine::start(in_ci) {
        Ok(found) => *engine = Some(found),
        Err(error) if in_ci => return Err(error),
        Err(error) => println!("skipping container tests: {error}"),
    }
    // For Wasm functions written in Rust; without the target their tests are skipped.
    let mut rustup = shell::program("rustup");
    if let Err(error) = shell::output(rustup.args(["target", "add", "wasm32-wasip1"])) {
        println!("skipping tests of Wasm functions written in Rust: {error}");
    }
    Ok(())
}

/// Finds sshd, from which packages are fetched over ssh. CI installs it if it is missing.
fn ssh_server(in_ci: bool) -> TaskResult {
    if std::path::Path::new("/usr/sbin/sshd").exists() {
        return Ok(());
    }
    if !in_ci {
        println!("skipping tests of git over ssh: sshd is not installed");
        return Ok(());
    }
    shell::install(&["openssh-server"])
}

/// Finds the shells in which completion is tried, and openssl for the tokens of a registry. CI installs them if they are missing.
fn shells(in_ci: bool) -> TaskResult {
    let programs =
        [("zsh", "zsh"), ("fish", "fish"), ("script", "bsdutils"), ("openssl", "openssl")];
    let missing = programs.iter().filter(|(program, _)| !shell::exists(program));
    let packages: Vec<&str> = missing.map(|(_, package)| *package).collect();
    match (packages.is_empty(), in_ci) {
        (true, _) => Ok(()),
        (false, true) => shell::install(&packages),
        (false, false) => {
            println!(
                "skipping some tests of completion and registries: install {}",
                packages.join(" ")
            );
            Ok(())
        }
    }
}

/// Finds PyYAML, which drops all comments and so makes a good test of function output, and ruamel.yaml for projects in Python. CI
/// installs them if they are missing.
fn python(in_ci: bool) -> TaskResult {
    let find =
        || shell::output(shell::program("python3").args(["-c", "import yaml, ruamel.yaml.tag"]));
    let Err(error) = find() else { return Ok(()) };
    if !in_ci {
        println!("skipping tests of Python functions: {error}");
        return Ok(());
    }
    let mut pip = shell::program("python3");
    pip.args(["-m", "pip", "install", "--quiet", "PyYAML", "ruamel.yaml>=0.18,<0.20"]);
    // A Python of the system is extended by the system's packages only.
    if shell::output(&mut pip).is_err() {
        shell::install(&["python3-yaml", "python3-ruamel.yaml"])?;
    }
    find().map(|_| ())
}

/// Installs the programs that read reports, and a browser, in CI only. Elsewhere, tests without them are skipped with a message.
fn report_validators(in_ci: bool) -> TaskResult {
    let directory = shell::target().join("validators");
    if !in_ci {
        println!("reports are validated if {} exists; CI=1 installs it", directory.display());
        return Ok(());
    }
    if !directory.join("python/junitparser").is_dir() {
        let mut pip = shell::program("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--target"]).arg(directory.join("python"));
        shell::output(pip.args(["junitparser>=4,<6", "jsonschema>=4,<5"]))?;
    }
    let multitool = directory.join("node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool");
    if !multitool.is_file() {
        let mut npm = shell::program("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--prefix"]).arg(&directory);
        shell::output(npm.args(["--no-save", "@microsoft/sarif-multitool@^5"]))?;
    }
    // npm may be configured not to run the script that does this.
    shell::output(shell::program("chmod").arg("u+x").arg(&multitool))?;
    if !["chromium", "chromium-browser", "google-chrome"].iter().any(shell::exists) {
        shell::install(&["chromium"])?;
    }
    Ok(())
}

/// Installs pre-commit, the checker of workflows and kustomize, which run the files below `integrations`, in CI only.
fn integration_hosts(in_ci: bool) -> TaskResult {
    let python = shell::target().join("integrations/python");
    if !in_ci {
        println!("integrations are tested with the tools that are installed; CI=1 installs them");
        return Ok(());
    }
    if !python.join("bin/check-jsonschema").is_file() {
        shell::output(shell::program("python3").args(["-m", "venv"]).arg(&python))?;
        let mut pip = shell::program(python.join("bin/pip"));
        pip.args(["install", "--quiet", "pre-commit>=4,<5", "check-jsonschema>=0.37,<1"]);
        shell::output(&mut pip)?;
    }
    peers::install_one("kustomize-5")
}

/// Builds the programs of others that are clients and servers of krm's protocols, in CI only: some minutes of processor time, once.
fn protocol_peers(in_ci: bool) -> TaskResult {
    let missing: Vec<&str> =
        PROTOCOL_PEERS.iter().copied().filter(|name| peers::find(name).is_none()).collect();
    match (missing.is_empty(), in_ci) {
        (true, _) => Ok(()),
        (false, true) => missing.into_iter().try_for_each(peers::install_one),
        (false, false) => {
            let names = missing.join(", ");
            println!("skipping tests with {names}: `cargo xtask peers --only NAME` builds them");
            Ok(())
        }
    }
}

/// Finds a registry and skopeo, which reads what krm pushes. CI installs them; elsewhere their tests are skipped with a message.
fn registry(in_ci: bool) -> TaskResult<bool> {
    let is_there = || shell::exists("docker-registry") && shell::exists("skopeo");
    if !is_there() && in_ci {
        shell::install(&["docker-registry", "skopeo"])?;
    }
    if !is_there() {
        println!("skipping tests with a real registry: install docker-registry and skopeo");
    }
    Ok(is_there())
}

/// Finds helm. Without it, the tests with real charts are skipped with a message; those with recorded output always run. CI does not
/// build it: that takes longer than all tests together.
fn find_helm() -> Option<PathBuf> {
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let mut on_path = std::env::split_paths(&on_path).map(|it| it.join("helm"));
    let found = on_path.find(|path| path.is_file()).or_else(|| peers::find("helm"));
    match &found {
        Some(helm) => println!("charts are rendered with {}", helm.display()),
        None => println!(
            "skipping tests with real charts: `cargo xtask peers --only helm` installs helm"
        ),
    }
    found
}

fn step(name: &str, work: impl FnOnce() -> TaskResult) -> TaskResult {
    println!("\n==> {name}");
    let start = Instant::now();
    let result = work();
    let status = if result.is_ok() { "passed" } else { "FAILED" };
    println!("<== {name} {status} in {:.1} s", start.elapsed().as_secs_f64());
    result.map_err(|error| format!("{name}: {error}").into())
}

/// Prints the test output while it arrives and adds up the summary lines, of which every test binary prints one.
fn tests(command: &mut Command, tally: &mut Tally) -> TaskResult {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().expect("stdout is piped just above");
    let mut terminal = std::io::stdout().lock();
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line?;
        terminal.write_all(&line)?;
        terminal.write_all(b"\n")?;
        tally.add(&String::from_utf8_lossy(&line));
    }
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("{} failed: {status}", shell::display(command)).into());
    }
    if tally.passed == 0 { Err("no test ran".into()) } else { Ok(()) }
}

/// The number of tests over all test binaries.
#[derive(Default)]
struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Tally {
    fn add(&mut self, line: &str) {
        let Some(counts) = line.strip_prefix("test result: ") else { return };
        for part in counts.split(['.', ';']) {
            let mut parts = part.split_whitespace();
            let Some(count) = parts.next().and_then(|count| count.parse::<u64>().ok()) else {
                continue;
            };
            match parts.next() {
                Some("passed") => self.passed += count,
                Some("failed") => self.failed += count,
                Some("ignored") => self.skipped += count,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_lines_of_several_binaries_add_up() {
        let mut tally = Tally::default();
        tally.add("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s");
        tally.add("test sums::adds ... ok");
        tally.add("test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.50s");
        assert_eq!((tally.passed, tally.failed, tally.skipped), (5, 4, 1));
    }

    #[test]
    fn the_error_of_a_failed_step_names_the_step() {
        let error = step("lints", || Err("no".into())).expect_err("the step fails");
        assert_eq!(error.to_string(), "lints: no");
    }
}
