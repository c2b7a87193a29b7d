//! Timestamps of YAML 1.1, which functions return in another notation.

/// Nanoseconds since a fixed day, in UTC; `None` where the text is not a timestamp.
///
/// Spec: YAML 1.1 timestamps. A date alone is its midnight, and a time without a zone is UTC.
pub(super) fn parse(text: &str) -> Option<i128> {
    let bytes = text.as_bytes();
    // Rejects most strings early.
    if bytes.len() < 8 || !bytes[..4].iter().all(u8::is_ascii_digit) || bytes[4] != b'-' {
        return None;
    }
    let (date, rest) = match text.find(['T', 't', ' ', '\t']) {
        Some(at) => (&text[..at], text[at + 1..].trim_start_matches([' ', '\t'])),
        None => (text, ""),
    };
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let days = days(number(year, 4..=4)?, number(month, 1..=2)?, number(day, 1..=2)?)?;
    let midnight = i128::from(days) * 86_400_000_000_000;
    if rest.is_empty() {
        return (date.len() == text.len()).then_some(midnight);
    }
    let at = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let time = clock(rest[..at].trim_end())?;
    Some(midnight + time - zone(&rest[at..])?)
}

fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let fits = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

/// Days since March 1 of the year 0: in years that begin in March, a leap day is the last day.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(
        365 * year + year.div_euclid(4) - year.div_euclid(100)
            + year.div_euclid(400)
            + (153 * month + 2) / 5
            + day,
    )
}

/// `hh:mm:ss.fraction`
fn clock(text: &str) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = whole.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds =
        number(hour, 1..=2)? * 3600 + number(minute, 2..=2)? * 60 + number(second, 2..=2)?;
    let digits = &fraction[..fraction.len().min(9)];
    let nanoseconds: i128 = format!("{digits:0<9}").parse().ok()?;
    Some(i128::from(seconds) * 1_000_000_000 + nanoseconds)
}

/// `Z`, `+hh`, `+hh:mm` or `+hhmm`; without a zone it is UTC.
fn zone(text: &str) -> Option<i128> {
    let sign = match text.as_bytes().first() {
        None => return Some(0),
        Some(b'Z') => return (text.len() == 1).then_some(0),
        Some(b'-') => -1,
        Some(_) => 1,
    };
    let (hours, minutes) = match text[1..].split_once(':') {
        Some((hours, minutes)) => (hours, number(minutes, 2..=2)?),
        None if text.len() == 5 => (&text[1..3], number(&text[3..], 2..=2)?),
        None => (&text[1..], 0),
    };
    Some(sign * i128::from(number(hours, 1..=2)? * 60 + minutes) * 60_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations_of_the_same_time_are_equal() {
        for (one, other) in [
            ("2001-12-14t21:59:43.10-05:00", "2001-12-15 02:59:43.1 Z"),
            ("2020-01-01T00:00:00Z", "2020-01-01 00:00:00+00:00"),
            ("2020-01-01", "2020-01-01T00:00:00Z"),
            ("2020-02-29T12:00:00+0530", "2020-02-29T06:30:00"),
            ("2000-03-01T00:30:00+01", "2000-02-29T23:30:00Z"),
        ] {
            assert_eq!(parse(one), parse(other), "{one} {other}");
            assert!(parse(one).is_some(), "{one}");
        }
        assert_ne!(parse("2020-01-01"), parse("2020-01-02"));
        assert_eq!(
            parse("2021-01-01").zip(parse("2020-12-31")).map(|(a, b)| a - b),
            Some(86_400_000_000_000)
        );
    }

    #[test]
    fn other_strings_are_not_timestamps() {
        for text in [
            "",
            "2020",
            "2020-01",
            "2020-13-01",
            "2020-01-01T",
            "2020-01-01x",
            "1.2.3",
            "2020-01-01T1:2",
            "2020-01-01T00:00:00ü",
            "2020-1-1-1",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
