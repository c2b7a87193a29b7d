//! How the elements of lists are paired: what the user says, what a schema says, and what is inferred.

use crate::schema::Schema;

/// How lists are compared whose merge keys neither the user, nor a comment, nor a schema defines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListKeys {
    /// By a key that all elements have, where it is unique.
    #[default]
    Infer,
    /// As atomic: such a list is replaced as a whole.
    Schema,
}

/// How lists are compared that a schema declares atomic (`x-kubernetes-list-type: atomic`), as many lists of Kubernetes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtomicLists {
    /// As if the schema did not say so. Spec: "Any lists where all of the elements contain associative keys will be merged as
    /// associative lists."
    #[default]
    Infer,
    /// As the server does: such a list has one owner and is replaced as a whole.
    Schema,
}

/// How the elements of lists are paired, for merges and for diffs.
#[derive(Clone, Debug, Default)]
pub struct ListOptions<'r> {
    /// What to do where nothing defines the merge keys of a list.
    pub list_keys: ListKeys,
    /// What to do where a schema declares a list atomic.
    pub atomic: AtomicLists,
    /// Merge keys by the path of the list: its field names joined by dots, without elements. They take precedence over all else.
    pub merge_keys: Vec<(String, Vec<String>)>,
    /// The types of resources.
    pub schema: Option<&'r Schema>,
}
