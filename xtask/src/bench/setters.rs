//! Setting one value in many resources: krm, kustomize's `cfg set` and kpt's apply-setters, with the number of changed lines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::{self, Sample};
use super::table::{self, Table};
use super::writes::{self, MAX_FLOOR_RATIO};
use super::{KRM, Options, Tools};
use crate::corpus::{self, Layout};
use crate::{TaskResult, shell};

pub(super) const NAME: &str = "setters";

const SIZES: &[usize] = &[1_000, 10_000];

/// The other tools; a missing one is reported and left out. kpt also needs the function program.
pub(super) const PEERS: &[&str] = &["kustomize-4.5.7", "kpt", "apply-setters"];

/// The setter reference in the corpus, and the same for kustomize.
const KPT_SET: &str = "# kpt-set: ${replicas}";
const OPENAPI: &str = "# {\"$openapi\":\"replicas\"}";

const KRMFILE: &str = "apiVersion: config.k8s.io/v1alpha1
kind: Krmfile
openAPI:
  definitions:
    io.k8s.cli.setters.replicas:
      type: integer
      x-k8s-cli:
        setter:
          name: replicas
          value: \"0\"
";
const KPTFILE: &str = "apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: bench
pipeline:
  mutators:
  - image: ghcr.io/kptdev/krm-functions-catalog/apply-setters:v0.2
    configMap:
      replicas: \"0\"
";

pub(super) fn run(options: &Options, tools: &Tools) -> TaskResult {
    println!("\n## {NAME}: median of {} runs\n", options.runs);
    let header =
        ["dialect", "tool", "resources", "median", "to krm --check", "peak MB", "lines changed"];
    let mut table = Table::new(2, &header);
    for &size in SIZES {
        let corpus = Corpus::write(size)?;
        for dialect in [Dialect::OpenApi, Dialect::KptSet] {
            compare(dialect, size, &corpus, tools, options, &mut table)?;
        }
    }
    print!("{}", table.render());
    Ok(())
}

/// Writes 10,000 resources and a Kptfile whose setter many of them refer to.
pub(super) fn write_kpt_package(directory: &Path) -> TaskResult {
    corpus::write(directory, SIZES[1], Layout::Many)?;
    Ok(fs::write(directory.join("Kptfile"), KPTFILE)?)
}

/// How the resources refer to the setter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    OpenApi,
    KptSet,
}

impl Dialect {
    fn name(self) -> &'static str {
        match self {
            Self::OpenApi => "set (openapi)",
            Self::KptSet => "set (kpt-set)",
        }
    }

    fn directory(self) -> &'static str {
        match self {
            Self::OpenApi => "openapi",
            Self::KptSet => "kpt-set",
        }
    }
}

/// The same resources in both dialects, each with a copy that the other tool rewrites.
struct Corpus {
    directory: PathBuf,
    /// The number of fields that refer to the setter.
    fields: usize,
}

impl Corpus {
    fn write(size: usize) -> TaskResult<Self> {
        let directory = shell::target().join(format!("bench/setters-{size}"));
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        let mut fields = 0;
        for dialect in [Dialect::OpenApi, Dialect::KptSet] {
            let own = directory.join(dialect.directory());
            for copy in ["old", "krm", "peer"] {
                let into = own.join(copy);
                let written = corpus::write(&into, size, Layout::Many)?;
                match dialect {
                    Dialect::OpenApi => fs::write(into.join("Krmfile"), KRMFILE)?,
                    Dialect::KptSet => fs::write(into.join("Kptfile"), KPTFILE)?,
                }
                fields = 0;
                for path in written.files {
                    let text = fs::read_to_string(&path)?;
                    fields += text.matches(KPT_SET).count();
                    if dialect == Dialect::OpenApi {
                        fs::write(&path, text.replace(KPT_SET, OPENAPI))?;
                    }
                }
            }
        }
        Ok(Self { directory, fields })
    }

    fn at(&self, dialect: Dialect, copy: &str) -> PathBuf {
        self.directory.join(dialect.directory()).join(copy)
    }
}

/// The value differs in every run, so that every run changes every field.
fn value(run: usize) -> String {
    (100 + run).to_string()
}

fn compare(
    dialect: Dialect,
    size: usize,
    corpus: &Corpus,
    tools: &Tools,
    options: &Options,
    table: &mut Table,
) -> TaskResult {
    let Some(krm) = tools.programs.get(KRM) else { return Ok(()) };
    let [old, own, theirs] = ["old", "krm", "peer"].map(|copy| corpus.at(dialect, copy));
    let set = |run| command(krm, &own, &["cfg", "set", ".", "replicas", &value(run), "-q"]);
    shell::run(&mut set(0))?;
    let lines = writes::numstat(&old, &own)?;
    let expected = corpus.fields + 1;
    if lines != (expected, expected) {
        return Err(format!("expected {expected} lines added and removed, found {lines:?}").into());
    }
    let changed = changed_files(&old, &own)?;
    let (mut checks, mut sets, mut floors, mut peers) =
        (Vec::new(), Vec::new(), Vec::new(), Ok(Vec::new()));
    let mut peer_lines = None;
    for run in 0..options.runs {
        checks.push(measure::exiting_with(set(run + 1).arg("--check"), 1)?);
        floors.push(writes::floor(&changed)?);
        sets.push(measure::quietly(&mut set(run + 1))?);
        if let Ok(list) = &mut peers {
            match once(dialect, &theirs, &value(run + 1), tools) {
                Ok(sample) => list.push(sample),
                Err(reason) => peers = Err(reason),
            }
            if peer_lines.is_none() && peers.is_ok() {
                peer_lines = Some(writes::numstat(&old, &theirs)?);
            }
        }
    }
    let check = measure::median(&checks).expect("at least one run");
    let total = |(added, removed): (usize, usize)| (added + removed).to_string();
    let mut row = |tool: &str, sample: Sample, lines: String| {
        table.row(vec![
            dialect.name().to_owned(),
            tool.to_owned(),
            size.to_string(),
            table::milliseconds(sample.seconds),
            table::ratio(sample.seconds, Some(check.seconds)),
            table::megabytes(sample.peak_bytes),
            lines,
        ]);
    };
    row("krm --check", check, String::new());
    let set = measure::median(&sets).expect("at least one run");
    row("krm", set, total(lines));
    let limit = MAX_FLOOR_RATIO * writes::median_seconds(floors) + check.seconds;
    row("limit for krm", Sample { seconds: limit, peak_bytes: 0 }, String::new());
    match peers {
        Ok(list) => {
            let sample = measure::median(&list).expect("at least one run");
            row(peer(dialect), sample, peer_lines.map(total).unwrap_or_default());
        }
        Err(reason) => table.row(vec![
            dialect.name().to_owned(),
            peer(dialect).to_owned(),
            size.to_string(),
            reason,
        ]),
    }
    Ok(())
}

fn peer(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::OpenApi => PEERS[0],
        Dialect::KptSet => PEERS[1],
    }
}

/// Sets the value with the other tool, which always writes.
fn once(dialect: Dialect, directory: &Path, value: &str, tools: &Tools) -> Result<Sample, String> {
    let program = |name: &str| tools.programs.get(name).ok_or(format!("{name} is not installed"));
    let tool = program(peer(dialect))?;
    let mut command = match dialect {
        Dialect::OpenApi => command(tool, directory, &["cfg", "set", ".", "replicas", value]),
        Dialect::KptSet => {
            let function = program(PEERS[2])?;
            let mut command = command(tool, directory, &["fn", "eval", ".", "--exec"]);
            command.arg(function).args(["--", &format!("replicas={value}")]);
            command
        }
    };
    measure::quietly(&mut command).map_err(|error| error.to_string())
}

fn command(program: &Path, directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(directory);
    command
}

/// The files that differ between two copies of a corpus, as paths of the second.
fn changed_files(old: &Path, new: &Path) -> TaskResult<Vec<PathBuf>> {
    let mut git = shell::program("git");
    let output = git.args(["diff", "--no-index", "--name-only"]).arg(old).arg(new).output()?;
    let output = String::from_utf8(output.stdout)?;
    Ok(output.lines().map(|line| Path::new("/").join(line.trim_start_matches('/'))).collect())
}
