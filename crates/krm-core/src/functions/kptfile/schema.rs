//! What may stand in a Kptfile: every field with its shape, and what is said of any other.

use krm_yaml::{NodeKind, NodeRef};

use super::Reader;
use crate::diagnostics::closest_name;
use crate::model::resource::{is_null, scalar_text};

/// What a value looks like. Null is fine for all of them.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// Anything: it is another tool's.
    Any,
    /// A scalar; its type does not matter.
    Text,
    /// A mapping from names to scalars.
    Texts,
    /// A list of these.
    List(&'static Shape),
    /// These fields and no others. The word says whose they are.
    Fields(&'static str, &'static [(&'static str, Shape)]),
}

use Shape::{Any, Fields, List, Text, Texts};

const SELECTOR: Shape = Fields(
    "a selector",
    &[
        ("apiVersion", Text),
        ("kind", Text),
        ("name", Text),
        ("namespace", Text),
        ("labels", Texts),
        ("annotations", Texts),
    ],
);

const FUNCTION: Shape = Fields(
    "a function",
    &[
        ("image", Text),
        ("exec", Text),
        ("wasm", Text),
        ("tag", Text),
        ("name", Text),
        ("configPath", Text),
        ("configMap", Texts),
        ("selectors", List(&SELECTOR)),
        ("exclude", List(&SELECTOR)),
    ],
);

/// The functions of a package.
pub(super) const PIPELINE: Shape =
    Fields("a pipeline", &[("mutators", List(&FUNCTION)), ("validators", List(&FUNCTION))]);

const INFO: Shape = Fields(
    "`info`",
    &[
        ("site", Text),
        ("email", Text),
        ("emails", List(&Text)),
        ("license", Text),
        ("licenseFile", Text),
        ("description", Text),
        ("keywords", List(&Text)),
        ("man", Text),
        ("readinessGates", List(&Fields("a readiness gate", &[("conditionType", Text)]))),
    ],
);

const GIT: Shape = Fields("`git`", &[("repo", Text), ("directory", Text), ("ref", Text)]);

const UPSTREAM: Shape =
    Fields("`upstream`", &[("type", Text), ("git", GIT), ("updateStrategy", Text)]);

const GIT_LOCK: Shape =
    Fields("`git`", &[("repo", Text), ("directory", Text), ("ref", Text), ("commit", Text)]);

const GENERIC_LOCK: Shape =
    Fields("`generic`", &[("storeID", Text), ("resourceID", Text), ("resourceVersion", Text)]);

const UPSTREAM_LOCK: Shape =
    Fields("`upstreamLock`", &[("type", Text), ("git", GIT_LOCK), ("generic", GENERIC_LOCK)]);

const INVENTORY: Shape = Fields(
    "`inventory`",
    &[
        ("namespace", Text),
        ("name", Text),
        ("inventoryID", Text),
        ("labels", Texts),
        ("annotations", Texts),
    ],
);

const CONDITION: Shape =
    Fields("a condition", &[("type", Text), ("status", Text), ("reason", Text), ("message", Text)]);

const STATUS: Shape =
    Fields("`status`", &[("conditions", List(&CONDITION)), ("renderStatus", Any)]);

/// A whole Kptfile.
pub(super) const KPTFILE: Shape = Fields(
    "a Kptfile",
    &[
        ("apiVersion", Text),
        ("kind", Text),
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

impl<'a> Reader<'a> {
    /// Holds a value against its shape, and notes everything that does not fit. Shapes end, so this does.
    pub(super) fn check(&mut self, node: NodeRef<'a>, shape: Shape, path: &str) {
        let node = node.resolve();
        if is_null(node) {
            return;
        }
        match shape {
            Any => {}
            Text if node.as_scalar().is_some() => {}
            Text => self.wrong_type(node, path, "a text"),
            Texts => match node.as_mapping() {
                Some(mapping) => {
                    for entry in mapping.entries() {
                        let name = scalar_text(entry.key).unwrap_or_default();
                        self.check(entry.value, Text, &format!("{path}.{name}"));
                    }
                }
                None => self.wrong_type(node, path, "a mapping"),
            },
            List(of) => match node.as_sequence() {
                Some(list) => {
                    for (at, item) in list.items().enumerate() {
                        self.check(item, *of, &format!("{path}[{at}]"));
                    }
                }
                None => self.wrong_type(node, path, "a list"),
            },
            Fields(owner, fields) => self.fields(node, owner, fields, path),
        }
    }

    fn fields(
        &mut self,
        node: NodeRef<'a>,
        owner: &str,
        fields: &[(&'static str, Shape)],
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
                Some((_, shape)) => self.check(entry.value, *shape, &below),
                None if name == "<<" => {}
                None => {
                    let names = || fields.iter().map(|(name, _)| *name);
                    let hint = match closest_name(names(), &name) {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None => format!("{owner} has {}", names().collect::<Vec<_>>().join(", ")),
                    };
                    let words = format!("`{name}` is no field of {owner}");
                    let told = self.error(entry.key, words).field(below).hint(hint);
                    self.errors.push(told);
                }
            }
        }
    }

    fn wrong_type(&mut self, node: NodeRef<'a>, path: &str, wanted: &str) {
        let is = match node.kind() {
            NodeKind::Mapping => "a mapping",
            NodeKind::Sequence => "a list",
            _ => "a single value",
        };
        let words = format!("`{path}` is {is}, and {wanted} is wanted");
        let told = self.error(node, words).field(path);
        let is_config = path.contains(".configMap.");
        self.errors.push(match is_config {
            true => {
                told.hint("write it as a text with `|`, or use `configPath` with a file of its own")
            }
            false => told,
        });
    }
}
