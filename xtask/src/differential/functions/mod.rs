//! Runs built-in functions and the programs of the catalog on generated packages, and classifies every difference.
//!
//! A difference is documented on the page of the function, with an id, or it is a fault and fails the run.

mod cases;
mod catalog;
mod config_connector;
mod configs;
mod documented;
mod extras;
mod layout;
mod old_packages;
mod outcome;
mod resources;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use catalog::{FUNCTIONS, Function, NOT_COMPARED};
use documented::Case;
pub(crate) use documented::ids as documented_ids;
use krm_yaml::{File, NodeRef};
use outcome::{Outcome, differences, node_of};

use crate::{TaskResult, shell};

/// The arguments after `--functions`.
pub(super) struct Options {
    /// The programs of the catalog, named like the functions.
    directory: PathBuf,
    /// The names of the functions; empty for all.
    only: Vec<String>,
    count: usize,
    /// Print this case with both outputs.
    show: Option<usize>,
    krm: Option<PathBuf>,
}

impl Options {
    pub(super) fn parse(args: &mut lexopt::Parser) -> TaskResult<Self> {
        let mut options =
            Self { directory: PathBuf::new(), only: Vec::new(), count: 300, show: None, krm: None };
        while let Some(arg) = args.next()? {
            match arg {
                lexopt::Arg::Value(directory) => options.directory = directory.into(),
                lexopt::Arg::Long("only") => {
                    let names = args.value()?.to_string_lossy().into_owned();
                    options.only = names.split(',').map(str::to_owned).collect();
                }
                lexopt::Arg::Long("count") => {
                    options.count = args.value()?.to_string_lossy().parse()?;
                }
                lexopt::Arg::Long("show") => {
                    options.show = Some(args.value()?.to_string_lossy().parse()?);
                }
                lexopt::Arg::Long("krm") => options.krm = Some(args.value()?.into()),
                _ => return Err(arg.unexpected().into()),
            }
        }
        match options.directory.is_dir() {
            true => Ok(options),
            false => {
                Err("expected the directory with the programs of the catalog after --functions"
                    .into())
            }
        }
    }
}

/// Compares every function whose program is in the directory.
pub(super) fn run(options: &Options) -> TaskResult {
    let krm = match &options.krm {
        Some(krm) => krm.clone(),
        None => {
            shell::run(shell::cargo().args(["build", "--quiet", "-p", "krm-cli"]))?;
            shell::target().join("debug/krm")
        }
    };
    let (mut faults, mut compared, mut missing) = (0, 0, 0);
    let is_selected =
        |it: &&Function| options.only.is_empty() || options.only.iter().any(|only| only == it.name);
    for function in FUNCTIONS.iter().filter(is_selected) {
        let original = options.directory.join(function.name);
        if !original.is_file() {
            println!("{}: no program in {}", function.name, options.directory.display());
            missing += 1;
            continue;
        }
        compared += 1;
        match options.show {
            Some(number) => show(function, number, &krm, &original)?,
            None => faults += compare(function, options.count, &krm, &original)?,
        }
    }
    if options.only.is_empty() {
        for (name, reason) in NOT_COMPARED {
            println!("{name}: not compared: {reason}");
        }
    }
    println!("{compared} functions compared, {missing} without a program");
    match (compared, faults) {
        (0, _) => Err("no program was found".into()),
        (_, 0) => Ok(()),
        (_, faults) => Err(format!("{faults} cases with undocumented differences").into()),
    }
}

/// Compares the outputs for all cases; returns the number of cases with a fault.
fn compare(function: &Function, count: usize, krm: &Path, original: &Path) -> TaskResult<usize> {
    let (mut equal, mut documented_cases, mut faulty) = (0, 0, 0);
    let mut documented: BTreeMap<&str, usize> = BTreeMap::new();
    let mut faults: BTreeMap<String, (Vec<usize>, String)> = BTreeMap::new();
    for number in 0..count {
        let case = case(function, number, krm, original)?;
        let found = differences(&case.ours, &case.theirs, function);
        let mut ids = Vec::new();
        let mut unknown = Vec::new();
        for difference in &found {
            match documented::id(function.name, &case, difference) {
                Some(id) => ids.push(id),
                None => unknown.push((difference.shape(), difference.values())),
            }
        }
        match (found.is_empty(), unknown.is_empty()) {
            (true, _) => equal += 1,
            (_, true) => documented_cases += 1,
            _ => faulty += 1,
        }
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter().for_each(|id| *documented.entry(id).or_default() += 1);
        unknown.dedup_by(|a, b| a.0 == b.0);
        for (shape, values) in unknown {
            let entry = faults.entry(shape).or_insert_with(|| (Vec::new(), values));
            entry.0.push(number);
        }
    }
    println!(
        "{}: {count} cases: {equal} equal, {documented_cases} documented, {faulty} with faults",
        function.name
    );
    for (id, cases) in documented {
        println!("  {cases:4} {id}");
    }
    for (shape, (cases, values)) in faults {
        let first: Vec<String> = cases.iter().take(5).map(ToString::to_string).collect();
        println!("  {:4} FAULT {shape}: cases {}", cases.len(), first.join(", "));
        println!("         {values}");
    }
    Ok(faulty)
}

/// Prints a case with both outputs and their differences.
fn show(function: &Function, number: usize, krm: &Path, original: &Path) -> TaskResult {
    let list = cases::input(function, number);
    println!("--- input\n{list}");
    for (name, mut command) in
        [("krm", call(krm, function)), ("original", shell::program(original))]
    {
        let (succeeded, stdout, stderr) = call_function(&mut command, &list)?;
        println!(
            "--- {name}: {}\n{stdout}{stderr}",
            if succeeded { "succeeded" } else { "failed" }
        );
    }
    let case = case(function, number, krm, original)?;
    for difference in differences(&case.ours, &case.theirs, function) {
        let id = documented::id(function.name, &case, &difference).unwrap_or("FAULT");
        println!("--- {id}: {}\n  {}", difference.shape(), difference.values());
    }
    Ok(())
}

fn call(krm: &Path, function: &Function) -> Command {
    let mut command = shell::program(krm);
    command.args(["fn", "call", function.name]);
    command
}

/// Runs both programs on a generated case.
fn case(function: &Function, number: usize, krm: &Path, original: &Path) -> TaskResult<Case> {
    let list = cases::input(function, number);
    let file = File::parse(list.clone())?;
    let root = file.document(0).and_then(|it| it.root()).ok_or("the generated case is empty")?;
    let input = node_of(root);
    let read = Outcome::read(true, &list, &[]).ok_or("the generated case is invalid")?;
    let (comments, files) = (read.comments, read.files);
    let mut scalars = BTreeMap::new();
    if let Some(items) = root.as_mapping().and_then(|it| it.get("items")) {
        collect_scalars(items, &mut scalars);
    }
    let outcome = |mut command: Command| -> TaskResult<Outcome> {
        let (succeeded, stdout, _) = call_function(&mut command, &list)?;
        Ok(Outcome::read(succeeded, &stdout, &files).unwrap_or_else(Outcome::failure))
    };
    let mut ours = outcome(call(krm, function))?;
    let mut theirs = outcome(shell::program(original))?;
    ours.align(&mut theirs);
    Ok(Case { input, text: list, comments, scalars, ours, theirs })
}

fn collect_scalars(node: NodeRef<'_>, found: &mut BTreeMap<String, String>) {
    match node.as_scalar() {
        Some(scalar) => _ = found.insert(node.path().to_string(), scalar.value().into_owned()),
        None => {
            let values = node.children().filter(|it| it.value_of_key().is_none());
            values.for_each(|it| collect_scalars(it, found));
        }
    }
}

/// Whether a function succeeded, its output, and what it wrote to stderr.
fn call_function(command: &mut Command, list: &str) -> TaskResult<(bool, String, String)> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A function that does not read all input reports it by its exit code.
        let _ = stdin.write_all(list.as_bytes());
    }
    let done = child.wait_with_output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((done.status.success(), text(&done.stdout), text(&done.stderr)))
}
