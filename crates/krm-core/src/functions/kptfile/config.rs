//! The configuration of a function: a file of its package as it stands now, or a ConfigMap made of a few values.

use krm_yaml::{Edit, File, KeyPosition as Position, Mapping, Value};

use super::{Config, Function};
use crate::diagnostics::closest_name;
use crate::functions::resource_list::Item;
use crate::model::package_path::{PackagePath, PackagePathError};
use crate::model::resource::scalar_text;
use crate::{Diagnostic, Package, PackageResource};

/// A ConfigMap without data. Compat: the name is kpt's.
const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\n";

/// The ConfigMap of values that stand in the pipeline itself; every value of it is a text.
pub(super) fn inline(values: Mapping<'_>) -> String {
    let text = |node| Value::string(scalar_text(node).unwrap_or_default());
    let entries = values.entries().map(|entry| (text(entry.key), text(entry.value)));
    let data = Value::Mapping(entries.collect());
    let written = File::parse(CONFIG_MAP.to_owned()).ok().and_then(|file| {
        let root = file.document(0)?.root()?;
        let mut edit = Edit::new(&file);
        edit.insert_key(root, "data", data.clone(), Position::Last).ok()?;
        edit.apply().ok()
    });
    // JSON is YAML, for texts that have no place in a block.
    written.unwrap_or_else(|| format!("{CONFIG_MAP}data: {}\n", crate::print::json::write(&data)))
}

/// A path that does not leave the package. Compat: kpt takes `a/../b` for `b`.
pub(super) fn relative(path: &str) -> Result<PackagePath, PackagePathError> {
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

/// What is wrong with the file that configures a function.
pub(super) fn missing(function: &Function, package: &Package, root: &str) -> Option<Diagnostic> {
    let Config::File { path, place } = &function.config else { return None };
    let below = if root.is_empty() { "".to_owned() } else { format!("{root}/") };
    let whole = PackagePath::new(&format!("{below}{path}")).ok()?;
    let Some(file) = package.files().iter().find(|file| file.path == whole) else {
        let own = package.files().iter().filter_map(|it| it.path.as_str().strip_prefix(&*below));
        let told = place.error(format!("there is no file `{path}` in the package"));
        return Some(match closest_name(own, path.as_str()) {
            Some(meant) => told.hint(format!("did you mean `{meant}`?")),
            None => told.hint("*.yaml, *.yml and *.json are read, unless .krmignore names them"),
        });
    };
    let owner = package.root_of(&whole);
    if owner != root {
        let sub = owner.strip_prefix(&*below).unwrap_or(owner);
        let words = format!(
            "`{path}` belongs to the sub-package `{sub}`, and a function is configured by files of its own package"
        );
        let hint = format!("move the file, or declare the function in `{sub}`");
        return Some(place.error(words).hint(hint));
    }
    let all: Vec<PackageResource<'_>> = file.package_resources().collect();
    match all[..] {
        [only] if only.resource.name().is_empty() => Some(
            place
                .error(format!("the functionConfig in `{path}` has no `metadata.name`"))
                .hint("give it one"),
        ),
        [_] => None,
        [] => Some(
            place
                .error(format!("there is no resource in `{path}`"))
                .hint("a functionConfig has `apiVersion`, `kind` and `metadata.name`"),
        ),
        _ => {
            Some(place.error(format!(
                "`{path}` holds {} resources, and a functionConfig is one",
                all.len()
            )))
        }
    }
}

/// The configuration of a function, as it stands among these resources now. Paths are relative to the package that
/// declares the function.
pub fn function_config(function: &Function, items: &[Item]) -> Result<Option<Item>, Diagnostic> {
    match &function.config {
        Config::None => Ok(None),
        Config::Inline(text) => Item::parse(text.clone()).map(Some),
        Config::File { path, place } => {
            let found = items.iter().find(|item| item.path.as_ref() == Some(path));
            found.map(|item| Some(item.clone())).ok_or_else(|| {
                let words = format!("the functionConfig `{path}` is there no more");
                place.error(words).hint("a function before this one moved or deleted it")
            })
        }
    }
}
