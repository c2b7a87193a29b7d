//! The schema of a Kptfile: its fields and their types. An unknown field that is similar to a known one is an error, so that a typo is
//! not ignored; any other may be a field of a newer version, and is a warning.

use krm_yaml::NodeRef;

use super::Parser;
use crate::Severity;
use crate::diagnostics::{CommonKind, closest_name};
use crate::model::resource::{is_null, scalar_text};

/// The type of a field. Null is valid for all of them.
#[derive(Clone, Copy)]
pub(super) enum FieldType {
    /// Any value; the field belongs to another tool.
    Any,
    /// A scalar of any type.
    Scalar,
    /// A mapping of scalars.
    ScalarMap,
    /// A sequence of these.
    Sequence(&'static FieldType),
    /// A mapping with these fields and no others. The string names it in messages.
    Fields(&'static str, &'static [(&'static str, FieldType)]),
}

use FieldType::{Any, Fields, Scalar, ScalarMap, Sequence};

const SELECTOR: FieldType = Fields(
    "a selector",
    &[
        ("apiVersion", Scalar),
        ("kind", Scalar),
        ("name", Scalar),
        ("namespace", Scalar),
        ("labels", ScalarMap),
        ("annotations", ScalarMap),
    ],
);

const CONFIG_REF: FieldType = Fields(
    "`configRef`",
    &[("apiVersion", Scalar), ("kind", Scalar), ("name", Scalar), ("namespace", Scalar)],
);

const FUNCTION: FieldType = Fields(
    "a function",
    &[
        ("image", Scalar),
        ("exec", Scalar),
        ("wasm", Scalar),
        ("tag", Scalar),
        ("name", Scalar),
        ("configPath", Scalar),
        ("configMap", ScalarMap),
        ("configRef", CONFIG_REF),
        ("condition", Scalar),
        ("celCondition", Scalar),
        ("selectors", Sequence(&SELECTOR)),
        ("exclude", Sequence(&SELECTOR)),
    ],
);

/// The `pipeline` of a Kptfile or Krmfile.
pub(super) const PIPELINE: FieldType =
    Fields("a pipeline", &[("mutators", Sequence(&FUNCTION)), ("validators", Sequence(&FUNCTION))]);

const INFO: FieldType = Fields(
    "`info`",
    &[
        ("site", Scalar),
        ("email", Scalar),
        ("emails", Sequence(&Scalar)),
        ("license", Scalar),
        ("licenseFile", Scalar),
        ("description", Scalar),
        ("keywords", Sequence(&Scalar)),
        ("man", Scalar),
        ("readinessGates", Sequence(&Fields("a readiness gate", &[("conditionType", Scalar)]))),
    ],
);

const GIT: FieldType = Fields("`git`", &[("repo", Scalar), ("directory", Scalar), ("ref", Scalar)]);

const OCI: FieldType =
    Fields("`oci`", &[("image", Scalar), ("directory", Scalar), ("tag", Scalar)]);

const UPSTREAM: FieldType = Fields(
    "`upstream`",
    &[("type", Scalar), ("git", GIT), ("oci", OCI), ("updateStrategy", Scalar)],
);

const GIT_LOCK: FieldType = Fields(
    "`git`",
    &[("repo", Scalar), ("directory", Scalar), ("ref", Scalar), ("commit", Scalar)],
);

const OCI_LOCK: FieldType = Fields(
    "`oci`",
    &[("image", Scalar), ("directory", Scalar), ("tag", Scalar), ("digest", Scalar)],
);

const GENERIC_LOCK: FieldType = Fields(
    "`generic`",
    &[("storeID", Scalar), ("resourceID", Scalar), ("resourceVersion", Scalar)],
);

const UPSTREAM_LOCK: FieldType = Fields(
    "`upstreamLock`",
    &[("type", Scalar), ("git", GIT_LOCK), ("oci", OCI_LOCK), ("generic", GENERIC_LOCK)],
);

const INVENTORY: FieldType = Fields(
    "`inventory`",
    &[
        ("namespace", Scalar),
        ("name", Scalar),
        ("inventoryID", Scalar),
        ("labels", ScalarMap),
        ("annotations", ScalarMap),
    ],
);

const CONDITION: FieldType = Fields(
    "a condition",
    &[("type", Scalar), ("status", Scalar), ("reason", Scalar), ("message", Scalar)],
);

const STATUS: FieldType =
    Fields("`status`", &[("conditions", Sequence(&CONDITION)), ("renderStatus", Any)]);

/// A whole Kptfile.
pub(super) const KPTFILE: FieldType = Fields(
    "a Kptfile",
    &[
        ("apiVersion", Scalar),
        ("kind", Scalar),
        ("metadata", Any),
        ("upstream", UPSTREAM),
        ("upstreamLock", UPSTREAM_LOCK),
        ("info", INFO),
        ("pipeline", PIPELINE),
        ("inventory", INVENTORY),
        ("status", STATUS),
        ("openAPI", Any),
    ],
);

impl<'a> Parser<'a> {
    /// Checks a value against its type and collects all errors. The recursion is bounded by the depth of the schema.
    pub(super) fn check(&mut self, node: NodeRef<'a>, field_type: FieldType, path: &str) {
        let node = node.resolve();
        if is_null(node) {
            return;
        }
        match field_type {
            Any => {}
            Scalar if node.as_scalar().is_some() => {}
            Scalar => self.wrong_type(node, path, "a string"),
            ScalarMap => match node.as_mapping() {
                Some(mapping) => {
                    for entry in mapping.entries() {
                        let name = scalar_text(entry.key).unwrap_or_default();
                        self.check(entry.value, Scalar, &format!("{path}.{name}"));
                    }
                }
                None => self.wrong_type(node, path, "a mapping"),
            },
            Sequence(of) => match node.as_sequence() {
                Some(list) => {
                    for (at, item) in list.items().enumerate() {
                        self.check(item, *of, &format!("{path}[{at}]"));
                    }
                }
                None => self.wrong_type(node, path, "a sequence"),
            },
            Fields(owner, fields) => self.fields(node, owner, fields, path),
        }
    }

    fn fields(
        &mut self,
        node: NodeRef<'a>,
        owner: &str,
        fields: &[(&'static str, FieldType)],
        path: &str,
    ) {
        let Some(mapping) = node.as_mapping() else {
            return self.wrong_type(node, path, "a mapping");
        };
        for entry in mapping.entries() {
            let name = scalar_text(entry.key).unwrap_or_default();
            let dot = if path.is_empty() { "" } else { "." };
            let below = format!("{path}{dot}{name}");
            match fields.iter().find(|(known, _)| *known == name) {
                Some((_, field_type)) => self.check(entry.value, *field_type, &below),
                None if name == "<<" => {}
                None => {
                    let names = || fields.iter().map(|(name, _)| *name);
                    let similar = closest_name(names(), &name);
                    let (field, owner) = (name.clone().into_owned(), owner.to_owned());
                    let kind = CommonKind::UnknownField { field, owner };
                    let mut error = self.error(entry.key, kind).field(below);
                    match similar {
                        Some(similar) => {
                            self.errors.push(error.hint(format!("did you mean `{similar}`?")));
                        }
                        None => {
                            error.severity = Severity::Warning;
                            let known = names().collect::<Vec<_>>().join(", ");
                            self.warnings.push(error.hint(format!("the known fields are {known}")));
                        }
                    }
                }
            }
        }
    }

    fn wrong_type(&mut self, node: NodeRef<'a>, path: &str, expected: &str) {
        let error = self.error(node, CommonKind::wrong_type(expected, node)).field(path);
        let is_config = path.contains(".configMap.");
        self.errors.push(match is_config {
            true => error.hint("write the value as a block scalar with `|`, or use `configPath`"),
            false => error,
        });
    }
}
