//! `--reader`: krm and Kubernetes' own reader, on real files, on generated, lenient and damaged texts, and on the results of edits, merges,
//! setters and formatting.
//!
//! A difference that is not listed in `docs/errata.md` is an error.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use krm_testkit::KubernetesReader;

use super::changed_texts;
use super::properties::draw::Draw;
use super::properties::editing::{self, EditResult, Scope};
use super::properties::kubernetes::{Comparison, compare, reads_edit};
use super::properties::{Verdict, common_lines, emit, lenient_text, mutate};
use crate::corpus::random::Random;
use crate::{TaskResult, shell};

/// The number of generated texts, unless `--count` says otherwise. As many are damaged.
const COUNT: usize = 20_000;

/// The number of bytes that make the choices for a generated text, and for an edit.
const CHOICES: [usize; 2] = [600, 40];

/// The options of `--reader`.
pub(super) struct Options {
    count: usize,
    repositories: Vec<PathBuf>,
}

impl Options {
    pub(super) fn parse(args: &mut lexopt::Parser) -> TaskResult<Self> {
        let mut options = Self { count: COUNT, repositories: Vec::new() };
        while let Some(arg) = args.next()? {
            match arg {
                lexopt::Arg::Long("count") => {
                    options.count = args.value()?.to_string_lossy().parse()?;
                }
                lexopt::Arg::Value(path) => options.repositories.push(path.into()),
                _ => return Err(arg.unexpected().into()),
            }
        }
        Ok(options)
    }
}

pub(super) fn run(options: &Options) -> TaskResult {
    let reader = KubernetesReader::start()
        .ok_or("gopeer is not built; run `cargo xtask peers --only gopeer`")??;
    let mut survey =
        Survey { reader, texts: 0, results: BTreeMap::new(), classes: BTreeMap::new() };
    for path in super::corpora_files()?.into_iter().chain(super::suite_files()?) {
        if let Ok(text) = fs::read_to_string(&path) {
            survey.text(&text, &path.display().to_string(), 5);
        }
    }
    for repository in &options.repositories {
        for (name, text) in files(repository)? {
            survey.text(&text, &name, 2);
        }
    }
    println!("{} real texts", survey.texts);
    for number in 0..options.count {
        let bytes = bytes("text", number, CHOICES[0]);
        let text = match number % 3 {
            0 => common_lines::lines(&mut Draw::new(&bytes)),
            _ => emit::sample(&mut Draw::new(&bytes)).text,
        };
        survey.text(&text, &format!("generated {number}"), 1);
        let choices = self::bytes("damage", number, CHOICES[1]);
        let damaged = mutate::mutated(&mut Draw::new(&choices), &text);
        survey.text(&damaged, &format!("damaged {number}"), 1);
        if let Some(lenient) = lenient_text::lenient(&mut Draw::new(&choices), &text) {
            survey.text(&lenient, &format!("lenient {number}"), 1);
        }
    }
    survey.report()
}

fn bytes(purpose: &str, number: usize, count: usize) -> Vec<u8> {
    let mut random = Random::new(purpose, number);
    (0..count).map(|_| random.next_u64() as u8).collect()
}

/// The YAML files of the newest commit of a repository.
pub(super) fn files(repository: &Path) -> TaskResult<Vec<(String, String)>> {
    let git = || {
        let mut command = shell::program("git");
        command.arg("-C").arg(std::path::absolute(repository).unwrap_or_default());
        command
    };
    let tree = shell::output(git().args(["ls-tree", "-r", "HEAD"]))?;
    let is_yaml = |name: &str| name.ends_with(".yaml") || name.ends_with(".yml");
    let blobs: Vec<(&str, &str)> = tree
        .lines()
        .filter_map(|line| line.strip_prefix("100")?.split_once('\t'))
        .filter(|(_, name)| is_yaml(name))
        .filter_map(|(object, name)| Some((object.split(' ').nth(2)?, name)))
        .collect();
    let list: String = blobs.iter().map(|(object, _)| format!("{object}\n")).collect();
    let mut child =
        git().args(["cat-file", "--batch"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().ok_or("stdin is piped")?;
    let writer = std::thread::spawn(move || stdin.write_all(list.as_bytes()));
    let output = child.wait_with_output()?.stdout;
    writer.join().map_err(|_| "git does not read")??;
    let mut rest = output.as_slice();
    let mut found = Vec::new();
    for (object, name) in blobs {
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or("unexpected output of git")?;
        let head = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = &rest[end + 1..];
        let Some(length) = head.rsplit(' ').next().and_then(|length| length.parse().ok()) else {
            continue;
        };
        let content: &[u8] = rest.get(..length).ok_or_else(|| format!("{object} is cut off"))?;
        if let Ok(text) = std::str::from_utf8(content) {
            found.push((format!("{}: {name}", repository.display()), text.to_owned()));
        }
        rest = rest.get(length + 1..).unwrap_or_default();
    }
    Ok(found)
}

/// The classes of texts and results, with their number and an example.
struct Survey {
    reader: KubernetesReader,
    texts: usize,
    /// How many results of each operation were compared.
    results: BTreeMap<&'static str, usize>,
    classes: BTreeMap<String, (usize, String)>,
}

impl Survey {
    /// Compares a text, and the results of some edits.
    fn text(&mut self, text: &str, name: &str, edits: usize) {
        self.texts += 1;
        let compared = compare(text, &mut self.reader);
        let class = match &compared {
            Comparison::Same => "same".to_owned(),
            Comparison::Refused => "refused by Kubernetes".to_owned(),
            Comparison::Known(known) => format!("known: {known}"),
            Comparison::Different(why) => {
                format!("DIFFERENT: {}", why.split([':', ',']).take(2).collect::<String>())
            }
        };
        let is_same = compared == Comparison::Same;
        let example = match compared {
            Comparison::Different(why) => format!("{name}: {why}"),
            _ => name.to_owned(),
        };
        self.count(class, example);
        if is_same {
            for number in 0..edits {
                self.edit(text, name, number);
            }
        }
    }

    fn count(&mut self, class: String, example: String) {
        let entry = self.classes.entry(class).or_insert((0, example));
        entry.0 += 1;
    }

    fn edit(&mut self, text: &str, name: &str, number: usize) {
        let choices = bytes(name, number, CHOICES[1]);
        let scope =
            [Scope::One, Scope::Few, Scope::Swap, Scope::Format][usize::from(choices[0]) % 4];
        let edited = editing::edit(&mut Draw::new(&choices[1..]), text, scope, false);
        if let EditResult::Edited(edited) = edited {
            let verdict = reads_edit(&edited, &mut self.reader);
            self.result("edit", name, verdict);
        }
        let choices = bytes(name, number + 1_000, 2 * CHOICES[1]);
        for changed in changed_texts::all(&mut Draw::new(&choices), text) {
            let verdict = changed.is_read(&mut self.reader);
            self.result(changed.operation, name, verdict);
        }
    }

    fn result(&mut self, operation: &'static str, name: &str, verdict: Verdict) {
        *self.results.entry(operation).or_default() += 1;
        if let Err(why) = verdict {
            self.count(format!("DIFFERENT: {operation}"), format!("{name}: {why}"));
        }
    }

    fn report(&self) -> TaskResult {
        let results =
            self.results.iter().map(|(operation, count)| format!("{count} of {operation}"));
        let results = results.collect::<Vec<_>>().join(", ");
        println!("{} texts; results: {results}", self.texts);
        let mut different = 0;
        for (class, (count, example)) in &self.classes {
            println!(
                "{count:8} {class}\n         such as {}",
                example.lines().next().unwrap_or("")
            );
            if class.starts_with("DIFFERENT") {
                different += count;
                println!("{example}");
            }
        }
        match different {
            0 => Ok(()),
            _ => Err(format!("{different} differences from Kubernetes' reader").into()),
        }
    }
}
