//! Setters and substitutions: one value, set everywhere, kept as the author wrote it.
//!
//! A setter is defined in OpenAPI, under `io.k8s.cli.setters.NAME`, and fields refer to it in comments. [`Set`] gives
//! it a value and writes it into every field that follows it; a substitution puts the values of several setters into a
//! pattern, and is calculated anew whenever one of them is set.
//!
//! ```
//! use krm_core::setters::{SetValues, Setters};
//! use krm_core::{Package, PackageFile};
//!
//! let package = Package::new(vec![
//!     PackageFile::from_text("Krmfile", r#"
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
//!     PackageFile::from_text("deployment.yaml", r##"apiVersion: apps/v1
//! kind: Deployment
//! metadata:
//!   name: nginx-deployment
//! spec:
//!   replicas: 4 # {"$ref": "#/definitions/io.k8s.cli.setters.replicas"}
//! "##)?,
//! ]);
//! let setters = Setters::read(&package);
//! let done = SetValues::new("replicas").to("5").compute(&setters).expect("it can be set");
//! assert_eq!(done.fields(), 1);
//! let texts = done.changes.texts().expect("the files can be edited");
//! assert!(texts[0].1.contains(r#"value: "5""#));
//! assert!(texts[1].1.ends_with("replicas: 5 # {\"$ref\": \"#/definitions/io.k8s.cli.setters.replicas\"}\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod add_comments;
mod add_references;
mod apply;
mod changes;
mod create_setter;
mod create_substitution;
mod definition;
mod definitions;
mod delete;
mod field_filter;
mod fields;
mod function_config;
mod json_object;
mod list;
mod migrate;
mod new_definition;
mod pattern;
#[cfg(test)]
mod properties;
mod reference;
mod rename;
mod resolve;
mod set;
mod typed_value;
mod update_definition;
mod validate;
mod values_file;

pub use add_comments::{AddSetterComments, AddSetterCommentsResult, CommentedField};
pub use add_references::{AddReferences, AddReferencesResult, can_have_line_comment};
pub use apply::{AppliedField, ApplyResult, ApplySetters};
pub use changes::Changes;
pub use create_setter::{CreateResult, CreateSetter};
pub use create_substitution::CreateSubstitution;
pub use definition::{
    NodeLocation, Setter, SetterSource, SetterValue, Substitution, SubstitutionValue,
};
pub use definitions::{Definition, Definitions};
pub use delete::{DeleteDefinition, DeleteResult};
pub use field_filter::FieldFilter;
pub use fields::{FieldScan, SetterField, find as find_setter_fields};
pub use list::{ListSetters, ListedSetter, SetterList, fields_to_value, referenced_names};
pub use migrate::{Dialect, MigrateResult, MigrateSetters};
pub use pattern::{DeriveError, MarkerValues, Pattern, PatternError};
pub use reference::{
    ParsedComment, Reference, ReferenceSyntax, ReferenceTarget, SETTER_PREFIX, SUBSTITUTION_PREFIX,
    parse as parse_reference,
};
pub use rename::{RenameResult, RenameSetter};
pub use set::{SetResult, SetValues};
pub use typed_value::typed_value;
pub use values_file::{NamedValues, read_values};

use krm_yaml::NodeKind;

use crate::{Diagnostic, Package, PackageFile};

/// The setters of one package, without those of its sub-packages: what is defined, and which fields follow it.
#[derive(Debug)]
pub struct Setters<'a> {
    files: Vec<&'a PackageFile>,
    /// Where new definitions can go.
    definition_files: Vec<&'a PackageFile>,
    definitions: Definitions<'a>,
    fields: Vec<SetterField<'a>>,
    functions: Vec<function_config::Function<'a>>,
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
    /// use krm_core::setters::{SetValues, Setters};
    /// use krm_core::{Package, PackageFile};
    ///
    /// let openapi = PackageFile::from_text("openapi.json", r#"{"definitions": {"io.k8s.cli.setters.replicas":
    ///   {"x-k8s-cli": {"setter": {"name": "replicas", "value": "5"}}}}}"#)?;
    /// let package = Package::new(vec![PackageFile::from_text("a.yaml",
    ///   "spec:\n  replicas: 4 # {\"$ref\": \"#/definitions/io.k8s.cli.setters.replicas\"}\n")?]);
    /// let setters = Setters::read_with(&package, &[&openapi]);
    /// // The value that stands in the definition is applied.
    /// let done = SetValues::new("replicas").compute(&setters).expect("it can be set");
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

    /// The setters of files whose fields were found already, one [`FieldScan`] for each file.
    pub fn new(
        files: Vec<&'a PackageFile>,
        openapi: &[&'a PackageFile],
        found: Vec<FieldScan<'a>>,
    ) -> Self {
        let mut definitions = Definitions::default();
        // A file that is given by name may be one of the package.
        let own = files.iter().filter(|file| file.path.is_package_file());
        let own =
            own.filter(|file| !openapi.iter().any(|other| other.display_path == file.display_path));
        let definition_files: Vec<&PackageFile> = own.chain(openapi).copied().collect();
        definition_files.iter().for_each(|file| definitions.read(file));
        let functions = function_config::functions(&files);
        functions
            .iter()
            .flat_map(function_config::setters)
            .for_each(|setter| definitions.add(setter));
        definitions.check();
        let mut all = Self {
            files,
            definition_files,
            definitions,
            fields: Vec::new(),
            functions,
            warnings: Vec::new(),
        };
        for part in found {
            all.fields.extend(part.fields);
            all.warnings.extend(part.warnings);
        }
        all.learn_from_fields();
        all.warnings.extend(all.undefined().into_iter().map(|field| resolve::undefined(&field)));
        all
    }

    /// Setters that only fields name are known by what stands there.
    fn learn_from_fields(&mut self) {
        for field in &self.fields {
            let ReferenceTarget::Pattern(pattern) = &field.reference.target else { continue };
            pattern.markers().iter().for_each(|name| self.definitions.mention(name));
            if let (NodeKind::Sequence, Some(name)) = (field.node.kind(), pattern.only_marker()) {
                self.definitions.is_followed_by_list(name);
            }
        }
        let told: Vec<(String, SetterValue)> = self
            .fields
            .iter()
            .flat_map(|field| resolve::told_by(field, &self.definitions))
            .collect();
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
    pub fn fields(&self) -> &[SetterField<'a>] {
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
    pub fn reached_by(&self, name: &str) -> Vec<&SetterField<'a>> {
        let fields = self.fields.iter();
        fields.filter(|it| self.definitions.followed(&it.reference).contains(name)).collect()
    }

    /// The fields whose reference names nothing that is defined.
    pub fn undefined(&self) -> Vec<SetterField<'a>> {
        let is_undefined = |field: &&SetterField<'a>| match field.reference.target {
            ReferenceTarget::Foreign(_) | ReferenceTarget::Pattern(_) => false,
            ref target => self.definitions.get(target).is_none(),
        };
        self.fields.iter().filter(is_undefined).cloned().collect()
    }
}
