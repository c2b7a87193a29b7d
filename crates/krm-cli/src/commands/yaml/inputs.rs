//! The files of a command: those that are named, standard input, and the files of directories.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use krm_core::{Destination, Diagnostic, OriginalFile, PackagePath, Plan, Severity};
use krm_yaml::{File, ReadOptions};

use super::input::syntax_errors;
use crate::cli::{Global, Preview, Recursion};
use crate::commands::kinds::CommandKind;
use crate::commands::{check_stdin_once, plan};
use crate::console::Console;
use crate::disk::Lock;
use crate::loader::{self, LoadedPackage};
use crate::{Exit, Failure, consistent_read, disk, parallel};

/// The arguments of a command that reads or edits files.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Inputs {
    /// Files, and directories with all YAML and JSON files below them [default: current directory]; - is standard input
    #[arg(value_name = "FILE|DIR")]
    pub(super) files: Vec<String>,

    #[command(flatten)]
    pub(super) recursion: Recursion,
}

/// A file of a command.
pub(super) struct InputFile {
    /// The name in messages.
    pub(super) name: String,
    pub(super) content: Result<Arc<File>, Diagnostic>,
    /// The package and the path in it, if the file was not named but is in a directory that was.
    origin: Option<(usize, PackagePath)>,
}

impl InputFile {
    /// The file as these options read it. The files of directories are read with the default options.
    pub(super) fn read_with(&self, options: ReadOptions) -> Result<Arc<File>, Diagnostic> {
        let file = self.content.clone()?;
        if self.origin.is_none() || options == ReadOptions::default() {
            return Ok(file);
        }
        let file = File::parse_with(file.text().to_owned(), options);
        file.map(Arc::new).map_err(|error| Diagnostic::from(&error).in_file(&*self.name))
    }
}

/// All files of a command.
pub(super) struct InputFiles {
    pub(super) files: Vec<InputFile>,
    packages: Vec<(LoadedPackage, String)>,
    /// What is wrong with the directories.
    pub(super) problems: Vec<Diagnostic>,
}

/// The names, or the current directory where there are none.
pub(super) fn names_or_current(names: &[String]) -> Vec<String> {
    if names.is_empty() { vec![".".to_owned()] } else { names.to_vec() }
}

impl InputFiles {
    /// Reads files and directories.
    pub(super) fn read(
        names: &[String],
        recursion: &Recursion,
        options: ReadOptions,
        global: &Global,
    ) -> Result<Self, Failure> {
        Self::load(names, recursion, options, &Lock::none(), global)
    }

    /// Locks files and directories, and reads them to edit them.
    pub(super) fn open(
        names: &[String],
        recursion: &Recursion,
        preview: &Preview,
        global: &Global,
        console: &mut Console,
    ) -> Result<(Self, Lock), Failure> {
        let lock = plan::lock(names, preview, console)?;
        let options = ReadOptions::default();
        let mut all = Self::load(names, recursion, options, &lock, global)?;
        // An interrupted run may have left files half written: they are completed or restored, and read again.
        let journals: Vec<_> =
            all.packages.iter().flat_map(|(loaded, _)| loaded.journals.clone()).collect();
        let report = &mut |diagnostic: &Diagnostic| console.report(diagnostic);
        if lock.recover(&journals, report).map_err(Failure::input)? {
            all = Self::load(names, recursion, options, &lock, global)?;
        }
        Ok((all, lock))
    }

    fn load(
        names: &[String],
        recursion: &Recursion,
        options: ReadOptions,
        lock: &Lock,
        global: &Global,
    ) -> Result<Self, Failure> {
        check_stdin_once(names.iter().map(String::as_str))?;
        let mut seen = BTreeSet::new();
        let names: Vec<&String> = names.iter().filter(|name| seen.insert(*name)).collect();
        let is_directory = |name: &&&String| ***name != disk::STDIN && Path::new(name).is_dir();
        let named = names.iter().copied().filter(|name| !is_directory(&name));
        let named: Vec<&str> = named.map(String::as_str).collect();
        let parse = |name: &str| disk::parse(name, options);
        // Nobody else writes to what is locked.
        let mut parsed = match lock.is_held() {
            true => parallel::map(&named, global.jobs, |name| parse(name)),
            false => {
                consistent_read::read_files(&named, global.jobs, parse).map_err(Failure::input)?
            }
        };
        let mut all = Self { files: Vec::new(), packages: Vec::new(), problems: Vec::new() };
        parsed.reverse();
        for name in &names {
            if is_directory(&name) {
                all.add_directory(name, recursion, lock, global)?;
                continue;
            }
            let content = match parsed.pop() {
                Some(parsed) => parsed.map(Arc::new),
                None => continue,
            };
            all.files.push(InputFile { name: (*name).clone(), content, origin: None });
        }
        Ok(all)
    }

    fn add_directory(
        &mut self,
        name: &str,
        recursion: &Recursion,
        lock: &Lock,
        global: &Global,
    ) -> Result<(), Failure> {
        let options = recursion.load_options(global);
        let loaded = loader::load_to_edit(name, options, lock.is_held()).map_err(Failure::input)?;
        let is_located = |it: &Diagnostic| it.location.is_some();
        self.problems.extend(loaded.diagnostics().into_iter().filter(|it| !is_located(it)).map(
            |mut it| {
                if loader::is_about_nothing(&it) {
                    // A command that did nothing must not pass.
                    it.severity = Severity::Error;
                }
                it
            },
        ));
        for file in loaded.package.files() {
            // Files that cannot be read are among the problems.
            let Ok(content) = &file.content else { continue };
            self.files.push(InputFile {
                name: file.display_path.clone(),
                content: Ok(Arc::clone(content)),
                origin: Some((self.packages.len(), file.path.clone())),
            });
        }
        self.packages.push((loaded, lock.directory_of(name)));
        Ok(())
    }

    /// A file as a plan needs it, with the text that was read.
    pub(super) fn original(
        &self,
        file: &InputFile,
        text: String,
        lock: &Lock,
    ) -> Result<OriginalFile, Diagnostic> {
        let origin = file.origin.as_ref().and_then(|(package, path)| {
            let (loaded, directory) = &self.packages[*package];
            Some((loaded.package.file(path)?, path.in_directory(directory)))
        });
        match origin {
            None => lock.original(&file.name, text),
            Some((file, path)) => Ok(OriginalFile::from(file).at(Destination::File(path))),
        }
    }

    /// The plan with the further names of files that have several.
    pub(super) fn with_hard_links(&self, plan: Plan) -> Result<Plan, Diagnostic> {
        self.packages
            .iter()
            .try_fold(plan, |plan, (loaded, directory)| loaded.with_hard_links(plan, directory))
    }

    /// Fails if a directory could not be read completely, and reports warnings about it.
    pub(super) fn check(&self, console: &mut Console) -> Result<(), Failure> {
        if !self.problems.iter().any(Diagnostic::is_error) {
            console.report_all(&self.problems);
            return Ok(());
        }
        let mut problems = self.problems.clone();
        // All that is wrong in one run.
        for file in &self.files {
            let documents = file.content.iter().flat_map(|content| content.documents());
            problems.extend(syntax_errors(&file.name, &documents.collect::<Vec<_>>()));
        }
        if !problems.iter().any(loader::is_about_nothing) {
            let hint = "fix them, or exclude them in .krmignore";
            problems.push(Diagnostic::error(CommandKind::UnreadableFiles).hint(hint));
        }
        Err(Failure::Diagnostics(Exit::Input, problems))
    }
}
