//! Types as they are asked: what stands below, how it is merged, what it may hold.

use super::Schema;
use super::merge_strategy::{ListStrategy, MappingStrategy, list_strategy, mapping_strategy};
use super::node::{Attributes, Field, Node, NodeId, Nodes, ValueKind};

/// The definition of every resource's `metadata`.
pub(super) const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// How many references are followed from one type to the next; definitions can name each other in a circle.
const MOST_REFERENCES: usize = 32;

/// A node with its neighbours.
#[derive(Clone, Copy)]
pub(super) struct NodeHandle<'a> {
    pub(super) nodes: &'a Nodes,
    pub(super) id: NodeId,
    /// Whether it is of the embedded table, whose types name only each other.
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
/// A type knows where it is used as well as how it is defined: the list `volumes` is merged by name because the field says so, and
/// its items have fields because the definition of a volume says so.
///
/// ```
/// use krm_core::schema::{ListStrategy, Schema};
///
/// let schema = Schema::kubernetes();
/// let service = schema.resource_type("v1", "Service").expect("it is Kubernetes' own");
/// let ports = service.field("spec").and_then(|spec| spec.field("ports")).expect("a service has ports");
/// let Some(ListStrategy::Associative(keys)) = ports.list_strategy() else { panic!("ports are merged by key") };
/// assert_eq!(keys.iter().collect::<Vec<_>>(), ["port", "protocol"]);
/// assert_eq!(ports.key_default("protocol"), Some("TCP"));
/// ```
#[derive(Clone, Copy)]
pub struct Type<'a> {
    schema: &'a Schema,
    /// Where the type is used.
    used: NodeHandle<'a>,
    /// Where it is defined: the same, or where the references lead.
    defined: NodeHandle<'a>,
    /// Whether this is an item of a list whose strategy says `retainKeys`.
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

    /// A fact of the use, or else of the definition.
    fn fact<T>(self, find: impl Fn(&'a Attributes) -> Option<T>) -> Option<T> {
        self.handles().into_iter().find_map(|handle| find(handle.attributes()?))
    }

    /// What kind of value this is.
    pub fn value_kind(self) -> ValueKind {
        let value_kinds = self.handles().map(|handle| handle.node().value_kind);
        value_kinds.into_iter().find(|value_kind| *value_kind != ValueKind::Any).unwrap_or_default()
    }

    /// The type under this name: of the field, or of a map's values. None where the schema knows of nothing there.
    pub fn field(self, name: &str) -> Option<Type<'a>> {
        if self.is_resource() && name == "metadata" {
            // Spec: a custom resource's schema may restrict its metadata, but never say what it is.
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

    /// Fields that every resource has, declared or not.
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

    /// The names of the fields that must be there, sorted.
    pub fn required(self) -> impl Iterator<Item = &'a str> {
        let required = self.declared().1.iter().filter(|field| field.is_required);
        required.map(|field| &*field.name)
    }

    fn declared(self) -> (NodeHandle<'a>, &'a [Field]) {
        let [used, defined] = self.handles();
        let handle = if used.node().fields.is_empty() { defined } else { used };
        (handle, &handle.node().fields)
    }

    /// The type of a list's items.
    pub fn item(self) -> Option<Type<'a>> {
        let item = self.child(ValueKind::Array)?;
        let retains_keys =
            self.used.attributes().is_some_and(|attributes| attributes.strategy.retain_keys);
        Some(Type { retains_keys, ..item })
    }

    /// The type of the values of a mapping whose keys are free, such as labels.
    pub fn values(self) -> Option<Type<'a>> {
        self.child(ValueKind::Object)
    }

    fn child(self, value_kind: ValueKind) -> Option<Type<'a>> {
        let handle = self.handles().into_iter().find(|handle| handle.node().child.is_some())?;
        let id = handle.node().child.filter(|_| self.value_kind() == value_kind)?;
        Some(Type::new(self.schema, handle.to(id)))
    }

    /// How it is merged, if it is a list.
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

    /// How it is merged, if it is a mapping.
    pub fn mapping_strategy(self) -> MappingStrategy {
        if self.retains_keys {
            return MappingStrategy::RetainKeys;
        }
        self.fact(mapping_strategy).unwrap_or(MappingStrategy::Merge)
    }

    /// For a list: what counts where an item does not have this key.
    pub fn key_default(self, key: &str) -> Option<&'a str> {
        self.item()?.field(key)?.default()
    }

    /// The default, where it is a scalar; [`Type::value_kind`] says of which kind.
    pub fn default(self) -> Option<&'a str> {
        self.fact(|attributes| attributes.default.as_deref())
    }

    /// The only values allowed; none where all are.
    pub fn enum_values(self) -> Option<impl ExactSizeIterator<Item = &'a str>> {
        let values =
            self.fact(|attributes| Some(&attributes.enum_values).filter(|all| !all.is_empty()))?;
        Some(values.iter().map(|value| &**value))
    }

    /// The format: `int32`, `int64`, `double`, `byte`, `date-time`, and whatever else a schema names.
    pub fn format(self) -> Option<&'a str> {
        self.fact(|attributes| attributes.format.as_deref())
    }

    /// Whether `null` is a value of it.
    pub fn is_nullable(self) -> bool {
        self.fact(|attributes| attributes.is_nullable.then_some(())).is_some()
    }

    /// Whether fields that the schema does not name are kept by the server.
    pub fn preserves_unknown_fields(self) -> bool {
        self.fact(|attributes| attributes.preserves_unknown_fields.then_some(())).is_some()
    }

    /// Whether a whole resource stands here: a custom resource, or one embedded in another.
    pub fn is_resource(self) -> bool {
        self.fact(|attributes| attributes.is_resource.then_some(())).is_some()
    }
}

/// Where the references of a node lead; the node itself where they lead nowhere or in a circle.
fn follow<'a>(schema: &'a Schema, start: NodeHandle<'a>) -> NodeHandle<'a> {
    let mut at = start;
    for _ in 0..MOST_REFERENCES {
        let Some(name) = at.node().reference.as_deref() else { return at };
        match schema.lookup(at.is_embedded, name) {
            Some(next) => at = next,
            None => return start,
        }
    }
    start
}
