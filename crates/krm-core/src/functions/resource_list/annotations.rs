//! The annotations with which an orchestrator tells a function where its resources come from.

/// What an orchestrator keeps for itself begins so; a function changes only [`PATH`] and [`INDEX`].
pub const INTERNAL: &str = "internal.config.kubernetes.io/";

/// The file of a resource, relative to the package, with slashes.
pub const PATH: &str = "internal.config.kubernetes.io/path";

/// Which resource of its file it is, from zero; none is the first.
pub const INDEX: &str = "internal.config.kubernetes.io/index";

/// What krm knows a resource by again; functions carry it along like any annotation.
pub const ID: &str = "internal.config.kubernetes.io/krm-id";

/// Compat: [`PATH`] as it was called before version 1 of the specification.
pub const LEGACY_PATH: &str = "config.kubernetes.io/path";

/// Compat: [`INDEX`] as it was called before version 1 of the specification.
pub const LEGACY_INDEX: &str = "config.kubernetes.io/index";

/// The annotations that never reach a disk: those that say where a resource stands, and all internal ones.
pub fn is_wire_annotation(name: &str) -> bool {
    name.starts_with(INTERNAL) || [LEGACY_PATH, LEGACY_INDEX].contains(&name)
}
