//! The folders that a ResourceHierarchy describes.

use std::collections::BTreeMap;
use std::rc::Rc;

use krm_sdk::{Diagnostic, Resource};
use krm_yaml::NodeRef;

use crate::changes::{is_null, text_of};
use crate::kinds::CatalogKind;
use crate::lookup;

/// A folder and the display names of the folders that contain it, outermost first.
pub(super) struct Folder {
    pub(super) name: String,
    pub(super) parents: Vec<String>,
}

/// A name with the folders below it. Subtrees are shared, because each can be used many times.
#[derive(Clone)]
struct Branch {
    name: String,
    children: Rc<Vec<Branch>>,
}

/// Subtrees that refer to others multiply: a few lines can describe more folders than fit into memory. Google Cloud allows a depth of
/// ten, and 300 folders below one folder.
const MAX_FOLDERS: usize = 100_000;
const MAX_DEPTH: usize = 100;

/// The folders of a hierarchy with a tree in `spec.config`.
pub(super) fn folders(hierarchy: &Resource) -> Result<Vec<Folder>, Diagnostic> {
    let mut subtrees = BTreeMap::new();
    if let Some(node) = hierarchy.get_in(["spec", "subtrees"]).map(NodeRef::resolve) {
        let entries = node.as_mapping().into_iter().flat_map(|it| it.entries());
        for (name, children) in entries.filter_map(|it| Some((text_of(it.key)?, it.value))) {
            let branches = Rc::new(branches(hierarchy, children, &subtrees)?);
            subtrees.insert(name.into_owned(), branches);
        }
    }
    let tree = branches(hierarchy, config(hierarchy)?, &subtrees)?;
    let mut folders = Vec::new();
    flatten(hierarchy, &tree, &mut Vec::new(), &mut folders)?;
    Ok(folders)
}

/// The folders of a hierarchy with layers: each folder of a layer is in every folder of the layer above.
pub(super) fn layered_folders(hierarchy: &Resource) -> Result<Vec<Folder>, Diagnostic> {
    let config = config(hierarchy)?;
    let spec = hierarchy.get_in(["spec"]).unwrap_or_else(|| hierarchy.root());
    let layers: Vec<String> =
        lookup::items(spec, "layers").filter_map(text_of).map(|it| it.into_owned()).collect();
    let mut below: Rc<Vec<Branch>> = Rc::default();
    for layer in layers.iter().rev() {
        let Some(names) = lookup::child(config, layer).and_then(NodeRef::as_sequence) else {
            let message = format!("layer \"{layer}\" has no list of folders in spec.config");
            return Err(failed(hierarchy, config, message)
                .hint(format!("add `spec.config.{layer}`, or remove the layer")));
        };
        let names = names.items().filter_map(text_of);
        let branch = |name: std::borrow::Cow<'_, str>| Branch {
            name: name.into_owned(),
            children: Rc::clone(&below),
        };
        below = Rc::new(names.map(branch).collect());
    }
    let mut folders = Vec::new();
    flatten(hierarchy, &below, &mut Vec::new(), &mut folders)?;
    Ok(folders)
}

fn config(hierarchy: &Resource) -> Result<NodeRef<'_>, Diagnostic> {
    hierarchy.get_in(["spec", "config"]).map(NodeRef::resolve).ok_or_else(|| {
        let message = format!("ResourceHierarchy {} has no `spec.config`", hierarchy.name());
        failed(hierarchy, hierarchy.root(), message).hint("list the folders in `spec.config`")
    })
}

/// Recursion is bounded by the nesting limit of the parser.
fn branches(
    hierarchy: &Resource,
    node: NodeRef<'_>,
    subtrees: &BTreeMap<String, Rc<Vec<Branch>>>,
) -> Result<Vec<Branch>, Diagnostic> {
    let node = node.resolve();
    let Some(list) = node.as_sequence() else {
        let message = "expected a list of folders".to_owned();
        return Err(failed(hierarchy, node, message));
    };
    let mut branches = Vec::new();
    for item in list.items().map(NodeRef::resolve).filter(|it| !is_null(*it)) {
        branches.push(branch(hierarchy, item, subtrees)?);
    }
    Ok(branches)
}

fn branch(
    hierarchy: &Resource,
    item: NodeRef<'_>,
    subtrees: &BTreeMap<String, Rc<Vec<Branch>>>,
) -> Result<Branch, Diagnostic> {
    if let Some(name) = text_of(item) {
        return Ok(Branch { name: name.into_owned(), children: Rc::default() });
    }
    let mut entries = item.as_mapping().into_iter().flat_map(|it| it.entries());
    let (Some(entry), None) = (entries.next(), entries.next()) else {
        let message = "expected the name of a folder, or a mapping with one name".to_owned();
        return Err(failed(hierarchy, item, message).hint("start a new list item for each folder"));
    };
    let name = text_of(entry.key).unwrap_or_default().into_owned();
    let value = entry.value.resolve();
    let children = match value.as_mapping() {
        Some(_) => {
            let subtree = lookup::text(value, "$subtree").unwrap_or_default();
            let found = subtrees.get(&*subtree).map(Rc::clone);
            found.ok_or_else(|| {
                let message = format!(
                    "ResourceHierarchy {} references non-existent subtree \"{subtree}\"",
                    hierarchy.name()
                );
                let hint = "define it in `spec.subtrees`, before the subtrees that use it";
                failed(hierarchy, value, message).hint(hint)
            })?
        }
        None if value.as_sequence().is_some() => Rc::new(branches(hierarchy, value, subtrees)?),
        None => Rc::default(),
    };
    Ok(Branch { name, children })
}

fn flatten(
    hierarchy: &Resource,
    branches: &[Branch],
    parents: &mut Vec<String>,
    folders: &mut Vec<Folder>,
) -> Result<(), Diagnostic> {
    for branch in branches {
        if folders.len() >= MAX_FOLDERS || parents.len() >= MAX_DEPTH {
            let message = format!(
                "ResourceHierarchy {} has more than {MAX_FOLDERS} folders, or more than {MAX_DEPTH} levels",
                hierarchy.name()
            );
            return Err(failed(hierarchy, hierarchy.root(), message)
                .hint("check which subtrees contain each other"));
        }
        folders.push(Folder { name: branch.name.clone(), parents: parents.clone() });
        parents.push(branch.name.clone());
        flatten(hierarchy, &branch.children, parents, folders)?;
        parents.pop();
    }
    Ok(())
}

/// An error at a node of a hierarchy.
pub(super) fn failed(hierarchy: &Resource, node: NodeRef<'_>, message: String) -> Diagnostic {
    let error = Diagnostic::error(CatalogKind::Failed { message: message.into() });
    let mut error = error.at(hierarchy.item().file(), node.span());
    error.file = hierarchy.path().map(|path| path.as_str().into());
    error.resource = Some(hierarchy.view().label().into());
    error
}
