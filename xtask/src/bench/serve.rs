//! 1,000 packages over one and two `krm serve` processes, each of which evaluates one function at a time.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::measure::{self, Sample};
use super::table::{self, Table};
use super::{KRM, Options, Tools};
use crate::{TaskResult, shell};

pub(super) const NAME: &str = "serve";

const PACKAGES: usize = 1000;

/// A function that takes about as long as a small image: its time is on the server.
const SCRIPT: &str = "apiVersion: fn.kpt.dev/v1alpha1
kind: StarlarkRun
metadata:
  name: script
  annotations: {config.kubernetes.io/local-config: \"true\"}
source: |
  n = 0
  for i in range(200000):
    n = (n * 31 + i) % 1000003
  for r in ctx.resource_list[\"items\"]:
    r[\"metadata\"].setdefault(\"annotations\", {})[\"sum\"] = str(n)
";

/// A server that ends with the benchmark.
struct Server {
    process: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn start(krm: &Path) -> TaskResult<Self> {
        let mut command = Command::new(krm);
        command.args(["serve", "-q", "--address", "127.0.0.1:0", "--max-running", "1"]);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn()?;
        let mut line = String::new();
        let stderr = process.stderr.take().ok_or("no standard error")?;
        let mut stderr = BufReader::new(stderr);
        stderr.read_line(&mut line)?;
        // Nobody reads the rest, and a full pipe would stop the server.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let address = line.split("\"address\":\"").nth(1).and_then(|rest| rest.split('"').next());
        let address = address.ok_or_else(|| format!("krm serve did not start: {line}"))?.to_owned();
        Ok(Self { process, address })
    }
}

pub(super) fn run(options: &Options, tools: &Tools) -> TaskResult {
    let Some(krm) = tools.programs.get(KRM) else { return Ok(()) };
    let directory = shell::target().join("bench/serve");
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "\n## {NAME}: {PACKAGES} packages with a script, servers with one function at a time, {processors} processors, median of {} runs\n",
        options.runs
    );
    write_packages(&directory)?;
    let servers = [Server::start(krm)?, Server::start(krm)?];
    let one = format!("grpc://{}", servers[0].address);
    let two = format!("{one},{}", servers[1].address);
    let render = |runtime: &str, jobs: &str| {
        let mut command = Command::new(krm);
        command.args(["fn", "render", "-q", "--cache", "off", "--runtime", runtime, "-j", jobs]);
        command.arg(&directory);
        command
    };
    // Afterwards nothing changes, so that all runs do the same.
    shell::run(&mut render("auto", "2"))?;
    let jobs = processors.to_string();
    let work = [
        ("one server", &*one, &*jobs),
        ("two servers", &*two, &*jobs),
        ("this process, one thread", "auto", "1"),
        ("this process, all processors", "auto", &*jobs),
    ];
    let mut samples: Vec<Vec<Sample>> = vec![Vec::new(); work.len()];
    for _ in 0..options.runs {
        for ((_, runtime, jobs), samples) in work.iter().zip(&mut samples) {
            samples.push(measure::quietly(render(runtime, jobs).arg("--check"))?);
        }
    }
    let mut table = Table::new(1, &["work", "median", "peak MB of the client"]);
    for ((name, ..), samples) in work.iter().zip(&samples) {
        let sample = measure::median(samples).ok_or("no run")?;
        let time = table::milliseconds(sample.seconds);
        table.row(vec![(*name).to_owned(), time, table::megabytes(sample.peak_bytes)]);
    }
    print!("{}", table.render());
    Ok(())
}

fn write_packages(directory: &Path) -> TaskResult {
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    for number in 0..PACKAGES {
        let package = directory.join(format!("package-{number:04}"));
        fs::create_dir_all(&package)?;
        let kptfile = format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: package-{number:04}\npipeline:\n  mutators:\n  - image: starlark:v0.5\n    configPath: script.yaml\n"
        );
        let mut resources = String::new();
        for at in 0..3 {
            let _ = write!(
                resources,
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{at} # comment\ndata:\n  key: value\n"
            );
        }
        fs::write(package.join("Kptfile"), kptfile)?;
        fs::write(package.join("script.yaml"), SCRIPT)?;
        fs::write(package.join("all.yaml"), resources)?;
    }
    Ok(())
}
