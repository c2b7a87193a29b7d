//! The overhead of running a function that returns its input, for every function runtime that is available.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::measure::{self, Sample};
use super::table::{NONE, Table, megabytes, milliseconds};
use super::{Corpora, KRM, Options, Tools, containers, images};
use crate::corpus::Layout;
use crate::{TaskResult, shell};

pub(super) const NAME: &str = "functions";

/// Compat: the newest kustomize still has `fn run`.
pub(super) const PEER: &str = "kustomize-5";

pub(super) const RESOURCES: usize = 1_000;

/// A program that returns its input, compiled to Wasm.
const CAT: &str =
    "fn main() { std::io::copy(&mut std::io::stdin(), &mut std::io::stdout()).unwrap(); }\n";
/// A Starlark script that reads every resource and changes none.
const SCRIPT: &str = "for resource in ctx.resource_list[\"items\"]:\n  resource[\"kind\"]\n";

/// One way to run the function.
struct Variant {
    name: &'static str,
    command: Command,
}

pub(super) fn run(options: &Options, tools: &Tools, corpora: &mut Corpora) -> TaskResult {
    let Some(krm) = tools.programs.get(KRM) else { return Ok(()) };
    let directory = corpora.get(RESOURCES, Layout::Many)?.directory.clone();
    let mut variants = variants(krm, tools.programs.get(PEER), &directory)?;
    println!("\n## {NAME}: {RESOURCES} resources through `cat`, median of {} runs\n", options.runs);
    let mut samples: Vec<Vec<Sample>> = variants.iter().map(|_| Vec::new()).collect();
    for _ in 0..options.runs {
        for (variant, samples) in variants.iter_mut().zip(&mut samples) {
            samples.push(
                measure::quietly(&mut variant.command)
                    .map_err(|error| format!("{}: {error}", variant.name))?,
            );
        }
    }
    let medians: Vec<Sample> = samples.iter().filter_map(|it| measure::median(it)).collect();
    let first = medians[0].seconds;
    let mut table = Table::new(1, &["variant", "median", "to krm exec", "peak MB"]);
    for (variant, sample) in variants.iter().zip(&medians) {
        let ratio = format!("{:.1}", sample.seconds / first);
        table.row(vec![
            variant.name.to_owned(),
            milliseconds(sample.seconds),
            if variant.name == variants[0].name { NONE.to_owned() } else { ratio },
            megabytes(sample.peak_bytes),
        ]);
    }
    print!("{}", table.render());
    containers::run(options, krm, &directory)?;
    images::run(options, krm, &directory)
}

fn variants(krm: &Path, kustomize: Option<&PathBuf>, directory: &Path) -> TaskResult<Vec<Variant>> {
    let eval = |arguments: &[&str]| {
        let mut command = Command::new(krm);
        command.args(["fn", "eval", "-q"]).arg(directory).args(arguments);
        command
    };
    let mut variants = vec![
        Variant { name: "krm, exec", command: eval(&["--exec", "cat"]) },
        Variant { name: "krm, built-in", command: eval(&["-i", "no-op"]) },
    ];
    if let Some(kustomize) = kustomize {
        let mut command = Command::new(kustomize);
        command.args(["fn", "run"]).arg(directory).args([
            "--enable-exec",
            "--exec-path",
            "/bin/cat",
        ]);
        variants.push(Variant { name: "kustomize, exec", command });
    }
    let place = shell::target().join("bench/functions");
    fs::create_dir_all(&place)?;
    match module(&place) {
        Some(file) => {
            let command = eval(&["--wasm", &file.to_string_lossy()]);
            variants.push(Variant { name: "krm, Wasm", command });
        }
        None => println!("skipping Wasm: `rustup target add wasm32-wasip1` installs the target"),
    }
    let script = place.join("look.star");
    fs::write(&script, SCRIPT)?;
    let starlark = eval(&["--starlark", &script.to_string_lossy()]);
    if measure::quietly(&mut eval(&["--starlark", &script.to_string_lossy()])).is_ok() {
        variants.push(Variant { name: "krm, Starlark", command: starlark });
    }
    Ok(variants)
}

/// Compiles the program to Wasm, if the target is installed.
pub(super) fn module(place: &Path) -> Option<PathBuf> {
    let (source, module) = (place.join("cat.rs"), place.join("cat.wasm"));
    fs::write(&source, CAT).ok()?;
    let mut compiler = Command::new("rustc");
    compiler.args(["-O", "--target", "wasm32-wasip1", "-o"]).arg(&module).arg(&source);
    let compiled = compiler.stderr(Stdio::null()).status().ok()?;
    compiled.success().then_some(module)
}
