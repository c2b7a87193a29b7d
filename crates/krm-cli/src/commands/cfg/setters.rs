//! What commands about setters have in common: packages are opened with their definitions, changed, and written.

use clap::ValueEnum;
use krm_core::setters::{
    Changes, DeleteDefinition, FieldScan, NodeLocation, ReferenceSyntax, Setters,
    find_setter_fields,
};
use krm_core::{Diagnostic, PackageFile, Plan};

use super::edit_session::{EditOptions, EditSession};
use crate::cli::Global;
use crate::console::Console;
use crate::loader::{self, LoadedPackage, Origin};
use crate::walk::Subpackages;
use crate::{CommandResult, Failure, disk, parallel};

/// Which package is meant, and where its setters are defined.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct Where {
    /// The folder of the package
    #[arg(value_name = "DIR")]
    dir: String,

    /// Packages inside the package, too, each with its own definitions
    #[arg(
        short = 'R',
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value_t = false,
        default_missing_value = "true",
        action = clap::ArgAction::Set,
        hide_possible_values = true,
        hide_default_value = true
    )]
    recurse_subpackages: bool,

    /// Definitions of an OpenAPI document, beside those of the package; may be repeated
    #[arg(long, value_name = "FILE")]
    openapi: Vec<String>,
}

/// A package that is being edited, and the documents that were named with it.
pub(super) struct Opened<'a> {
    pub(super) session: EditSession<'a>,
    pub(super) openapi: Vec<PackageFile>,
}

impl Where {
    /// Opens the package to be edited. Standard input has no definitions, and a pipe no second file.
    pub(super) fn open<'a>(
        &self,
        edit_options: &'a EditOptions,
        global: &Global,
        console: &mut Console,
    ) -> Result<Opened<'a>, Failure> {
        if self.dir == disk::STDIN {
            let words = "the folder of a package is wanted, and - is standard input";
            return Err(Failure::Diagnostics(
                crate::Exit::Usage,
                vec![Diagnostic::untyped_error(words)],
            ));
        }
        let (dir, recurse) = (&self.dir, self.recurse_subpackages);
        let session =
            EditSession::open_at(dir, &self.openapi, recurse, edit_options, global, console)?;
        Ok(Opened { session, openapi: self.documents(global)? })
    }

    /// Reads the package to be looked at.
    pub(super) fn load(
        &self,
        global: &Global,
    ) -> Result<(LoadedPackage, Vec<PackageFile>), Failure> {
        let wanted = Subpackages::included_if(self.recurse_subpackages);
        let loaded = loader::load_with(&self.dir, global.jobs, wanted).map_err(Failure::input)?;
        Ok((loaded, self.documents(global)?))
    }

    fn documents(&self, global: &Global) -> Result<Vec<PackageFile>, Failure> {
        let mut all = Vec::new();
        for name in &self.openapi {
            let loaded = loader::load(name, global.jobs).map_err(Failure::input)?;
            let told = loaded.diagnostics();
            if told.iter().any(Diagnostic::is_error) {
                return Err(Failure::Diagnostics(crate::Exit::Input, told));
            }
            all.extend(loaded.package.into_files());
        }
        Ok(all)
    }
}

/// One package with its setters, and the name that people know it by.
pub(super) struct Part<'a> {
    pub(super) display_path: String,
    pub(super) setters: Setters<'a>,
}

/// The setters of every package that was read, the outermost first.
pub(super) fn read<'a>(
    loaded: &'a LoadedPackage,
    openapi: &'a [PackageFile],
    global: &Global,
) -> Vec<Part<'a>> {
    let roots = loaded.package.by_root();
    let files: Vec<&PackageFile> = roots.iter().flat_map(|(_, files)| files.clone()).collect();
    // One that cannot be read as a whole is left alone as a whole.
    let find = |file: &&'a PackageFile| match file.errors().is_empty() {
        true => find_setter_fields(file),
        false => FieldScan::default(),
    };
    let mut found = parallel::map(&files, global.jobs, find).into_iter();
    // A document that is one of the package's files is taken from there.
    let own = |other: &'a PackageFile| {
        files.iter().find(|file| file.display_path == other.display_path).copied().unwrap_or(other)
    };
    let openapi: Vec<&PackageFile> = openapi.iter().map(own).collect();
    let part = |(root, files): (&str, Vec<&'a PackageFile>)| {
        let fields: Vec<FieldScan<'a>> = found.by_ref().take(files.len()).collect();
        Part {
            display_path: folder_of(loaded, root),
            setters: Setters::new(files, &openapi, fields),
        }
    };
    roots.into_iter().map(part).collect()
}

/// `shop/`
fn folder_of(loaded: &LoadedPackage, root: &str) -> String {
    let slash = if loaded.origin == Origin::Directory { "/" } else { "" };
    format!("{}{slash}", loaded.display_path(root))
}

/// The new texts of all files, made side by side.
pub(super) fn plan(changes: &Changes<'_>, global: &Global) -> (Plan, Vec<Diagnostic>) {
    let files: Vec<&PackageFile> =
        changes.files().filter(|file| file.errors().is_empty()).collect();
    let texts = parallel::map(&files, global.jobs, |file| changes.text(file));
    let (mut plan, mut errors) = (Plan::default(), Vec::new());
    for (file, text) in files.into_iter().zip(texts) {
        match (text, file.file()) {
            (Ok(Some(new)), Some(old)) => plan.write(&*file.display_path, old.text(), new),
            (Ok(_), _) => {}
            (Err(error), _) => errors.push(error),
        }
    }
    (plan, errors)
}

/// Writes the plan, or shows it; what was done is said once it is.
pub(super) fn finish(
    mut session: EditSession<'_>,
    planned: (Plan, Vec<Diagnostic>),
    said: &[String],
    edit_options: &EditOptions,
    console: &mut Console,
) -> CommandResult {
    let (plan, errors) = planned;
    session.report(errors, console)?;
    let exit = session.finish(plan, console)?;
    if !edit_options.preview.is_on() {
        said.iter().for_each(|line| console.status(line));
    }
    Ok(exit)
}

/// Does something in every package that is meant; in the outermost where none is, which tells what is missing.
pub(super) fn each<'a, T>(
    parts: &'a [Part<'a>],
    is_meant: impl Fn(&'a Setters<'a>) -> bool,
    work: impl Fn(&'a Setters<'a>) -> Result<T, Vec<Diagnostic>>,
) -> Result<Vec<(&'a Part<'a>, T)>, Failure> {
    let any = parts.iter().any(|part| is_meant(&part.setters));
    let meant =
        parts.iter().enumerate().filter(|(at, it)| is_meant(&it.setters) || *at == 0 && !any);
    let (mut done, mut errors) = (Vec::new(), Vec::new());
    for (_, part) in meant {
        match work(&part.setters) {
            Ok(result) => done.push((part, result)),
            Err(told) => errors.extend(told),
        }
    }
    if errors.is_empty() { Ok(done) } else { Err(Failure::Diagnostics(crate::Exit::Input, errors)) }
}

/// How many fields there are, and where: `2 fields: a.yaml:3:5, b.yaml:1:1`.
pub(super) fn fields(places: &[NodeLocation<'_>]) -> String {
    let shown: Vec<String> = places.iter().map(ToString::to_string).collect();
    match shown.len() {
        0 => "no field".to_owned(),
        1 => format!("1 field: {}", shown[0]),
        count => format!("{count} fields: {}", shown.join(", ")),
    }
}

/// The name of a package before what is said about it, where there are several.
pub(super) fn headline(parts: &[Part<'_>], part: &Part<'_>) -> Option<String> {
    (parts.len() > 1).then(|| part.display_path.clone())
}

/// How a new reference is written.
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
    pub(super) fn form(self) -> ReferenceSyntax {
        match self {
            Self::Ref => ReferenceSyntax::Ref,
            Self::Openapi => ReferenceSyntax::OpenApi,
            Self::KptSet => ReferenceSyntax::Pattern,
        }
    }
}

/// Deletes what is meant from every package that has it: a setter, or a substitution.
pub(super) fn delete(
    opened: Opened<'_>,
    delete: &DeleteDefinition,
    is_meant: impl Fn(&Setters<'_>) -> bool,
    words: &str,
    edit_options: &EditOptions,
    global: &Global,
    console: &mut Console,
) -> CommandResult {
    let parts = read(&opened.session.loaded, &opened.openapi, global);
    let (mut changes, mut said) = (Changes::default(), Vec::new());
    for (part, deleted) in each(&parts, is_meant, |it| delete.compute(it))? {
        said.extend(headline(&parts, part));
        said.push(format!("{words} of {}", fields(&deleted.fields)));
        changes.merge(deleted.changes);
    }
    let planned = plan(&changes, global);
    finish(opened.session, planned, &said, edit_options, console)
}
