//! Options of a merge.

use crate::compare::ListOptions;

/// Where new elements of the source are inserted into an associative list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewItems {
    /// At the end.
    #[default]
    Last,
    /// At the beginning.
    First,
    /// After the element that they follow in the source.
    SourceOrder,
}

/// What to do about a conflict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnConflict {
    /// Take upstream's version and warn.
    #[default]
    Upstream,
    /// Keep local's version and warn.
    Local,
    /// Fail the merge.
    Fail,
    /// Take upstream's version and keep local's in a conflict marker, which is a comment.
    Mark,
}

impl OnConflict {
    /// Whose version is taken.
    pub(crate) fn taken(self) -> Side {
        match self {
            Self::Local => Side::Local,
            Self::Upstream | Self::Fail | Self::Mark => Side::Upstream,
        }
    }
}

/// A side of a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The version that is merged into.
    Local,
    /// The version whose changes are merged.
    Upstream,
}

/// How to restore what was deleted locally but changed upstream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restore {
    /// Of a field, only merge keys and what upstream changed; documents and resources stay deleted.
    #[default]
    Delta,
    /// The whole field, document or resource.
    Whole,
}

/// What `null` means in a three-way merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nulls {
    /// It clears the field, whichever of local and upstream has it. Spec: "if present in either dest or updated and `null`, clear the
    /// value".
    #[default]
    Clear,
    /// It is a value like any other.
    Value,
}

/// How a three-way merge treats a sequence whose elements have no merge key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sequences {
    /// As one value. Spec: "if changed between original and updated, take the updated value".
    #[default]
    Replace,
    /// Elements are aligned by their content, and the changes of both sides are kept where they do not touch.
    Diff3,
}

/// Options of a merge.
#[derive(Clone, Debug, Default)]
pub struct MergeOptions<'r> {
    /// How the elements of lists are paired.
    pub lists: ListOptions<'r>,
    /// Where new elements are inserted by a two-way merge.
    pub new_items: NewItems,
    /// What to do about conflicts.
    pub on_conflict: OnConflict,
    /// How to restore fields that were deleted locally but changed upstream.
    pub restore: Restore,
    /// What `null` means in a three-way merge.
    pub nulls: Nulls,
    /// How a three-way merge treats sequences without merge keys.
    pub sequences: Sequences,
}
