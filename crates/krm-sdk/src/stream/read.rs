//! Reading a list or documents into resources, each a document of its own without transport annotations.

use krm_core::diagnostics::CommonKind;
use krm_core::functions::resource_list::{Item, Version};
use krm_core::model::resources;
use krm_core::print::source_text;
use krm_core::{Diagnostic, Resource as View};
use krm_yaml::{File, NodeRef};

use super::{InputFormat, ItemSlot, ReceivedItem, Stream, field, is_null};
use crate::kinds::StreamKind;
use crate::{Error, Resource, ResourceList, wire_annotations};

impl Stream {
    /// Reads an input: a `ResourceList` of any version, any other list, or documents, as YAML or JSON.
    pub fn read(text: String) -> Result<(Self, ResourceList), Error> {
        let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
        let errors: Vec<Diagnostic> =
            file.errors().map(|error| Diagnostic::from_syntax(error, &file)).collect();
        if !errors.is_empty() {
            return Err(Error::of_diagnostics(errors));
        }
        let format = format(&file)?;
        let (slots, items) = match format {
            InputFormat::Documents => documents(&file)?,
            _ => list(&file)?,
        };
        let mut stream = Self { file, format, slots, received: Vec::with_capacity(items.len()) };
        for (at, item) in items.into_iter().enumerate() {
            let (mut item, removed) = wire_annotations::strip(item)?;
            item.origin = Some(at);
            stream.received.push(ReceivedItem { item, removed });
        }
        let items =
            stream.received.iter().map(|received| Resource::from(received.item.clone())).collect();
        let function_config = stream.config()?;
        Ok((stream, ResourceList { items, function_config, ..ResourceList::default() }))
    }

    fn config(&self) -> Result<Option<Resource>, Error> {
        let is_list = matches!(self.format, InputFormat::ResourceList(_));
        let root = self.root().filter(|_| is_list);
        let Some(node) = root.and_then(|root| field(root, "functionConfig")) else {
            return Ok(None);
        };
        if is_null(node) {
            return Ok(None);
        }
        if node.as_mapping().is_none() {
            return Err(wrong_type("a resource in `functionConfig`", node, &self.file));
        }
        let item = Item::parse(source_text::ensure_trailing_newline(source_text::text(node)))?;
        let (item, _) = wire_annotations::strip(item)?;
        Ok(Some(item.into()))
    }
}

/// The format of a file, by its content.
fn format(file: &File) -> Result<InputFormat, Error> {
    let roots: Vec<NodeRef<'_>> =
        file.documents().filter_map(|it| it.root()).filter(|root| !is_null(*root)).collect();
    let lists: Vec<NodeRef<'_>> = roots.iter().copied().filter(|root| is_list(*root)).collect();
    match (&lists[..], roots.len()) {
        ([], _) => Ok(InputFormat::Documents),
        ([list], 1) => {
            let string = |name| field(*list, name).and_then(NodeRef::as_str);
            let version = string("apiVersion").and_then(|version| Version::of(&version));
            let is_resource_list = string("kind").as_deref() == Some("ResourceList");
            Ok(match is_resource_list {
                true => InputFormat::ResourceList(version.unwrap_or_default()),
                false => InputFormat::List,
            })
        }
        ([list, ..], _) => {
            let error = Diagnostic::error(StreamKind::ListAmongDocuments);
            Err(error.at(file, list.span()).into())
        }
    }
}

/// Spec: a list has a kind that ends in `List`, and `items`. A custom resource whose kind happens to end so is recognized by
/// items that are not resources.
fn is_list(root: NodeRef<'_>) -> bool {
    if root.as_sequence().is_some() {
        return true;
    }
    let kind = field(root, "kind").and_then(NodeRef::as_str).unwrap_or_default();
    let holds = || {
        let items = field(root, "items").and_then(NodeRef::as_sequence);
        items.is_some_and(|items| items.items().any(is_resource))
    };
    matches!(&*kind, "List" | "ResourceList") || kind.ends_with("List") && holds()
}

pub(super) fn is_resource(node: NodeRef<'_>) -> bool {
    missing_field(node).is_none()
}

/// The first field that a node lacks to be a resource.
fn missing_field(node: NodeRef<'_>) -> Option<&'static str> {
    let string = |name| field(node, name).and_then(NodeRef::as_str);
    ["apiVersion", "kind"].into_iter().find(|name| string(name).is_none_or(|text| text.is_empty()))
}

pub(super) fn wrong_type(expected: &str, node: NodeRef<'_>, file: &File) -> Error {
    let kind = CommonKind::wrong_type(expected, node.resolve());
    Diagnostic::error(kind).at(file, node.span()).into()
}

/// An item of a list that is not a resource.
fn not_a_resource(index: usize, node: NodeRef<'_>, file: &File) -> Error {
    match missing_field(node.resolve()).filter(|_| node.resolve().as_mapping().is_some()) {
        Some(field) => {
            let (field, owner) = (field.to_owned(), format!("item {index}"));
            let kind = CommonKind::MissingField { field, owner };
            Diagnostic::error(kind).at(file, node.span()).into()
        }
        None => wrong_type(&format!("a resource in item {index}"), node, file),
    }
}

fn list(file: &File) -> Result<(Vec<ItemSlot>, Vec<Item>), Error> {
    let roots = file.documents().filter_map(|document| document.root());
    let Some(root) = roots.into_iter().find(|root| !is_null(*root)) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let items = if root.as_sequence().is_some() { Some(root) } else { field(root, "items") };
    let Some(items) = items.filter(|items| !is_null(*items)) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let Some(sequence) = items.as_sequence() else {
        return Err(wrong_type("a sequence in `items`", items, file));
    };
    let nodes: Vec<NodeRef<'_>> = sequence.items().collect();
    if let Some((at, node)) =
        nodes.iter().enumerate().find(|(_, node)| !is_resource(node.resolve()))
    {
        return Err(not_a_resource(at, *node, file));
    }
    let comments = if items.is_block() { root.document().comments() } else { Vec::new() };
    let slots: Option<Vec<ItemSlot>> =
        nodes.iter().map(|node| ItemSlot::of_item(*node, &comments)).collect();
    let slots =
        slots.ok_or_else(|| Diagnostic::error(StreamKind::ItemBelowDash).at(file, items.span()))?;
    let texts = source_text::texts(&nodes).into_iter().map(source_text::ensure_trailing_newline);
    Ok((slots, texts.map(Item::parse).collect::<Result<_, _>>()?))
}

fn documents(file: &File) -> Result<(Vec<ItemSlot>, Vec<Item>), Error> {
    let found = file.documents().flat_map(resources).collect::<Vec<View<'_>>>();
    let mut slots = Vec::with_capacity(found.len());
    let mut items = Vec::with_capacity(found.len());
    for view in found {
        let slot = ItemSlot::of_document(view.node);
        items.push(Item::parse(slot.span.of(file.text()).to_owned())?);
        slots.push(slot);
    }
    Ok((slots, items))
}
