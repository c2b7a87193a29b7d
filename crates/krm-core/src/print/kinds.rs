//! Kinds of diagnostics about printed resources.

use krm_yaml::diagnostic_kinds;

diagnostic_kinds! {
    /// What cannot be printed as requested.
    pub enum PrintKind {
        /// Resources that would mean something else inside a list.
        NotWrappable = "list-not-wrappable": "cannot wrap the resources in one list without changing their meaning";
        /// An owner that is not one of the resources.
        OwnerNotFound { owner: String } = "owner-not-found": "owner {owner} not found";
    }
}
