//! Reading: a list or documents become resources, each a document of its own without annotations of the wire.

use krm_core::functions::resource_list::{Item, Version};
use krm_core::model::resources;
use krm_core::print::source_text;
use krm_core::{Diagnostic, Resource as View};
use krm_yaml::{File, NodeRef};

use super::{Form, Sent, Slot, Stream, field, is_null};
use crate::{Error, Resource, ResourceList, place};

impl Stream {
    /// Reads what a function is given: a `ResourceList` of any version, any other list, or documents; YAML or JSON.
    pub fn read(text: String) -> Result<(Self, ResourceList), Error> {
        let file = File::parse(text).map_err(|error| Diagnostic::from(&error))?;
        let errors: Vec<Diagnostic> =
            file.errors().map(|error| Diagnostic::from_syntax(error, &file)).collect();
        if !errors.is_empty() {
            return Err(errors.into());
        }
        let form = form(&file)?;
        let (slots, items) = match form {
            Form::Documents => documents(&file)?,
            _ => list(&file)?,
        };
        let mut stream = Self { file, form, slots, before: Vec::with_capacity(items.len()) };
        for (at, item) in items.into_iter().enumerate() {
            let (mut item, taken) = place::strip(item)?;
            item.origin = Some(at);
            stream.before.push(Sent { item, taken });
        }
        let items = stream.before.iter().map(|sent| Resource::from(sent.item.clone())).collect();
        let function_config = stream.config()?;
        Ok((stream, ResourceList { items, function_config, ..ResourceList::default() }))
    }

    fn config(&self) -> Result<Option<Resource>, Error> {
        let is_list = matches!(self.form, Form::ResourceList(_));
        let root = self.root().filter(|_| is_list);
        let Some(node) = root.and_then(|root| field(root, "functionConfig")) else {
            return Ok(None);
        };
        if is_null(node) {
            return Ok(None);
        }
        if node.as_mapping().is_none() {
            let message = "`functionConfig` is no resource: a mapping is wanted";
            return Err(Diagnostic::untyped_error(message).at(&self.file, node.span()).into());
        }
        let item = Item::parse(source_text::ensure_trailing_newline(source_text::text(node)))?;
        let (item, _) = place::strip(item)?;
        Ok(Some(item.into()))
    }
}

/// What the text is, by what stands in it.
fn form(file: &File) -> Result<Form, Error> {
    let roots: Vec<NodeRef<'_>> =
        file.documents().filter_map(|it| it.root()).filter(|root| !is_null(*root)).collect();
    let lists: Vec<NodeRef<'_>> = roots.iter().copied().filter(|root| is_list(*root)).collect();
    match (&lists[..], roots.len()) {
        ([], _) => Ok(Form::Documents),
        ([list], 1) => {
            let text = |name| field(*list, name).and_then(NodeRef::as_str);
            let version = text("apiVersion").and_then(|version| Version::of(&version));
            let is_resource_list = text("kind").as_deref() == Some("ResourceList");
            Ok(match is_resource_list {
                true => Form::ResourceList(version.unwrap_or_default()),
                false => Form::List,
            })
        }
        ([list, ..], _) => {
            let message = "a list stands among other documents; one list is wanted, or resources as documents";
            Err(Diagnostic::untyped_error(message).at(file, list.span()).into())
        }
    }
}

/// Spec: a list is what is called one and has items. A resource whose kind only ends so has none that are resources.
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

fn is_resource(node: NodeRef<'_>) -> bool {
    let text = |name| field(node, name).and_then(NodeRef::as_str);
    ["apiVersion", "kind"].into_iter().all(|name| text(name).is_some_and(|text| !text.is_empty()))
}

fn list(file: &File) -> Result<(Vec<Slot>, Vec<Item>), Error> {
    let roots = file.documents().filter_map(|document| document.root());
    let Some(root) = roots.into_iter().find(|root| !is_null(*root)) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let items = if root.as_sequence().is_some() { Some(root) } else { field(root, "items") };
    let Some(items) = items.filter(|items| !is_null(*items)) else {
        return Ok((Vec::new(), Vec::new()));
    };
    let Some(sequence) = items.as_sequence() else {
        return Err(Diagnostic::untyped_error("`items` is no list").at(file, items.span()).into());
    };
    let nodes: Vec<NodeRef<'_>> = sequence.items().collect();
    if let Some((at, node)) =
        nodes.iter().enumerate().find(|(_, node)| !is_resource(node.resolve()))
    {
        let message = format!("item {at} is no resource: `apiVersion` and `kind` are wanted");
        return Err(Diagnostic::untyped_error(message).at(file, node.span()).into());
    }
    let comments = if items.is_block() { root.document().comments() } else { Vec::new() };
    let slots: Option<Vec<Slot>> =
        nodes.iter().map(|node| Slot::of_item(*node, &comments)).collect();
    let slots = slots.ok_or_else(|| {
        let message =
            "an item of this list begins on the line below its dash, which cannot be written back";
        Diagnostic::untyped_error(message).at(file, items.span())
    })?;
    let texts = source_text::texts(&nodes).into_iter().map(source_text::ensure_trailing_newline);
    Ok((slots, texts.map(Item::parse).collect::<Result<_, _>>()?))
}

fn documents(file: &File) -> Result<(Vec<Slot>, Vec<Item>), Error> {
    let found = file.documents().flat_map(resources).collect::<Vec<View<'_>>>();
    let mut slots = Vec::with_capacity(found.len());
    let mut items = Vec::with_capacity(found.len());
    for view in found {
        let slot = Slot::of_document(view.node);
        items.push(Item::parse(slot.span.of(file.text()).to_owned())?);
        slots.push(slot);
    }
    Ok((slots, items))
}
