//! Reading the schemas of OpenAPI documents and CustomResourceDefinitions into nodes.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{NodeRef, ScalarType};

use super::keywords::{either, is_true, owned};
use super::kinds::SchemaKind;
use super::node::{Attributes, Field, ListType, Node, NodeId, TypeTables, ValueKind};
use crate::diagnostics::{CommonKind, Kind};
use crate::model::resource::scalar_text;
use crate::{Diagnostic, Severity};

/// The maximum depth of schemas with expanded aliases. Documents without aliases cannot nest deeper.
const MAX_DEPTH: usize = 256;

/// The maximum number of diagnostics; generated schemas repeat the same mistake.
const MAX_DIAGNOSTICS: usize = 20;

/// Reads schemas into tables. Invalid keywords are reported and ignored.
pub(super) struct Reader<'t> {
    pub(super) tables: &'t mut TypeTables,
    severity: Severity,
    diagnostics: Vec<Diagnostic>,
    /// The number of entries that may still be read, because aliases can expand a small document to a huge schema.
    budget: usize,
}

/// A schema whose keywords are being read.
#[derive(Default)]
struct SchemaDraft<'a> {
    node: Node,
    attributes: Attributes,
    items: Option<NodeId>,
    values: Option<NodeId>,
    required: BTreeSet<Cow<'a, str>>,
    /// The types of the alternatives.
    alternatives: Vec<ValueKind>,
    /// The first keyword for lists.
    list_at: Option<NodeRef<'a>>,
}

impl<'t> Reader<'t> {
    /// A reader for the schemas of a document, which reports with this severity.
    pub(super) fn new(
        tables: &'t mut TypeTables,
        document: NodeRef<'_>,
        severity: Severity,
    ) -> Self {
        let budget = document.document().node_count().saturating_mul(10).saturating_add(10_000);
        Self { tables, severity, diagnostics: Vec::new(), budget }
    }

    /// What was reported.
    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.diagnostics
    }

    pub(super) fn report(&mut self, at: NodeRef<'_>, kind: impl Into<Kind>) {
        if self.diagnostics.len() < MAX_DIAGNOSTICS {
            let diagnostic = Diagnostic::new(self.severity, kind);
            self.diagnostics.push(diagnostic.at(at.document().file(), at.full_span()));
        }
    }

    /// The entries of a mapping. Those of its `<<` keys come first, so that the last entry of a name is the effective one.
    pub(super) fn entries<'a>(&mut self, node: NodeRef<'a>) -> Vec<(Cow<'a, str>, NodeRef<'a>)> {
        let mut all = Vec::new();
        self.collect(node, &mut all, MAX_DEPTH);
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

    /// Uses one entry of the budget. Returns false if none is left.
    pub(super) fn consume_budget(&mut self, at: NodeRef<'_>) -> bool {
        match self.budget {
            0 => return false,
            1 => self.report(at, SchemaKind::TooLarge),
            _ => {}
        }
        self.budget -= 1;
        true
    }

    /// Reads a schema.
    pub(super) fn read(&mut self, node: NodeRef<'_>) -> NodeId {
        self.read_below(node, MAX_DEPTH)
    }

    fn read_below(&mut self, node: NodeRef<'_>, depth: usize) -> NodeId {
        let node = node.resolve();
        if depth == 0 {
            self.report(node, SchemaKind::TooDeep);
            return ValueKind::Any as NodeId;
        }
        if node.as_mapping().is_none() {
            let is_boolean =
                node.as_scalar().is_some_and(|it| matches!(it.resolve(), ScalarType::Bool(_)));
            if !is_boolean {
                self.report(node, CommonKind::wrong_type("a schema", node));
            }
            return ValueKind::Any as NodeId;
        }
        let mut draft = SchemaDraft::default();
        for (keyword, value) in self.entries(node) {
            self.keyword(&mut draft, &keyword, value, depth - 1);
        }
        self.finish(draft)
    }

    /// Reads one keyword of a schema. Keywords that do not affect structure are ignored.
    fn keyword<'a>(
        &mut self,
        draft: &mut SchemaDraft<'a>,
        keyword: &str,
        at: NodeRef<'a>,
        depth: usize,
    ) {
        let attributes = &mut draft.attributes;
        match keyword {
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
            "required" => draft.required = self.strings(at, "required").into_iter().collect(),
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
                let keys = self.strings(at, "x-kubernetes-list-map-keys");
                attributes.keys = keys.into_iter().map(|key| key.into_owned().into()).collect();
                draft.list_at = draft.list_at.or(Some(at));
            }
            "x-kubernetes-patch-merge-key" => attributes.merge_key = owned(at),
            "x-kubernetes-patch-strategy" => attributes.strategy = self.strategy(at),
            _ => {}
        }
    }

    fn finish(&mut self, draft: SchemaDraft<'_>) -> NodeId {
        let SchemaDraft {
            mut node,
            mut attributes,
            items,
            values,
            required,
            alternatives,
            list_at,
        } = draft;
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

    /// Reports list keywords that cannot be used, and ignores them.
    fn check_list(&mut self, node: &Node, attributes: &mut Attributes, at: NodeRef<'_>) {
        let is_list = matches!(node.value_kind, ValueKind::Array | ValueKind::Any);
        if !is_list && attributes.list_type == Some(ListType::Atomic) {
            // Compat: the Kubernetes API has this for []byte, which is a string in JSON.
            attributes.list_type = None;
            return;
        }
        let problem: Option<Kind> = if !is_list {
            Some(SchemaKind::ListKeyword { found: node.value_kind.name() }.into())
        } else if attributes.list_type == Some(ListType::Map) && attributes.keys.is_empty() {
            let (field, owner) =
                ("x-kubernetes-list-map-keys".to_owned(), "a list of type map".to_owned());
            Some(CommonKind::MissingField { field, owner }.into())
        } else {
            let key = self.undeclared_key(node, attributes);
            key.map(|key| SchemaKind::UndeclaredKey { key: key.to_owned() }.into())
        };
        if let Some(kind) = problem {
            self.report(at, kind);
            (attributes.list_type, attributes.keys) = (None, Vec::new());
        }
    }

    /// A key that the elements do not declare, if their fields are known.
    fn undeclared_key<'f>(&self, node: &Node, attributes: &'f Attributes) -> Option<&'f str> {
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
            self.report(
                at,
                CommonKind::wrong_type("a mapping of names to schemas for `properties`", at),
            );
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

/// Whether the attributes can only be those of a list.
fn is_for_lists(attributes: &Attributes) -> bool {
    attributes.list_type.is_some() || attributes.merge_key.is_some() || attributes.strategy.merge
}

/// The mappings that a `<<` key merges.
fn merge_sources(value: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    match value.as_sequence() {
        // The first source takes precedence, so it is read last.
        Some(list) => list.items().collect::<Vec<_>>().into_iter().rev().collect(),
        None => vec![value],
    }
}
