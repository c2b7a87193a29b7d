//! Packages with setters: opened with their definitions, changed, and written.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::Path;

use clap::ValueEnum;
use clap_complete::engine::ArgValueCompleter;
use krm_core::setters::{
    Changes, DeleteDefinition, FieldScan, NodeLocation, ReferenceSyntax, Setters,
    find_setter_fields, reach_subpackages,
};
use krm_core::{Destination, Diagnostic, OriginalFile, PackageFile, Plan, Severity};

use super::edit_session::{EditOptions, EditSession, SubpackageScope};
use crate::cli::{Global, Recursion};
use crate::commands::completion::candidates;
use crate::commands::kinds::CommandKind;
use crate::console::Console;
use crate::loader::{self, LoadOptions, LoadedPackage, Origin};
use crate::{CommandResult, Failure, disk, parallel};

/// The package argument of setter commands, and where else setters are defined.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SetterPackage {
    /// Directory of the package [default: current directory]
    #[arg(value_name = "DIR", add = ArgValueCompleter::new(candidates::directory_or_setter))]
    dir: Option<String>,

    #[command(flatten)]
    recursion: Recursion,

    /// OpenAPI document with further definitions; can be repeated
    #[arg(long, value_name = "FILE")]
    openapi: Vec<String>,
}

/// A package that is being edited, with the documents of `--openapi`.
pub(super) struct OpenedPackage<'a> {
    pub(super) session: EditSession<'a>,
    openapi: Vec<PackageFile>,
    recurse_subpackages: bool,
}

impl OpenedPackage<'_> {
    /// The setters of the package and, unless they are left out, of its subpackages.
    pub(super) fn setters(&self, global: &Global) -> Vec<PackageSetters<'_>> {
        read(&self.session.loaded, &self.openapi, self.recurse_subpackages, global.jobs)
    }
}

/// A package that is only read, with the documents of `--openapi`.
pub(super) struct ReadPackage {
    pub(super) loaded: LoadedPackage,
    openapi: Vec<PackageFile>,
    recurse_subpackages: bool,
}

impl ReadPackage {
    /// The setters of the package and, unless they are left out, of its subpackages.
    pub(super) fn setters(&self, global: &Global) -> Vec<PackageSetters<'_>> {
        read(&self.loaded, &self.openapi, self.recurse_subpackages, global.jobs)
    }
}

impl SetterPackage {
    /// The first argument.
    pub(super) fn dir(&self) -> Option<&str> {
        self.dir.as_deref()
    }

    /// Splits the positional arguments of a command: the directory, and as many others as the command takes.
    ///
    /// The directory may be omitted. The first argument is the directory if there are more arguments than the others can be, or if there
    /// may be one more and it exists or looks like a path.
    pub(super) fn split<'a>(
        &'a self,
        others: impl IntoIterator<Item = &'a String>,
        count: RangeInclusive<usize>,
        names: &'static str,
    ) -> Result<(&'a str, Vec<&'a str>), Failure> {
        let words: Vec<&str> = self.dir.iter().chain(others).map(String::as_str).collect();
        let may_be_dir = |word: &&&str| {
            let looks_like_a_path =
                word.contains('/') || matches!(**word, "." | ".." | disk::STDIN);
            words.len() > *count.end()
                || words.len() > *count.start() && (looks_like_a_path || Path::new(word).exists())
        };
        let (dir, rest) = match words.first().filter(may_be_dir) {
            Some(dir) => (*dir, &words[1..]),
            None => (".", &words[..]),
        };
        if rest.len() < *count.start() {
            return Err(Failure::usage(Diagnostic::error(CommandKind::MissingArgument { names })));
        }
        Ok((dir, rest.to_vec()))
    }

    /// Opens the package for editing. Standard input is refused, as it has no Krmfile with definitions.
    pub(super) fn open<'a>(
        &self,
        dir: &str,
        edit_options: &'a EditOptions,
        global: &Global,
        console: &mut Console,
    ) -> Result<OpenedPackage<'a>, Failure> {
        edit_options.check_output(console)?;
        if dir == disk::STDIN {
            return Err(Failure::usage(Diagnostic::error(CommandKind::StdinIsNotAPackage)));
        }
        let recurse_subpackages = self.recursion.includes_subpackages();
        let scope = match recurse_subpackages {
            true => SubpackageScope::All,
            false => SubpackageScope::If(reach_subpackages),
        };
        let session =
            EditSession::open_at(dir, &self.openapi, scope, edit_options, global, console)?;
        session.count_resources(console);
        Ok(OpenedPackage { session, openapi: self.documents(global)?, recurse_subpackages })
    }

    /// Reads the package without locking it.
    pub(super) fn load(&self, dir: &str, global: &Global) -> Result<ReadPackage, Failure> {
        let recurse_subpackages = self.recursion.includes_subpackages();
        let options = self.recursion.load_options(global);
        let loaded = loader::load_if(dir, options, reach_subpackages, false);
        let loaded = loaded.map_err(Failure::input)?;
        Ok(ReadPackage { loaded, openapi: self.documents(global)?, recurse_subpackages })
    }

    fn documents(&self, global: &Global) -> Result<Vec<PackageFile>, Failure> {
        let mut all = Vec::new();
        for name in &self.openapi {
            let loaded = loader::load(name, global.load_options()).map_err(Failure::input)?;
            let diagnostics = loaded.diagnostics();
            if diagnostics.iter().any(Diagnostic::is_error) {
                return Err(Failure::Diagnostics(crate::Exit::Input, diagnostics));
            }
            all.extend(loaded.package.into_files());
        }
        Ok(all)
    }
}

/// The setters of one package, and the path that is printed for it.
pub(super) struct PackageSetters<'a> {
    /// The directory of the package, relative to the outermost one.
    root: &'a str,
    pub(super) display_path: String,
    pub(super) setters: Setters<'a>,
}

/// The setters of the package and, if asked for, of its subpackages, the outermost package first.
fn read<'a>(
    loaded: &'a LoadedPackage,
    openapi: &'a [PackageFile],
    recurse_subpackages: bool,
    jobs: Option<NonZeroUsize>,
) -> Vec<PackageSetters<'a>> {
    let roots = loaded.package.by_root();
    let files: Vec<&PackageFile> = roots.iter().flat_map(|(_, files)| files.clone()).collect();
    // A file with a document that cannot be read is skipped as a whole.
    let find = |file: &&'a PackageFile| match file.errors().is_empty() {
        true => find_setter_fields(file),
        false => FieldScan::default(),
    };
    let scans = parallel::map(&files, jobs, find);
    // An OpenAPI document that is a file of the package is edited there, not as a second copy.
    let own = |other: &'a PackageFile| {
        files.iter().find(|file| file.display_path == other.display_path).copied().unwrap_or(other)
    };
    let openapi: Vec<&PackageFile> = openapi.iter().map(own).collect();
    let count = if recurse_subpackages { roots.len() } else { 1 };
    let (mut from, mut packages) = (0, Vec::new());
    for (at, (root, own)) in roots.iter().enumerate().take(count) {
        let to = from + own.len();
        let mut setters = Setters::new(own.clone(), &openapi, scans[from..to].to_vec());
        // The packages inside this one follow it.
        let prefix = if root.is_empty() { String::new() } else { format!("{root}/") };
        let inner = roots[at + 1..].iter().take_while(|(other, _)| other.starts_with(&prefix));
        let end = to + inner.map(|(_, files)| files.len()).sum::<usize>();
        setters.reach(&files[to..end], &scans[to..end]);
        packages.push(PackageSetters { root, display_path: directory_of(loaded, root), setters });
        from = to;
    }
    packages
}

/// The names and values of the setters of a directory, for completion; none of one that cannot be read.
pub(super) fn names_and_values(dir: &str) -> Vec<(String, String)> {
    let options = LoadOptions::default();
    let Ok(loaded) = loader::load_if(dir, options, reach_subpackages, false) else {
        return Vec::new();
    };
    let packages = read(&loaded, &[], true, None);
    let setters = packages.iter().flat_map(|it| it.setters.definitions().setters());
    let values = setters.map(|it| (it.name.clone(), it.value.to_string()));
    values.collect::<BTreeMap<_, _>>().into_iter().collect()
}

/// The path of a package with a final slash, such as `shop/`.
fn directory_of(loaded: &LoadedPackage, root: &str) -> String {
    let slash = if loaded.origin == Origin::Directory { "/" } else { "" };
    format!("{}{slash}", loaded.display_path(root))
}

/// Makes the plan of the changes, with errors for files that cannot be edited.
pub(super) fn plan(
    changes: &Changes<'_>,
    session: &EditSession<'_>,
    global: &Global,
) -> (Plan, Vec<Diagnostic>) {
    let files: Vec<&PackageFile> =
        changes.files().filter(|file| file.errors().is_empty()).collect();
    let texts = parallel::map(&files, global.jobs, |file| changes.text(file));
    let (mut plan, mut errors) = (Plan::default(), Vec::new());
    for (file, text) in files.into_iter().zip(texts) {
        let planned = text.and_then(|new| match new {
            Some(new) => {
                let path = session.plan_path(file)?;
                plan.set(OriginalFile::from(file).at(Destination::File(path)), Some(new))
            }
            None => Ok(()),
        });
        errors.extend(planned.err());
    }
    (plan, errors)
}

/// Previews the plan, or writes it and then prints the status lines.
pub(super) fn finish(
    mut session: EditSession<'_>,
    plan: (Plan, Vec<Diagnostic>),
    status: &[String],
    edit_options: &EditOptions,
    console: &mut Console,
) -> CommandResult {
    let (plan, errors) = plan;
    session.report(errors, console)?;
    let exit = session.finish(plan, console)?;
    if !edit_options.preview.is_on() {
        status.iter().for_each(|line| console.status(line));
    }
    Ok(exit)
}

/// Runs `work` for each package for which `matches` is true. If there is none, it runs for the outermost package, so that `work`
/// reports what is missing.
pub(super) fn each<'a, T>(
    packages: &'a [PackageSetters<'a>],
    matches: impl Fn(&'a Setters<'a>) -> bool,
    work: impl Fn(&'a Setters<'a>) -> Result<T, Vec<Diagnostic>>,
) -> Result<Vec<(&'a PackageSetters<'a>, T)>, Failure> {
    let any = packages.iter().any(|package| matches(&package.setters));
    let selected =
        packages.iter().enumerate().filter(|(at, it)| matches(&it.setters) || *at == 0 && !any);
    let (mut done, mut errors) = (Vec::new(), Vec::new());
    for (_, package) in selected {
        match work(&package.setters) {
            Ok(result) => done.push((package, result)),
            Err(diagnostics) => errors.extend(diagnostics),
        }
    }
    if errors.is_empty() { Ok(done) } else { Err(Failure::Diagnostics(crate::Exit::Input, errors)) }
}

/// The setters of the packages around a package.
pub(super) fn outer<'p, 'a>(
    packages: &'p [PackageSetters<'a>],
    inner: &Setters<'a>,
) -> Vec<&'p Setters<'a>> {
    let Some(at) = packages.iter().position(|it| std::ptr::eq(&it.setters, inner)) else {
        return Vec::new();
    };
    let root = packages[at].root;
    let is_outer = |other: &&PackageSetters<'a>| {
        other.root.is_empty()
            || root.strip_prefix(other.root).is_some_and(|rest| rest.starts_with('/'))
    };
    packages[..at].iter().filter(is_outer).map(|it| &it.setters).collect()
}

/// Describes fields by number and location: `2 fields: a.yaml:3:5, b.yaml:1:1`.
pub(super) fn describe_fields(locations: &[NodeLocation<'_>]) -> String {
    let locations: Vec<String> = locations.iter().map(ToString::to_string).collect();
    match locations.len() {
        0 => "no field".to_owned(),
        1 => format!("1 field: {}", locations[0]),
        count => format!("{count} fields: {}", locations.join(", ")),
    }
}

/// A warning that `--strict` makes an error.
pub(super) fn strict(mut warning: Diagnostic, is_strict: bool) -> Diagnostic {
    if is_strict {
        warning.severity = Severity::Error;
    }
    warning
}

/// The status line for a definition that existed already.
pub(super) fn added_references(kind: &str, name: &str, fields: &[NodeLocation<'_>]) -> String {
    let fields = describe_fields(fields);
    format!("{kind} \"{name}\" already exists, added references to {fields}")
}

/// The line with the package path above its status lines, if there are several packages.
pub(super) fn headline(
    packages: &[PackageSetters<'_>],
    package: &PackageSetters<'_>,
) -> Option<String> {
    (packages.len() > 1).then(|| package.display_path.clone())
}

/// Syntax of new references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RefStyle {
    /// {"$ref":"#/definitions/io.k8s.cli.setters.NAME"}
    Ref,
    /// {"$openapi":"NAME"}
    Openapi,
    /// kpt-set: ${NAME}, with the value in the functionConfig of apply-setters
    KptSet,
}

impl RefStyle {
    pub(super) fn syntax(self) -> ReferenceSyntax {
        match self {
            Self::Ref => ReferenceSyntax::Ref,
            Self::Openapi => ReferenceSyntax::OpenApi,
            Self::KptSet => ReferenceSyntax::Pattern,
        }
    }
}

/// Deletes a setter or a substitution from every package for which `matches` is true.
pub(super) fn delete(
    opened: OpenedPackage<'_>,
    delete: &DeleteDefinition,
    matches: impl Fn(&Setters<'_>) -> bool,
    action: &str,
    edit_options: &EditOptions,
    global: &Global,
    console: &mut Console,
) -> CommandResult {
    let packages = opened.setters(global);
    let (mut changes, mut status) = (Changes::default(), Vec::new());
    for (package, deleted) in each(&packages, matches, |it| delete.compute(it))? {
        status.extend(headline(&packages, package));
        status.push(format!("{action} of {}", describe_fields(&deleted.fields)));
        changes.merge(deleted.changes);
    }
    let plan = plan(&changes, &opened.session, global);
    finish(opened.session, plan, &status, edit_options, console)
}
