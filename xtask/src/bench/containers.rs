//! A function in a container: the overhead of krm over a plain `docker run` with the same arguments and input.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Options;
use super::functions::RESOURCES;
use super::measure::{self, Sample};
use super::table::{NONE, Table, milliseconds};
use crate::{TaskResult, shell};

/// The image has a registry host, because a name without one would mean the function catalog.
const IMAGE: &str = "example.com/krm-bench/cat:v1";
/// A fake engine that records its arguments and input, and echoes the input.
const RECORDING_ENGINE: &str = "#!/bin/sh
case \"$1\" in
run) printf '%s\\n' \"$@\" > \"$RECORD/arguments\"; exec tee \"$RECORD/input\" ;;
*) echo sha256:0 ;;
esac
";
/// Many runs, because the time of an engine varies by 20 ms and more, which is more than what is measured.
const MIN_RUNS: usize = 61;

/// How krm calls the engine: the arguments, and the file with the input.
struct EngineCall {
    arguments: Vec<String>,
    input: PathBuf,
}

pub(super) fn run(options: &Options, krm: &Path, directory: &Path) -> TaskResult {
    let version = Command::new("docker").arg("version").output();
    if !version.is_ok_and(|it| it.status.success()) {
        println!(
            "\nskipping containers: no container engine is available; run `cargo xtask engine cargo xtask bench`"
        );
        return Ok(());
    }
    let place = shell::target().join("bench/functions");
    image(&place)?;
    let call = record_call(krm, directory, &place.join("recording"))?;
    let mut commands = [docker_run(&call), eval(krm, directory), exec(krm, directory)];
    let runs = options.runs.max(MIN_RUNS);
    let mut samples: [Vec<Sample>; 3] = Default::default();
    for _ in 0..runs {
        for (command, samples) in commands.iter_mut().zip(&mut samples) {
            let sample = measure::quietly(command);
            samples.push(sample.map_err(|error| format!("{}: {error}", shell::display(command)))?);
        }
    }
    print_table(&samples);
    Ok(())
}

/// Subtracts the runs of the same round, which other load on the machine affects equally.
fn print_table([bare, ours, exec]: &[Vec<Sample>; 3]) {
    let median = |samples: &[Sample]| measure::median(samples).map_or(0.0, |it| it.seconds);
    let difference = |others: &[&[Sample]]| {
        let differences = ours.iter().enumerate().map(|(at, ours)| {
            let others: f64 = others.iter().map(|it| it[at].seconds).sum();
            Sample { seconds: ours.seconds - others, ..*ours }
        });
        milliseconds(median(&differences.collect::<Vec<_>>()))
    };
    let runs = ours.len();
    println!("\n{RESOURCES} resources through `cat` in a container, median of {runs} runs\n");
    let header = ["command", "median", "minus docker run", "minus both"];
    let mut table = Table::new(1, &header);
    let mut row = |name: &str, samples: &[Sample], beyond: String, both: String| {
        table.row(vec![name.to_owned(), milliseconds(median(samples)), beyond, both]);
    };
    row("docker run, same arguments and input", bare, NONE.to_owned(), NONE.to_owned());
    row("krm, container", ours, difference(&[bare]), difference(&[bare, exec]));
    row("krm, exec", exec, NONE.to_owned(), NONE.to_owned());
    print!("{}", table.render());
}

fn docker_run(call: &EngineCall) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "input=$1; shift; exec docker \"$@\" < \"$input\"", "sh"]);
    command.arg(&call.input).args(&call.arguments);
    command
}

fn eval(krm: &Path, directory: &Path) -> Command {
    let mut command = Command::new(krm);
    command.args(["fn", "eval", "-q", "--runtime", "docker", "--image-pull-policy", "never"]);
    command.args(["-i", IMAGE]).arg(directory);
    command
}

fn exec(krm: &Path, directory: &Path) -> Command {
    let mut command = Command::new(krm);
    command.args(["fn", "eval", "-q", "--exec", "cat"]).arg(directory);
    command
}

/// Records how krm calls the engine, so that the comparison always uses the same arguments.
fn record_call(krm: &Path, directory: &Path, place: &Path) -> TaskResult<EngineCall> {
    fs::create_dir_all(place)?;
    let engine = place.join("docker");
    fs::write(&engine, RECORDING_ENGINE)?;
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755))?;
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([place.to_owned()].into_iter().chain(env::split_paths(&path)))?;
    let mut command = eval(krm, directory);
    shell::output(command.env("PATH", path).env("RECORD", place))?;
    let arguments = fs::read_to_string(place.join("arguments"))?;
    // Container names are unique, so the recorded one cannot be used again.
    let arguments = arguments.lines().filter(|it| !it.starts_with("--name=")).map(str::to_owned);
    Ok(EngineCall { arguments: arguments.collect(), input: place.join("input") })
}

/// A directory with `cat` and its libraries.
pub(super) fn cat_root(place: &Path) -> TaskResult<PathBuf> {
    let root = place.join("root");
    let ldd = shell::output(Command::new("ldd").arg("/bin/cat"))?;
    let libraries = ldd.split_whitespace().filter(|part| part.starts_with('/'));
    for file in libraries.chain(["/bin/cat"]) {
        let inside = root.join(file.trim_start_matches('/'));
        fs::create_dir_all(inside.parent().ok_or("a file has a parent directory")?)?;
        fs::copy(file, inside)?;
    }
    Ok(root)
}

/// Imports an image with `cat` and its libraries.
fn image(place: &Path) -> TaskResult {
    let root = cat_root(place)?;
    let archive = place.join("cat.tar");
    shell::run(Command::new("tar").arg("-C").arg(&root).arg("-cf").arg(&archive).arg("."))?;
    let mut import = Command::new("docker");
    import.args(["import", "--change", "CMD [\"/bin/cat\"]"]).arg(&archive).arg(IMAGE);
    shell::run(import.stdout(Stdio::null()))
}
