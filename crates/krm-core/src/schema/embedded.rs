//! The embedded tables of built-in kinds: of Kubernetes, and of files that describe packages. Types are parsed on first use.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::node::{NodeId, Nodes};
use super::table::{Entry, entries, packages};
use super::type_ref::NodeHandle;

pub(super) const TEXT: &str = include_str!("kubernetes.txt");

/// Kptfile, Krmfile, Kustomization and Component.
pub(super) const PACKAGE_FILES: &str = include_str!("package_files.txt");

/// An index of a table, and the types that were parsed so far.
pub(super) struct Embedded {
    /// Sorted by name.
    pub(super) types: Vec<Definition>,
    /// Indices of types, by `apiVersion` and `kind`.
    kinds: BTreeMap<(&'static str, &'static str), usize>,
    /// Short names of Go packages by their full names.
    pub(super) packages: BTreeMap<&'static str, &'static str>,
}

pub(super) struct Definition {
    pub(super) entry: Entry,
    nodes: OnceLock<(Nodes, NodeId)>,
}

impl std::fmt::Debug for Embedded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Embedded({} types)", self.types.len())
    }
}

impl Embedded {
    /// The committed table. It is indexed on first use, so that commands without schemas do not pay for it.
    pub(super) fn get() -> &'static Self {
        static EMBEDDED: OnceLock<Embedded> = OnceLock::new();
        EMBEDDED.get_or_init(|| Self::new(TEXT))
    }

    /// The committed table of package files.
    pub(super) fn package_files() -> &'static Self {
        static PACKAGES: OnceLock<Embedded> = OnceLock::new();
        PACKAGES.get_or_init(|| Self::new(PACKAGE_FILES))
    }

    /// Indexes a table.
    pub(super) fn new(table: &'static str) -> Self {
        let definition = |entry| Definition { entry, nodes: OnceLock::new() };
        let types: Vec<Definition> = entries(table).map(definition).collect();
        let mut kinds = BTreeMap::new();
        for (index, Definition { entry, .. }) in types.iter().enumerate() {
            kinds.extend(entry.api_versions().map(|version| ((version, entry.kind()), index)));
        }
        Self { types, kinds, packages: packages(table).collect() }
    }

    pub(super) fn kinds(&self) -> impl Iterator<Item = (&str, &str)> {
        self.kinds.keys().copied()
    }

    pub(super) fn kind(&self, api_version: &str, kind: &str) -> Option<NodeHandle<'_>> {
        Some(self.types[*self.kinds.get(&(api_version, kind))?].handle())
    }

    /// The definition of this short name.
    pub(super) fn definition(&self, name: &str) -> Option<NodeHandle<'_>> {
        let at = self.types.binary_search_by(|it| it.entry.name.cmp(name)).ok()?;
        Some(self.types[at].handle())
    }

    /// The definition with this full name.
    pub(super) fn by_full_name(&self, name: &str) -> Option<NodeHandle<'_>> {
        let (package, name) = name.rsplit_once('.')?;
        self.definition(&format!("{}.{name}", self.packages.get(package)?))
    }
}

impl Definition {
    pub(super) fn handle(&self) -> NodeHandle<'_> {
        let parse = || self.entry.parse().expect("a test parses every type of the committed table");
        let (nodes, id) = self.nodes.get_or_init(parse);
        NodeHandle { nodes, id: *id, is_embedded: true }
    }
}

/// The newest version of Kubernetes whose kinds are built in.
pub fn kubernetes_version() -> &'static str {
    version_in(TEXT)
}

/// The version in the head of a table.
pub(super) fn version_in(table: &'static str) -> &'static str {
    let line = table.lines().find_map(|line| line.strip_prefix("kubernetes "));
    line.expect("a test reads the head of the committed table")
}
