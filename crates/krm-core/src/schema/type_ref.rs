//! `Type`: a view of the type of a value.

use super::Schema;
use super::merge_strategy::{ListStrategy, MappingStrategy, list_strategy, mapping_strategy};
use super::node::{Attributes, Field, Node, NodeId, Nodes, ValueKind};

/// The definition of the `metadata` of resources.
pub(super) const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The maximum number of references that are followed, because definitions can refer to each other in a cycle.
const MAX_REFERENCES: usize = 32;

/// A node and the table that it belongs to.
#[derive(Clone, Copy)]
pub(super) struct NodeHandle<'a> {
    pub(super) nodes: &'a Nodes,
    pub(super) id: NodeId,
    /// Whether it belongs to the embedded table, whose types refer only to each other.
    pub(super) is_embedded: bool,
}

impl<'a> NodeHandle<'a> {
    pub(super) fn node(self) -> &'a Node {
        self.nodes.get(self.id)
    }

    fn attributes(self) -> Option<&'a Attributes> {
        self.node().attributes.as_deref()
    }

    fn to(self, id: NodeId) -> Self {
        Self { id, ..self }
    }
}

/// The type of a value: a view that is cheap to copy.
///
/// It combines the keywords next to a reference with those of the definition: `volumes` is merged by name because of the keywords
/// of the field, and its elements have fields because of the definition of a volume.
///
/// ```
/// use krm_core::schema::{ListStrategy, Schema};
///
/// let schema = Schema::kubernetes();
/// let service = schema.resource_type("v1", "Service").expect("a built-in kind");
/// let ports = service.field("spec").and_then(|spec| spec.field("ports")).expect("a service has ports");
/// let Some(ListStrategy::Associative(keys)) = ports.list_strategy() else { panic!("an associative list") };
/// assert_eq!(keys.iter().collect::<Vec<_>>(), ["port", "protocol"]);
/// assert_eq!(ports.key_default("protocol"), Some("TCP"));
/// ```
#[derive(Clone, Copy)]
pub struct Type<'a> {
    schema: &'a Schema,
    /// The node that refers to the type.
    used: NodeHandle<'a>,
    /// The definition: the same node, or the target of its references.
    defined: NodeHandle<'a>,
    /// Whether this is the element of a list with the strategy `retainKeys`.
    retains_keys: bool,
}

impl std::fmt::Debug for Type<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Type({}", self.value_kind().name())?;
        if let Some(name) = &self.used.node().reference {
            write!(f, " {name}")?;
        }
        f.write_str(")")
    }
}

impl<'a> Type<'a> {
    pub(super) fn new(schema: &'a Schema, used: NodeHandle<'a>) -> Self {
        Self { schema, used, defined: follow(schema, used), retains_keys: false }
    }

    fn handles(self) -> [NodeHandle<'a>; 2] {
        [self.used, self.defined]
    }

    /// An attribute of the reference, or else of the definition.
    fn attribute<T>(self, find: impl Fn(&'a Attributes) -> Option<T>) -> Option<T> {
        self.handles().into_iter().find_map(|handle| find(handle.attributes()?))
    }

    /// The full name of the definition that it refers to, as it is written.
    pub(super) fn reference(self) -> Option<&'a str> {
        self.used.node().reference.as_deref()
    }

    /// The type of the value.
    pub fn value_kind(self) -> ValueKind {
        let value_kinds = self.handles().map(|handle| handle.node().value_kind);
        value_kinds.into_iter().find(|value_kind| *value_kind != ValueKind::Any).unwrap_or_default()
    }

    /// The type of a field, or of the values of a map. None if the schema has no such field.
    pub fn field(self, name: &str) -> Option<Type<'a>> {
        if self.is_resource() && name == "metadata" {
            // Spec: the schema of a custom resource may restrict `metadata`, but not define its fields.
            let metadata = self.schema.definition(OBJECT_META);
            if metadata.is_some() {
                return metadata;
            }
        }
        let declared = self.handles().into_iter().find_map(|handle| {
            let field = handle.node().field(name)?;
            Some(Type::new(self.schema, handle.to(field.node)))
        });
        declared.or_else(|| self.implied(name)).or_else(|| self.values())
    }

    /// The fields that every resource has, even if they are not declared.
    fn implied(self, name: &str) -> Option<Type<'a>> {
        let is_implied = self.is_resource() && matches!(name, "apiVersion" | "kind");
        is_implied.then(|| Type::new(self.schema, self.used.to(ValueKind::String as NodeId)))
    }

    /// The names of the declared fields with their types, sorted.
    pub fn fields(self) -> impl Iterator<Item = (&'a str, Type<'a>)> {
        let (handle, fields) = self.declared();
        fields
            .iter()
            .map(move |field| (&*field.name, Type::new(self.schema, handle.to(field.node))))
    }

    /// The names of the required fields, sorted.
    pub fn required(self) -> impl Iterator<Item = &'a str> {
        let required = self.declared().1.iter().filter(|field| field.is_required);
        required.map(|field| &*field.name)
    }

    fn declared(self) -> (NodeHandle<'a>, &'a [Field]) {
        let [used, defined] = self.handles();
        let handle = if used.node().fields.is_empty() { defined } else { used };
        (handle, &handle.node().fields)
    }

    /// The type of the elements of a list.
    pub fn item(self) -> Option<Type<'a>> {
        let item = self.child(ValueKind::Array)?;
        let retains_keys =
            self.used.attributes().is_some_and(|attributes| attributes.strategy.retain_keys);
        Some(Type { retains_keys, ..item })
    }

    /// The type of the values of a map with arbitrary keys, such as labels.
    pub fn values(self) -> Option<Type<'a>> {
        self.child(ValueKind::Object)
    }

    fn child(self, value_kind: ValueKind) -> Option<Type<'a>> {
        let handle = self.handles().into_iter().find(|handle| handle.node().child.is_some())?;
        let id = handle.node().child.filter(|_| self.value_kind() == value_kind)?;
        Some(Type::new(self.schema, handle.to(id)))
    }

    /// The merge strategy, if this is a list.
    pub fn list_strategy(self) -> Option<ListStrategy<'a>> {
        if self.value_kind() != ValueKind::Array {
            return None;
        }
        let items = self.item().map_or(ValueKind::Any, Type::value_kind);
        let rules = self.handles().map(|handle| {
            handle
                .attributes()
                .map_or(ListStrategy::Unknown, |attributes| list_strategy(attributes, items))
        });
        Some(rules.into_iter().find(|rule| *rule != ListStrategy::Unknown).unwrap_or(rules[0]))
    }

    /// The merge strategy, if this is a mapping.
    pub fn mapping_strategy(self) -> MappingStrategy {
        if self.retains_keys {
            return MappingStrategy::RetainKeys;
        }
        self.attribute(mapping_strategy).unwrap_or(MappingStrategy::Merge)
    }

    /// For a list: the default of a merge key that an element does not have.
    pub fn key_default(self, key: &str) -> Option<&'a str> {
        self.item()?.field(key)?.default()
    }

    /// The default, if it is a scalar; [`Type::value_kind`] is its type.
    pub fn default(self) -> Option<&'a str> {
        self.attribute(|attributes| attributes.default.as_deref())
    }

    /// The values of `enum`.
    pub fn enum_values(self) -> Option<impl ExactSizeIterator<Item = &'a str>> {
        let values = self
            .attribute(|attributes| Some(&attributes.enum_values).filter(|all| !all.is_empty()))?;
        Some(values.iter().map(|value| &**value))
    }

    /// The `format`, such as `int32`, `byte` or `date-time`.
    pub fn format(self) -> Option<&'a str> {
        self.attribute(|attributes| attributes.format.as_deref())
    }

    /// Whether `null` is allowed.
    pub fn is_nullable(self) -> bool {
        self.attribute(|attributes| attributes.is_nullable.then_some(())).is_some()
    }

    /// Whether the server keeps fields that are not declared.
    pub fn preserves_unknown_fields(self) -> bool {
        self.attribute(|attributes| attributes.preserves_unknown_fields.then_some(())).is_some()
    }

    /// Whether the value is a resource: a custom resource, or one that is embedded in another.
    pub fn is_resource(self) -> bool {
        self.attribute(|attributes| attributes.is_resource.then_some(())).is_some()
    }
}

/// The target of the references of a node; the node itself if they are undefined or form a cycle.
fn follow<'a>(schema: &'a Schema, start: NodeHandle<'a>) -> NodeHandle<'a> {
    let mut at = start;
    for _ in 0..MAX_REFERENCES {
        let Some(name) = at.node().reference.as_deref() else { return at };
        match schema.lookup(at.is_embedded, name) {
            Some(next) => at = next,
            None => return start,
        }
    }
    start
}
