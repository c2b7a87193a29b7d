//! Setters and substitutions: one value, set everywhere, kept as the author wrote it.
//!
//! A setter is defined in OpenAPI, under `io.k8s.cli.setters.NAME`, and fields refer to it in comments. [`Set`] gives
//! it a value and writes it into every field that follows it; a substitution puts the values of several setters into a
//! pattern, and is calculated anew whenever one of them is set.
//!
//! ```
//! use krm_core::setters::{Set, Setters};
//! use krm_core::{Package, PackageFile};
//!
//! let package = Package::new(vec![
//!     PackageFile::of_text("Krmfile", r#"
//! apiVersion: config.k8s.io/v1alpha1
//! kind: Krmfile
//! openAPI:
//!   definitions:
//!     io.k8s.cli.setters.replicas:
//!       x-k8s-cli:
//!         setter:
//!           name: replicas
//!           value: "4"
//! "#)?,
//!     PackageFile::of_text("deployment.yaml", r##"apiVersion: apps/v1
//! kind: Deployment
//! metadata:
//!   name: nginx-deployment
//! spec:
//!   replicas: 4 # {"$ref": "#/definitions/io.k8s.cli.setters.replicas"}
//! "##)?,
//! ]);
//! let setters = Setters::read(&package);
//! let done = Set::new("replicas").to("5").on(&setters).expect("it can be set");
//! assert_eq!(done.fields(), 1);
//! let texts = done.changes.texts().expect("the files can be edited");
//! assert!(texts[0].1.contains(r#"value: "5""#));
//! assert!(texts[1].1.ends_with("replicas: 5 # {\"$ref\": \"#/definitions/io.k8s.cli.setters.replicas\"}\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod add;
mod apply;
mod changes;
mod create;
mod create_substitution;
mod define;
mod definition;
mod definitions;
mod delete;
mod fields;
mod fill;
mod kpt;
#[cfg(test)]
mod laws;
mod list;
mod mark;
mod matching;
mod migrate;
mod object;
mod pattern;
mod redefine;
mod reference;
mod rename;
mod rules;
mod set;
mod typed;
pub mod values;

pub use add::{Add, Added, has_room};
pub use apply::{Applied, AppliedField, Apply};
pub use changes::Changes;
pub use create::{CreateSetter, Created};
pub use create_substitution::CreateSubstitution;
pub use definition::{Home, Marked, Place, Setter, SetterValue, Substitution};
pub use definitions::{Definitions, Known};
pub use delete::{Delete, Deleted};
pub use fields::{Field, FileFields, find as find_fields};
pub use list::{List, Listed, ListedSetter, places, references};
pub use mark::{Mark, MarkedField, MarkedFields};
pub use matching::Wanted;
pub use migrate::{Dialect, Migrate, Migrated};
pub use pattern::{DeriveError, Pattern, PatternError, Reading};
pub use reference::{
    Form, Found, Reference, SETTER_PREFIX, SUBSTITUTION_PREFIX, Target, parse as parse_reference,
};
pub use rename::{Rename, Renamed};
pub use set::{Done, Set};
pub use typed::scalar as typed;

use krm_yaml::NodeKind;

use crate::{Diagnostic, Package, PackageFile};

/// The setters of one package, without those of its sub-packages: what is defined, and which fields follow it.
#[derive(Debug)]
pub struct Setters<'a> {
    files: Vec<&'a PackageFile>,
    /// Where new definitions can go.
    homes: Vec<&'a PackageFile>,
    definitions: Definitions<'a>,
    fields: Vec<Field<'a>>,
    functions: Vec<kpt::Function<'a>>,
    warnings: Vec<Diagnostic>,
}

impl<'a> Setters<'a> {
    /// The setters of a package.
    pub fn read(package: &'a Package) -> Self {
        Self::read_with(package, &[])
    }

    /// The setters of a package, with definitions of OpenAPI documents that are registered beside its own.
    ///
    /// ```
    /// use krm_core::setters::{Set, Setters};
    /// use krm_core::{Package, PackageFile};
    ///
    /// let openapi = PackageFile::of_text("openapi.json", r#"{"definitions": {"io.k8s.cli.setters.replicas":
    ///   {"x-k8s-cli": {"setter": {"name": "replicas", "value": "5"}}}}}"#)?;
    /// let package = Package::new(vec![PackageFile::of_text("a.yaml",
    ///   "spec:\n  replicas: 4 # {\"$ref\": \"#/definitions/io.k8s.cli.setters.replicas\"}\n")?]);
    /// let setters = Setters::read_with(&package, &[&openapi]);
    /// // The value that stands in the definition is applied.
    /// let done = Set::new("replicas").on(&setters).expect("it can be set");
    /// let texts = done.changes.texts().expect("the files can be edited");
    /// assert_eq!(texts[0].1, "spec:\n  replicas: 5 # {\"$ref\": \"#/definitions/io.k8s.cli.setters.replicas\"}\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_with(package: &'a Package, openapi: &[&'a PackageFile]) -> Self {
        let files = package.by_root().into_iter().next().map(|(_, files)| files);
        let files = files.unwrap_or_default();
        let found = files.iter().map(|file| fields::find(file)).collect();
        Self::new(files, openapi, found)
    }

    /// The setters of files whose fields were found already, one [`FileFields`] for each file.
    pub fn new(
        files: Vec<&'a PackageFile>,
        openapi: &[&'a PackageFile],
        found: Vec<FileFields<'a>>,
    ) -> Self {
        let mut definitions = Definitions::default();
        // A file that is given by name may be one of the package.
        let own = files.iter().filter(|file| file.path.is_package_file());
        let own = own.filter(|file| !openapi.iter().any(|other| other.shown == file.shown));
        let homes: Vec<&PackageFile> = own.chain(openapi).copied().collect();
        homes.iter().for_each(|file| definitions.read(file));
        let functions = kpt::functions(&files);
        functions.iter().flat_map(kpt::setters).for_each(|setter| definitions.add(setter));
        definitions.check();
        let mut all =
            Self { files, homes, definitions, fields: Vec::new(), functions, warnings: Vec::new() };
        for part in found {
            all.fields.extend(part.fields);
            all.warnings.extend(part.warnings);
        }
        all.learn_from_fields();
        all.warnings.extend(all.undefined().into_iter().map(|field| fill::undefined(&field)));
        all
    }

    /// Setters that only fields name are known by what stands there.
    fn learn_from_fields(&mut self) {
        for field in &self.fields {
            let Target::Pattern(pattern) = &field.reference.target else { continue };
            pattern.markers().iter().for_each(|name| self.definitions.mention(name));
            if let (NodeKind::Sequence, Some(name)) = (field.node.kind(), pattern.only_marker()) {
                self.definitions.is_followed_by_list(name);
            }
        }
        let told: Vec<(String, SetterValue)> =
            self.fields.iter().flat_map(|field| fill::told_by(field, &self.definitions)).collect();
        told.into_iter().for_each(|(name, value)| self.definitions.learn(&name, value));
    }

    /// The files of the package.
    pub fn files(&self) -> &[&'a PackageFile] {
        &self.files
    }

    /// What is defined.
    pub fn definitions(&self) -> &Definitions<'a> {
        &self.definitions
    }

    /// The fields with references, file by file.
    pub fn fields(&self) -> &[Field<'a>] {
        &self.fields
    }

    /// What is wrong with the definitions; while there is something nothing is set.
    pub fn errors(&self) -> &[Diagnostic] {
        &self.definitions.errors
    }

    /// Comments that look like references and are none, and references that lead nowhere.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The fields that a setter reaches, through substitutions, too.
    pub fn reached_by(&self, name: &str) -> Vec<&Field<'a>> {
        let fields = self.fields.iter();
        fields.filter(|it| self.definitions.followed(&it.reference).contains(name)).collect()
    }

    /// The fields whose reference names nothing that is defined.
    pub fn undefined(&self) -> Vec<Field<'a>> {
        let is_undefined = |field: &&Field<'a>| match field.reference.target {
            Target::Foreign(_) | Target::Pattern(_) => false,
            ref target => self.definitions.get(target).is_none(),
        };
        self.fields.iter().filter(is_undefined).cloned().collect()
    }
}
