//! `cargo xtask real-functions`: runs third-party functions as exec, container and Wasm functions.
//!
//! Each must return the same output with every runtime and make only the expected changes. A function that cannot be
//! installed is reported and skipped.

mod install;
mod list;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use install::Installed;
use list::{Expected, FUNCTIONS, PACKAGE, RealFunction};

use crate::engine::Engine;
use crate::{TaskResult, shell};

/// The files of a package.
type Files = BTreeMap<String, String>;

/// Runs the functions.
struct Runner {
    krm: PathBuf,
    engine: Result<Engine, String>,
    directory: PathBuf,
}

pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
    let mut only = String::new();
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Long("only") => only = args.value()?.to_string_lossy().into_owned(),
            _ => return Err(arg.unexpected().into()),
        }
    }
    shell::run(shell::cargo().args(["build", "--quiet", "-p", "krm-cli"]))?;
    let engine = Engine::start(false).map_err(|error| error.to_string());
    if let Err(error) = &engine {
        println!("skipping containers: {error}");
    }
    let directory = shell::target().join("peers/functions/packages");
    let runner = Runner { krm: shell::target().join("debug/krm"), engine, directory };
    let (mut installed_count, mut failed, mut count) = (0, 0, 0);
    for function in FUNCTIONS.iter().filter(|it| it.name.contains(&only)) {
        count += 1;
        let installed = match install::install(&function.source) {
            Ok(installed) => installed,
            Err(error) => {
                println!("{}: not installed: {error}", function.name);
                // Still check that the built-in function changes something.
                if matches!(function.expected, Expected::BuiltIn) {
                    runner.built_in(function)?;
                }
                continue;
            }
        };
        installed_count += 1;
        match runner.check(function, &installed) {
            Ok(summary) => println!("{}: {summary}", function.name),
            Err(error) => {
                println!("{}: FAILED: {error}", function.name);
                failed += 1;
            }
        }
    }
    println!("{installed_count} of {count} functions are installed");
    if failed > 0 { Err(format!("{failed} functions failed").into()) } else { Ok(()) }
}

impl Runner {
    /// Runs a function with every runtime and compares the results; returns a summary.
    fn check(&self, function: &RealFunction, installed: &Installed) -> TaskResult<String> {
        let quoted: Vec<String> = installed
            .command
            .iter()
            .cloned()
            .chain(arguments(function))
            .map(|it| quote(&it))
            .collect();
        let exec = self.eval(function, &["--exec", &quoted.join(" ")])?;
        let mut summary = vec!["exec".to_owned()];
        let mut others: Vec<(&str, Files)> = Vec::new();
        match self.image(function, installed) {
            Ok(image) => {
                let flags = ["-i", &image, "--image-pull-policy", "never"];
                others.push(("container", self.eval(function, &flags)?));
            }
            Err(why) => summary.push(format!("no container ({why})")),
        }
        match &installed.module {
            Ok(module) if function.arguments.is_empty() => {
                let module = module.display().to_string();
                others.push(("Wasm", self.eval(function, &["--wasm", &module])?));
            }
            Ok(_) => summary.push("no Wasm (a module gets no arguments)".to_owned()),
            Err(why) => summary.push(format!("no Wasm ({why})")),
        }
        for (runtime, files) in others {
            if files != exec {
                return Err(format!(
                    "the {runtime} function returns something else than the exec function"
                )
                .into());
            }
            summary.push(runtime.to_owned());
        }
        let lines = self.changed_lines(&exec)?;
        match function.expected {
            Expected::Lines(expected) if lines != expected => {
                return Err(format!("unexpected changes:\n{}", lines.join("\n")).into());
            }
            Expected::Lines(_) => {}
            Expected::BuiltIn => {
                if self.built_in(function)? != exec {
                    let lines = lines.join("\n");
                    return Err(format!(
                        "the built-in function makes different changes from\n{lines}"
                    )
                    .into());
                }
                summary.push("same as built-in".to_owned());
            }
        }
        Ok(format!("{}; {} changed lines", summary.join(", "), lines.len()))
    }

    /// Runs the function on a copy of the package and returns the result.
    fn eval(&self, function: &RealFunction, flags: &[&str]) -> TaskResult<Files> {
        let package = self.directory.join("after");
        write(&package, PACKAGE.iter().copied())?;
        let mut krm = shell::program(&self.krm);
        krm.args(["fn", "eval", "-q"]).arg(&package).args(flags);
        if !function.config.is_empty() {
            let config = self.directory.join("config.yaml");
            fs::write(&config, function.config)?;
            krm.arg("--fn-config").arg(config);
        }
        self.set_engine(&mut krm);
        shell::output(&mut krm)?;
        read(&package)
    }

    /// Runs the built-in function of the same name, which must change something.
    fn built_in(&self, function: &RealFunction) -> TaskResult<Files> {
        let image = format!("ghcr.io/kptdev/krm-functions-catalog/{}", function.name);
        let after = self.eval(function, &["-i", &image, "--only-builtin"])?;
        let is_same =
            PACKAGE.iter().all(|(path, text)| after.get(*path).map(String::as_str) == Some(text));
        if is_same { Err(format!("{} changes nothing", function.name).into()) } else { Ok(after) }
    }

    /// Imports the function into an empty image.
    fn image(&self, function: &RealFunction, installed: &Installed) -> TaskResult<String> {
        if let Err(why) = &self.engine {
            return Err(why.clone().into());
        }
        let [program] = &installed.command[..] else { return Err("a script".into()) };
        if !installed.is_static {
            return Err("not statically linked".into());
        }
        let stage = self.directory.join("image");
        fs::create_dir_all(&stage)?;
        fs::copy(program, stage.join("function"))?;
        let archive = self.directory.join("image.tar");
        shell::output(
            shell::program("tar").arg("-C").arg(&stage).arg("-cf").arg(&archive).arg("."),
        )?;
        let command: Vec<String> =
            ["/function".to_owned()].into_iter().chain(arguments(function)).collect();
        let command: Vec<String> = command.iter().map(|part| format!("{part:?}")).collect();
        let image = format!(
            "example.com/real/{}",
            function.name.replace([' ', '/', '\''], "-").to_lowercase()
        );
        let mut docker = shell::program("docker");
        docker.args(["import", "--change", &format!("CMD [{}]", command.join(", "))]);
        self.set_engine(docker.arg(&archive).arg(&image));
        shell::output(&mut docker)?;
        Ok(image)
    }

    fn set_engine(&self, command: &mut Command) {
        if let Ok(engine) = &self.engine {
            engine.set_environment(command);
        }
    }

    /// The added and removed lines.
    fn changed_lines(&self, after: &Files) -> TaskResult<Vec<String>> {
        write(&self.directory.join("before"), PACKAGE.iter().copied())?;
        let files = after.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        write(&self.directory.join("after"), files)?;
        let mut git = shell::program("git");
        git.current_dir(&self.directory).args([
            "diff",
            "--no-index",
            "-U0",
            "--no-color",
            "before",
            "after",
        ]);
        let text = String::from_utf8(git.output()?.stdout)?;
        let is_change = |line: &&str| {
            line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---")
        };
        Ok(text.lines().filter(is_change).map(str::to_owned).collect())
    }
}

fn arguments(function: &RealFunction) -> impl Iterator<Item = String> {
    function.arguments.iter().map(|argument| (*argument).to_owned())
}

/// Quotes an argument for a shell.
fn quote(argument: &str) -> String {
    format!("'{}'", argument.replace('\'', "'\\''"))
}

/// Replaces a directory by one with exactly these files.
fn write<'f>(directory: &Path, files: impl Iterator<Item = (&'f str, &'f str)>) -> TaskResult {
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    fs::create_dir_all(directory)?;
    for (path, text) in files {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        fs::write(path, text)?;
    }
    Ok(())
}

fn read(directory: &Path) -> TaskResult<Files> {
    let mut files = Files::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(next) = pending.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                pending.push(path);
                continue;
            }
            let name = path.strip_prefix(directory)?.display().to_string();
            files.insert(name, fs::read_to_string(&path)?);
        }
    }
    Ok(files)
}
