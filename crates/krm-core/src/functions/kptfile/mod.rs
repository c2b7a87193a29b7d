//! Kptfiles and Krmfiles: the pipeline of a package, parsed strictly and with source locations.

mod config;
mod function;
mod kinds;
mod schema;
mod selection;
mod status;
pub mod upstream;

pub use config::function_config;
pub(crate) use function::selection;
pub use function::{Condition, Config, ConfigRef, Function, InlineConfig, Program, Role};
pub use kinds::KptfileKind;
pub use selection::{Selection, Selector};
pub use status::write_status;

use krm_yaml::{File, NodeRef};

use crate::diagnostics::Kind;
use crate::model::resource::{field, scalar_text};
use crate::{Diagnostic, Location, Package, PackageFile, PackagePath, Resource};

/// The annotation that makes packages run before their subpackages.
const BREADTH_FIRST: &str = "kpt.dev/bfs-rendering";

/// The annotation that writes the work done before a failure.
const SAVE_ON_FAILURE: &str = "kpt.dev/save-on-render-failure";

/// The supported version.
const API_VERSION: &str = "kpt.dev/v1";

/// The functions of a package.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// Functions that change resources, in order.
    pub mutators: Vec<Function>,
    /// Functions that validate the result, in order.
    pub validators: Vec<Function>,
    /// Whether packages run before their subpackages; only the root package decides.
    pub breadth_first: bool,
    /// Whether the work done before a failure is written; only the root package decides.
    pub save_on_failure: bool,
    /// Fields that are not known, perhaps because they are of a newer version. They have no effect.
    pub warnings: Vec<Diagnostic>,
}

impl Pipeline {
    /// All functions, in the order in which they run.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.mutators.iter().chain(&self.validators)
    }
}

/// The place of a declaration, which diagnostics about it point to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclarationSite {
    /// The display path of the file.
    pub file: Box<str>,
    /// The location in the file.
    pub location: Location,
}

impl DeclarationSite {
    fn of(file: &PackageFile, node: NodeRef<'_>) -> Self {
        let location = Location::of(node.document().file(), node.span());
        Self { file: file.display_path.as_str().into(), location }
    }

    /// An error at this place.
    pub fn error(&self, kind: impl Into<Kind>) -> Diagnostic {
        self.locate(Diagnostic::error(kind))
    }

    /// The diagnostic, located at this place.
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

/// Parses the pipeline of the package in directory `root`: of its Kptfile, or of its Krmfile if it has no Kptfile. Returns all errors.
///
/// The functionConfigs must be files of the package itself, not of its subpackages.
pub fn pipeline(package: &Package, root: &str) -> Result<Pipeline, Vec<Diagnostic>> {
    let named = |name: &str| package.file(&PackagePath::new(name).ok()?.in_directory(root));
    let Some(file) = named("Kptfile").or_else(|| named("Krmfile")) else {
        return Ok(Pipeline::default());
    };
    let (pipeline, mut errors) = parse(file);
    errors.extend(pipeline.functions().filter_map(|it| config::check(it, package, root)));
    if errors.is_empty() { Ok(pipeline) } else { Err(errors) }
}

/// Parses a Kptfile, or the `pipeline` of a Krmfile. Functions with errors are left out.
fn parse(file: &PackageFile) -> (Pipeline, Vec<Diagnostic>) {
    let errors = file.errors();
    if !errors.is_empty() {
        return (Pipeline::default(), errors);
    }
    let Some(text) = file.file() else { return Default::default() };
    let roots: Vec<NodeRef<'_>> = text.documents().filter_map(|it| it.root()).collect();
    let (root, more) = match roots[..] {
        [] => return Default::default(),
        [root, ref more @ ..] => (root, more.first()),
    };
    let mut parser = Parser { file, text, errors: Vec::new(), warnings: Vec::new() };
    if let Some(more) = more {
        parser.errors.push(parser.error(*more, KptfileKind::SeveralDocuments));
    }
    let pipeline = parser.pipeline(root);
    (pipeline, parser.errors)
}

/// Parses one file and collects its errors.
struct Parser<'a> {
    file: &'a PackageFile,
    text: &'a File,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn error(&self, node: NodeRef<'a>, kind: impl Into<Kind>) -> Diagnostic {
        Diagnostic::error(kind).at(self.text, node.span()).in_file(&*self.file.display_path)
    }

    fn pipeline(&mut self, root: NodeRef<'a>) -> Pipeline {
        let pipeline = field(root, "pipeline");
        match self.file.path.name() {
            "Kptfile" => {
                if !self.check_version(root) {
                    return Pipeline::default();
                }
                self.check(root, schema::KPTFILE, "");
            }
            // The other fields of a Krmfile belong to other tools.
            _ => {
                if let Some(pipeline) = pipeline {
                    self.check(pipeline, schema::PIPELINE, "pipeline");
                }
            }
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
            warnings: std::mem::take(&mut self.warnings),
        }
    }

    /// Whether the file is a Kptfile of the supported version. An older version has other fields, so errors about them would only confuse.
    fn check_version(&mut self, root: NodeRef<'a>) -> bool {
        let node = field(root, "apiVersion");
        let version = node.and_then(scalar_text).unwrap_or_default();
        let kind = field(root, "kind");
        let is_kptfile = kind.and_then(scalar_text).is_some_and(|kind| kind == "Kptfile");
        if version == API_VERSION && is_kptfile {
            return true;
        }
        let expected = |field: &str| KptfileKind::NotAKptfile { expected: field.to_owned() };
        let error = match &*version {
            "kpt.dev/v1alpha1" | "kpt.dev/v1alpha2" => {
                let version = version.clone().into_owned();
                let kind = KptfileKind::OldVersion { version, current: API_VERSION };
                self.error(node.unwrap_or(root), kind)
            }
            API_VERSION => self.error(kind.unwrap_or(root), expected("kind: Kptfile")),
            _ => {
                let field = format!("apiVersion: {API_VERSION}");
                self.error(node.unwrap_or(root), expected(&field))
            }
        };
        self.errors.push(error);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::functions::resource_list::Item;
    use crate::model::package::tests::package;

    const HEAD: &str = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: a}\n";

    fn errors(kptfile: &str) -> Vec<String> {
        let package = package(&[("Kptfile", kptfile), ("sub/Kptfile", HEAD), ("sub/c.yaml", "")]);
        let errors = pipeline(&package, "").map(|it| panic!("{it:?}")).unwrap_err();
        let line = |it: &Diagnostic| {
            let place = it.location.as_ref().unwrap();
            format!("{}:{} {} ({})", place.line, place.column, it.message(), it.hints.join("; "))
        };
        errors.iter().map(line).collect()
    }

    #[test]
    fn all_invalid_fields_are_reported() {
        let text = format!(
            "{HEAD}pipline: {{}}\npipeline:\n  mutators:\n  - image: a\n    selector: []\n    configMap:\n      a: [b]\n  validators: {{}}\n"
        );
        assert_eq!(
            errors(&text),
            [
                "4:1 unknown field `pipline` in a Kptfile (did you mean `pipeline`?)",
                "8:5 unknown field `selector` in a function (did you mean `selectors`?)",
                "10:10 expected a string, found a sequence (write the value as a block scalar with `|`, or use `configPath`)",
                "11:15 expected a sequence, found a mapping ()",
            ]
        );
    }

    #[test]
    fn errors_of_fields_functions_and_configs_are_reported_together() {
        let text = format!(
            "{HEAD}pipline: {{}}\npipeline:\n  mutators:\n  - imgae: a\n  - image: A b\n  - {{image: a, configPath: kptfile}}\n  - image: a\n    configMpa: {{a: b}}\n"
        );
        assert_eq!(
            errors(&text),
            [
                "4:1 unknown field `pipline` in a Kptfile (did you mean `pipeline`?)",
                "7:5 unknown field `imgae` in a function (did you mean `image`?)",
                "11:5 unknown field `configMpa` in a function (did you mean `configMap`?)",
                "8:12 invalid image name: invalid name segment `A b` (use a name such as `ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0`)",
                "9:28 functionConfig `kptfile` not found in the package (did you mean `Kptfile`?)",
            ]
        );
    }

    #[test]
    fn all_invalid_functions_are_reported() {
        let text = format!(
            "{HEAD}pipeline:\n  mutators:\n  - name: a\n  - {{image: a, exec: b}}\n  - image: A b\n  - image: a\n    configMap: {{a: b}}\n    configPath: /c\n  - {{image: a, configPath: x/../../c.yaml}}\n  - {{image: 'a:v1', tag: ^1}}\n  - {{exec: a, tag: ^1}}\n"
        );
        assert_eq!(
            errors(&text),
            [
                "6:5 missing field `image`, `exec` or `wasm` in a function ()",
                "7:22 `image` and `exec` cannot be used together ()",
                "8:12 invalid image name: invalid name segment `A b` (use a name such as `ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0`)",
                "11:17 `configMap` and `configPath` cannot be used together ()",
                "11:17 expected a path relative to the package, found `/c` ()",
                "12:28 path `x/../../c.yaml` leaves the package ()",
                "13:26 the image already has the tag `v1` (remove one of the two)",
                "14:20 `tag` can only be used with `image` ()",
            ]
        );
    }

    #[test]
    fn function_config_must_exist_in_the_package() {
        let text = format!(
            "{HEAD}pipeline:\n  mutators:\n  - {{image: a, configPath: sub/c.yaml}}\n  - {{image: a, configPath: kptfile}}\n"
        );
        assert_eq!(
            errors(&text),
            [
                "6:28 functionConfig `sub/c.yaml` belongs to the subpackage `sub` (move the file, or declare the function in `sub`)",
                "7:28 functionConfig `kptfile` not found in the package (did you mean `Kptfile`?)",
            ]
        );
    }

    #[test]
    fn condition_and_config_ref_are_parsed() {
        let text = format!(
            "{HEAD}pipeline:\n  mutators:\n  - image: a\n    condition: size(resources) > 0\n    configRef: {{kind: ConfigMap, name: c}}\n    retries: 3\nfuture: {{}}\n"
        );
        let package = package(&[("Kptfile", &text)]);
        let pipeline = pipeline(&package, "").unwrap();
        let [function] = &pipeline.mutators[..] else { panic!("{pipeline:?}") };
        let condition = function.condition.as_ref().unwrap();
        assert_eq!(condition.expression, "size(resources) > 0");
        assert_eq!(condition.place.to_string(), "Kptfile:7:16");
        let warnings: Vec<_> = pipeline.warnings.iter().map(|it| it.message()).collect();
        let expected =
            ["unknown field `retries` in a function", "unknown field `future` in a Kptfile"];
        assert_eq!(warnings, expected);
        let item = |text: &str| Item::parse(text.to_owned()).unwrap();
        let one = item("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n");
        let other = item("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: n}\n");
        let config = |items: &[Item]| {
            let config = function_config(function, items);
            config.map(|it| it.unwrap().text().len()).map_err(|it| it.message().to_owned())
        };
        assert_eq!(config(std::slice::from_ref(&one)), Ok(one.text().len()));
        let message = |count: usize| {
            format!("expected one resource `ConfigMap c` for `configRef`, found {count}")
        };
        assert_eq!(config(&[one, other]), Err(message(2)));
        assert_eq!(config(&[]), Err(message(0)));
    }

    #[test]
    fn invalid_config_ref_is_an_error() {
        let text = format!(
            "{HEAD}pipeline:\n  mutators:\n  - {{image: a, configRef: {{kind: b}}}}\n  - {{image: a, configPath: c.yaml, configRef: {{kind: b, name: c}}}}\n"
        );
        assert_eq!(
            errors(&text),
            [
                "6:27 missing field `name` in `configRef` ()",
                "7:47 `configPath` and `configRef` cannot be used together ()",
            ]
        );
    }

    #[test]
    fn old_version_is_one_error() {
        let errors = errors("apiVersion: kpt.dev/v1alpha2\nkind: Kptfile\nfunctions: []\n");
        assert_eq!(errors.len(), 1);
        assert!(errors[0].starts_with("1:13 unsupported Kptfile version `kpt.dev/v1alpha2`"));
    }

    #[test]
    fn krmfile_has_a_pipeline_and_other_fields() {
        let krmfile = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nmetadata: {name: a, annotations: {kpt.dev/bfs-rendering: \"true\"}}\nopenAPI: {x: y}\nother: z\npipeline:\n  validators:\n  - {image: a, name: b, tag: ^1, exclude: [{kind: c}], configMap: {d: 1}}\n";
        let package = package(&[("Krmfile", krmfile)]);
        let pipeline = pipeline(&package, "").unwrap();
        assert!(pipeline.breadth_first && !pipeline.save_on_failure);
        let [function] = &pipeline.validators[..] else { panic!("{pipeline:?}") };
        assert_eq!(function.program, Program::Image("a".to_owned()));
        assert_eq!(function.place.to_string(), "Krmfile:8:5");
        assert_eq!(function.selection.exclude[0].kind.as_deref(), Some("c"));
        let Config::Inline(InlineConfig { text, .. }) = &function.config else {
            panic!("{function:?}")
        };
        assert_eq!(
            text.as_str(),
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\ndata:\n  d: \"1\"\n"
        );
    }

    #[test]
    fn package_without_pipeline_has_no_functions() {
        let package = package(&[("Kptfile", HEAD), ("a.yaml", "")]);
        assert_eq!(pipeline(&package, "").unwrap().functions().count(), 0);
        assert_eq!(pipeline(&package, "none").unwrap().functions().count(), 0);
    }
}
