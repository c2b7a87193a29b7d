//! The `parse` section: parsing in memory on one thread, without process start and disk access.

use std::process::Command;
use std::time::Instant;

use granit_parser::{Event, Parser};

use super::measure::{self, Sample};
use super::table::{self, NONE, Table};
use super::{Corpora, Options};
use crate::corpus::Layout;
use crate::{TaskResult, peers, shell};

pub(super) const NAME: &str = "parse";

/// Large enough that a run takes tenths of a second, small enough for the memory of every parser.
const RESOURCES: usize = 10_000;

const BARE: &str = "granit-parser";
const INDEX: &str = "krm-yaml";
const GO_YAML: &str = "go-yaml v3";

pub(super) fn run(options: &Options, corpora: &mut Corpora) -> TaskResult {
    // Built like a release, because that is what users get.
    shell::run(shell::cargo().args([
        "build",
        "--profile",
        "dist",
        "--quiet",
        "--package",
        "xtask",
    ]))?;
    let corpus = corpora.get(RESOURCES, Layout::One)?;
    println!(
        "\n## {NAME}: {:.1} MB in one file, median of {} runs\n",
        corpus.bytes as f64 / 1e6,
        options.runs
    );
    let file = corpus.directory.join(&corpus.files[0]);
    let mut parsers = parsers();
    for (_, command) in &mut parsers {
        command.arg(&file).env("GOMAXPROCS", "1");
    }
    let mut samples: Vec<Vec<Sample>> = parsers.iter().map(|_| Vec::new()).collect();
    for _ in 0..options.runs {
        for ((_, command), samples) in parsers.iter_mut().zip(&mut samples) {
            samples.push(measure::self_timed(command)?);
        }
    }
    let names = parsers.iter().map(|(name, _)| *name);
    let medians = samples.iter().map(|samples| measure::median(samples).expect("at least one run"));
    print!("{}", render(corpus.bytes, &names.zip(medians).collect::<Vec<_>>()));
    Ok(())
}

/// Each parser is a separate process, so that its peak memory can be measured.
fn parsers() -> Vec<(&'static str, Command)> {
    let ours = |name: &str| {
        let mut command = Command::new(shell::target().join("dist/xtask"));
        command.args(["bench-parse", name]);
        command
    };
    let mut found = vec![(BARE, ours("bare")), (INDEX, ours("krm"))];
    match peers::find("gopeer") {
        Some(gopeer) => {
            for (name, subcommand) in [(GO_YAML, "decode-goyaml"), ("kyaml", "decode-kyaml")] {
                let mut command = Command::new(&gopeer);
                command.arg(subcommand);
                found.push((name, command));
            }
        }
        None => println!("gopeer is not installed; run `cargo xtask peers`"),
    }
    found
}

fn render(bytes: u64, medians: &[(&str, Sample)]) -> String {
    let seconds_of = |name: &str| {
        medians.iter().find(|(known, _)| *known == name).map(|(_, sample)| sample.seconds)
    };
    let (bare, go_yaml) = (seconds_of(BARE), seconds_of(GO_YAML));
    let header =
        ["parser", "median", "MB/s", "to bare", "go-yaml to it", "peak MB", "peak to input"];
    let mut table = Table::new(1, &header);
    for (name, sample) in medians {
        table.row(vec![
            (*name).to_owned(),
            table::milliseconds(sample.seconds),
            table::megabytes_per_second(bytes, sample.seconds),
            table::ratio(sample.seconds, bare),
            go_yaml.map_or(NONE.to_owned(), |go_yaml| table::ratio(go_yaml, Some(sample.seconds))),
            table::megabytes(sample.peak_bytes),
            format!("{:.2}×", sample.peak_bytes as f64 / bytes as f64),
        ]);
    }
    table.render()
}

/// `cargo xtask bench-parse bare|krm FILE`: reads the file, then times parsing alone.
pub(crate) fn run_parser(mut args: lexopt::Parser) -> TaskResult {
    let name = args.value()?;
    let file = args.value()?;
    if let Some(arg) = args.next()? {
        return Err(arg.unexpected().into());
    }
    let text =
        std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let bytes = text.len();
    let start = Instant::now();
    let documents = match name.to_str() {
        Some("bare") => parse_events(&text),
        Some("krm") => parse_file(text),
        _ => return Err("expected `bare` or `krm`, then a file".into()),
    };
    let seconds = start.elapsed().as_secs_f64();
    println!("{{\"seconds\":{seconds:.6},\"documents\":{documents},\"bytes\":{bytes}}}");
    Ok(())
}

/// Parses with krm-yaml; returns the number of documents.
fn parse_file(text: String) -> usize {
    let file = krm_yaml::File::parse(text).expect("the corpus is small enough");
    std::hint::black_box(&file).documents().len()
}

/// Reads all events of the underlying parser and keeps none: a lower bound for any tree built from them.
fn parse_events(text: &str) -> usize {
    let options = granit_parser::options! { emit_comments: false, emit_anchor_events: true };
    let events = Parser::new_from_str_with_options(text, options);
    let documents = events.filter(|event| {
        let (event, span) = event.as_ref().expect("the corpus is valid YAML");
        std::hint::black_box(span);
        matches!(event, Event::DocumentStart(..))
    });
    documents.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parsers_see_every_document() {
        let text = "a: 1\n---\nb: 2\n---\n# none\nc: [x, &y z, *y]\n";
        assert_eq!(parse_events(text), 3);
        assert_eq!(parse_file(text.to_owned()), 3);
    }

    #[test]
    fn ratios_are_relative_to_the_bare_parser_and_go_yaml() {
        let sample = |seconds| Sample { seconds, peak_bytes: 3_000_000 };
        let text = render(
            2_000_000,
            &[(BARE, sample(0.5)), ("krm-yaml", sample(1.0)), (GO_YAML, sample(4.0))],
        );
        let row = text.lines().find(|line| line.contains("krm-yaml")).expect("its row");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(cells[1..8], ["krm-yaml", "1000.0 ms", "2.0", "2.00×", "4.00×", "3.0", "1.50×"]);
    }
}
