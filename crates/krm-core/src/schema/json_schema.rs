//! Reading one schema of an OpenAPI document or a CustomResourceDefinition into nodes, whatever it holds.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{NodeRef, ScalarType};

use super::keywords::{either, is_true, owned};
use super::node::{Attributes, Field, ListType, Node, NodeId, TypeTables, ValueKind};
use crate::model::resource::scalar_text;
use crate::{Diagnostic, Severity};

/// How deep schemas may nest once their aliases are expanded; text by itself does not nest deeper.
const MOST_DEPTH: usize = 256;

/// How many faults are told; one mistake is often made a thousand times.
const MOST_FAULTS: usize = 20;

/// Reads schemas into tables. What is wrong is told, and read as if it said nothing.
pub(super) struct Reader<'t> {
    pub(super) tables: &'t mut TypeTables,
    severity: Severity,
    faults: Vec<Diagnostic>,
    /// How many entries may still be read: aliases make a large schema of a small text.
    budget: usize,
}

/// A schema while it is read.
#[derive(Default)]
struct Draft<'a> {
    node: Node,
    attributes: Attributes,
    items: Option<NodeId>,
    values: Option<NodeId>,
    required: BTreeSet<Cow<'a, str>>,
    /// The types of the alternatives.
    alternatives: Vec<ValueKind>,
    /// Where the list attributes stand.
    list_at: Option<NodeRef<'a>>,
}

impl<'t> Reader<'t> {
    /// A reader of this document's schemas, which tells faults with this severity.
    pub(super) fn new(
        tables: &'t mut TypeTables,
        document: NodeRef<'_>,
        severity: Severity,
    ) -> Self {
        let budget = document.document().node_count().saturating_mul(10).saturating_add(10_000);
        Self { tables, severity, faults: Vec::new(), budget }
    }

    /// What was wrong.
    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.faults
    }

    /// Tells a fault.
    pub(super) fn report(&mut self, at: NodeRef<'_>, message: impl Into<String>) {
        if self.faults.len() < MOST_FAULTS {
            let fault = Diagnostic::untyped(self.severity, message);
            self.faults.push(fault.at(at.document().file(), at.full_span()));
        }
    }

    /// The entries of a mapping, those of its `<<` keys first, so that of two with one name the last counts.
    pub(super) fn entries<'a>(&mut self, node: NodeRef<'a>) -> Vec<(Cow<'a, str>, NodeRef<'a>)> {
        let mut all = Vec::new();
        self.collect(node, &mut all, MOST_DEPTH);
        all
    }

    fn collect<'a>(
        &mut self,
        node: NodeRef<'a>,
        all: &mut Vec<(Cow<'a, str>, NodeRef<'a>)>,
        depth: usize,
    ) {
        let Some(mapping) = node.resolve().as_mapping().filter(|_| depth > 0) else { return };
        let mut own = Vec::new();
        for entry in mapping.entries() {
            if !self.consume_budget(node) {
                break;
            }
            let Some(name) = scalar_text(entry.key) else { continue };
            if name != "<<" {
                own.push((name, entry.value.resolve()));
                continue;
            }
            for source in merge_sources(entry.value.resolve()) {
                if self.consume_budget(node) {
                    self.collect(source, all, depth - 1);
                }
            }
        }
        all.append(&mut own);
    }

    /// Pays for one entry or item; nothing is left after a text whose aliases expand to too much.
    pub(super) fn consume_budget(&mut self, at: NodeRef<'_>) -> bool {
        match self.budget {
            0 => return false,
            1 => self.report(at, "the aliases of this document expand to too much to be a schema"),
            _ => {}
        }
        self.budget -= 1;
        true
    }

    /// Reads a schema.
    pub(super) fn read(&mut self, node: NodeRef<'_>) -> NodeId {
        self.read_below(node, MOST_DEPTH)
    }

    fn read_below(&mut self, node: NodeRef<'_>, depth: usize) -> NodeId {
        let node = node.resolve();
        if depth == 0 {
            self.report(node, "this schema is nested too deeply");
            return ValueKind::Any as NodeId;
        }
        if node.as_mapping().is_none() {
            let is_boolean =
                node.as_scalar().is_some_and(|it| matches!(it.resolve(), ScalarType::Bool(_)));
            if !is_boolean {
                self.report(node, "a schema must be a mapping");
            }
            return ValueKind::Any as NodeId;
        }
        let mut draft = Draft::default();
        for (word, value) in self.entries(node) {
            self.keyword(&mut draft, &word, value, depth - 1);
        }
        self.finish(draft)
    }

    /// Takes one keyword of a schema. Words that say nothing about structure are passed over.
    fn keyword<'a>(&mut self, draft: &mut Draft<'a>, word: &str, at: NodeRef<'a>, depth: usize) {
        let attributes = &mut draft.attributes;
        match word {
            "$ref" => draft.node.reference = self.reference(at),
            "type" => {
                let (value_kind, nullable) = self.value_kind(at);
                draft.node.value_kind = value_kind;
                attributes.is_nullable |= nullable;
            }
            "format" => attributes.format = owned(at),
            "default" => attributes.default = owned(at),
            "nullable" => attributes.is_nullable |= is_true(at),
            "enum" => {
                (attributes.enum_values, attributes.is_nullable) =
                    self.enum_values(at, attributes.is_nullable);
            }
            "properties" => draft.node.fields = self.fields(at, depth),
            "required" => draft.required = self.texts(at, "`required`").into_iter().collect(),
            "items" => draft.items = Some(self.read_below(at, depth)),
            "additionalProperties" if at.as_mapping().is_some() => {
                draft.values = Some(self.read_below(at, depth));
            }
            "additionalProperties" => attributes.preserves_unknown_fields |= is_true(at),
            "allOf" => draft.node.reference = self.all_of(at).or(draft.node.reference.take()),
            "oneOf" | "anyOf" => draft.alternatives = self.alternatives(at),
            "x-kubernetes-int-or-string" if is_true(at) => {
                draft.node.value_kind = ValueKind::IntOrString;
            }
            "x-kubernetes-preserve-unknown-fields" => {
                attributes.preserves_unknown_fields |= is_true(at);
            }
            "x-kubernetes-embedded-resource" => attributes.is_resource = is_true(at),
            "x-kubernetes-map-type" => attributes.is_atomic_map = self.is_atomic(at),
            "x-kubernetes-list-type" => {
                (attributes.list_type, draft.list_at) = (self.list_type(at), Some(at));
            }
            "x-kubernetes-list-map-keys" => {
                let keys = self.texts(at, "`x-kubernetes-list-map-keys`");
                attributes.keys = keys.into_iter().map(|key| key.into_owned().into()).collect();
                draft.list_at = draft.list_at.or(Some(at));
            }
            "x-kubernetes-patch-merge-key" => attributes.merge_key = owned(at),
            "x-kubernetes-patch-strategy" => attributes.strategy = self.strategy(at),
            _ => {}
        }
    }

    fn finish(&mut self, draft: Draft<'_>) -> NodeId {
        let Draft { mut node, mut attributes, items, values, required, alternatives, list_at } =
            draft;
        if attributes.format.as_deref() == Some("int-or-string") {
            node.value_kind = ValueKind::IntOrString;
        }
        if node.value_kind == ValueKind::Any && node.reference.is_none() {
            node.value_kind = match () {
                () if !node.fields.is_empty() || values.is_some() => ValueKind::Object,
                () if items.is_some() || is_for_lists(&attributes) => ValueKind::Array,
                () => either(&alternatives),
            };
        }
        node.child = if node.value_kind == ValueKind::Array { items } else { values };
        for field in &mut node.fields {
            field.is_required = required.contains(&*field.name);
        }
        if let Some(at) = list_at {
            self.check_list(&node, &mut attributes, at);
        }
        node.attributes = (attributes != Attributes::default()).then(|| Box::new(attributes));
        self.tables.nodes.add(node)
    }

    /// A list whose items cannot be told apart by what it says is one that says nothing.
    fn check_list(&mut self, node: &Node, attributes: &mut Attributes, at: NodeRef<'_>) {
        let is_list = matches!(node.value_kind, ValueKind::Array | ValueKind::Any);
        if !is_list && attributes.list_type == Some(ListType::Atomic) {
            // Compat: Kubernetes' own API says this of bytes, which are a list only in Go.
            attributes.list_type = None;
            return;
        }
        let fault = if !is_list {
            Some(format!("this is for lists, and the type is {}", node.value_kind.name()))
        } else if attributes.list_type == Some(ListType::Map) && attributes.keys.is_empty() {
            Some("a list of type map needs `x-kubernetes-list-map-keys`".to_owned())
        } else {
            self.undeclared(node, attributes).map(|key| {
                format!("the items of this list have no field `{key}` to be told apart by")
            })
        };
        if let Some(fault) = fault {
            self.report(at, fault);
            (attributes.list_type, attributes.keys) = (None, Vec::new());
        }
    }

    /// A key that the items do not declare, where what they declare is known.
    fn undeclared<'f>(&self, node: &Node, attributes: &'f Attributes) -> Option<&'f str> {
        let item = self.tables.nodes.get(node.child?);
        let is_open =
            item.attributes.as_ref().is_some_and(|attributes| attributes.preserves_unknown_fields);
        if item.reference.is_some() || item.value_kind == ValueKind::Any || is_open {
            return None;
        }
        attributes.keys.iter().map(|key| &**key).find(|key| item.field(key).is_none())
    }

    fn fields(&mut self, at: NodeRef<'_>, depth: usize) -> Vec<Field> {
        if at.as_mapping().is_none() {
            self.report(at, "`properties` must be a mapping of names to schemas");
        }
        let mut fields = BTreeMap::new();
        for (name, value) in self.entries(at) {
            let node = self.read_below(value, depth);
            fields.insert(name, node);
        }
        let field = |(name, node): (Cow<'_, str>, NodeId)| Field {
            name: name.into_owned().into(),
            node,
            is_required: false,
        };
        fields.into_iter().map(field).collect()
    }
}

/// Whether the attributes are those of a list.
fn is_for_lists(attributes: &Attributes) -> bool {
    attributes.list_type.is_some() || attributes.merge_key.is_some()
}

/// The mappings that a `<<` key names.
fn merge_sources(value: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    match value.as_sequence() {
        // Of several the first counts, so it comes last.
        Some(list) => list.items().collect::<Vec<_>>().into_iter().rev().collect(),
        None => vec![value],
    }
}
