//! `cargo xtask ci`: every check that a change must pass, in the order in which they fail fastest.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::engine::Engine;
use crate::{Outcome, shell};

pub(crate) fn run(mut args: lexopt::Parser) -> Outcome {
    if let Some(arg) = args.next()? {
        return Err(arg.unexpected().into());
    }
    let in_ci = std::env::var_os("CI").is_some();
    let mut tally = Tally::default();

    if in_ci {
        // Building this program may have rewritten the lock file before `--locked` could object.
        step("lock file", || {
            shell::run(shell::program("git").args(["diff", "--exit-code", "--stat", "Cargo.lock"]))
        })?;
    }
    step("format", || shell::run(shell::cargo().args(["fmt", "--all", "--check"])))?;
    step("lints", || {
        shell::run(
            cargo(&["clippy", "--workspace", "--all-targets"], in_ci)
                .args(["--", "-D", "warnings"]),
        )
    })?;
    let mut engine = None;
    step("container engine", || container_engine(in_ci, &mut engine))?;
    step("python", || python(in_ci))?;
    step("tests", || {
        let mut command = cargo(&["test", "--workspace"], in_ci);
        if in_ci {
            command.env("KRM_REQUIRE_PYTHON", "1");
        }
        engine.iter().for_each(|engine| engine.lend(&mut command));
        tests(&mut command, &mut tally)
    })?;
    drop(engine);
    step("documentation", || {
        let args = ["doc", "--workspace", "--no-deps", "--document-private-items"];
        shell::run(cargo(&args, in_ci).env("RUSTDOCFLAGS", "-D warnings"))
    })?;
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

/// `--locked` in CI only: a person who adds a dependency wants the lock file to follow.
fn cargo(args: &[&str], locked: bool) -> Command {
    let mut command = shell::cargo();
    command.args(args);
    if locked {
        command.arg("--locked");
    }
    command
}

/// CI fails without an engine; a person's machine need not have one, and the tests say what they left out.
fn container_engine(in_ci: bool, engine: &mut Option<Engine>) -> Outcome {
    match Engine::start(in_ci) {
        Ok(found) => *engine = Some(found),
        Err(error) if in_ci => return Err(error),
        Err(error) => println!("containers are not tested: {error}"),
    }
    // For the modules of Rust; without it their tests say that they were left out.
    let mut rustup = shell::program("rustup");
    if let Err(error) = shell::output(rustup.args(["target", "add", "wasm32-wasip1"])) {
        println!("modules of Rust are not tested: {error}");
    }
    Ok(())
}

/// Functions in Python are tested with PyYAML, which drops every comment; CI fails without, and gets it where it can.
fn python(in_ci: bool) -> Outcome {
    let find = || shell::output(shell::program("python3").args(["-c", "import yaml"]));
    let Err(error) = find() else { return Ok(()) };
    if !in_ci {
        println!("functions in Python are not tested: {error}");
        return Ok(());
    }
    let mut apt = shell::program("apt-get");
    apt.env("DEBIAN_FRONTEND", "noninteractive").args(["install", "--yes", "python3-yaml"]);
    shell::output(&mut apt)?;
    find().map(|_| ())
}

fn step(name: &str, work: impl FnOnce() -> Outcome) -> Outcome {
    println!("\n==> {name}");
    let start = Instant::now();
    let outcome = work();
    let verdict = if outcome.is_ok() { "passed" } else { "FAILED" };
    println!("<== {name} {verdict} in {:.1} s", start.elapsed().as_secs_f64());
    outcome.map_err(|error| format!("{name}: {error}").into())
}

/// Shows the test output as it comes and adds up its closing lines, as each test binary has its own.
fn tests(command: &mut Command, tally: &mut Tally) -> Outcome {
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
        return Err(format!("{} ended with {status}", shell::shown(command)).into());
    }
    if tally.passed == 0 { Err("no test ran".into()) } else { Ok(()) }
}

/// How many tests ran in all test binaries together.
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
            let mut words = part.split_whitespace();
            let Some(count) = words.next().and_then(|word| word.parse::<u64>().ok()) else {
                continue;
            };
            match words.next() {
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
    fn closing_lines_of_several_binaries_add_up() {
        let mut tally = Tally::default();
        tally.add("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s");
        tally.add("test sums::adds ... ok");
        tally.add("test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.50s");
        assert_eq!((tally.passed, tally.failed, tally.skipped), (5, 4, 1));
    }

    #[test]
    fn a_failed_step_carries_its_name() {
        let error = step("lints", || Err("no".into())).expect_err("the step fails");
        assert_eq!(error.to_string(), "lints: no");
    }
}
