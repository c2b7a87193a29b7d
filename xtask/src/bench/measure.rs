//! Measuring one child process from outside: how long it ran and how much memory it held at most.

use std::process::{Command, Stdio};
use std::time::Instant;

use wait4::Wait4 as _;

use crate::{Outcome, shell};

/// One run of one program.
///
/// The peak is never below what this process holds when it starts the child: Linux counts the
/// moment between fork and exec. So nothing here keeps a corpus in memory.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    pub(super) seconds: f64,
    pub(super) peak_bytes: u64,
}

/// Runs with all output thrown away; a program that fails has done other work than was asked.
pub(super) fn quietly(command: &mut Command) -> Outcome<Sample> {
    ending_with(command, 0)
}

/// The same for a program whose findings are an exit code of their own.
pub(super) fn ending_with(command: &mut Command, code: i32) -> Outcome<Sample> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let used = command.spawn()?.wait4()?;
    let seconds = start.elapsed().as_secs_f64();
    if used.status.code() != Some(code) {
        return Err(used.status.to_string().into());
    }
    Ok(Sample { seconds, peak_bytes: used.rusage.maxrss })
}

/// Runs a program that times itself and prints one line of JSON; the memory is still seen from outside.
pub(super) fn self_timed(command: &mut Command) -> Outcome<Sample> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let mut stdout = child.stdout.take().expect("stdout is piped just above");
    let said = std::io::read_to_string(&mut stdout)?;
    let used = child.wait4()?;
    if !used.status.success() {
        return Err(format!("{} ended with {}", shell::shown(command), used.status).into());
    }
    let seconds = number(&said, "seconds").ok_or_else(|| format!("no time in {said:?}"))?;
    Ok(Sample { seconds, peak_bytes: used.rusage.maxrss })
}

/// The number of a field in a flat JSON object without blanks, as the timed programs print it.
fn number(json: &str, field: &str) -> Option<f64> {
    let (_, rest) = json.split_once(&format!("\"{field}\":"))?;
    let end = rest.find([',', '}'])?;
    rest[..end].trim().parse().ok()
}

/// The middle of the samples: time and memory each by themselves.
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
    fn the_median_is_the_middle_and_no_samples_have_none() {
        let sample = |seconds, peak_bytes| Sample { seconds, peak_bytes };
        let middle =
            median(&[sample(3.0, 10), sample(1.0, 30), sample(2.0, 20)]).expect("three samples");
        assert_eq!((middle.seconds.to_bits(), middle.peak_bytes), (2.0_f64.to_bits(), 20));
        assert!(median(&[]).is_none());
    }

    #[test]
    fn fields_are_read_from_one_line_of_json() {
        let line = "{\"seconds\":1.5,\"documents\":3,\"bytes\":12}\n";
        assert_eq!(number(line, "seconds"), Some(1.5));
        assert_eq!(number(line, "bytes"), Some(12.0));
        assert_eq!(number(line, "weight"), None);
    }

    #[test]
    fn a_child_is_measured_and_a_failed_one_is_an_error() {
        let sample = quietly(&mut Command::new("true")).expect("`true` succeeds");
        assert!(sample.peak_bytes > 0 && sample.seconds > 0.0);
        assert!(quietly(&mut Command::new("false")).is_err());
    }
}
