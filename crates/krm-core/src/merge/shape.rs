//! What is known of a field before it is looked at: how its list pairs, and whether it is taken whole.

/// How the elements of a list are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListKind {
    /// Not at all: the list is taken whole.
    Whole,
    /// By fields.
    Keyed(Vec<KeyField>),
    /// By their value.
    Set,
    /// By their identity: they are resources.
    Resources,
}

/// One of the fields that tell elements apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyField {
    pub(super) name: String,
    /// What an element without the field has.
    pub(super) default: Option<String>,
}

impl KeyField {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), default: None }
    }
}

/// How a mapping merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MapKind {
    /// Field by field.
    Fields,
    /// It is taken whole.
    Whole,
    /// Field by field, and fields that the source does not have make room for new ones.
    RetainKeys,
}

/// The type of a node, as far as a schema knows it.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape;

impl Shape {
    pub(super) fn field(&self, _name: &str) -> Self {
        Self
    }

    pub(super) fn item(&self) -> Self {
        Self
    }

    /// The same with what a comment on one of the entries says.
    pub(super) fn in_comments<'a>(
        &self,
        _work: &super::work::Work<'a, '_>,
        _entries: &[(krm_yaml::NodeRef<'a>, krm_yaml::NodeRef<'a>)],
    ) -> Self {
        self.clone()
    }

    pub(super) fn list(&self) -> Option<ListKind> {
        None
    }

    pub(super) fn mapping(&self) -> MapKind {
        MapKind::Fields
    }
}
