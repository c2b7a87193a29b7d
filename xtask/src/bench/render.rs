//! `fn render` with three functions: krm with its built-in ones, and kpt with the catalog's as exec functions.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::{self, Sample};
use super::table::{self, Table};
use super::writes::{self, MAX_FLOOR_RATIO};
use super::{KRM, Options, Tools};
use crate::corpus::{self, Layout};
use crate::{TaskResult, shell};

pub(super) const NAME: &str = "render";

pub(super) const RESOURCES: usize = 1_000;
const PACKAGES: usize = 100;

/// kpt, and the functions that it runs; if one is missing, kpt is left out.
pub(super) const PEERS: &[&str] = &["kpt", "set-namespace", "set-labels", "apply-setters"];

/// The functions of the pipeline, each with the key of the one value that it gets.
const FUNCTIONS: [(&str, &str); 3] =
    [("set-namespace", "namespace"), ("set-labels", "run"), ("apply-setters", "replicas")];

pub(super) fn run(options: &Options, tools: &Tools) -> TaskResult {
    let Some(krm) = tools.programs.get(KRM) else { return Ok(()) };
    println!(
        "\n## {NAME}: {RESOURCES} resources, three functions, median of {} runs\n",
        options.runs
    );
    let header = ["work", "tool", "median", "to krm --check", "peak MB"];
    let mut table = Table::new(2, &header);
    for layout in [Packages::One, Packages::Many] {
        compare(layout, krm, tools, options, &mut table)?;
    }
    print!("{}", table.render());
    Ok(())
}

/// How the resources are divided into packages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Packages {
    One,
    Many,
}

impl Packages {
    fn name(self) -> String {
        match self {
            Self::One => "one package".to_owned(),
            Self::Many => format!("{PACKAGES} subpackages"),
        }
    }

    /// Writes the resources; returns the package directories and all files.
    fn write(self, directory: &Path) -> TaskResult<(Vec<PathBuf>, Vec<PathBuf>)> {
        if directory.exists() {
            fs::remove_dir_all(directory)?;
        }
        match self {
            Self::One => {
                let written = corpus::write(directory, RESOURCES, Layout::Many)?;
                Ok((vec![directory.to_owned()], written.files))
            }
            Self::Many => {
                let (mut packages, mut files) = (Vec::new(), Vec::new());
                for number in 0..PACKAGES {
                    let package = directory.join(format!("package-{number:03}"));
                    files
                        .extend(corpus::write(&package, RESOURCES / PACKAGES, Layout::Many)?.files);
                    packages.push(package);
                }
                fs::write(directory.join("Kptfile"), kptfile(None, |_| String::new()))?;
                Ok((packages, files))
            }
        }
    }
}

/// A Kptfile with the pipeline. The values differ in every run, so that every run changes every resource.
fn kptfile(run: Option<usize>, program: impl Fn(&str) -> String) -> String {
    let head = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: bench\n";
    let Some(run) = run else { return head.to_owned() };
    let function = |(name, key): (&str, &str)| {
        let value =
            if key == "replicas" { format!("\"{}\"", 100 + run) } else { format!("run-{run}") };
        format!("  - {}\n    configMap:\n      {key}: {value}\n", program(name))
    };
    let functions: String = FUNCTIONS.into_iter().map(function).collect();
    format!("{head}pipeline:\n  mutators:\n{functions}")
}

/// A Kptfile with the pipeline of built-in functions.
pub(super) fn pipeline() -> String {
    kptfile(Some(1), |name| format!("image: {name}"))
}

fn prepare(packages: &[PathBuf], run: usize, program: impl Fn(&str) -> String) -> TaskResult {
    for package in packages {
        fs::write(package.join("Kptfile"), kptfile(Some(run), &program))?;
    }
    Ok(())
}

/// Writes the subpackages with their pipelines.
pub(super) fn write_packages(directory: &Path) -> TaskResult {
    let (packages, _) = Packages::Many.write(directory)?;
    prepare(&packages, 1, |name| format!("image: {name}"))
}

/// Writes a package that is rendered, with other values in its pipeline, which change every resource. Returns the bytes of all files.
pub(super) fn write_rendered(krm: &Path, directory: &Path) -> TaskResult<u64> {
    let (packages, files) = Packages::One.write(directory)?;
    let image = |name: &str| format!("image: {name}");
    prepare(&packages, 0, image)?;
    shell::run(Command::new(krm).args(["fn", "render", ".", "-q"]).current_dir(directory))?;
    prepare(&packages, 1, image)?;
    let lengths = files.iter().map(|file| Ok(fs::metadata(file)?.len()));
    lengths.sum()
}

/// Writes packages of one Deployment with two functions each, side by side in one package. Returns the bytes of all resources.
pub(super) fn write_siblings(directory: &Path, count: usize) -> TaskResult<u64> {
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    fs::create_dir_all(directory)?;
    let root = kptfile(None, |_| String::new());
    fs::write(directory.join("Kptfile"), &root)?;
    let functions = [
        "set-namespace\n    configMap:\n      namespace: run",
        "set-labels\n    configMap:\n      run: x",
    ];
    let functions = functions.map(|it| format!("  - image: {it}\n"));
    let own = format!("{root}pipeline:\n  mutators:\n{}", functions.concat());
    let mut bytes = root.len();
    for number in 0..count {
        let package = directory.join(format!("package-{number:05}"));
        fs::create_dir(&package)?;
        let deployment = deployment(number);
        bytes += own.len() + deployment.len();
        fs::write(package.join("Kptfile"), &own)?;
        fs::write(package.join("deployment.yaml"), deployment)?;
    }
    Ok(bytes as u64)
}

fn deployment(number: usize) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-{number}\nspec:\n  replicas: 3\n  selector:\n    matchLabels:\n      app: web-{number}\n  template:\n    metadata:\n      labels:\n        app: web-{number}\n    spec:\n      containers:\n        - name: web\n          image: nginx:1.27 # pinned\n"
    )
}

fn compare(
    layout: Packages,
    krm: &Path,
    tools: &Tools,
    options: &Options,
    table: &mut Table,
) -> TaskResult {
    let directory = shell::target().join("bench/render");
    let own = directory.join("krm");
    let (packages, files) = layout.write(&own)?;
    let image = |name: &str| format!("image: {name}");
    let render = || {
        let mut command = Command::new(krm);
        command.args(["fn", "render", ".", "-q"]).current_dir(&own);
        command
    };
    prepare(&packages, 0, image)?;
    shell::run(&mut render())?;
    measure::quietly(render().arg("--check"))?;
    let (mut checks, mut renders, mut floors) = (Vec::new(), Vec::new(), Vec::new());
    for run in 1..=options.runs {
        prepare(&packages, run, image)?;
        checks.push(measure::exiting_with(render().arg("--check"), 1)?);
        floors.push(writes::floor(&files)?);
        renders.push(measure::quietly(&mut render())?);
    }
    let check = measure::median(&checks).expect("at least one run");
    let mut row = |tool: &str, sample: Sample| {
        table.row(vec![
            layout.name(),
            tool.to_owned(),
            table::milliseconds(sample.seconds),
            table::ratio(sample.seconds, Some(check.seconds)),
            table::megabytes(sample.peak_bytes),
        ]);
    };
    row("krm --check", check);
    row("krm", measure::median(&renders).expect("at least one run"));
    let limit = MAX_FLOOR_RATIO * writes::median_seconds(floors) + check.seconds;
    row("limit for krm", Sample { seconds: limit, peak_bytes: 0 });
    match peer(layout, &directory.join("peer"), tools, options) {
        Ok(sample) => row(PEERS[0], sample),
        Err(reason) => table.row(vec![layout.name(), PEERS[0].to_owned(), reason.to_string()]),
    }
    Ok(())
}

/// The same pipeline run by kpt with exec functions; kpt always writes.
fn peer(
    layout: Packages,
    directory: &Path,
    tools: &Tools,
    options: &Options,
) -> TaskResult<Sample> {
    let program =
        |name: &str| tools.programs.get(name).ok_or_else(|| format!("{name} is not installed"));
    let kpt = program(PEERS[0])?;
    for name in &PEERS[1..] {
        program(name)?;
    }
    let (packages, _) = layout.write(directory)?;
    let mut samples = Vec::new();
    for run in 0..options.runs {
        let exec = |name: &str| format!("exec: {}", tools.programs[name].display());
        prepare(&packages, run, exec)?;
        let mut command = Command::new(kpt);
        command.args(["fn", "render", ".", "--allow-exec"]).current_dir(directory);
        samples.push(measure::quietly(&mut command)?);
    }
    Ok(measure::median(&samples).expect("at least one run"))
}
