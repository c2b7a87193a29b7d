//! The functionConfig of a pipeline function: a file of its package, or a ConfigMap made of inline values.

use krm_yaml::{Edit, File, KeyPosition as Position, Mapping, Value};

use super::{Config, ConfigRef, Function, KptfileKind};
use crate::diagnostics::closest_name;
use crate::functions::resource_list::Item;
use crate::model::package_path::{PackagePath, PackagePathError};
use crate::model::resource::scalar_text;
use crate::{Diagnostic, Package, Resource};

/// A ConfigMap without data. Compat: the name is kpt's.
const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\n";

/// The ConfigMap of inline values, all of which become strings.
pub(super) fn inline(values: Mapping<'_>) -> String {
    let string = |node| Value::string(scalar_text(node).unwrap_or_default());
    let entries = values.entries().map(|entry| (string(entry.key), string(entry.value)));
    let data = Value::Mapping(entries.collect());
    let written = File::parse(CONFIG_MAP.to_owned()).ok().and_then(|file| {
        let root = file.document(0)?.root()?;
        let mut edit = Edit::new(&file);
        edit.insert_key(root, "data", data.clone(), Position::Last).ok()?;
        edit.apply().ok()
    });
    // Some strings cannot be written in block style; JSON is YAML, too.
    written.unwrap_or_else(|| format!("{CONFIG_MAP}data: {}\n", crate::print::json::display(&data)))
}

/// Parses a path that must not leave the package. Compat: kpt accepts `a/../b` for `b`.
pub(super) fn parse_path(path: &str) -> Result<PackagePath, PackagePathError> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !path.starts_with('/') && *part != ".") {
        match part {
            ".." if parts.pop().is_none() => {
                return Err(PackagePathError::OutsidePackage { path: path.to_owned() });
            }
            ".." => {}
            part => parts.push(part),
        }
    }
    if path.starts_with('/') { PackagePath::new(path) } else { PackagePath::new(&parts.join("/")) }
}

/// The error of a function whose functionConfig is not exactly one named resource in a file of the package.
pub(super) fn check(function: &Function, package: &Package, root: &str) -> Option<Diagnostic> {
    let Config::File { path, place } = &function.config else { return None };
    let from_root = path.in_directory(root);
    let path = path.to_string();
    let Some(file) = package.file(&from_root) else {
        let own: Vec<PackagePath> =
            package.files().iter().filter_map(|it| it.path.relative_to(root)).collect();
        let hint = match closest_name(own.iter().map(PackagePath::as_str), &path) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => {
                "add the file, or check .krmignore; *.yaml, *.yml and *.json are loaded".to_owned()
            }
        };
        return Some(place.error(KptfileKind::ConfigNotFound { path }).hint(hint));
    };
    let owner = package.root_of(&from_root);
    if owner != root {
        let inner = owner.strip_prefix(root).unwrap_or(owner).trim_start_matches('/');
        let subpackage = inner.to_owned();
        return Some(place.error(KptfileKind::ConfigInSubpackage { path, subpackage }));
    }
    let all: Vec<Resource<'_>> = file.resources().collect();
    match all[..] {
        [only] if only.name().is_empty() => {
            Some(place.error(KptfileKind::ConfigWithoutName { path }))
        }
        [_] => None,
        _ => Some(place.error(KptfileKind::ConfigNotOneResource { path, count: all.len() })),
    }
}

impl ConfigRef {
    fn matches(&self, resource: Resource<'_>) -> bool {
        let is =
            |wanted: &Option<String>, value: &str| wanted.as_ref().is_none_or(|it| it == value);
        resource.kind() == self.kind
            && resource.name() == self.name
            && is(&self.api_version, &resource.api_version())
            && is(&self.namespace, &resource.namespace())
    }
}

impl std::fmt::Display for ConfigRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let namespace = self.namespace.iter().map(|it| format!("{it}/")).collect::<String>();
        write!(f, "{} {namespace}{}", self.kind, self.name)
    }
}

/// The current functionConfig of a function. The paths of `items` are relative to the package that declares the function.
pub fn function_config(function: &Function, items: &[Item]) -> Result<Option<Item>, Diagnostic> {
    match &function.config {
        Config::None => Ok(None),
        Config::Inline(inline) => Item::parse(inline.text.clone()).map(Some),
        Config::Ref(reference) => {
            let matching: Vec<&Item> =
                items.iter().filter(|item| reference.matches(item.resource())).collect();
            match matching[..] {
                [only] => Ok(Some(only.clone())),
                _ => {
                    let (reference_text, count) = (reference.to_string(), matching.len());
                    let kind = KptfileKind::ConfigRefCount { reference: reference_text, count };
                    Err(reference.place.error(kind))
                }
            }
        }
        Config::File { path, place } => {
            let found = items.iter().find(|item| item.path.as_ref() == Some(path));
            found
                .map(|item| Some(item.clone()))
                .ok_or_else(|| place.error(KptfileKind::ConfigRemoved { path: path.to_string() }))
        }
    }
}
