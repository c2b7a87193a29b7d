//! `--kpt`: renders packages with kpt and krm, and compares the resources by meaning.
//!
//! kpt needs a container engine for images, so the functions of a package are commands: `krm fn call` with the image of the function,
//! or the original program from the directory in `KRM_ORIGINALS`. What is compared is therefore everything around the functions:
//! the order of packages, selection, functionConfigs, placement of new resources, and what is written.

mod compare;
mod generate;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use krm_core::model::ImageName;
use krm_yaml::File;

use crate::{TaskResult, shell};
use compare::{Comparison, Rendered};

/// The number of generated packages.
const PACKAGES: usize = 150;

/// The maximum number of unexplained differences to print.
const MAX_SHOWN: usize = 5;

/// The options of `--kpt`.
pub(super) struct Options {
    count: usize,
    directories: Vec<PathBuf>,
}

impl Options {
    pub(super) fn parse(args: &mut lexopt::Parser) -> TaskResult<Self> {
        let mut options = Self { count: PACKAGES, directories: Vec::new() };
        while let Some(arg) = args.next()? {
            match arg {
                lexopt::Arg::Long("count") => {
                    options.count = args.value()?.to_string_lossy().parse()?;
                }
                lexopt::Arg::Value(path) => options.directories.push(path.into()),
                _ => return Err(arg.unexpected().into()),
            }
        }
        Ok(options)
    }
}

/// Compares generated packages, and all packages below the directories. An unexplained difference is an error.
pub(super) fn run(options: &Options) -> TaskResult {
    if !shell::exists("kpt") {
        return Err("kpt is not installed".into());
    }
    shell::run(shell::cargo().args(["build", "--quiet", "-p", "krm-cli"]))?;
    let work = shell::target().join("differential-kpt");
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    let mut survey = Survey {
        work,
        available: Available::find()?,
        same: 0,
        skipped: 0,
        explained: BTreeMap::new(),
        faults: Vec::new(),
    };
    for number in 0..options.count {
        let source = survey.work.join("source");
        generate::write(&source, number)?;
        survey.package(&source, &format!("generated package {number}"))?;
    }
    for directory in &options.directories {
        for package in packages(directory)? {
            survey.package(&package, &package.display().to_string())?;
        }
    }
    survey.report()
}

struct Survey {
    work: PathBuf,
    available: Available,
    same: usize,
    /// Packages with functions that cannot run as commands.
    skipped: usize,
    explained: BTreeMap<&'static str, usize>,
    faults: Vec<String>,
}

impl Survey {
    /// Renders a copy of a package with each tool, and compares the results.
    fn package(&mut self, source: &Path, name: &str) -> TaskResult {
        let [kpt, krm] = ["kpt", "krm"].map(|tool| self.work.join(tool).join("package"));
        for copy in [&kpt, &krm] {
            if copy.exists() {
                fs::remove_dir_all(copy)?;
            }
            if !copy_package(source, copy, &self.available)? {
                self.skipped += 1;
                return Ok(());
            }
        }
        let theirs = self.render(shell::program("kpt"), &kpt)?;
        let ours = self.render(shell::program(krm_program()), &krm)?;
        match compare::compare(&theirs, &ours)? {
            Comparison::Same => self.same += 1,
            Comparison::Explained(ids) => {
                ids.into_iter().for_each(|id| *self.explained.entry(id).or_default() += 1);
            }
            Comparison::Fault(description) => self.faults.push(format!("{name}: {description}")),
        }
        Ok(())
    }

    /// Renders a package in place.
    fn render(&self, mut tool: Command, package: &Path) -> TaskResult<Rendered> {
        let programs = krm_program();
        let programs = programs.parent().ok_or("krm has no directory")?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = self.available.originals.iter().cloned().chain([programs.to_path_buf()]);
        let path = std::env::join_paths(own.chain(std::env::split_paths(&path)))?;
        tool.args(["fn", "render"]).arg(package).arg("--allow-exec").env("PATH", path);
        let output = tool.output()?;
        Ok(Rendered {
            succeeded: output.status.success(),
            message: String::from_utf8_lossy(&output.stderr).into_owned(),
            files: compare::files(package)?,
        })
    }

    fn report(self) -> TaskResult {
        let explained: usize = self.explained.values().sum();
        println!(
            "rendering: {} packages are equal for kpt and krm, {explained} differ as documented, {} have functions that are not available",
            self.same, self.skipped
        );
        for (id, count) in &self.explained {
            println!("  {count:5} {id}: {}", compare::reason(id));
        }
        for fault in self.faults.iter().take(MAX_SHOWN) {
            println!("\nunexplained: {fault}");
        }
        match self.faults.len() {
            0 => Ok(()),
            count => {
                Err(format!("{count} packages differ from kpt for no documented reason").into())
            }
        }
    }
}

fn krm_program() -> PathBuf {
    shell::target().join("debug/krm")
}

/// All directories with a Kptfile, subpackages too.
fn packages(directory: &Path) -> TaskResult<Vec<PathBuf>> {
    let (mut found, mut directories) = (Vec::new(), vec![directory.to_path_buf()]);
    while let Some(directory) = directories.pop() {
        if directory.join("Kptfile").is_file() {
            found.push(directory.clone());
        }
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() && entry.file_name() != ".git" {
                directories.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Copies a package, with commands instead of images. Returns whether all of its functions are available.
fn copy_package(from: &Path, to: &Path, available: &Available) -> TaskResult<bool> {
    fs::create_dir_all(to)?;
    let mut is_available = true;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            is_available &=
                entry.file_name() == ".git" || copy_package(&entry.path(), &target, available)?;
        } else if kind.is_file() && entry.file_name() == "Kptfile" {
            let text = with_commands(&fs::read_to_string(entry.path())?, available)?;
            is_available &= text.is_some();
            fs::write(target, text.unwrap_or_default())?;
        } else if kind.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(is_available)
}

/// A Kptfile with commands instead of images; none if a function is neither built in nor available as a program.
fn with_commands(kptfile: &str, available: &Available) -> TaskResult<Option<String>> {
    let images = images(&File::parse(kptfile.to_owned())?);
    let mut text = String::new();
    for (number, line) in (1..).zip(kptfile.lines()) {
        match (images.get(&number), line.split_once("image:")) {
            (Some(image), Some((before, _))) => match available.command(image) {
                Some(command) => text.push_str(&format!("{before}exec: {command}")),
                None => return Ok(None),
            },
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    Ok(Some(text))
}

/// The images of the functions of a pipeline, by line.
fn images(kptfile: &File) -> BTreeMap<u32, String> {
    let pipeline = kptfile.documents().find_map(|it| it.root()?.as_mapping()?.get("pipeline"));
    let pipeline = pipeline.and_then(|it| it.as_mapping());
    let lists = ["mutators", "validators"].into_iter().filter_map(|it| pipeline?.get(it));
    let functions = lists.filter_map(|list| list.as_sequence()).flat_map(|list| list.items());
    let images = functions.filter_map(|function| function.as_mapping()?.get("image"));
    images.filter_map(|it| Some((it.position().line, it.as_str()?.into_owned()))).collect()
}

/// The functions that can run as commands.
struct Available {
    /// The names of built-in functions.
    builtins: BTreeSet<String>,
    /// The directory with original programs.
    originals: Option<PathBuf>,
}

impl Available {
    fn find() -> TaskResult<Self> {
        let list = shell::output(shell::program(krm_program()).args(["fn", "list"]))?;
        let names = list.lines().filter_map(|line| line.split_whitespace().next());
        let builtins = names.map(str::to_owned).collect();
        Ok(Self { builtins, originals: std::env::var_os("KRM_ORIGINALS").map(PathBuf::from) })
    }

    /// The command for an image.
    fn command(&self, image: &str) -> Option<String> {
        let name = ImageName::parse(image).ok()?.name();
        let original = self.originals.as_ref().map(|it| it.join(name)).filter(|it| it.is_file());
        match original {
            // krm runs only commands of the package and of PATH, so the name has no directory.
            Some(_) => Some(name.to_owned()),
            None => self.builtins.contains(name).then(|| format!("krm fn call {image}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_become_commands_if_they_are_built_in() {
        let available =
            Available { builtins: BTreeSet::from(["set-labels".to_owned()]), originals: None };
        let of = |image: &str| {
            format!("pipeline:\n  mutators:\n  - {image}\n    configMap:\n      image: nginx\n")
        };
        let changed = |image: &str| with_commands(&of(image), &available).unwrap();
        let image = "gcr.io/kpt-fn/set-labels:v0.1.5";
        let expected = of(&format!("exec: krm fn call {image}"));
        assert_eq!(changed(&format!("image: {image}")), Some(expected));
        assert_eq!(changed("image: example.com/other"), None);
        assert_eq!(changed("exec: cat"), Some(of("exec: cat")));
    }
}
