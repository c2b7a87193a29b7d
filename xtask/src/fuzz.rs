//! `cargo xtask fuzz`: runs the fuzz targets for some minutes, or a number of inputs each, and prints the number of inputs.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use toml::{Table, Value};

use crate::{TaskResult, shell};

pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
    let (mut target, mut minutes, mut runs) = (None, None, None);
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Value(value) if target.is_none() => {
                target = Some(value.to_string_lossy().into_owned());
            }
            lexopt::Arg::Long("minutes") => {
                let text = args.value()?.to_string_lossy().into_owned();
                let parsed = text.parse().ok().filter(|minutes| *minutes > 0.0);
                minutes = Some(parsed.ok_or("--minutes: expected a positive number")?);
            }
            lexopt::Arg::Long("runs") => {
                let text = args.value()?.to_string_lossy().into_owned();
                let parsed = text.parse().ok().filter(|runs| *runs > 0);
                runs = Some(parsed.ok_or("--runs: expected a positive integer")?);
            }
            _ => return Err(arg.unexpected().into()),
        }
    }
    let limits = Limits { minutes: minutes.or(runs.is_none().then_some(1.0)), runs };
    let targets = selected_targets(target.as_deref())?;
    let prefix = cargo_fuzz()?;
    let mut results = Vec::new();
    for name in targets {
        println!("\n==> fuzz {name}");
        let result = fuzz(&prefix, &name, limits);
        results.push((name, result));
    }
    summary(&results)
}

/// When a target ends; the first limit counts.
#[derive(Clone, Copy, Debug)]
struct Limits {
    minutes: Option<f64>,
    runs: Option<u64>,
}

/// The named target, or all targets.
fn selected_targets(name: Option<&str>) -> TaskResult<Vec<String>> {
    let manifest = shell::root().join("fuzz/Cargo.toml");
    let text = std::fs::read_to_string(manifest)
        .map_err(|error| format!("cannot read fuzz/Cargo.toml: {error}"))?;
    let all = targets(&text)?;
    match name {
        None => Ok(all),
        Some(name) if all.iter().any(|known| known == name) => Ok(vec![name.to_owned()]),
        Some(name) => {
            Err(format!("unknown fuzz target `{name}`; targets: {}", all.join(", ")).into())
        }
    }
}

fn targets(manifest: &str) -> TaskResult<Vec<String>> {
    let manifest: Table = manifest.parse()?;
    let bins = manifest.get("bin").and_then(Value::as_array).into_iter().flatten();
    let names = bins.filter_map(|bin| bin.get("name")?.as_str().map(str::to_owned));
    Ok(names.collect())
}

/// cargo-fuzz with a nightly toolchain, or with a stable one that allows unstable features.
#[derive(Debug)]
struct CargoFuzz {
    nightly: bool,
}

impl CargoFuzz {
    fn command(&self) -> Command {
        // The rustup proxy, not the cargo that started us: only the proxy understands `+nightly`.
        let mut command = shell::program("cargo");
        if self.nightly {
            command.arg("+nightly").env_remove("RUSTUP_TOOLCHAIN");
        } else {
            command.env("RUSTC_BOOTSTRAP", "1");
        }
        command.arg("fuzz");
        command
    }
}

fn cargo_fuzz() -> TaskResult<CargoFuzz> {
    let toolchains =
        shell::output(shell::program("rustup").args(["toolchain", "list"])).unwrap_or_default();
    let nightly = toolchains.lines().any(|line| line.starts_with("nightly"));
    let found = CargoFuzz { nightly };
    if shell::output(found.command().arg("--version")).is_err() {
        shell::run(shell::cargo().args(["install", "--locked", "cargo-fuzz"]))?;
    }
    Ok(found)
}

/// Fuzzes one target; returns the number of inputs.
fn fuzz(prefix: &CargoFuzz, target: &str, limits: Limits) -> TaskResult<u64> {
    let mut command = prefix.command();
    // The project has no `unsafe` code, so a sanitizer would only make it slower.
    command.args(["run", "--sanitizer", "none", target, "--", "-print_final_stats=1"]);
    command.args(limits.minutes.map(|it| format!("-max_total_time={}", (it * 60.0).ceil())));
    command.args(limits.runs.map(|it| format!("-runs={it}")));
    let mut child = command.stderr(Stdio::piped()).spawn()?;
    let stderr = child.stderr.take().expect("stderr is piped just above");
    let mut runs = None;
    for line in BufReader::new(stderr).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        eprintln!("{line}");
        runs = executed(&line).or(runs);
    }
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("{status}; the failing input is in fuzz/artifacts/{target}").into());
    }
    runs.ok_or_else(|| "no statistics in the output of libFuzzer".into())
}

/// The number of executed inputs in libFuzzer's statistics.
fn executed(line: &str) -> Option<u64> {
    line.strip_prefix("stat::number_of_executed_units:")?.trim().parse().ok()
}

fn summary(results: &[(String, TaskResult<u64>)]) -> TaskResult {
    println!();
    for (name, result) in results {
        match result {
            Ok(runs) => println!("{name}: {runs} runs"),
            Err(error) => println!("{name}: FAILED: {error}"),
        }
    }
    let failed = results.iter().filter(|(_, result)| result.is_err()).count();
    if failed == 0 { Ok(()) } else { Err(format!("{failed} fuzz targets failed").into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_the_binaries_of_the_manifest() {
        let manifest = "[package]\nname = \"fuzz\"\n[[bin]]\nname = \"parse\"\npath = \"a.rs\"\n[[bin]]\nname = \"edit\"\n";
        assert_eq!(targets(manifest).expect("valid"), ["parse", "edit"]);
        assert!(targets("[[bin").is_err());
    }

    #[test]
    fn the_number_of_runs_is_read_from_the_statistics() {
        assert_eq!(executed("stat::number_of_executed_units: 184223"), Some(184_223));
        assert_eq!(executed("#2 INITED cov: 3"), None);
    }

    #[test]
    fn one_failed_target_fails_the_command() {
        assert!(summary(&[("a".to_owned(), Ok(3))]).is_ok());
        assert!(
            summary(&[("a".to_owned(), Ok(3)), ("b".to_owned(), Err("crash".into()))]).is_err()
        );
    }
}
