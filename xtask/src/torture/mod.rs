//! `cargo xtask torture`: kills krm, sends it signals, injects faults, races it with others and swaps its directories.
//!
//! Whatever happens, every file is old or new, the next command that writes recovers the package, and nothing outside of it changes.

mod faults;
mod kills;
mod package;
mod races;
mod random;
mod strace;
mod swaps;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lexopt::prelude::*;

use self::package::{RECOVER, Scenario, State, Tree};
use self::random::Random;
use crate::{TaskResult, shell};

/// One kind of attack.
struct Phase {
    name: &'static str,
    /// Makes one attempt. Returns what happened, or what must not happen.
    attempt: fn(&mut Attempt<'_>) -> AttemptResult,
}

/// The labels under which the attempt is counted.
type AttemptResult = Result<Vec<&'static str>, String>;

const PHASES: [Phase; 5] = [
    Phase { name: "kills", attempt: kills::kill },
    Phase { name: "signals", attempt: kills::signal },
    Phase { name: "faults", attempt: faults::inject },
    Phase { name: "races", attempt: races::race },
    Phase { name: "swaps", attempt: swaps::swap },
];

/// The number of attempts of each phase, unless given.
const ATTEMPTS: u64 = 200;

/// No more findings than this are printed.
const MOST_FINDINGS: usize = 20;

struct Options {
    krm: PathBuf,
    seed: u64,
    jobs: usize,
    /// The number of the first attempt, to repeat one.
    skip: u64,
    attempts: BTreeMap<&'static str, u64>,
    directory: PathBuf,
}

/// One attempt, in a directory of its own.
struct Attempt<'a> {
    krm: &'a Path,
    directory: &'a Path,
    scenarios: &'a [Scenario],
    random: Random,
}

pub(crate) fn run(args: lexopt::Parser) -> TaskResult {
    let options = parse(args)?;
    if !options.krm.is_file() {
        return Err(format!("{} not found; build krm, or use --krm", options.krm.display()).into());
    }
    let root = options.directory.join(format!("krm-torture-{}", std::process::id()));
    fs::create_dir_all(&root)?;
    let root = fs::canonicalize(root)?;
    println!("seed {}, {} jobs, in {}", options.seed, options.jobs, root.display());
    let result = attack(&options, &root);
    fs::remove_dir_all(&root)?;
    result
}

fn parse(mut args: lexopt::Parser) -> TaskResult<Options> {
    let memory = Path::new("/dev/shm");
    let mut options = Options {
        krm: shell::target().join("debug/krm"),
        seed: std::time::UNIX_EPOCH.elapsed().map_or(1, |since| since.as_secs()),
        jobs: 2,
        skip: 0,
        attempts: PHASES.iter().map(|phase| (phase.name, ATTEMPTS)).collect(),
        directory: if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() },
    };
    while let Some(arg) = args.next()? {
        let Long(name) = arg else { return Err(arg.unexpected().into()) };
        let phase = PHASES.iter().find(|phase| phase.name == name);
        match (name, phase) {
            (_, Some(phase)) => _ = options.attempts.insert(phase.name, args.value()?.parse()?),
            ("krm", _) => options.krm = fs::canonicalize(args.value()?)?,
            ("seed", _) => options.seed = args.value()?.parse()?,
            ("jobs", _) => options.jobs = args.value()?.parse()?,
            ("skip", _) => options.skip = args.value()?.parse()?,
            ("dir", _) => options.directory = args.value()?.into(),
            _ => return Err(arg.unexpected().into()),
        }
    }
    Ok(options)
}

fn attack(options: &Options, root: &Path) -> TaskResult {
    let directory = root.join("measure");
    let random = Random::new(options.seed, "", 0);
    let measure = Attempt { krm: &options.krm, directory: &directory, scenarios: &[], random };
    let scenarios = package::scenarios(&measure)?;
    let mut findings = Vec::new();
    println!("{:<9} {:>8} {:>9}  outcomes", "attack", "attempts", "per s");
    for phase in &PHASES {
        let count = options.attempts[phase.name];
        if count > 0 {
            findings.extend(attack_with(phase, count, options, root, &scenarios));
        }
    }
    for finding in findings.iter().take(MOST_FINDINGS) {
        println!("\n{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        count => Err(format!("{count} findings").into()),
    }
}

/// Makes all attempts of a phase and prints its line of the table. Returns the findings.
fn attack_with(
    phase: &Phase,
    count: u64,
    options: &Options,
    root: &Path,
    scenarios: &[Scenario],
) -> Vec<String> {
    let next = AtomicU64::new(0);
    let tally: Mutex<BTreeMap<&str, usize>> = Mutex::default();
    let findings: Mutex<Vec<String>> = Mutex::default();
    let start = Instant::now();
    let work = |job: usize| loop {
        let number = next.fetch_add(1, Ordering::Relaxed) + options.skip;
        if number >= options.skip + count {
            return;
        }
        let directory = root.join(format!("{}-{job}", phase.name));
        let random = Random::new(options.seed, phase.name, number);
        let krm = &*options.krm;
        let mut attempt = Attempt { krm, directory: &directory, scenarios, random };
        match (phase.attempt)(&mut attempt) {
            Ok(labels) => {
                let mut tally = tally.lock().expect("no thread panics");
                labels.into_iter().for_each(|label| *tally.entry(label).or_default() += 1);
            }
            Err(finding) => {
                let text =
                    format!("{}: {finding}\n  {}", phase.name, again(phase, number, options));
                findings.lock().expect("no thread panics").push(text);
            }
        }
    };
    std::thread::scope(|scope| {
        for job in 0..options.jobs.max(1) {
            scope.spawn(move || work(job));
        }
    });
    let findings = findings.into_inner().expect("no thread panics");
    let mut tally = tally.into_inner().expect("no thread panics");
    tally.insert("findings", findings.len());
    let outcomes: Vec<String> =
        tally.iter().map(|(label, count)| format!("{label} {count}")).collect();
    let rate = count as f64 / start.elapsed().as_secs_f64();
    println!("{:<9} {count:>8} {rate:>9.1}  {}", phase.name, outcomes.join(", "));
    findings
}

/// The command that repeats an attempt.
fn again(phase: &Phase, number: u64, options: &Options) -> String {
    let counts = PHASES.iter().map(|other| {
        let count = u8::from(other.name == phase.name);
        format!(" --{} {count}", other.name)
    });
    let counts: String = counts.collect();
    let (seed, krm) = (options.seed, options.krm.display());
    format!("cargo xtask torture{counts} --seed {seed} --skip {number} --jobs 1 --krm {krm}")
}

impl Attempt<'_> {
    /// Empties the directory and fills it.
    fn reset(&self, tree: &Tree) {
        let _ = fs::remove_dir_all(self.directory);
        fs::create_dir_all(self.directory).expect("the directory is ours");
        package::write(self.directory, tree).expect("the directory is ours");
    }

    /// krm with arguments, in the directory of the attempt.
    fn krm<S: AsRef<std::ffi::OsStr>>(&self, args: &[S]) -> Command {
        self.prepared(Command::new(self.krm), args)
    }

    fn prepared<S: AsRef<std::ffi::OsStr>>(&self, mut command: Command, args: &[S]) -> Command {
        command.args(args).current_dir(self.directory);
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.directory);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn scenario(&mut self) -> &Scenario {
        let at = self.random.below(self.scenarios.len());
        &self.scenarios[at]
    }

    /// Runs a command that recovers, and checks that the package is whole and nothing is left. Returns the state before and after.
    fn recovered(&self, scenario: &Scenario) -> Result<[State; 2], String> {
        let name = &scenario.name;
        let before = scenario.state(&package::read(self.directory))?;
        let output = self.krm(&RECOVER).output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{name}: recovery failed: {}: {stderr}", output.status));
        }
        let now = package::read(self.directory);
        match scenario.state(&now).map_err(|error| format!("{name}: {error}"))? {
            State::Between => {
                Err(format!("{name}: mixed after recovery: {}", scenario.difference(&now)))
            }
            after => Ok([before, after]),
        }
    }
}

/// Sleeps precisely: a run takes a few milliseconds.
fn wait_until(end: Instant) {
    while let Some(rest) = end.checked_duration_since(Instant::now()) {
        match rest.checked_sub(Duration::from_micros(200)) {
            Some(most) => std::thread::sleep(most),
            None => std::thread::yield_now(),
        }
    }
}
