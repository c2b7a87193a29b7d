//! The log of the server: one JSON object per line, without anything from resources.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use krm_core::print::json;
use krm_grpc::{Event, Finished};
use krm_yaml::Value;

use crate::console;

/// The longest name of an image in the log; it comes from the network.
const MAX_IMAGE: usize = 256;

/// Where events are written.
#[derive(Clone, Debug)]
pub(super) struct Log {
    /// Without requests that succeeded.
    is_quiet: bool,
}

type Entry<'a> = Vec<(&'a str, Value<'a>)>;

impl Log {
    pub(super) fn new(is_quiet: bool) -> Self {
        Self { is_quiet }
    }

    pub(super) fn listening(&self, address: &str, metrics: &str, tls: &str) {
        let version = env!("CARGO_PKG_VERSION");
        let mut entry = vec![("version", Value::from(version)), ("address", Value::from(address))];
        if !metrics.is_empty() {
            entry.push(("metrics", Value::from(metrics)));
        }
        entry.push(("tls", Value::from(tls)));
        write("info", "listening", entry);
    }

    pub(super) fn stopped(&self) {
        write("info", "stopped", Vec::new());
    }

    pub(super) fn event(&self, event: &Event) {
        match event {
            Event::Finished(finished) if self.is_quiet && finished.code == "OK" => {}
            Event::Finished(finished) => request(finished),
            Event::Stopping { requests } => {
                write("info", "stopping", vec![("requests", number(*requests))]);
            }
            Event::Cancelled { requests } => {
                write("warning", "cancelled", vec![("requests", number(*requests))]);
            }
        }
    }
}

fn request(finished: &Finished) {
    let end = finished.image.char_indices().nth(MAX_IMAGE).map_or(finished.image.len(), |it| it.0);
    let peer = finished.peer.map(|peer| peer.to_string()).unwrap_or_default();
    let level = if finished.code == "OK" { "info" } else { "warning" };
    let entry = vec![
        ("peer", Value::from(peer.as_str())),
        ("image", Value::from(&finished.image[..end])),
        ("runtime", Value::from(finished.runtime)),
        ("code", Value::from(finished.code)),
        ("queued_ms", milliseconds(finished.queued)),
        ("duration_ms", milliseconds(finished.duration)),
        ("request_bytes", number(finished.input)),
        ("response_bytes", number(finished.output)),
    ];
    write(level, "request", entry);
}

fn number(number: usize) -> Value<'static> {
    Value::plain(number.to_string())
}

fn milliseconds(time: Duration) -> Value<'static> {
    Value::plain(format!("{:.1}", time.as_secs_f64() * 1000.0))
}

fn write(level: &str, event: &str, entry: Entry<'_>) {
    let time = timestamp(SystemTime::now());
    let head = [
        ("time", Value::from(&*time)),
        ("level", Value::from(level)),
        ("event", Value::from(event)),
    ];
    let fields = head.into_iter().chain(entry);
    let object = Value::Mapping(fields.map(|(key, value)| (Value::from(key), value)).collect());
    if let Ok(line) = json::write(&object) {
        console::write_log_line(&line);
    }
}

/// RFC 3339 in UTC, with milliseconds.
fn timestamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, milliseconds) = (since.as_secs(), since.subsec_millis());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// The date of a day after 1970-01-01. Years begin in March here, so that the leap day is the last one.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_dates_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (1_795_000_000, "2026-11-18T11:06:40.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
    }
}
