//! Locations of JSON Schemas: directories of files that are named after kinds, as kubeconform uses them.

use std::collections::BTreeMap;

use krm_core::Diagnostic;
use krm_yaml::{File, NodeRef};

use crate::kinds::CatalogKind;
use crate::lookup::child;
use crate::schema_files::{NamedBy, SchemaFiles};

/// The path of a schema in a directory.
const FILE_NAME: &str = "{{ .NormalizedKubernetesVersion }}-standalone{{ .StrictSuffix }}/{{ .ResourceKind }}{{ .KindSuffix }}.json";

/// How many files may refer to each other for one schema.
const MAX_FILES: usize = 1000;

/// Where schemas come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// The kinds that are built in.
    BuiltIn,
    /// Files whose names follow a template.
    Files { template: String, named_by: NamedBy },
}

impl Location {
    /// Parses a location of the command line or of the functionConfig.
    ///
    /// # Errors
    /// If it is a URL, or a template with an unknown variable.
    pub(super) fn parse(text: &str, named_by: NamedBy) -> Result<Self, Diagnostic> {
        let text = text.trim();
        if matches!(text, "" | "default") {
            return Ok(Self::BuiltIn);
        }
        let rejected = |reason| {
            let location = text.to_owned();
            Diagnostic::error(CatalogKind::SchemaLocation { location, reason })
        };
        let path = match text.split_once("://") {
            Some(("file", path)) => path,
            Some(_) => {
                return Err(rejected("the built-in function does not access the network")
                    .hint("use a directory of the package, `--schema-location DIR` or `default`")
                    .hint("or use `--no-builtin` to run the image"));
            }
            None => text,
        };
        // Compat: a location that does not end with `json` is a directory.
        let template = match path.ends_with("json") {
            true => path.to_owned(),
            false => format!("{}/{FILE_NAME}", path.trim_end_matches('/')),
        };
        let names = SchemaName { api_version: "v1", kind: "Pod", version: "master", strict: false };
        if names.expand(&template).contains("{{") {
            return Err(rejected("the template has an unknown variable").hint(
                "use ResourceKind, ResourceAPIVersion, Group, KindSuffix, NormalizedKubernetesVersion and StrictSuffix",
            ));
        }
        Ok(Self::Files { template, named_by })
    }
}

/// What the name of a schema is made from.
#[derive(Clone, Copy, Debug)]
pub(super) struct SchemaName<'a> {
    pub(super) api_version: &'a str,
    pub(super) kind: &'a str,
    /// `1.36.0` or `master`.
    pub(super) version: &'a str,
    pub(super) strict: bool,
}

impl SchemaName<'_> {
    /// Replaces the variables of a template.
    pub(super) fn expand(&self, template: &str) -> String {
        let (group, api_version) = match self.api_version.split_once('/') {
            Some((group, version)) => (group, version),
            None => (self.api_version, self.api_version),
        };
        let is_release = self.version != "master";
        let version = self.version.trim_start_matches('v');
        let variables = [
            ("ResourceKind", self.kind.to_lowercase()),
            ("ResourceAPIVersion", api_version.to_owned()),
            ("Group", group.to_owned()),
            ("KindSuffix", kind_suffix(self.api_version)),
            (
                "NormalizedKubernetesVersion",
                if is_release { format!("v{version}") } else { version.to_owned() },
            ),
            ("StrictSuffix", if self.strict { "-strict" } else { "" }.to_owned()),
        ];
        let mut text = template.replace("{{.", "{{ .").replace("{{-", "{{").replace("-}}", "}}");
        for (name, value) in variables {
            for end in [" }}", "}}"] {
                text = text.replace(&format!("{{{{ .{name}{end}"), &value);
            }
        }
        text
    }
}

/// What follows a kind in the name of its schema: `-apps-v1`, `-v1`. Of a group only the part before the first dot counts.
pub(super) fn kind_suffix(api_version: &str) -> String {
    let mut parts = api_version.split('/').map(str::to_lowercase);
    let group = parts.next().unwrap_or_default();
    let group = group.split('.').next().unwrap_or_default();
    parts.next().map_or_else(|| format!("-{group}"), |version| format!("-{group}-{version}"))
}

/// Schemas that were read from files, by their paths.
#[derive(Default)]
pub(super) struct Documents {
    files: BTreeMap<String, Option<File>>,
}

impl Documents {
    /// Reads a schema and all that it refers to. Returns whether there is one.
    pub(super) fn load(
        &mut self,
        path: &str,
        named_by: NamedBy,
        source: &dyn SchemaFiles,
    ) -> Result<bool, Diagnostic> {
        let mut open = vec![path.to_owned()];
        let mut count = 0;
        while let Some(path) = open.pop() {
            if self.files.contains_key(&path) {
                continue;
            }
            count += 1;
            if count > MAX_FILES {
                return Err(invalid(&path, "too many files refer to each other".to_owned()));
            }
            let file = match source.read(&path, named_by)? {
                Some(text) => Some(parse(&path, text)?),
                None => None,
            };
            if let Some(root) = file.as_ref().and_then(root) {
                references(root, &mut |target| {
                    open.extend(
                        target
                            .split('#')
                            .next()
                            .filter(|it| !it.is_empty())
                            .map(|it| beside(&path, it)),
                    );
                });
            }
            self.files.insert(path, file);
        }
        Ok(self.resolve_file(path).is_some())
    }

    /// The schema in a file, with its path.
    pub(super) fn resolve_file(&self, path: &str) -> Option<(&str, NodeRef<'_>)> {
        let (path, file) = self.files.get_key_value(path)?;
        Some((path, root(file.as_ref()?)?))
    }

    /// The schema that a reference names; `base` is the path of the file with the reference.
    pub(super) fn resolve<'a>(
        &'a self,
        base: &'a str,
        reference: &str,
    ) -> Option<(&'a str, NodeRef<'a>)> {
        let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let path = if file.is_empty() { base.to_owned() } else { beside(base, file) };
        let (path, file) = self.files.get_key_value(&path)?;
        let unescape = |it: &str| it.replace("~1", "/").replace("~0", "~");
        let steps = pointer.split('/').skip(1).map(unescape);
        let root = root(file.as_ref()?)?;
        let target = steps.into_iter().try_fold(root, |node, step| match node.as_sequence() {
            Some(list) => list.items().nth(step.parse().ok()?),
            None => child(node, &step),
        });
        target.map(|target| (path.as_str(), target))
    }
}

/// A path relative to the directory of a file.
fn beside(base: &str, path: &str) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    match base.rsplit_once('/') {
        Some((directory, _)) if !path.starts_with('/') => format!("{directory}/{path}"),
        _ => path.to_owned(),
    }
}

/// Parses a file with a schema or a definition.
pub(super) fn parse(path: &str, text: String) -> Result<File, Diagnostic> {
    let file = File::parse(text).map_err(|error| invalid(path, error.to_string()))?;
    if let Some(error) = file.errors().next() {
        return Err(Diagnostic::from_syntax(error, &file).in_file(path));
    }
    match root(&file).is_some_and(|root| root.as_mapping().is_some()) {
        true => Ok(file),
        false => Err(invalid(path, "expected a mapping".to_owned())),
    }
}

fn invalid(path: &str, reason: String) -> Diagnostic {
    Diagnostic::error(CatalogKind::InvalidSchema { path: path.to_owned(), reason }).in_file(path)
}

fn root(file: &File) -> Option<NodeRef<'_>> {
    file.document(0)?.root()
}

/// Calls back with every `$ref` of a schema.
fn references(node: NodeRef<'_>, found: &mut impl FnMut(&str)) {
    if let Some(mapping) = node.as_mapping() {
        for entry in mapping.entries() {
            let is_reference = entry.key.as_scalar().is_some_and(|key| key.value() == "$ref");
            match entry.value.as_str() {
                Some(target) if is_reference => found(&target),
                _ => references(entry.value, found),
            }
        }
    } else if let Some(list) = node.as_sequence() {
        list.items().for_each(|item| references(item, found));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_schemas_follow_kubeconform() {
        let name = SchemaName {
            api_version: "apps.example.com/v1beta1",
            kind: "WebApp",
            version: "1.36.0",
            strict: true,
        };
        let paths = [
            ("schemas", "schemas/v1.36.0-standalone-strict/webapp-apps-v1beta1.json"),
            ("file:///a/", "/a/v1.36.0-standalone-strict/webapp-apps-v1beta1.json"),
            (
                "x/{{.Group}}/{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json",
                "x/apps.example.com/webapp_v1beta1.json",
            ),
        ];
        for (location, path) in paths {
            let Location::Files { template, .. } =
                Location::parse(location, NamedBy::User).unwrap()
            else {
                panic!("{location} is a directory");
            };
            assert_eq!(name.expand(&template), path, "{location}");
        }
        let core = SchemaName { api_version: "v1", kind: "Pod", version: "master", strict: false };
        assert_eq!(core.expand(FILE_NAME), "master-standalone/pod-v1.json");
        assert!(matches!(Location::parse(" default ", NamedBy::User), Ok(Location::BuiltIn)));
        for wrong in ["https://example.com", "a/{{ .Kind }}.json"] {
            assert!(Location::parse(wrong, NamedBy::User).is_err(), "{wrong}");
        }
    }
}
