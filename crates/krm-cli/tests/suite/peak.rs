//! How much memory a command takes at most.

use std::io::Read;
use std::process::{Command, Stdio};

use wait4::Wait4;

use crate::sandbox::Ran;

/// Runs a command, and gives the bytes that it, or the largest of those that it waited for, held at most.
///
/// What it writes to standard error must fit into a pipe.
pub(crate) fn of(command: &mut Command) -> (Ran, u64) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    let used = child.wait4().unwrap();
    (Ran { stdout, stderr, exit: used.status.code().unwrap_or(-1) }, used.rusage.maxrss)
}
