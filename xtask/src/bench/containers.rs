//! The same function in a container: what krm adds to the bare `docker run` of the same words on the same input.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::Options;
use super::functions::RESOURCES;
use super::measure::{self, Sample};
use super::table::{NONE, Table, milliseconds};
use crate::{Outcome, shell};

/// A name with a host: one without would be the catalog's.
const IMAGE: &str = "example.com/krm-bench/cat:v1";
/// An engine that only notes what it is told, and gives back what it gets.
const NOTING: &str = "#!/bin/sh
case \"$1\" in
run) printf '%s\\n' \"$@\" > \"$NOTES/words\"; exec tee \"$NOTES/input\" ;;
*) echo sha256:0 ;;
esac
";
/// The time of an engine varies by more than what is measured here: by 20 ms and more from run to run.
const LEAST_RUNS: usize = 61;

/// What krm tells the engine: the words, and the file with the input.
struct Told {
    words: Vec<String>,
    input: PathBuf,
}

pub(super) fn run(options: &Options, krm: &Path, folder: &Path) -> Outcome {
    let answers = Command::new("docker").arg("version").output();
    if !answers.is_ok_and(|it| it.status.success()) {
        println!(
            "\nno container engine answers: `cargo xtask engine cargo xtask bench` starts one"
        );
        return Ok(());
    }
    let place = shell::target().join("bench/functions");
    image(&place)?;
    let told = told(krm, folder, &place.join("noting"))?;
    let mut ways = [bare(&told), eval(krm, folder), exec(krm, folder)];
    let runs = options.runs.max(LEAST_RUNS);
    let mut samples: [Vec<Sample>; 3] = Default::default();
    for _ in 0..runs {
        for (way, samples) in ways.iter_mut().zip(&mut samples) {
            let sample = measure::quietly(way);
            samples.push(sample.map_err(|error| format!("{}: {error}", shell::shown(way)))?);
        }
    }
    show(&samples);
    Ok(())
}

/// Both differences are those of neighbours in time: what else the machine does weighs on both.
fn show([bare, ours, exec]: &[Vec<Sample>; 3]) {
    let middle = |samples: &[Sample]| measure::median(samples).map_or(0.0, |it| it.seconds);
    let rest = |others: &[&[Sample]]| {
        let differences = ours.iter().enumerate().map(|(at, ours)| {
            let others: f64 = others.iter().map(|it| it[at].seconds).sum();
            Sample { seconds: ours.seconds - others, ..*ours }
        });
        milliseconds(middle(&differences.collect::<Vec<_>>()))
    };
    let runs = ours.len();
    println!("\n{RESOURCES} resources through `cat` in a container, median of {runs} runs\n");
    let header = ["way", "median", "beyond docker run", "beyond it and exec"];
    let mut table = Table::new(1, &header);
    let mut row = |name: &str, samples: &[Sample], beyond: String, both: String| {
        table.row(vec![name.to_owned(), milliseconds(middle(samples)), beyond, both]);
    };
    row("docker run, the same words and input", bare, NONE.to_owned(), NONE.to_owned());
    row("krm, container", ours, rest(&[bare]), rest(&[bare, exec]));
    row("krm, exec: reads, sends, takes back", exec, NONE.to_owned(), NONE.to_owned());
    print!("{}", table.render());
}

fn bare(told: &Told) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "input=$1; shift; exec docker \"$@\" < \"$input\"", "sh"]);
    command.arg(&told.input).args(&told.words);
    command
}

fn eval(krm: &Path, folder: &Path) -> Command {
    let mut command = Command::new(krm);
    command.args(["fn", "eval", "-q", "--runtime", "docker", "--image-pull-policy", "never"]);
    command.args(["-i", IMAGE]).arg(folder);
    command
}

fn exec(krm: &Path, folder: &Path) -> Command {
    let mut command = Command::new(krm);
    command.args(["fn", "eval", "-q", "--exec", "cat"]).arg(folder);
    command
}

/// Asks krm itself, with an engine that only listens, so that the two cannot drift apart.
fn told(krm: &Path, folder: &Path, place: &Path) -> Outcome<Told> {
    fs::create_dir_all(place)?;
    let engine = place.join("docker");
    fs::write(&engine, NOTING)?;
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755))?;
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([place.to_owned()].into_iter().chain(env::split_paths(&path)))?;
    let mut command = eval(krm, folder);
    shell::output(command.env("PATH", path).env("NOTES", place))?;
    let words = fs::read_to_string(place.join("words"))?;
    // A name can be taken only once.
    let words = words.lines().filter(|word| !word.starts_with("--name=")).map(str::to_owned);
    Ok(Told { words: words.collect(), input: place.join("input") })
}

/// An image of `cat` and what it needs.
fn image(place: &Path) -> Outcome {
    let root = place.join("root");
    let said = shell::output(Command::new("ldd").arg("/bin/cat"))?;
    let libraries = said.split_whitespace().filter(|word| word.starts_with('/'));
    for file in libraries.chain(["/bin/cat"]) {
        let inside = root.join(file.trim_start_matches('/'));
        fs::create_dir_all(inside.parent().ok_or("a file has a folder")?)?;
        fs::copy(file, inside)?;
    }
    let archive = place.join("cat.tar");
    shell::run(Command::new("tar").arg("-C").arg(&root).arg("-cf").arg(&archive).arg("."))?;
    let mut import = Command::new("docker");
    import.args(["import", "--change", "CMD [\"/bin/cat\"]"]).arg(&archive).arg(IMAGE);
    shell::run(import.stdout(Stdio::null()))
}
