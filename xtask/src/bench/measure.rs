//! Measures the time and the peak memory of a child process.

use std::process::{Command, Stdio};
use std::time::Instant;

use wait4::Wait4 as _;

use crate::{TaskResult, shell};

/// One run of one program.
///
/// Linux counts the memory of this process between fork and exec as the child's, so the peak is never below it. For that
/// reason no benchmark keeps a corpus in memory.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    pub(super) seconds: f64,
    pub(super) peak_bytes: u64,
}

/// Runs a command with its output discarded. A failure is an error: a program that failed did not do the measured work.
pub(super) fn quietly(command: &mut Command) -> TaskResult<Sample> {
    exiting_with(command, 0)
}

/// Like [`quietly`], for a command that is expected to exit with `code`.
pub(super) fn exiting_with(command: &mut Command, code: i32) -> TaskResult<Sample> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let used = command.spawn()?.wait4()?;
    let seconds = start.elapsed().as_secs_f64();
    if used.status.code() != Some(code) {
        return Err(used.status.to_string().into());
    }
    Ok(Sample { seconds, peak_bytes: used.rusage.maxrss })
}

/// Runs a program that measures its own time and prints it as JSON; memory is measured from outside.
pub(super) fn self_timed(command: &mut Command) -> TaskResult<Sample> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdout = child.stdout.take().expect("stdout is piped just above");
    let output = std::io::read_to_string(&mut stdout)?;
    let used = child.wait4()?;
    if !used.status.success() {
        return Err(format!("{} failed: {}", shell::display(command), used.status).into());
    }
    let seconds =
        number(&output, "seconds").ok_or_else(|| format!("no `seconds` in {output:?}"))?;
    Ok(Sample { seconds, peak_bytes: used.rusage.maxrss })
}

/// A number field of a flat JSON object without spaces, as the timed programs print it.
fn number(json: &str, field: &str) -> Option<f64> {
    let (_, rest) = json.split_once(&format!("\"{field}\":"))?;
    let end = rest.find([',', '}'])?;
    rest[..end].trim().parse().ok()
}

/// The median time and the median peak memory, each taken separately.
pub(super) fn median(samples: &[Sample]) -> Option<Sample> {
    let mut seconds: Vec<f64> = samples.iter().map(|sample| sample.seconds).collect();
    let mut peaks: Vec<u64> = samples.iter().map(|sample| sample.peak_bytes).collect();
    seconds.sort_by(f64::total_cmp);
    peaks.sort_unstable();
    let middle = samples.len() / 2;
    Some(Sample { seconds: *seconds.get(middle)?, peak_bytes: *peaks.get(middle)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_no_samples_is_none() {
        let sample = |seconds, peak_bytes| Sample { seconds, peak_bytes };
        let middle =
            median(&[sample(3.0, 10), sample(1.0, 30), sample(2.0, 20)]).expect("three samples");
        assert_eq!((middle.seconds.to_bits(), middle.peak_bytes), (2.0_f64.to_bits(), 20));
        assert!(median(&[]).is_none());
    }

    #[test]
    fn numbers_are_read_from_a_line_of_json() {
        let line = "{\"seconds\":1.5,\"documents\":3,\"bytes\":12}\n";
        assert_eq!(number(line, "seconds"), Some(1.5));
        assert_eq!(number(line, "bytes"), Some(12.0));
        assert_eq!(number(line, "weight"), None);
    }

    #[test]
    fn a_failing_child_is_an_error() {
        let sample = quietly(&mut Command::new("true")).expect("`true` succeeds");
        assert!(sample.peak_bytes > 0 && sample.seconds > 0.0);
        assert!(quietly(&mut Command::new("false")).is_err());
    }
}
