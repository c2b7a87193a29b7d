//! `cargo xtask bench`: krm beside its peers, on the same work, in one run, in one table.

mod containers;
mod fmt;
mod functions;
mod measure;
mod merge;
pub(crate) mod parse;
mod render;
mod setters;
mod startup;
mod table;
mod works;
mod writes;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::corpus::{self, Layout};
use crate::{Outcome, peers, shell};

/// What the person asked for.
struct Options {
    runs: usize,
    /// Also the corpus of 100,000 resources, which takes long in the peers.
    full: bool,
    /// Only the sections and works whose name holds this text.
    only: String,
}

impl Options {
    fn wants(&self, name: &str) -> bool {
        name.contains(&self.only)
    }
}

pub(crate) fn run(args: lexopt::Parser) -> Outcome {
    let options = options(args)?;
    // Each bench writes its corpora anew: never those of an older generator, and warm in the page cache.
    let folder = shell::target().join("bench/corpus");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    let tools = Tools::find()?;
    let mut corpora = Corpora { folder, written: BTreeMap::new() };
    if options.wants(startup::NAME) {
        startup::run(&options, &tools)?;
    }
    works::run(&options, &tools, &mut corpora)?;
    if options.wants(fmt::NAME) {
        fmt::run(&options, &tools)?;
    }
    if options.wants(merge::NAME) {
        merge::run(&options, &tools)?;
    }
    if options.wants(writes::NAME) {
        writes::run(&options, &tools)?;
    }
    if options.wants(setters::NAME) {
        setters::run(&options, &tools)?;
    }
    if options.wants(functions::NAME) {
        functions::run(&options, &tools, &mut corpora)?;
    }
    if options.wants(render::NAME) {
        render::run(&options, &tools)?;
    }
    if options.wants(parse::NAME) {
        parse::run(&options, &mut corpora)?;
    }
    Ok(())
}

fn options(mut args: lexopt::Parser) -> Outcome<Options> {
    let mut options = Options { runs: 5, full: false, only: String::new() };
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Long("runs") => {
                let text = args.value()?.to_string_lossy().into_owned();
                options.runs = text
                    .parse()
                    .ok()
                    .filter(|runs| *runs > 0)
                    .ok_or("--runs takes a number from 1")?;
            }
            lexopt::Arg::Long("full") => options.full = true,
            lexopt::Arg::Long("only") => {
                options.only = args.value()?.to_string_lossy().into_owned();
            }
            _ => return Err(arg.unexpected().into()),
        }
    }
    Ok(options)
}

/// The name that rows and ratios use for our own program.
const KRM: &str = "krm";

/// The programs that can be started; a missing one has been said and is left out of the tables.
struct Tools {
    programs: BTreeMap<&'static str, PathBuf>,
}

impl Tools {
    fn find() -> Outcome<Self> {
        let mut programs = BTreeMap::new();
        match krm()? {
            Some(path) => _ = programs.insert(KRM, path),
            None => println!("krm is not there: this checkout has no crates/krm-cli"),
        }
        let others = [fmt::PEER, functions::PEER, merge::PEER];
        let mut names: Vec<&str> = works::peers().into_iter().chain(others).collect();
        names.extend(setters::PEERS.iter().chain(render::PEERS));
        names.sort_unstable();
        names.dedup();
        for name in names {
            match peers::find(name) {
                Some(path) => _ = programs.insert(name, path),
                None => println!("{name} is not installed: `cargo xtask peers` does it"),
            }
        }
        Ok(Self { programs })
    }
}

/// Builds krm as people get it.
fn krm() -> Outcome<Option<PathBuf>> {
    if !shell::root().join("crates/krm-cli").is_dir() {
        return Ok(None);
    }
    shell::run(shell::cargo().args(["build", "--release", "--package", "krm-cli"]))?;
    Ok(Some(shell::target().join("release/krm")))
}

/// The corpora that works asked for so far, each written once.
struct Corpora {
    folder: PathBuf,
    written: BTreeMap<(usize, &'static str), Corpus>,
}

/// A folder of resources, and the files in it as they are named from within.
struct Corpus {
    folder: PathBuf,
    files: Vec<PathBuf>,
    bytes: u64,
}

impl Corpora {
    fn get(&mut self, count: usize, layout: Layout) -> Outcome<&Corpus> {
        let key = (count, layout.name());
        if !self.written.contains_key(&key) {
            let folder = self.folder.join(format!("{count}-{}", layout.name()));
            let written = corpus::write(&folder, count, layout)?;
            let inside =
                written.files.iter().map(|path| path.strip_prefix(&folder).map(PathBuf::from));
            let files = inside.collect::<Result<_, _>>()?;
            self.written.insert(key, Corpus { folder, files, bytes: written.bytes });
        }
        Ok(&self.written[&key])
    }
}
