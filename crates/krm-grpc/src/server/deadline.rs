//! How long a request may take: what the client waits for, and never longer than the server allows.

use std::time::Duration;

/// The library that reads the requests cancels one whose time is over, with the wrong status. So the server is a little faster.
const MARGIN: Duration = Duration::from_millis(20);

/// The time of a request, from the metadata of the client.
pub(super) fn time(header: Option<&[u8]>, max: Duration) -> Duration {
    let client = header.and_then(parse);
    client.map_or(max, |client| client.saturating_sub(MARGIN.min(client / 10)).min(max))
}

/// Spec: gRPC over HTTP/2: at most eight digits and a unit.
fn parse(header: &[u8]) -> Option<Duration> {
    let text = std::str::from_utf8(header).ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(number * 3600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_time_applies() {
        let max = Duration::from_secs(60);
        assert_eq!(time(Some(b"1S"), max), Duration::from_millis(980));
        assert_eq!(time(Some(b"10m"), max), Duration::from_millis(9));
        assert_eq!(time(Some(b"99999999H"), max), max);
        for invalid in
            [None, Some(&b""[..]), Some(b"5"), Some(b"S"), Some(b"123456789S"), Some(b"-1S")]
        {
            assert_eq!(time(invalid, max), max);
        }
    }
}
