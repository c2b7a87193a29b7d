//! `cargo xtask platforms`: lints krm for the systems on which its tests do not run.

use crate::toolchain::Toolchain;
use crate::{TaskResult, ci, cross, shell};

/// One target for each system. Other architectures and environments of Windows compile the same code of krm.
const TARGETS: &[&str] = &["aarch64-apple-darwin", "x86_64-pc-windows-gnu"];

pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
    let mut targets: Vec<String> = Vec::new();
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Value(target) => targets.push(target.to_string_lossy().into_owned()),
            _ => return Err(arg.unexpected().into()),
        }
    }
    if targets.is_empty() {
        targets = TARGETS.iter().map(|target| (*target).to_owned()).collect();
    }
    let toolchain = Toolchain::pinned()?;
    for target in &targets {
        println!("==> {target}");
        // Code that only one system uses is found as dead code elsewhere, so warnings are errors here as well.
        let mut lints = cross::clippy(&toolchain, target)?;
        lints.args(["--workspace", "--exclude", "xtask", "--features", ci::ALL_FEATURES]);
        shell::run(lints.args(["--locked", "--", "-D", "warnings"]))?;
    }
    Ok(())
}
