//! `cargo xtask bench`: measures krm and other tools on the same work in one interleaved run.

mod baseline;
mod cache;
mod containers;
mod fmt;
mod functions;
mod images;
mod measure;
mod merge;
mod packages;
pub(crate) mod parse;
mod render;
mod repository;
mod serve;
mod setters;
mod startup;
mod table;
mod transform;
mod workloads;
mod writes;

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::corpus::{self, Layout};
use crate::{TaskResult, peers, shell};

/// The command-line options.
struct Options {
    runs: usize,
    /// Also measure 100,000 resources, which takes the other tools long.
    full: bool,
    /// Only sections and workloads whose name contains this text.
    only: String,
    /// The krm binary to measure, instead of building one.
    krm: Option<PathBuf>,
    /// Another krm binary: if given, the two are compared and nothing else is measured.
    baseline: Option<PathBuf>,
}

impl Options {
    fn selects(&self, name: &str) -> bool {
        name.contains(&self.only)
    }
}

pub(crate) fn run(args: lexopt::Parser) -> TaskResult {
    let options = options(args)?;
    // Always write new corpora: the generator may have changed, and new files are in the page cache.
    let directory = shell::target().join("bench/corpus");
    if directory.exists() {
        std::fs::remove_dir_all(&directory)?;
    }
    if let Some(baseline) = &options.baseline {
        let krm = krm(&options)?.ok_or("this checkout has no crates/krm-cli; use --krm")?;
        return baseline::run(&options, &krm, baseline);
    }
    let tools = Tools::find(&options)?;
    let mut corpora = Corpora { directory, written: BTreeMap::new() };
    if options.selects(startup::NAME) {
        startup::run(&options, &tools)?;
    }
    workloads::run(&options, &tools, &mut corpora)?;
    if options.selects(fmt::NAME) {
        fmt::run(&options, &tools)?;
    }
    if options.selects(merge::NAME) {
        merge::run(&options, &tools)?;
    }
    if options.selects(packages::NAME) {
        packages::run(&options, &tools)?;
    }
    if options.selects(writes::NAME) {
        writes::run(&options, &tools)?;
    }
    if options.selects(setters::NAME) {
        setters::run(&options, &tools)?;
    }
    if options.selects(transform::NAME) {
        transform::run(&options, &tools, &mut corpora)?;
    }
    if options.selects(functions::NAME) {
        functions::run(&options, &tools, &mut corpora)?;
    }
    if options.selects(render::NAME) {
        render::run(&options, &tools)?;
    }
    if options.selects(repository::NAME) {
        repository::run(&options, &tools)?;
    }
    if options.selects(cache::NAME) {
        cache::run(&options, &tools, &mut corpora)?;
    }
    if options.selects(serve::NAME) {
        serve::run(&options, &tools)?;
    }
    if options.selects(parse::NAME) {
        parse::run(&options, &mut corpora)?;
    }
    Ok(())
}

fn options(mut args: lexopt::Parser) -> TaskResult<Options> {
    let mut options =
        Options { runs: 5, full: false, only: String::new(), krm: None, baseline: None };
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Long("runs") => {
                let text = args.value()?.to_string_lossy().into_owned();
                options.runs = text
                    .parse()
                    .ok()
                    .filter(|runs| *runs > 0)
                    .ok_or("--runs: expected a positive integer")?;
            }
            lexopt::Arg::Long("full") => options.full = true,
            lexopt::Arg::Long("only") => {
                options.only = args.value()?.to_string_lossy().into_owned();
            }
            lexopt::Arg::Long("krm") => {
                options.krm = Some(baseline::binary(&args.value()?.to_string_lossy())?);
            }
            lexopt::Arg::Long("baseline") => {
                options.baseline = Some(baseline::binary(&args.value()?.to_string_lossy())?);
            }
            _ => return Err(arg.unexpected().into()),
        }
    }
    Ok(options)
}

/// The name of our own program in tables.
const KRM: &str = "krm";

/// The installed programs; a missing one is reported and left out of the tables.
struct Tools {
    programs: BTreeMap<&'static str, PathBuf>,
}

impl Tools {
    fn find(options: &Options) -> TaskResult<Self> {
        let mut programs = BTreeMap::new();
        match krm(options)? {
            Some(path) => _ = programs.insert(KRM, path),
            None => println!("krm cannot be built: this checkout has no crates/krm-cli"),
        }
        let others = [fmt::PEER, functions::PEER, merge::PEER];
        let mut names: Vec<&str> = workloads::peers().into_iter().chain(others).collect();
        names.extend(setters::PEERS.iter().chain(render::PEERS));
        names.sort_unstable();
        names.dedup();
        for name in names {
            match peers::find(name) {
                Some(path) => _ = programs.insert(name, path),
                None => println!("{name} is not installed; run `cargo xtask peers`"),
            }
        }
        Ok(Self { programs })
    }
}

/// The binary of `--krm`, or this checkout, built like a release.
fn krm(options: &Options) -> TaskResult<Option<PathBuf>> {
    if options.krm.is_some() {
        return Ok(options.krm.clone());
    }
    if !shell::root().join("crates/krm-cli").is_dir() {
        return Ok(None);
    }
    let features = ["--package", "krm-cli", "--features", "full"];
    shell::run(shell::cargo().args(["build", "--profile", "dist"]).args(features))?;
    Ok(Some(shell::target().join("dist/krm")))
}

/// The corpora that were needed so far, each written once.
struct Corpora {
    directory: PathBuf,
    written: BTreeMap<(usize, &'static str), Corpus>,
}

/// A directory of resources, and its files relative to it.
struct Corpus {
    directory: PathBuf,
    files: Vec<PathBuf>,
    bytes: u64,
}

impl Corpora {
    fn get(&mut self, count: usize, layout: Layout) -> TaskResult<&Corpus> {
        let key = (count, layout.name());
        if !self.written.contains_key(&key) {
            let directory = self.directory.join(format!("{count}-{}", layout.name()));
            let written = corpus::write(&directory, count, layout)?;
            let inside =
                written.files.iter().map(|path| path.strip_prefix(&directory).map(PathBuf::from));
            let files = inside.collect::<Result<_, _>>()?;
            self.written.insert(key, Corpus { directory, files, bytes: written.bytes });
        }
        Ok(&self.written[&key])
    }
}
