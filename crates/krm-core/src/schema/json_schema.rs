//! Reading one schema of an OpenAPI document or a CustomResourceDefinition into nodes, whatever it holds.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use krm_yaml::{NodeRef, Resolved};

use super::node::{Facts, Field, ListType, Node, NodeId, Shape, Strategy, Tables, Text};
use crate::resource::scalar_text;
use crate::{Diagnostic, Severity};

/// How deep schemas may nest once their aliases are expanded; text by itself does not nest deeper.
const MOST_DEPTH: usize = 256;

/// How many faults are told; one mistake is often made a thousand times.
const MOST_FAULTS: usize = 20;

/// Reads schemas into tables. What is wrong is told, and read as if it said nothing.
pub(super) struct Reader<'t> {
    pub(super) tables: &'t mut Tables,
    severity: Severity,
    faults: Vec<Diagnostic>,
    /// How many entries may still be read: aliases make a large schema of a small text.
    budget: usize,
}

/// A schema while it is read.
#[derive(Default)]
struct Draft<'a> {
    node: Node,
    facts: Facts,
    items: Option<NodeId>,
    values: Option<NodeId>,
    required: BTreeSet<Cow<'a, str>>,
    /// The types of the alternatives.
    alternatives: Vec<Shape>,
    /// Where the list facts stand.
    list_at: Option<NodeRef<'a>>,
}

impl<'t> Reader<'t> {
    /// A reader of this document's schemas, which tells faults with this severity.
    pub(super) fn new(tables: &'t mut Tables, document: NodeRef<'_>, severity: Severity) -> Self {
        let budget = document.document().node_count().saturating_mul(10).saturating_add(10_000);
        Self { tables, severity, faults: Vec::new(), budget }
    }

    /// What was wrong.
    pub(super) fn into_faults(self) -> Vec<Diagnostic> {
        self.faults
    }

    /// Tells a fault.
    pub(super) fn tell(&mut self, at: NodeRef<'_>, message: impl Into<String>) {
        if self.faults.len() < MOST_FAULTS {
            let fault = Diagnostic::new(self.severity, message);
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
        let Some(mapping) = node.resolve().as_mapping() else { return };
        let start = all.len();
        for entry in mapping.entries() {
            if !self.spend(node) {
                return;
            }
            let Some(name) = scalar_text(entry.key) else { continue };
            if name != "<<" {
                all.push((name, entry.value.resolve()));
            } else if depth > 0 {
                let mut merged = Vec::new();
                for source in merge_sources(entry.value.resolve()) {
                    self.collect(source, &mut merged, depth - 1);
                }
                all.splice(start..start, merged);
            }
        }
    }

    /// Pays for one entry; nothing is left after a text whose aliases expand to too much.
    fn spend(&mut self, at: NodeRef<'_>) -> bool {
        match self.budget {
            0 => return false,
            1 => self.tell(at, "the aliases of this document expand to too much to be a schema"),
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
            self.tell(node, "this schema is nested too deeply");
            return Shape::Any as NodeId;
        }
        if node.as_mapping().is_none() {
            let is_boolean =
                node.as_scalar().is_some_and(|it| matches!(it.resolve(), Resolved::Bool(_)));
            if !is_boolean {
                self.tell(node, "a schema must be a mapping");
            }
            return Shape::Any as NodeId;
        }
        let mut draft = Draft::default();
        for (word, value) in self.entries(node) {
            self.keyword(&mut draft, &word, value, depth - 1);
        }
        self.finish(draft)
    }

    /// Takes one keyword of a schema. Words that say nothing about structure are passed over.
    fn keyword<'a>(&mut self, draft: &mut Draft<'a>, word: &str, at: NodeRef<'a>, depth: usize) {
        let facts = &mut draft.facts;
        match word {
            "$ref" => draft.node.reference = self.reference(at),
            "type" => draft.node.shape = self.shape(at).unwrap_or(draft.node.shape),
            "format" => facts.format = owned(at),
            "default" => facts.default = owned(at),
            "nullable" => facts.is_nullable = is_true(at),
            "enum" => {
                (facts.enumeration, facts.is_nullable) = self.enumeration(at, facts.is_nullable);
            }
            "properties" => draft.node.fields = self.fields(at, depth),
            "required" => draft.required = self.texts(at, "`required`").into_iter().collect(),
            "items" => draft.items = Some(self.read_below(at, depth)),
            "additionalProperties" if at.as_mapping().is_some() => {
                draft.values = Some(self.read_below(at, depth));
            }
            "additionalProperties" => facts.keeps_unknown |= is_true(at),
            "allOf" => self.all_of(draft, at),
            "oneOf" | "anyOf" => draft.alternatives = self.alternatives(at),
            "x-kubernetes-int-or-string" if is_true(at) => draft.node.shape = Shape::IntOrString,
            "x-kubernetes-preserve-unknown-fields" => facts.keeps_unknown |= is_true(at),
            "x-kubernetes-embedded-resource" => facts.is_resource = is_true(at),
            "x-kubernetes-map-type" => facts.is_atomic_map = self.is_atomic(at),
            "x-kubernetes-list-type" => {
                (facts.list_type, draft.list_at) = (self.list_type(at), Some(at));
            }
            "x-kubernetes-list-map-keys" => {
                let keys = self.texts(at, "`x-kubernetes-list-map-keys`");
                facts.keys = keys.into_iter().map(|key| key.into_owned().into()).collect();
                draft.list_at = draft.list_at.or(Some(at));
            }
            "x-kubernetes-patch-merge-key" => facts.merge_key = owned(at),
            "x-kubernetes-patch-strategy" => facts.strategy = self.strategy(at),
            _ => {}
        }
    }

    fn finish(&mut self, draft: Draft<'_>) -> NodeId {
        let Draft { mut node, mut facts, items, values, required, alternatives, list_at } = draft;
        if facts.format.as_deref() == Some("int-or-string") {
            node.shape = Shape::IntOrString;
        }
        if node.shape == Shape::Any && node.reference.is_none() {
            node.shape = match () {
                () if !node.fields.is_empty() || values.is_some() => Shape::Object,
                () if items.is_some() || is_for_lists(&facts) => Shape::Array,
                () => either(&alternatives),
            };
        }
        node.child = if node.shape == Shape::Array { items } else { values };
        for field in &mut node.fields {
            field.is_required = required.contains(&*field.name);
        }
        if let Some(at) = list_at {
            self.check_list(&node, &mut facts, at);
        }
        node.facts = (facts != Facts::default()).then(|| Box::new(facts));
        self.tables.nodes.add(node)
    }

    /// A list whose items cannot be told apart by what it says is one that says nothing.
    fn check_list(&mut self, node: &Node, facts: &mut Facts, at: NodeRef<'_>) {
        let is_list = matches!(node.shape, Shape::Array | Shape::Any);
        if !is_list && facts.list_type == Some(ListType::Atomic) {
            // Compat: Kubernetes' own API says this of bytes, which are a list only in Go.
            facts.list_type = None;
            return;
        }
        let fault = if !is_list {
            Some(format!("this is for lists, and the type is {}", node.shape.name()))
        } else if facts.list_type == Some(ListType::Map) && facts.keys.is_empty() {
            Some("a list of type map needs `x-kubernetes-list-map-keys`".to_owned())
        } else {
            self.undeclared(node, facts).map(|key| {
                format!("the items of this list have no field `{key}` to be told apart by")
            })
        };
        if let Some(fault) = fault {
            self.tell(at, fault);
            (facts.list_type, facts.keys) = (None, Vec::new());
        }
    }

    /// A key that the items do not declare, where what they declare is known.
    fn undeclared<'f>(&self, node: &Node, facts: &'f Facts) -> Option<&'f str> {
        let item = self.tables.nodes.get(node.child?);
        let is_open = item.facts.as_ref().is_some_and(|facts| facts.keeps_unknown);
        if item.reference.is_some() || item.shape == Shape::Any || is_open {
            return None;
        }
        facts.keys.iter().map(|key| &**key).find(|key| item.field(key).is_none())
    }

    fn fields(&mut self, at: NodeRef<'_>, depth: usize) -> Vec<Field> {
        if at.as_mapping().is_none() {
            self.tell(at, "`properties` must be a mapping of names to schemas");
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

    /// The texts of a list.
    fn texts<'a>(&mut self, at: NodeRef<'a>, what: &str) -> Vec<Cow<'a, str>> {
        let mut texts = Vec::new();
        let Some(list) = at.as_sequence() else {
            // Compat: some old definitions say `required: true` beside the field.
            if !is_true(at) || what != "`required`" {
                self.tell(at, format!("{what} must be a list of names"));
            }
            return texts;
        };
        for item in list.items() {
            if !self.spend(at) {
                break;
            }
            match scalar_text(item) {
                Some(text) => texts.push(text),
                None => self.tell(item, format!("{what} must be a list of names")),
            }
        }
        texts
    }

    /// The values of an enumeration, and whether null is one; one of mappings or lists is taken for none.
    fn enumeration(&mut self, at: NodeRef<'_>, mut nullable: bool) -> (Vec<Text>, bool) {
        let mut values = Vec::new();
        let Some(list) = at.as_sequence() else {
            self.tell(at, "`enum` must be a list of values");
            return (values, nullable);
        };
        for item in list.items().map(NodeRef::resolve) {
            match item.as_scalar() {
                Some(scalar) if scalar.resolve() == Resolved::Null => nullable = true,
                Some(scalar) if self.spend(at) => values.push(scalar.value().into_owned().into()),
                _ => return (Vec::new(), nullable),
            }
        }
        (values, nullable)
    }

    /// Spec: `allOf` around one reference is how OpenAPI writes facts beside it; what else stands there restricts values only.
    fn all_of(&mut self, draft: &mut Draft<'_>, at: NodeRef<'_>) {
        let Some(list) = at.as_sequence() else { return };
        let mut references = Vec::new();
        for item in list.items() {
            for (_, value) in self.entries(item).into_iter().filter(|(word, _)| word == "$ref") {
                references.extend(self.reference(value));
            }
        }
        if references.len() == 1 {
            draft.node.reference = references.pop();
        }
    }

    fn alternatives(&mut self, at: NodeRef<'_>) -> Vec<Shape> {
        let mut shapes = Vec::new();
        for item in at.as_sequence().into_iter().flat_map(|list| list.items()) {
            for (_, value) in self.entries(item).into_iter().filter(|(word, _)| word == "type") {
                shapes.extend(self.shape(value));
            }
        }
        shapes
    }

    /// The definition that a reference names.
    fn reference(&mut self, at: NodeRef<'_>) -> Option<Text> {
        let text = scalar_text(at).unwrap_or_default();
        let homes = ["#/definitions/", "#/components/schemas/"];
        let name = homes.iter().find_map(|home| text.strip_prefix(home));
        let name = name.filter(|name| !name.is_empty()).map(unescape);
        if name.is_none() {
            self.tell(
                at,
                "only references to `#/definitions/…` and `#/components/schemas/…` are understood",
            );
        }
        name
    }

    /// Spec: OpenAPI 3.1 writes a nullable type as a list.
    fn shape(&mut self, at: NodeRef<'_>) -> Option<Shape> {
        let words: Vec<NodeRef<'_>> = match at.as_sequence() {
            Some(list) => list.items().take(8).map(NodeRef::resolve).collect(),
            None => vec![at],
        };
        let mut shapes = Vec::new();
        for word in words {
            let text = scalar_text(word).unwrap_or_default();
            match Shape::of_type(&text) {
                Some(shape) => shapes.push(shape),
                None if text == "null" => {}
                None => {
                    let known = "array, boolean, integer, number, object or string";
                    self.tell(word, format!("a type is one of {known}"));
                }
            }
        }
        match shapes[..] {
            [shape] => Some(shape),
            _ => Some(either(&shapes)),
        }
    }

    fn list_type(&mut self, at: NodeRef<'_>) -> Option<ListType> {
        match scalar_text(at).as_deref() {
            Some("atomic") => Some(ListType::Atomic),
            Some("set") => Some(ListType::Set),
            Some("map") => Some(ListType::Map),
            _ => {
                self.tell(at, "a list type is one of atomic, map or set");
                None
            }
        }
    }

    fn is_atomic(&mut self, at: NodeRef<'_>) -> bool {
        match scalar_text(at).as_deref() {
            Some("atomic") => true,
            Some("granular") => false,
            _ => {
                self.tell(at, "a map type is atomic or granular");
                false
            }
        }
    }

    fn strategy(&mut self, at: NodeRef<'_>) -> Strategy {
        let strategy = scalar_text(at).and_then(|words| Strategy::parse(&words));
        if strategy.is_none() {
            self.tell(at, "a patch strategy is made of merge, replace and retainKeys");
        }
        strategy.unwrap_or_default()
    }
}

/// Whether the facts are those of a list.
fn is_for_lists(facts: &Facts) -> bool {
    facts.list_type.is_some() || facts.merge_key.is_some()
}

/// What a value is that may be one of several.
fn either(shapes: &[Shape]) -> Shape {
    let only = |other: Shape| shapes.iter().all(|it| *it == other || *it == Shape::String);
    match shapes.contains(&Shape::String) {
        true if shapes.contains(&Shape::Integer) && only(Shape::Integer) => Shape::IntOrString,
        true if shapes.contains(&Shape::Number) && only(Shape::Number) => Shape::NumberOrString,
        _ => Shape::Any,
    }
}

/// The mappings that a `<<` key names.
fn merge_sources(value: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    match value.as_sequence() {
        // Of several the first counts, so it comes last.
        Some(list) => list.items().collect::<Vec<_>>().into_iter().rev().collect(),
        None => vec![value],
    }
}

fn is_true(node: NodeRef<'_>) -> bool {
    node.as_scalar().is_some_and(|scalar| scalar.resolve() == Resolved::Bool(true))
}

fn owned(node: NodeRef<'_>) -> Option<Text> {
    scalar_text(node).map(|text| text.into_owned().into())
}

/// Spec: in a JSON pointer `~1` is a slash and `~0` a tilde.
fn unescape(name: &str) -> Text {
    name.replace("~1", "/").replace("~0", "~").into()
}
