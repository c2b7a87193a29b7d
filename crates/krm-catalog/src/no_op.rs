//! `no-op`: returns the resources as they are.

use krm_sdk::{Error, ResourceList};

use crate::{Builtin, Run, releases};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "no-op",
    aliases: &[],
    summary: "return the resources as they are",
    doc: include_str!("../doc/no-op.md"),
    releases: releases::NO_OP,
    run: Run::Native(run),
};

/// Does nothing.
pub fn run(_: &mut ResourceList) -> Result<(), Error> {
    Ok(())
}
