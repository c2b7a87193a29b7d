//! Packages with setters: opened with their definitions, changed, and written.

use clap::ValueEnum;
use krm_core::setters::{
    Changes, DeleteDefinition, FieldScan, NodeLocation, ReferenceSyntax, Setters,
    find_setter_fields,
};
use krm_core::{Destination, Diagnostic, OriginalFile, PackageFile, Plan};

use super::edit_session::{EditOptions, EditSession};
use crate::cli::{Global, optional_bool};
use crate::commands::kinds::CommandKind;
use crate::console::Console;
use crate::loader::{self, LoadedPackage, Origin};
use crate::walk::Subpackages;
use crate::{CommandResult, Failure, disk, parallel};

/// The package argument of setter commands, and where else setters are defined.
#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("recurse_subpackages", optional_bool))]
pub(super) struct SetterPackage {
    /// Directory of the package
    #[arg(value_name = "DIR")]
    dir: String,

    /// Include subpackages, each with its own definitions
    #[arg(short = 'R', long, default_value = "false", hide_default_value = true)]
    recurse_subpackages: bool,

    /// OpenAPI document with further definitions; can be repeated
    #[arg(long, value_name = "FILE")]
    openapi: Vec<String>,
}

/// A package that is being edited, with the documents of `--openapi`.
pub(super) struct OpenedPackage<'a> {
    pub(super) session: EditSession<'a>,
    pub(super) openapi: Vec<PackageFile>,
}

impl SetterPackage {
    /// Opens the package for editing. Standard input is refused, as it has no Krmfile with definitions.
    pub(super) fn open<'a>(
        &self,
        edit_options: &'a EditOptions,
        global: &Global,
        console: &mut Console,
    ) -> Result<OpenedPackage<'a>, Failure> {
        if self.dir == disk::STDIN {
            return Err(Failure::usage(Diagnostic::error(CommandKind::StdinIsNotAPackage)));
        }
        let (dir, recurse) = (&self.dir, self.recurse_subpackages);
        let session =
            EditSession::open_at(dir, &self.openapi, recurse, edit_options, global, console)?;
        Ok(OpenedPackage { session, openapi: self.documents(global)? })
    }

    /// Reads the package without locking it.
    pub(super) fn load(
        &self,
        global: &Global,
    ) -> Result<(LoadedPackage, Vec<PackageFile>), Failure> {
        let subpackages = Subpackages::included_if(self.recurse_subpackages);
        let loaded =
            loader::load_with(&self.dir, global.jobs, subpackages).map_err(Failure::input)?;
        Ok((loaded, self.documents(global)?))
    }

    fn documents(&self, global: &Global) -> Result<Vec<PackageFile>, Failure> {
        let mut all = Vec::new();
        for name in &self.openapi {
            let loaded = loader::load(name, global.jobs).map_err(Failure::input)?;
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
    pub(super) display_path: String,
    pub(super) setters: Setters<'a>,
}

/// The setters of the package and its subpackages, the outermost package first.
pub(super) fn read<'a>(
    loaded: &'a LoadedPackage,
    openapi: &'a [PackageFile],
    global: &Global,
) -> Vec<PackageSetters<'a>> {
    let roots = loaded.package.by_root();
    let files: Vec<&PackageFile> = roots.iter().flat_map(|(_, files)| files.clone()).collect();
    // A file with a document that cannot be read is skipped as a whole.
    let find = |file: &&'a PackageFile| match file.errors().is_empty() {
        true => find_setter_fields(file),
        false => FieldScan::default(),
    };
    let mut found = parallel::map(&files, global.jobs, find).into_iter();
    // An OpenAPI document that is a file of the package is edited there, not as a second copy.
    let own = |other: &'a PackageFile| {
        files.iter().find(|file| file.display_path == other.display_path).copied().unwrap_or(other)
    };
    let openapi: Vec<&PackageFile> = openapi.iter().map(own).collect();
    let package = |(root, files): (&str, Vec<&'a PackageFile>)| {
        let fields: Vec<FieldScan<'a>> = found.by_ref().take(files.len()).collect();
        PackageSetters {
            display_path: directory_of(loaded, root),
            setters: Setters::new(files, &openapi, fields),
        }
    };
    roots.into_iter().map(package).collect()
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

/// Describes fields by number and location: `2 fields: a.yaml:3:5, b.yaml:1:1`.
pub(super) fn describe_fields(locations: &[NodeLocation<'_>]) -> String {
    let locations: Vec<String> = locations.iter().map(ToString::to_string).collect();
    match locations.len() {
        0 => "no field".to_owned(),
        1 => format!("1 field: {}", locations[0]),
        count => format!("{count} fields: {}", locations.join(", ")),
    }
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
    let packages = read(&opened.session.loaded, &opened.openapi, global);
    let (mut changes, mut status) = (Changes::default(), Vec::new());
    for (package, deleted) in each(&packages, matches, |it| delete.compute(it))? {
        status.extend(headline(&packages, package));
        status.push(format!("{action} of {}", describe_fields(&deleted.fields)));
        changes.merge(deleted.changes);
    }
    let plan = plan(&changes, &opened.session, global);
    finish(opened.session, plan, &status, edit_options, console)
}
