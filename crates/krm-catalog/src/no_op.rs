//! `no-op`: gives back what it gets.

use krm_sdk::{Error, ResourceList};

use crate::Builtin;

/// The function as it is listed.
pub const BUILTIN: Builtin = Builtin {
    name: "no-op",
    aliases: &[],
    summary: "give back every resource as it is",
    doc: include_str!("../doc/no-op.md"),
    tags: &["v0.1"],
    run,
};

/// Does nothing.
pub fn run(_: &mut ResourceList) -> Result<(), Error> {
    Ok(())
}
