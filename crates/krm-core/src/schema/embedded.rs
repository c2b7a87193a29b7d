//! The table of Kubernetes' own kinds that comes with the program, read when it is first asked for.

use std::sync::OnceLock;

use super::node::Tables;
use super::table;

pub(super) const TEXT: &str = include_str!("kubernetes.txt");

/// The tables, read once; commands that ask for no type never pay for them.
pub(super) fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| table::read(TEXT).expect("a test reads the committed table"))
}

/// The version of Kubernetes whose kinds are known.
pub fn kubernetes_version() -> &'static str {
    let line = TEXT.lines().find_map(|line| line.strip_prefix("kubernetes "));
    line.expect("a test reads the head of the committed table")
}
