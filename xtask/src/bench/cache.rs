//! What caches save: the result of a function that ran before, and packages that rendering did not change.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::functions::module;
use super::measure::{self, Sample};
use super::render;
use super::table::{self, Table};
use super::{Corpora, KRM, Options, Tools};
use crate::corpus::{self, Layout};
use crate::{TaskResult, shell};

pub(super) const NAME: &str = "cache";

/// The resources through a function whose result is known.
const EVALUATED: usize = 1_000;
/// The resources of a package that is rendered already, and the goal for it: ten times faster than without the index.
const RENDERED: usize = 10_000;
/// Packages of which one changes before each run.
const PACKAGES: usize = 1_000;

/// A file that was written later than this before krm read it is not trusted to be unchanged.
const SETTLED: Duration = Duration::from_millis(100);

pub(super) fn run(options: &Options, tools: &Tools, corpora: &mut Corpora) -> TaskResult {
    let Some(krm) = tools.programs.get(KRM) else { return Ok(()) };
    let directory = shell::target().join("bench/cache");
    if directory.exists() {
        fs::remove_dir_all(&directory)?;
    }
    fs::create_dir_all(&directory)?;
    let krm = Krm { program: krm.clone(), cache: directory.join("krm") };
    evaluate(options, &krm, &directory, &corpora.get(EVALUATED, Layout::Many)?.directory)?;
    println!("\n## {NAME}: `fn render --check`, median of {} runs\n", options.runs);
    let mut table = Table::new(2, &["work", "cache", "median", "to the index", "peak MB"]);
    unchanged(options, &krm, &directory.join("unchanged"), &mut table)?;
    one_changed(options, &krm, &directory.join("packages"), &mut table)?;
    print!("{}", table.render());
    Ok(())
}

/// krm with a cache of its own.
struct Krm {
    program: PathBuf,
    cache: PathBuf,
}

impl Krm {
    fn command(&self, arguments: &[&str], directory: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).arg(directory).env("KRM_CACHE_DIR", &self.cache);
        command
    }

    fn check(&self, directory: &Path, mode: &str) -> Command {
        self.command(&["fn", "render", "-q", "--check", "--cache", mode], directory)
    }
}

/// A Wasm function that returns its input: run, and from the cache, beside a command that only reads the resources.
fn evaluate(options: &Options, krm: &Krm, place: &Path, directory: &Path) -> TaskResult {
    let Some(module) = module(place) else {
        println!("skipping results: `rustup target add wasm32-wasip1` installs the target");
        return Ok(());
    };
    let module = module.to_string_lossy();
    let eval = |mode: &str| {
        krm.command(&["fn", "eval", "-q", "--wasm", &module, "--cache", mode], directory)
    };
    let mut work = [
        ("cfg count", krm.command(&["cfg", "count"], directory)),
        ("eval, cached", eval("write")),
        ("eval, --cache off", eval("off")),
    ];
    measure::quietly(&mut eval("write"))?;
    let mut samples: [Vec<Sample>; 3] = Default::default();
    for _ in 0..options.runs {
        for ((_, command), samples) in work.iter_mut().zip(&mut samples) {
            samples.push(measure::quietly(command)?);
        }
    }
    println!(
        "\n## {NAME}: {EVALUATED} resources through a Wasm function, median of {} runs\n",
        options.runs
    );
    let mut table = Table::new(1, &["work", "median", "beyond cfg count", "peak MB"]);
    let medians: Vec<Sample> = samples.iter().filter_map(|it| measure::median(it)).collect();
    for ((name, _), sample) in work.iter().zip(&medians) {
        table.row(vec![
            (*name).to_owned(),
            table::milliseconds(sample.seconds),
            table::milliseconds(sample.seconds - medians[0].seconds),
            table::megabytes(sample.peak_bytes),
        ]);
    }
    print!("{}", table.render());
    Ok(())
}

/// One package that is rendered already.
fn unchanged(options: &Options, krm: &Krm, directory: &Path, table: &mut Table) -> TaskResult {
    corpus::write(directory, RENDERED, Layout::Many)?;
    fs::write(directory.join("Kptfile"), render::pipeline())?;
    prepare(krm, directory)?;
    let name = format!("{RENDERED} resources, unchanged");
    compare(options, krm, directory, (table, &name), || Ok(()))
}

/// Packages side by side, of which each run finds another one changed.
fn one_changed(options: &Options, krm: &Krm, directory: &Path, table: &mut Table) -> TaskResult {
    render::write_siblings(directory, PACKAGES)?;
    // The packages are not in another one, so they are independent.
    fs::remove_file(directory.join("Kptfile"))?;
    prepare(krm, directory)?;
    let mut number = 0;
    let name = format!("{PACKAGES} packages, one changed");
    compare(options, krm, directory, (table, &name), || {
        let changed = directory.join(format!("package-{:05}/deployment.yaml", number % PACKAGES));
        number += 1;
        writeln!(OpenOptions::new().append(true).open(changed)?, "# changed")?;
        std::thread::sleep(SETTLED);
        Ok(())
    })
}

/// Renders, and fills the index.
fn prepare(krm: &Krm, directory: &Path) -> TaskResult {
    measure::quietly(&mut krm.command(&["fn", "render", "-q"], directory))?;
    std::thread::sleep(SETTLED);
    measure::quietly(&mut krm.check(directory, "write")).map(|_| ())
}

fn compare(
    options: &Options,
    krm: &Krm,
    directory: &Path,
    (table, name): (&mut Table, &str),
    mut change: impl FnMut() -> TaskResult,
) -> TaskResult {
    let modes = [("index", "write"), ("off", "off")];
    let mut samples: [Vec<Sample>; 2] = Default::default();
    for _ in 0..options.runs {
        change()?;
        for ((_, mode), samples) in modes.iter().zip(&mut samples) {
            samples.push(measure::quietly(&mut krm.check(directory, mode))?);
        }
    }
    let medians: Vec<Sample> = samples.iter().filter_map(|it| measure::median(it)).collect();
    for ((cache, _), sample) in modes.iter().zip(&medians) {
        table.row(vec![
            name.to_owned(),
            (*cache).to_owned(),
            table::milliseconds(sample.seconds),
            table::ratio(sample.seconds, Some(medians[0].seconds)),
            table::megabytes(sample.peak_bytes),
        ]);
    }
    Ok(())
}
