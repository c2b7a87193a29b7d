//! The annotations that tell a function which files its resources come from.

/// The prefix of annotations that belong to the orchestrator. Spec: a function may change only [`PATH`] and [`INDEX`] among them.
pub const INTERNAL: &str = "internal.config.kubernetes.io/";

/// The file of a resource, relative to the package, with slashes.
pub const PATH: &str = "internal.config.kubernetes.io/path";

/// The index of the resource in its file, from zero; the first if missing.
pub const INDEX: &str = "internal.config.kubernetes.io/index";

/// Identifies a resource in the output of a function, which carries it along like any annotation.
pub const ID: &str = "internal.config.kubernetes.io/krm-id";

/// Compat: the name of [`PATH`] before version 1 of the specification.
pub const LEGACY_PATH: &str = "config.kubernetes.io/path";

/// Compat: the name of [`INDEX`] before version 1 of the specification.
pub const LEGACY_INDEX: &str = "config.kubernetes.io/index";

/// Whether an annotation exists only in a ResourceList and is never written to a file: path, index, and all internal ones.
pub fn is_wire_annotation(name: &str) -> bool {
    name.starts_with(INTERNAL) || [LEGACY_PATH, LEGACY_INDEX].contains(&name)
}
