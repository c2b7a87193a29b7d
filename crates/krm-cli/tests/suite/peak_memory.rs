//! Measures the peak memory of a command.

use std::io::Read;
use std::process::{Command, Stdio};

use wait4::Wait4;

use crate::sandbox::Output;

/// Runs a command and returns its output and its peak memory in bytes, including that of the largest child process.
///
/// Standard error must fit into a pipe buffer, as it is read after standard output.
pub(crate) fn measure(command: &mut Command) -> (Output, u64) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    let used = child.wait4().unwrap();
    (Output { stdout, stderr, exit: used.status.code().unwrap_or(-1) }, used.rusage.maxrss)
}
