//! Measures the peak memory of a command.

use std::io::Read;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::sandbox::Output;

/// Runs a command and returns its output and its peak memory in bytes, without that of its child processes.
///
/// The peak is sampled while the command runs: the one that the system reports after its end starts with the memory of the test process.
pub(crate) fn measure(command: &mut Command) -> (Output, u64) {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (stdout, stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let readers = (thread::spawn(|| read(stdout)), thread::spawn(|| read(stderr)));
    let mut peak = 0;
    let status = loop {
        peak = peak.max(high_water_mark(child.id()).unwrap_or_default());
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    assert!(peak > 0, "the memory of a running process is known");
    let (stdout, stderr) = (readers.0.join().unwrap(), readers.1.join().unwrap());
    (Output { stdout, stderr, exit: status.code().unwrap_or(-1) }, peak)
}

fn read(mut pipe: impl Read) -> String {
    let mut text = String::new();
    pipe.read_to_string(&mut text).unwrap();
    text
}

/// The most memory that a process has had so far. None once it has ended.
fn high_water_mark(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
