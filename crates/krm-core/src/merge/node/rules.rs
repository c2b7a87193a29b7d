//! What a merge is told: how lists pair, where new items go, and who wins.

use crate::schema::Schema;

/// Where the keys of lists come from when neither a comment nor a schema knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ListKeys {
    /// From what the elements have in common.
    #[default]
    Infer,
    /// From nowhere: such a list is taken whole.
    Schema,
}

/// Where new items of the source go in a list that pairs its elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewItems {
    /// Behind all others.
    #[default]
    Last,
    /// Before all others.
    First,
    /// Behind the one that the source has before them.
    SourceOrder,
}

/// What becomes of a place where both sides changed the same thing differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnConflict {
    /// Upstream's is taken, and told.
    #[default]
    Upstream,
    /// Local's stays, and is told.
    Local,
    /// The merge fails.
    Fail,
    /// Upstream's is taken, with local's in a comment.
    Mark,
}

/// A side of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// What is merged into.
    Local,
    /// What the changes come from.
    Upstream,
}

/// How much comes back of what was deleted locally and changed upstream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restore {
    /// The keys, and what changed.
    #[default]
    Delta,
    /// All of it.
    Whole,
}

/// The rules of a merge.
#[derive(Clone, Debug, Default)]
pub struct Rules<'r> {
    /// Where keys of lists come from when nothing else knows.
    pub list_keys: ListKeys,
    /// Keys of lists by the path of the list: the names of its fields with dots between, items left out.
    pub keys_at: Vec<(String, Vec<String>)>,
    /// Where new items go.
    pub new_items: NewItems,
    /// Who wins.
    pub on_conflict: OnConflict,
    /// How much comes back.
    pub restore: Restore,
    /// What is known of the types of resources.
    pub schema: Option<&'r Schema>,
}
