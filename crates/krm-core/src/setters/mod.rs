//! Setters and substitutions: named values that are written to every field that refers to them.
//!
//! A setter is defined in OpenAPI, under `io.k8s.cli.setters.NAME`, and fields refer to it in comments. [`SetValues`]
//! changes its value and all fields that follow it. A substitution inserts the values of several setters into a pattern,
//! and is evaluated again whenever one of them is set. Packages of kpt keep the values in the functionConfig of
//! apply-setters instead, and refer to them with `kpt-set: ${NAME}`; all operations support both dialects.
//!
//! Operations compute [`Changes`], which are edits of the original files. Nothing here writes a file.
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
//! let done = SetValues::new("replicas").to("5").compute(&setters).expect("the value is valid");
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
mod current_values;
mod definition;
mod definitions;
mod delete;
mod existing_definition;
mod field_filter;
mod fields;
mod function_config;
mod json_object;
mod kinds;
mod list;
mod migrate;
mod migrate_to_openapi;
mod new_definition;
mod parse_definition;
mod pattern;
#[cfg(test)]
mod properties;
mod reach;
mod reference;
mod rename;
mod resolve;
mod schema_file;
mod set;
#[cfg(test)]
mod subpackage_properties;
mod typed_value;
mod update_definition;
mod upgrade_kptfile;
mod validate;
mod values_file;

pub use add_comments::{AddSetterComments, AddSetterCommentsResult, CommentedField};
pub use add_references::can_get_line_comment;
pub use apply::{AppliedField, ApplyResult, ApplySetters};
pub use changes::Changes;
pub use create_setter::{CreateResult, CreateSetter};
pub use create_substitution::CreateSubstitution;
pub use current_values::CurrentValues;
pub use definition::{
    NodeLocation, Setter, SetterSource, SetterValue, Substitution, SubstitutionValue,
};
pub use definitions::Definitions;
pub use delete::{DeleteDefinition, DeleteResult};
pub use fields::{FieldScan, SetterField, find as find_setter_fields};
pub use kinds::{ReferenceKind, SetterKind};
pub use list::{ListSetters, ListedSetter, SetterList, fields_to_value, referenced_names};
pub use migrate::{Dialect, MigrateResult, MigrateSetters};
pub use pattern::{Candidate, DeriveError, MarkerValues, Pattern, PatternError};
pub use reach::reach_subpackages;
pub use reference::{
    ParsedComment, Reference, ReferenceSyntax, ReferenceTarget, parse as parse_reference,
};
pub use rename::{RenameResult, RenameSetter};
pub use set::{SetResult, SetValues};
pub use typed_value::typed_value;
pub use values_file::{NamedValues, read_values};

use std::collections::BTreeMap;

use krm_yaml::{Entry, NodeKind, NodeRef};

use function_config::ApplySettersCall;

use crate::diagnostics::explain::Area;
use crate::functions::kptfile::Selection;
use crate::{Diagnostic, Package, PackageFile};

/// The kinds of diagnostics about setters.
pub(crate) const AREA: Area = Area {
    title: "Setters and substitutions",
    ids: &[SetterKind::IDS, ReferenceKind::IDS, PatternError::IDS, DeriveError::IDS],
    text: include_str!("../../explain/setters.md"),
};

/// The setters of one package: what is defined, and which fields refer to it.
///
/// Definitions in OpenAPI belong to the package without its subpackages. The functions of a package see the resources of its
/// subpackages, too, so the values of apply-setters also reach fields there.
#[derive(Debug)]
pub struct Setters<'a> {
    files: Vec<&'a PackageFile>,
    /// The files that definitions can be added to.
    definition_files: Vec<&'a PackageFile>,
    definitions: Definitions<'a>,
    fields: Vec<SetterField<'a>>,
    functions: Vec<ApplySettersCall<'a>>,
    /// The fields of subpackages that the values of `functions` reach.
    reached: Vec<SetterField<'a>>,
    /// The resources that a setter of `functions` reaches, by name, if the call has selectors.
    selections: BTreeMap<String, Selection>,
    /// The calls of apply-setters in subpackages, which run before those of the package.
    inner_functions: Vec<ApplySettersCall<'a>>,
    warnings: Vec<Diagnostic>,
}

impl<'a> Setters<'a> {
    /// The setters of a package.
    pub fn read(package: &'a Package) -> Self {
        Self::read_with(package, &[])
    }

    /// The setters of a package, with the definitions of further OpenAPI documents.
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
    /// // Without a new value, the one of the definition is applied.
    /// let done = SetValues::new("replicas").compute(&setters).expect("the value is valid");
    /// let texts = done.changes.texts().expect("the files can be edited");
    /// assert_eq!(texts[0].1, "spec:\n  replicas: 5 # {\"$ref\": \"#/definitions/io.k8s.cli.setters.replicas\"}\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_with(package: &'a Package, openapi: &[&'a PackageFile]) -> Self {
        let mut packages = package.by_root().into_iter().map(|(_, files)| files);
        let files = packages.next().unwrap_or_default();
        let scans = files.iter().map(|file| fields::find(file)).collect();
        let mut setters = Self::new(files, openapi, scans);
        let inner: Vec<&PackageFile> = packages.flatten().collect();
        let scans: Vec<FieldScan<'a>> = inner.iter().map(|file| fields::find(file)).collect();
        setters.reach(&inner, &scans);
        setters
    }

    /// The setters of files whose fields were already found, with one [`FieldScan`] per file.
    pub fn new(
        files: Vec<&'a PackageFile>,
        openapi: &[&'a PackageFile],
        scans: Vec<FieldScan<'a>>,
    ) -> Self {
        let mut definitions = Definitions::default();
        // An OpenAPI document that is given by name may also be a file of the package.
        let own = files.iter().filter(|file| file.path.is_package_file());
        let own =
            own.filter(|file| !openapi.iter().any(|other| other.display_path == file.display_path));
        let definition_files: Vec<&PackageFile> = own.chain(openapi).copied().collect();
        definition_files.iter().for_each(|file| definitions.read(file));
        let functions = function_config::find_calls(&files);
        functions.iter().flat_map(|call| call.setters()).for_each(|it| definitions.add(it));
        definitions.check();
        let named = |call: &ApplySettersCall<'a>, it: Selection| {
            call.setters().into_iter().map(move |setter| (setter.name, it.clone()))
        };
        let selected = functions.iter().filter_map(|call| Some((call, call.selection()?)));
        let selections = selected.flat_map(|(call, it)| named(call, it)).collect();
        let mut setters = Self {
            files,
            definition_files,
            definitions,
            fields: Vec::new(),
            functions,
            selections,
            reached: Vec::new(),
            inner_functions: Vec::new(),
            warnings: Vec::new(),
        };
        for scan in scans {
            setters.fields.extend(scan.fields);
            setters.warnings.extend(scan.warnings);
        }
        setters.add_setters_of_fields();
        setters.warnings.extend(setters.undefined().iter().map(resolve::undefined));
        setters
    }

    /// Adds the setters that only `kpt-set` comments name, with the values that the fields imply.
    fn add_setters_of_fields(&mut self) {
        for field in &self.fields {
            let ReferenceTarget::Pattern(pattern) = &field.reference.target else { continue };
            pattern.markers().iter().for_each(|name| self.definitions.add_from_field(name));
            if let (NodeKind::Sequence, Some(name)) = (field.node.kind(), pattern.only_marker()) {
                self.definitions.treat_as_list(name);
            }
        }
        let derived = |field| resolve::derived_values(field, &self.definitions);
        let derived: Vec<(String, SetterValue)> = self.fields.iter().flat_map(derived).collect();
        for (name, value) in derived {
            self.definitions.set_derived_value(&name, value);
        }
    }

    /// The syntax of references to a setter: that of its definition. New setters get kpt's where a Kptfile has a pipeline.
    fn syntax_for(&self, name: &str) -> ReferenceSyntax {
        let is_in_function = match self.definitions.setter(name).map(|it| it.source) {
            Some(SetterSource::OpenApi { .. }) => false,
            Some(SetterSource::FunctionConfig { .. }) => true,
            _ => {
                let files = &self.definition_files;
                let has_definitions =
                    |file: &&PackageFile| definitions::definitions_node(file).is_some();
                files.iter().any(|file| new_definition::is_kpt_v1(file))
                    && !files.iter().copied().any(|file| has_definitions(&file))
            }
        };
        if is_in_function { ReferenceSyntax::Pattern } else { ReferenceSyntax::OpenApi }
    }

    /// The files whose fields can refer to setters: not the functionConfig with their values.
    fn resource_files(&self) -> impl Iterator<Item = &'a PackageFile> {
        let is_config =
            |file: &PackageFile| self.functions.iter().any(|it| std::ptr::eq(it.file, file));
        self.files.iter().copied().filter(move |file| !is_config(file))
    }

    /// The files of the package.
    pub(crate) fn files(&self) -> &[&'a PackageFile] {
        &self.files
    }

    /// The setters and substitutions.
    pub fn definitions(&self) -> &Definitions<'a> {
        &self.definitions
    }

    /// The fields of the package with references, file by file.
    pub fn fields(&self) -> &[SetterField<'a>] {
        &self.fields
    }

    /// What is wrong with the definitions. While there are errors, no operation changes anything.
    pub fn errors(&self) -> &[Diagnostic] {
        &self.definitions.errors
    }

    fn check(&self) -> Result<(), Vec<Diagnostic>> {
        if self.errors().is_empty() { Ok(()) } else { Err(self.errors().to_vec()) }
    }

    /// Comments that look like references but are invalid, and references to undefined names.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
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

/// The root of a file's first document.
fn root(file: &PackageFile) -> Option<NodeRef<'_>> {
    file.file()?.document(0)?.root()
}

/// The entries of a mapping; none for any other node.
fn mapping_entries(node: NodeRef<'_>) -> impl Iterator<Item = Entry<'_>> {
    node.as_mapping().into_iter().flat_map(|mapping| mapping.entries())
}
