//! `no-op`: returns the resources as they are.

use krm_sdk::{Error, ResourceList};

use crate::{Builtin, Run};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "no-op",
    aliases: &[],
    summary: "return the resources as they are",
    doc: include_str!("../doc/no-op.md"),
    tags: &["v0.1"],
    run: Run::Native(run),
};

/// Does nothing.
pub fn run(_: &mut ResourceList) -> Result<(), Error> {
    Ok(())
}
