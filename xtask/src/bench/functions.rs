//! A function that gives back what it gets: what an orchestrator costs beside it, for every runtime that is here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::measure::{self, Sample};
use super::table::{NONE, Table, megabytes, milliseconds};
use super::{Corpora, KRM, Options, Tools, containers};
use crate::corpus::Layout;
use crate::{Outcome, shell};

pub(super) const NAME: &str = "functions";

/// Compat: the newest kustomize, which still has `fn run`.
pub(super) const PEER: &str = "kustomize-5";

pub(super) const RESOURCES: usize = 1_000;

/// A program that gives back what it gets, for WASI.
const CAT: &str =
    "fn main() { std::io::copy(&mut std::io::stdin(), &mut std::io::stdout()).unwrap(); }\n";
/// A script that looks at every resource and changes none.
const SCRIPT: &str = "for resource in ctx.resource_list[\"items\"]:\n  resource[\"kind\"]\n";

/// One way to run the function.
struct Way {
    name: &'static str,
    command: Command,
}

pub(super) fn run(options: &Options, tools: &Tools, corpora: &mut Corpora) -> Outcome {
    let Some(krm) = tools.programs.get(KRM) else { return Ok(()) };
    let folder = corpora.get(RESOURCES, Layout::Many)?.folder.clone();
    let mut ways = ways(krm, tools.programs.get(PEER), &folder)?;
    println!("\n## {NAME}: {RESOURCES} resources through `cat`, median of {} runs\n", options.runs);
    let mut samples: Vec<Vec<Sample>> = ways.iter().map(|_| Vec::new()).collect();
    for _ in 0..options.runs {
        for (way, samples) in ways.iter_mut().zip(&mut samples) {
            samples.push(
                measure::quietly(&mut way.command)
                    .map_err(|error| format!("{}: {error}", way.name))?,
            );
        }
    }
    let medians: Vec<Sample> = samples.iter().filter_map(|it| measure::median(it)).collect();
    let first = medians[0].seconds;
    let mut table = Table::new(1, &["way", "median", "to krm exec", "peak MB"]);
    for (way, sample) in ways.iter().zip(&medians) {
        let ratio = format!("{:.1}", sample.seconds / first);
        table.row(vec![
            way.name.to_owned(),
            milliseconds(sample.seconds),
            if way.name == ways[0].name { NONE.to_owned() } else { ratio },
            megabytes(sample.peak_bytes),
        ]);
    }
    print!("{}", table.render());
    containers::run(options, krm, &folder)
}

fn ways(krm: &Path, kustomize: Option<&PathBuf>, folder: &Path) -> Outcome<Vec<Way>> {
    let eval = |words: &[&str]| {
        let mut command = Command::new(krm);
        command.args(["fn", "eval", "-q"]).arg(folder).args(words);
        command
    };
    let mut ways = vec![
        Way { name: "krm, exec", command: eval(&["--exec", "cat"]) },
        Way { name: "krm, built in", command: eval(&["-i", "no-op"]) },
    ];
    if let Some(kustomize) = kustomize {
        let mut command = Command::new(kustomize);
        command.args(["fn", "run"]).arg(folder).args(["--enable-exec", "--exec-path", "/bin/cat"]);
        ways.push(Way { name: "kustomize, exec", command });
    }
    let place = shell::target().join("bench/functions");
    fs::create_dir_all(&place)?;
    match module(&place) {
        Some(file) => {
            let command = eval(&["--wasm", &file.to_string_lossy()]);
            ways.push(Way { name: "krm, WASI", command });
        }
        None => println!("no WASI module: `rustup target add wasm32-wasip1` makes one possible"),
    }
    let script = place.join("look.star");
    fs::write(&script, SCRIPT)?;
    let starlark = eval(&["--starlark", &script.to_string_lossy()]);
    if measure::quietly(&mut eval(&["--starlark", &script.to_string_lossy()])).is_ok() {
        ways.push(Way { name: "krm, Starlark", command: starlark });
    }
    Ok(ways)
}

/// The program as a module, where the compiler can make one.
fn module(place: &Path) -> Option<PathBuf> {
    let (source, module) = (place.join("cat.rs"), place.join("cat.wasm"));
    fs::write(&source, CAT).ok()?;
    let mut compiler = Command::new("rustc");
    compiler.args(["-O", "--target", "wasm32-wasip1", "-o"]).arg(&module).arg(&source);
    let compiled = compiler.stderr(Stdio::null()).status().ok()?;
    compiled.success().then_some(module)
}
