//! Cases of the tables that krm decides otherwise, each with a reason that `docs/errata.md` explains.

/// Known differences: the group, the table and name of the case, and the reason.
const KNOWN: &[(&str, &str, &str)] = &[];

/// Why krm differs in a case, if it does on purpose.
pub(super) fn reason(group: &str, case: &str) -> Option<&'static str> {
    let known = KNOWN.iter().find(|(in_group, name, _)| *in_group == group && *name == case);
    known.map(|(.., reason)| *reason)
}
