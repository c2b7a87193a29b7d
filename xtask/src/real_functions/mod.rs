//! `cargo xtask real-functions`: functions that nobody here wrote, run by krm as commands, in containers and as WASI modules.
//!
//! Each must give the same in every way, and change only what it is for. One that cannot be fetched is named, and is no error.

mod install;
mod list;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use install::Installed;
use list::{Expected, FUNCTIONS, PACKAGE, RealFunction};

use crate::engine::Engine;
use crate::{Outcome, shell};

/// The files of a package.
type Files = BTreeMap<String, String>;

/// What runs the functions.
struct Bench {
    krm: PathBuf,
    engine: Result<Engine, String>,
    folder: PathBuf,
}

pub(crate) fn run(mut args: lexopt::Parser) -> Outcome {
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
        println!("nothing runs in containers: {error}");
    }
    let folder = shell::target().join("peers/functions/packages");
    let bench = Bench { krm: shell::target().join("debug/krm"), engine, folder };
    let (mut here, mut wrong, mut count) = (0, 0, 0);
    for function in FUNCTIONS.iter().filter(|it| it.name.contains(&only)) {
        count += 1;
        let installed = match install::install(&function.source) {
            Ok(installed) => installed,
            Err(error) => {
                println!("{}: not installed: {error}", function.name);
                // So that the work is known to be right where it can be had.
                if matches!(function.expected, Expected::BuiltIn) {
                    bench.built_in(function)?;
                }
                continue;
            }
        };
        here += 1;
        match bench.check(function, &installed) {
            Ok(said) => println!("{}: {said}", function.name),
            Err(error) => {
                println!("{}: WRONG: {error}", function.name);
                wrong += 1;
            }
        }
    }
    println!("{here} of {count} functions are here");
    if wrong > 0 {
        Err(format!("{wrong} functions are not as they should be").into())
    } else {
        Ok(())
    }
}

impl Bench {
    /// Runs a function in every way that there is; says which, or what is wrong.
    fn check(&self, function: &RealFunction, installed: &Installed) -> Outcome<String> {
        let quoted: Vec<String> =
            installed.command.iter().cloned().chain(words(function)).map(|it| quote(&it)).collect();
        let exec = self.eval(function, &["--exec", &quoted.join(" ")])?;
        let mut said = vec!["exec".to_owned()];
        let mut others: Vec<(&str, Files)> = Vec::new();
        match self.image(function, installed) {
            Ok(image) => {
                let words = ["-i", &image, "--image-pull-policy", "never"];
                others.push(("container", self.eval(function, &words)?));
            }
            Err(why) => said.push(format!("no container ({why})")),
        }
        match &installed.module {
            Ok(module) if function.words.is_empty() => {
                let module = module.display().to_string();
                others.push(("WASI", self.eval(function, &["--wasm", &module])?));
            }
            Ok(_) => said.push("no WASI (a module gets no arguments)".to_owned()),
            Err(why) => said.push(format!("no WASI ({why})")),
        }
        for (way, files) in others {
            if files != exec {
                return Err(format!("as {way} it gives something else than as a command").into());
            }
            said.push(way.to_owned());
        }
        let lines = self.difference(&exec)?;
        match function.expected {
            Expected::Lines(expected) if lines != expected => {
                return Err(format!("it changes\n{}", lines.join("\n")).into());
            }
            Expected::Lines(_) => {}
            Expected::BuiltIn => {
                if self.built_in(function)? != exec {
                    let lines = lines.join("\n");
                    return Err(format!("the one that is built in does not change\n{lines}").into());
                }
                said.push("as built in".to_owned());
            }
        }
        Ok(format!("{}; {} lines of difference", said.join(", "), lines.len()))
    }

    /// The package after the function, which runs on a copy of it.
    fn eval(&self, function: &RealFunction, way: &[&str]) -> Outcome<Files> {
        let package = self.folder.join("after");
        write(&package, PACKAGE.iter().copied())?;
        let mut krm = shell::program(&self.krm);
        krm.args(["fn", "eval", "-q"]).arg(&package).args(way);
        if !function.config.is_empty() {
            let config = self.folder.join("config.yaml");
            fs::write(&config, function.config)?;
            krm.arg("--fn-config").arg(config);
        }
        self.lend(&mut krm);
        shell::output(&mut krm)?;
        read(&package)
    }

    /// The package after the function of the same name that is built in, which must have something to do.
    fn built_in(&self, function: &RealFunction) -> Outcome<Files> {
        let image = format!("ghcr.io/kptdev/krm-functions-catalog/{}", function.name);
        let after = self.eval(function, &["-i", &image, "--only-builtin"])?;
        let is_same =
            PACKAGE.iter().all(|(path, text)| after.get(*path).map(String::as_str) == Some(text));
        if is_same { Err(format!("{} changes nothing", function.name).into()) } else { Ok(after) }
    }

    /// The function in an empty image.
    fn image(&self, function: &RealFunction, installed: &Installed) -> Outcome<String> {
        if let Err(why) = &self.engine {
            return Err(why.clone().into());
        }
        let [program] = &installed.command[..] else { return Err("it is a script".into()) };
        if !installed.is_static {
            return Err("it is not static".into());
        }
        let stage = self.folder.join("image");
        fs::create_dir_all(&stage)?;
        fs::copy(program, stage.join("function"))?;
        let archive = self.folder.join("image.tar");
        shell::output(
            shell::program("tar").arg("-C").arg(&stage).arg("-cf").arg(&archive).arg("."),
        )?;
        let words: Vec<String> =
            ["/function".to_owned()].into_iter().chain(words(function)).collect();
        let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
        let image = format!(
            "example.com/real/{}",
            function.name.replace([' ', '/', '\''], "-").to_lowercase()
        );
        let mut docker = shell::program("docker");
        docker.args(["import", "--change", &format!("CMD [{}]", words.join(", "))]);
        self.lend(docker.arg(&archive).arg(&image));
        shell::output(&mut docker)?;
        Ok(image)
    }

    fn lend(&self, command: &mut Command) {
        if let Ok(engine) = &self.engine {
            engine.lend(command);
        }
    }

    /// The lines that came and went, as git sees them.
    fn difference(&self, after: &Files) -> Outcome<Vec<String>> {
        write(&self.folder.join("before"), PACKAGE.iter().copied())?;
        let files = after.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        write(&self.folder.join("after"), files)?;
        let mut git = shell::program("git");
        git.current_dir(&self.folder).args([
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

fn words(function: &RealFunction) -> impl Iterator<Item = String> {
    function.words.iter().map(|word| (*word).to_owned())
}

/// A word as a shell reads it.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A folder with these files and no other.
fn write<'f>(folder: &Path, files: impl Iterator<Item = (&'f str, &'f str)>) -> Outcome {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, text)?;
    }
    Ok(())
}

fn read(folder: &Path) -> Outcome<Files> {
    let mut files = Files::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next)? {
            let path = entry?.path();
            if path.is_dir() {
                waiting.push(path);
                continue;
            }
            let name = path.strip_prefix(folder)?.display().to_string();
            files.insert(name, fs::read_to_string(&path)?);
        }
    }
    Ok(files)
}
