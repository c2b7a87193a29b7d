//! `--reprint`: real manifests through functions that only parse and serialize them again, with three Go libraries. No byte may change.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use krm_core::functions::resource_list::{InputList, InputOptions, Items};
use krm_core::{Package, PackageFile};

use super::reader;
use crate::{TaskResult, peers, shell};

/// The functions of gopeer that change nothing.
const FUNCTIONS: [&str; 3] = ["fn-identity-goyaml", "fn-identity-kyaml", "fn-identity-sigs"];

/// Longer inputs are refused by the Go libraries with a timeout, or are generated.
const LONGEST: usize = 4 << 20;

pub(super) fn run(args: &mut lexopt::Parser) -> TaskResult {
    let gopeer = peers::find("gopeer")
        .ok_or("gopeer is not built; run `cargo xtask peers --only gopeer`")?;
    let mut survey = Survey { gopeer, ..Survey::default() };
    for path in super::corpora_files()? {
        if let Ok(text) = fs::read_to_string(&path) {
            survey.file(text, &path.display().to_string());
        }
    }
    while let Some(arg) = args.next()? {
        let lexopt::Arg::Value(repository) = arg else { return Err(arg.unexpected().into()) };
        for (name, text) in reader::files(Path::new(&repository))? {
            survey.file(text, &name);
        }
    }
    survey.report()
}

#[derive(Default)]
struct Survey {
    gopeer: PathBuf,
    files: usize,
    resources: usize,
    /// How many files krm does not read, and each function does not accept.
    refused: BTreeMap<&'static str, usize>,
    changed: Vec<String>,
}

impl Survey {
    /// Sends the resources of a file to all functions.
    fn file(&mut self, text: String, name: &str) {
        let Ok(file) = PackageFile::from_text("a.yaml", text) else { return };
        let package = Package::new(vec![file]);
        let Ok(taken) = Items::from_package(&package, |_| true) else {
            return *self.refused.entry("krm").or_default() += 1;
        };
        let Ok(input) = InputList::of(&taken.items, &InputOptions::default()) else { return };
        if input.is_empty() || input.text().len() > LONGEST {
            return;
        }
        self.files += 1;
        self.resources += input.len();
        for function in FUNCTIONS {
            let Some(output) = self.call(function, input.text()) else {
                *self.refused.entry(function).or_default() += 1;
                continue;
            };
            if let Some(why) = difference(&input, &taken, output) {
                self.changed.push(format!("{function}: {name}: {why}"));
            }
        }
    }

    /// The output of a function; `None` if it fails.
    fn call(&self, function: &str, input: &str) -> Option<String> {
        let mut command = shell::program(&self.gopeer);
        command.arg(function).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let mut stdin = child.stdin.take()?;
        let output = std::thread::scope(|scope| {
            // A function that fails does not read everything.
            scope.spawn(move || std::io::Write::write_all(&mut stdin, input.as_bytes()));
            child.wait_with_output()
        });
        let output = output.ok().filter(|it| it.status.success())?;
        String::from_utf8(output.stdout).ok()
    }

    fn report(&self) -> TaskResult {
        println!("{} files with {} resources", self.files, self.resources);
        for (by, count) in &self.refused {
            println!("{count:8} files are not accepted by {by}");
        }
        self.changed.iter().for_each(|it| println!("CHANGED: {it}"));
        println!("{} results changed a file", self.changed.len());
        if self.changed.is_empty() { Ok(()) } else { Err("files changed".into()) }
    }
}

/// What the output of a function changed.
fn difference(input: &InputList<'_>, taken: &Items, output: String) -> Option<String> {
    let applied = match input.apply_output(output) {
        Ok(applied) => applied,
        Err(refused) => return Some(format!("refused: {}", refused.error.message())),
    };
    if !applied.sources.iter().copied().eq((0..input.len()).map(Some)) {
        return Some("resources are not found again, or in another order".to_owned());
    }
    let (old, new) = taken.items.iter().zip(&applied.items).find(|(a, b)| a.text() != b.text())?;
    let mut lines = old.text().lines().zip(new.text().lines());
    Some(match lines.find(|(old, new)| old != new) {
        Some((old, new)) => format!("{old:?} became {new:?}"),
        None => "lines were added or removed at the end".to_owned(),
    })
}
