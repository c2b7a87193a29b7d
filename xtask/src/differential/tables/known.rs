//! Cases of the tables that krm decides otherwise, each with a reason that `docs/errata.md` explains.

/// Known differences: the group, the table and name of the case, and the reason.
const KNOWN: &[(&str, &str, &str)] = &[
    ("merge3", "elementTestCases/Remove an element -- field missing from update", LOCAL_FIELDS),
    ("merge3", "elementTestCases/Remove an element -- missing list field", LOCAL_FIELDS),
    ("cmd/config", "TestCreateSetterCommand/list values with schema", EMPTY_VALUE),
    ("cmd/config", "TestCreateSetterCommand/unknown fields in schema are dropped", UNKNOWN_KEYWORD),
    (
        "cmd/config",
        "TestCreateSetterCommand/unknown properties in schema are dropped",
        UNKNOWN_KEYWORD,
    ),
    ("cmd/config", "TestSetCommand/openAPI list values set by flag success", ELEMENT_TYPE),
    ("setters2", "TestSet_Filter/set-replicas", NAME_MISMATCH),
    ("setters2", "TestSet_Filter/set-replicas-enum", NAME_MISMATCH),
    ("setters2", "TestSet_Filter/set-replicas-enum-large", NAME_MISMATCH),
    ("setters2", "TestSet_Filter/substitute-not-match-setter", NOT_DEFINED),
    ("setters2", "TestSet_Filter/set-args-list", ELEMENT_TYPE),
];

const EMPTY_VALUE: &str = "an array has `listValues` and no empty `value` beside it";
const UNKNOWN_KEYWORD: &str =
    "an unknown keyword in a schema is an error; kustomize drops it silently";
const ELEMENT_TYPE: &str = "the elements of a list keep the type of the field";
const NAME_MISMATCH: &str =
    "a setter whose name does not match its key is an error, as the specification demands";
const NOT_DEFINED: &str = "a setter that is not defined is an error; setters2 changes nothing";
const LOCAL_FIELDS: &str = "fields that local added to a removed element are kept: \"if present only in the dest, it keeps its value\"";

/// Why krm differs in a case, if it does on purpose.
pub(super) fn reason(group: &str, case: &str) -> Option<&'static str> {
    let known = KNOWN.iter().find(|(in_group, name, _)| *in_group == group && *name == case);
    known.map(|(.., reason)| *reason)
}
