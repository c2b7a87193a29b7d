//! Kptfiles and Krmfiles: which functions a package wants to have run on it, read strictly and with places.

mod config;
mod function;
mod schema;
mod selection;
mod status;

pub use config::function_config;
pub use function::{Config, Function, Program, Role};
pub use selection::{Selection, Selector};
pub use status::write_status;

use krm_yaml::{File, NodeRef};

use crate::model::resource::{field, scalar_text};
use crate::{Diagnostic, Location, Package, PackageFile, PackagePath, Resource};

/// Asks for parents before their sub-packages.
const BREADTH_FIRST: &str = "kpt.dev/bfs-rendering";

/// Asks to keep what was done before a function failed.
const SAVE_ON_FAILURE: &str = "kpt.dev/save-on-render-failure";

/// The version that is read.
const API_VERSION: &str = "kpt.dev/v1";

/// What a package wants to have done.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// Functions that change resources, in order.
    pub mutators: Vec<Function>,
    /// Functions that look at the result.
    pub validators: Vec<Function>,
    /// Whether packages come before their sub-packages; only the outermost package is asked.
    pub breadth_first: bool,
    /// Whether the work before a failure is written; only the outermost package is asked.
    pub save_on_failure: bool,
}

impl Pipeline {
    /// All functions, in the order in which they run.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.mutators.iter().chain(&self.validators)
    }
}

/// Where something is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclarationSite {
    /// The file, as people know it.
    pub file: Box<str>,
    /// Where in it.
    pub location: Location,
}

impl DeclarationSite {
    fn of(file: &PackageFile, node: NodeRef<'_>) -> Self {
        let location = Location::of(node.document().file(), node.span());
        Self { file: file.display_path.as_str().into(), location }
    }

    /// An error at this place.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        self.locate(Diagnostic::untyped_error(message))
    }

    /// Something said at this place.
    #[must_use]
    pub fn locate(&self, mut diagnostic: Diagnostic) -> Diagnostic {
        diagnostic.location = Some(Box::new(self.location.clone()));
        diagnostic.in_file(self.file.clone())
    }
}

impl std::fmt::Display for DeclarationSite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.location.line, self.location.column)
    }
}

/// The pipeline of a package: of its Kptfile, or of its Krmfile where it has no Kptfile. All errors come together.
///
/// The functionConfigs that are named must be in the package, outside of its sub-packages.
pub fn pipeline(package: &Package, root: &str) -> Result<Pipeline, Vec<Diagnostic>> {
    let named = |name: &str| {
        let path = if root.is_empty() { name.to_owned() } else { format!("{root}/{name}") };
        let path = PackagePath::new(&path).ok()?;
        package.files().iter().find(|file| file.path == path)
    };
    let Some(file) = named("Kptfile").or_else(|| named("Krmfile")) else {
        return Ok(Pipeline::default());
    };
    let pipeline = read(file)?;
    let wrong: Vec<Diagnostic> =
        pipeline.functions().filter_map(|it| config::missing(it, package, root)).collect();
    if wrong.is_empty() { Ok(pipeline) } else { Err(wrong) }
}

/// Reads a Kptfile, or the `pipeline` of a Krmfile.
pub fn read(file: &PackageFile) -> Result<Pipeline, Vec<Diagnostic>> {
    let errors = file.errors();
    if !errors.is_empty() {
        return Err(errors);
    }
    let Some(text) = file.file() else { return Ok(Pipeline::default()) };
    let roots: Vec<NodeRef<'_>> = text.documents().filter_map(|it| it.root()).collect();
    let (root, more) = match roots[..] {
        [] => return Ok(Pipeline::default()),
        [root, ref more @ ..] => (root, more.first()),
    };
    let mut reader = Reader { file, text, errors: Vec::new() };
    if let Some(more) = more {
        let words = "there is more than one document, and one is wanted here";
        reader.errors.push(reader.error(*more, words));
    }
    let pipeline = reader.pipeline(root);
    if reader.errors.is_empty() { Ok(pipeline) } else { Err(reader.errors) }
}

/// One file that is read, and what is wrong with it.
struct Reader<'a> {
    file: &'a PackageFile,
    text: &'a File,
    errors: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn error(&self, node: NodeRef<'a>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::untyped_error(message)
            .at(self.text, node.span())
            .in_file(&*self.file.display_path)
    }

    fn pipeline(&mut self, root: NodeRef<'a>) -> Pipeline {
        let pipeline = field(root, "pipeline");
        match self.file.path.name() {
            "Kptfile" => {
                if !self.is_of_this_version(root) {
                    return Pipeline::default();
                }
                self.check(root, schema::KPTFILE, "");
            }
            // The rest of a Krmfile is for others to read.
            _ => {
                if let Some(pipeline) = pipeline {
                    self.check(pipeline, schema::PIPELINE, "pipeline");
                }
            }
        }
        if !self.errors.is_empty() {
            return Pipeline::default();
        }
        let annotation = |name| {
            let resource = Resource { node: root, item: None };
            resource.annotation(name).is_some_and(|value| value == "true")
        };
        Pipeline {
            mutators: self.functions(pipeline, Role::Mutator),
            validators: self.functions(pipeline, Role::Validator),
            breadth_first: annotation(BREADTH_FIRST),
            save_on_failure: annotation(SAVE_ON_FAILURE),
        }
    }

    /// An older version has other fields, and would only give errors that lead nowhere.
    fn is_of_this_version(&mut self, root: NodeRef<'a>) -> bool {
        let node = field(root, "apiVersion");
        let version = node.and_then(scalar_text).unwrap_or_default();
        let kind = field(root, "kind");
        let is_kptfile = kind.and_then(scalar_text).is_some_and(|kind| kind == "Kptfile");
        if version == API_VERSION && is_kptfile {
            return true;
        }
        let told = match &*version {
            "kpt.dev/v1alpha1" | "kpt.dev/v1alpha2" => self
                .error(node.unwrap_or(root), format!("`{version}` is an old version of Kptfiles"))
                .hint(format!(
                    "write it anew for `{API_VERSION}`; the function `fix` of kpt's catalog does most of it"
                )),
            API_VERSION => self.error(kind.unwrap_or(root), "`kind: Kptfile` is wanted here"),
            _ => self
                .error(node.unwrap_or(root), format!("`apiVersion: {API_VERSION}` is wanted here")),
        };
        self.errors.push(told);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::package::tests::package;

    const HEAD: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: a}\n";

    fn errors(kptfile: &str) -> Vec<String> {
        let package = package(&[("Kptfile", kptfile), ("sub/Kptfile", HEAD), ("sub/c.yaml", "")]);
        let told = pipeline(&package, "").map(|it| panic!("{it:?}")).unwrap_err();
        let line = |it: &Diagnostic| {
            let place = it.location.as_ref().unwrap();
            format!("{}:{} {} ({})", place.line, place.column, it.message(), it.hints.join("; "))
        };
        told.iter().map(line).collect()
    }

    #[test]
    fn all_that_is_wrong_with_the_fields_is_told_together() {
        let text = format!(
            "{HEAD}pipline: {{}}\npipeline:\n  mutators:\n  - image: a\n    selector: []\n    configMap:\n      a: [b]\n  validators: {{}}\n"
        );
        assert_eq!(
            errors(&text),
            [
                "4:1 `pipline` is no field of a Kptfile (did you mean `pipeline`?)",
                "8:5 `selector` is no field of a function (did you mean `selectors`?)",
                "10:10 `pipeline.mutators[0].configMap.a` is a list, and a text is wanted (write it as a text with `|`, or use `configPath` with a file of its own)",
                "11:15 `pipeline.validators` is a mapping, and a list is wanted ()",
            ]
        );
    }

    #[test]
    fn all_that_is_wrong_with_the_functions_is_told_together() {
        let text = format!(
            "{HEAD}pipeline:\n  mutators:\n  - name: a\n  - {{image: a, exec: b}}\n  - image: A b\n  - image: a\n    configMap: {{a: b}}\n    configPath: /c\n  - {{image: a, configPath: x/../../c.yaml}}\n  - {{image: 'a:v1', tag: ^1}}\n  - {{exec: a, tag: ^1}}\n"
        );
        assert_eq!(
            errors(&text),
            [
                "6:5 a function without `image`, `exec` or `wasm` (say what is to be run)",
                "7:22 `image` and `exec` are both given, and one is wanted ()",
                "8:12 `A b` is no part of an image's name (an image is named like `ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0`)",
                "11:17 `configMap` and `configPath` are both given, and one is wanted ()",
                "11:17 expected a path relative to the package, found `/c` ()",
                "12:28 path `x/../../c.yaml` leaves the package ()",
                "13:26 the image has the tag `v1` already (leave one of the two out)",
                "14:20 `tag` is for images only ()",
            ]
        );
    }

    #[test]
    fn configurations_must_be_there() {
        let text = format!(
            "{HEAD}pipeline:\n  mutators:\n  - {{image: a, configPath: sub/c.yaml}}\n  - {{image: a, configPath: kptfile}}\n"
        );
        assert_eq!(
            errors(&text),
            [
                "6:28 `sub/c.yaml` belongs to the sub-package `sub`, and a function is configured by files of its own package (move the file, or declare the function in `sub`)",
                "7:28 there is no file `kptfile` in the package (did you mean `Kptfile`?)",
            ]
        );
    }

    #[test]
    fn old_versions_are_refused_with_one_error() {
        let told = errors("apiVersion: kpt.dev/v1alpha2\nkind: Kptfile\nfunctions: []\n");
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("1:13 `kpt.dev/v1alpha2` is an old version of Kptfiles"));
    }

    #[test]
    fn a_krmfile_has_the_same_pipeline_and_other_fields() {
        let krmfile = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nmetadata: {name: a, annotations: {kpt.dev/bfs-rendering: \"true\"}}\nopenAPI: {x: y}\nother: z\npipeline:\n  validators:\n  - {image: a, name: b, tag: ^1, exclude: [{kind: c}], configMap: {d: 1}}\n";
        let package = package(&[("Krmfile", krmfile)]);
        let pipeline = pipeline(&package, "").unwrap();
        assert!(pipeline.breadth_first && !pipeline.save_on_failure);
        let [function] = &pipeline.validators[..] else { panic!("{pipeline:?}") };
        assert_eq!(function.program, Program::Image("a".to_owned()));
        assert_eq!(function.place.to_string(), "Krmfile:8:5");
        assert_eq!(function.selection.exclude[0].kind.as_deref(), Some("c"));
        let Config::Inline(text) = &function.config else { panic!("{function:?}") };
        assert_eq!(
            text.as_str(),
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\ndata:\n  d: \"1\"\n"
        );
    }

    #[test]
    fn a_package_without_a_pipeline_wants_nothing() {
        let package = package(&[("Kptfile", HEAD), ("a.yaml", "")]);
        assert_eq!(pipeline(&package, "").unwrap().functions().count(), 0);
        assert_eq!(pipeline(&package, "none").unwrap().functions().count(), 0);
    }
}
