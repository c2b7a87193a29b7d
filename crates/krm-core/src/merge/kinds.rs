//! Kinds of merge diagnostics.

use std::fmt;

use krm_yaml::{Excerpt, ExpansionError, KindParameter, diagnostic_kinds};

use super::ConflictKind;

diagnostic_kinds! {
    /// What a merge reports.
    pub enum MergeKind {
        /// Both sides changed the same thing.
        Conflict { subject: String, change: ConflictKind, resolution: Resolution } = "merge-conflict": "{subject} {change}; {resolution}";
        /// A conflict marker that no longer fits the list below it.
        StaleMarker = "merge-stale-marker": "the elements of this list have changed since its order was marked", hint "order the list by hand and remove the marker above it";
        /// Several elements of a list have the same merge key.
        DuplicateElement = "merge-duplicate-element": "another element has the same merge key; they are paired by content, then in order";
        /// An element of an associative list has no merge key.
        MissingKey = "merge-missing-key": "the element has no merge key; it is paired with an element that it equals or resembles";
        /// A conflict that was marked and not resolved.
        UnresolvedConflict { subject: String } = "merge-unresolved": "unresolved merge conflict: {subject}", hint "resolve it with `krm yaml merge3 --resolve local|upstream FILE`, or by hand";
        /// A recorded conflict that no longer fits the file.
        StaleRecord { subject: String } = "merge-stale-record": "cannot resolve the conflict of {subject}", hint "resolve it by hand and remove it from .krm-conflicts.yaml";
        /// The type of a value changes.
        TypeChanged { old: &'static str, new: &'static str } = "merge-type-changed": "{old} is replaced by {new}";
        /// A field is removed, because the schema allows only one of several fields.
        RetainKeys { field: String } = "merge-retain-keys": "`{field}` is removed: the schema retains only the fields that the source sets";
        /// A comment that cannot be written.
        CommentOmitted { owner: &'static str } = "merge-comment-omitted": "{owner} is left out: there is no place for a comment here";
        /// A comment that is removed with its value.
        CommentRemoved { comment: Excerpt } = "merge-comment-removed": "the comment `{comment}` is removed together with its value";
        /// A comment of upstream that belongs to no entry.
        CommentLeftOut { comment: Excerpt } = "merge-comment-left-out": "upstream's comment `{comment}` is left out: it belongs to no entry", hint "add it by hand where it applies";
        /// A comment that both sides changed.
        CommentKept { local: Excerpt, upstream: Excerpt } = "merge-comment-kept": "the comment was changed on both sides: kept `{local}`, not `{upstream}`";
        /// A comment that cannot be written on the line of `---`.
        CommentAfterMarker = "merge-comment-after-marker": "cannot add the head comment of upstream on the line of `---`", hint "add a line break after `---`";
        /// An anchor that aliases of the destination share.
        SharedAnchor { anchor: String } = "merge-shared-anchor": "cannot change the value of `&{anchor}`: aliases share it, and the source has no such anchor", hint "replace the alias by its value, or give the source the same anchor";
        /// A field that `<<` merges in.
        InheritedField = "merge-inherited-field": "cannot remove a field that `<<` merges in", hint "replace `<<` by the fields that it merges in";
        /// An alias whose value has a custom tag.
        TaggedAlias { tag: String } = "merge-tagged-alias": "cannot replace an alias by its value, which has the tag `{tag}`", hint "rename the anchor, or replace the aliases of the source by their values";
        /// Aliases that stand for too much.
        AliasExpansion { error: ExpansionError } = "merge-alias-expansion": "{error}", hint "use fewer nested aliases in the source";
        /// A key that begins with `$` and is not a directive.
        UnknownDirective { directive: String } = "merge-unknown-directive": "unknown merge directive `{directive}`", hint "use $patch, $retainKeys, $deleteFromPrimitiveList/FIELD or $setElementOrder/FIELD";
        /// `$patch: delete` in an element of a list without identity.
        DeleteFromAtomicList = "merge-delete-from-atomic-list": "cannot delete an element of this list, which is replaced as a whole", hint "set its merge key with --list-key, or write the whole list";
        /// `$patch: delete` of a document without identity.
        DeleteUnnamed = "merge-delete-unnamed": "cannot delete a document that has no name", hint "set `apiVersion`, `kind` and `metadata.name`, or remove the document by hand";
        /// Versions with different identities are merged.
        PairedResources { local: String, other: String, reason: String } = "merge-paired": "{local} is merged with {other}: {reason}";
        /// A patch that does not say what it patches.
        PartialPatch { missing: String } = "merge-partial-patch": "cannot find the resource to patch: {missing}", hint "set `apiVersion`, `kind` and `metadata.name`";
        /// A document that a merge of packages skips.
        SkippedDocument = "merge-skipped-document": "skipped a document that is not a resource, because the destination has no such file";
        /// Documents that cannot be added or removed.
        InseparableDocuments = "merge-inseparable-documents": "cannot add or remove documents without changing the others";
    }
}

/// What was done about a conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Upstream's version was taken.
    TookUpstream,
    /// Local's version was kept.
    KeptLocal,
    /// One version was taken, and the other is in a conflict marker.
    Marked,
    /// One version was taken, and the conflict is recorded beside the file.
    Recorded,
    /// Nothing was written.
    NothingWritten,
    /// Nothing was written, because local's version cannot be put into a conflict marker.
    NoMarkerPossible,
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TookUpstream => "took upstream's version",
            Self::KeptLocal => "kept local's version",
            Self::Marked => "the other version is in a comment",
            Self::Recorded => "it is recorded in .krm-conflicts.yaml",
            Self::NothingWritten => "nothing was written",
            Self::NoMarkerPossible => {
                "nothing was written, because local's version cannot be kept in a comment here"
            }
        })
    }
}

impl KindParameter for Resolution {}
impl KindParameter for ConflictKind {}
