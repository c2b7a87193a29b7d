//! What the server counts, and its text for Prometheus.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Finished;

/// The upper bounds of durations in seconds.
const BOUNDS: [f64; 11] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0, 300.0];

/// Counts of all requests. Labels have a fixed number of values: an image is chosen by the client, and could fill the memory.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    requests: BTreeMap<(&'static str, &'static str), u64>,
    durations: Histogram,
    waits: Histogram,
    request_bytes: u64,
    response_bytes: u64,
}

#[derive(Debug, Default)]
struct Histogram {
    /// For each bound, how many are not longer.
    counts: [u64; BOUNDS.len()],
    count: u64,
    sum: Duration,
}

impl Histogram {
    fn add(&mut self, time: Duration) {
        for (count, bound) in self.counts.iter_mut().zip(BOUNDS) {
            *count += u64::from(time.as_secs_f64() <= bound);
        }
        self.count += 1;
        self.sum += time;
    }

    fn write(&self, name: &str, help: &str, text: &mut String) {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} histogram");
        for (count, bound) in self.counts.iter().zip(BOUNDS) {
            let _ = writeln!(text, "{name}_bucket{{le=\"{bound}\"}} {count}");
        }
        let Self { count, sum, .. } = self;
        let _ = writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {count}");
        let _ = writeln!(text, "{name}_sum {}\n{name}_count {count}", sum.as_secs_f64());
    }
}

impl Metrics {
    pub(super) fn record(&self, finished: &Finished) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.requests.entry((finished.runtime, finished.code)).or_default() += 1;
        counts.durations.add(finished.duration);
        counts.waits.add(finished.queued);
        counts.request_bytes += finished.input as u64;
        counts.response_bytes += finished.output as u64;
    }

    /// Spec: the text format of Prometheus, version 0.0.4.
    pub(super) fn text(&self, (running, waiting): (usize, usize)) -> String {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        let simple = |text: &mut String, name: &str, kind: &str, help: &str, value: u64| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        };
        let name = "krm_serve_requests_total";
        let _ = writeln!(text, "# HELP {name} Requests that ended, by runtime and status.");
        let _ = writeln!(text, "# TYPE {name} counter");
        for ((runtime, code), count) in &counts.requests {
            let _ = writeln!(text, "{name}{{runtime=\"{runtime}\",code=\"{code}\"}} {count}");
        }
        let help = "Time from the first byte of a request to its response.";
        counts.durations.write("krm_serve_request_duration_seconds", help, &mut text);
        counts.waits.write("krm_serve_queue_wait_seconds", "Time in the queue.", &mut text);
        for (name, kind, help, value) in [
            ("krm_serve_running_functions", "gauge", "Functions that run now.", running as u64),
            ("krm_serve_queued_requests", "gauge", "Requests that wait now.", waiting as u64),
            (
                "krm_serve_request_bytes_total",
                "counter",
                "Bytes of resources in requests.",
                counts.request_bytes,
            ),
            (
                "krm_serve_response_bytes_total",
                "counter",
                "Bytes of resources in responses.",
                counts.response_bytes,
            ),
        ] {
            simple(&mut text, name, kind, help, value);
        }
        let (name, version) = ("krm_serve_build_info", env!("CARGO_PKG_VERSION"));
        let _ = writeln!(text, "# HELP {name} The version of krm.\n# TYPE {name} gauge");
        let _ = writeln!(text, "{name}{{version=\"{version}\"}} 1");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_in_the_text_format_of_prometheus() {
        let metrics = Metrics::default();
        let finished = Finished {
            peer: None,
            image: "x".to_owned(),
            runtime: "builtin",
            code: "OK",
            queued: Duration::ZERO,
            duration: Duration::from_millis(20),
            input: 10,
            output: 20,
        };
        metrics.record(&finished);
        metrics.record(&Finished { duration: Duration::from_secs(2), ..finished });
        let text = metrics.text((1, 3));
        for line in [
            "krm_serve_requests_total{runtime=\"builtin\",code=\"OK\"} 2",
            "krm_serve_request_duration_seconds_bucket{le=\"0.01\"} 0",
            "krm_serve_request_duration_seconds_bucket{le=\"0.05\"} 1",
            "krm_serve_request_duration_seconds_bucket{le=\"+Inf\"} 2",
            "krm_serve_request_duration_seconds_sum 2.02",
            "krm_serve_running_functions 1",
            "krm_serve_queued_requests 3",
            "krm_serve_response_bytes_total 40",
        ] {
            assert!(text.lines().any(|it| it == line), "{line}\n{text}");
        }
    }
}
