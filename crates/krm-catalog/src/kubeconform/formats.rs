//! The formats of strings that kubeconform checks.
//!
//! Compat: the list is that of kubeconform's validator. Other formats, such as `int32` and `byte`, are not checked there, and
//! `duration` also accepts the durations of Go (`1h30m`).

// Only the types of addresses: `std::net` would also have sockets.
use core::net::{Ipv4Addr, Ipv6Addr};

use regex_lite::Regex;

/// Whether a string has a format. An unknown format accepts everything.
pub(super) fn is_valid(format: &str, text: &str) -> bool {
    match format {
        "date-time" => is_date_time(text),
        "date" => is_date(text),
        "time" => is_time(text),
        "duration" => is_go_duration(text) || is_iso_duration(text),
        "period" => is_period(text),
        "ipv4" => is_ipv4(text),
        "ipv6" => is_ipv6(text),
        "hostname" => is_hostname(text),
        "email" => is_email(text),
        "uuid" => is_uuid(text),
        "uri" | "iri" => is_uri(text),
        "uri-reference" | "iri-reference" => !text.contains('\\') && is_reference(text),
        "json-pointer" => is_json_pointer(text),
        "relative-json-pointer" => is_relative_json_pointer(text),
        "semver" => is_semver(text),
        "regex" => Regex::new(text).is_ok(),
        _ => true,
    }
}

/// A number of exactly this many digits.
fn digits(text: &str, count: usize) -> Option<u32> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let mut next = |count| parts.next().and_then(|part| digits(part, count));
    let (Some(year), Some(month), Some(day)) = (next(4), next(2), next(2)) else { return false };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(8) else { return false };
    let mut parts = clock.split(':').map(|part| digits(part, 2));
    let (Some(Some(hour)), Some(Some(minute)), Some(Some(second)), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let offset = match rest.strip_prefix('.') {
        Some(fraction) => {
            let after = fraction.trim_start_matches(|it: char| it.is_ascii_digit());
            if after.len() == fraction.len() {
                return false;
            }
            after
        }
        None => rest,
    };
    let Some(offset) = offset_minutes(offset) else { return false };
    // A leap second is the last one of a day in UTC.
    let in_utc = (i64::from(hour * 60 + minute) - offset).rem_euclid(24 * 60);
    let is_last_minute = in_utc == 23 * 60 + 59;
    hour < 24 && minute < 60 && (second < 60 || second == 60 && is_last_minute)
}

/// The minutes of an offset from UTC.
fn offset_minutes(text: &str) -> Option<i64> {
    if matches!(text, "z" | "Z") {
        return Some(0);
    }
    let (sign, text) = match text.strip_prefix('+') {
        Some(rest) => (1, rest),
        None => (-1, text.strip_prefix('-')?),
    };
    let (hours, minutes) = text.split_once(':')?;
    let (hours, minutes) = (digits(hours, 2)?, digits(minutes, 2)?);
    (hours < 24 && minutes < 60).then_some(sign * i64::from(hours * 60 + minutes))
}

fn is_date_time(text: &str) -> bool {
    let Some((date, rest)) = text.split_at_checked(10) else { return false };
    rest.strip_prefix(['t', 'T']).is_some_and(|time| is_date(date) && is_time(time))
}

/// `P1Y2M3DT4H5M6S` or `P2W`.
fn is_iso_duration(text: &str) -> bool {
    let Some(text) = text.strip_prefix('P').filter(|it| !it.is_empty()) else { return false };
    if let Some(weeks) = text.strip_suffix('W') {
        return !weeks.is_empty() && weeks.bytes().all(|byte| byte.is_ascii_digit());
    }
    let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
    has_units(date, "YMD") && time.is_none_or(|time| !time.is_empty() && has_units(time, "HMS"))
}

/// Whether a string is a sequence of numbers, each followed by a later one of the units.
fn has_units(mut text: &str, mut units: &str) -> bool {
    while !text.is_empty() {
        let rest = text.trim_start_matches(|it: char| it.is_ascii_digit());
        let unit = rest.chars().next().and_then(|unit| units.find(unit));
        let (Some(unit), true) = (unit, rest.len() < text.len()) else { return false };
        (units, text) = (&units[unit + 1..], &rest[1..]);
    }
    true
}

/// Compat: a number with a unit anywhere in the string is enough; `0` needs none.
fn is_go_duration(text: &str) -> bool {
    const UNITS: [&str; 15] =
        ["ns", "us", "µs", "μs", "ms", "s", "sec", "m", "min", "h", "hr", "d", "w", "wk", "nano"];
    const PREFIXES: [&str; 8] = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
    if matches!(text.trim_start_matches(['+', '-']), "0") {
        return true;
    }
    let is_unit = |unit: &str| {
        let unit = unit.to_lowercase();
        UNITS.contains(&&*unit) || PREFIXES.iter().any(|it| unit.starts_with(it))
    };
    let mut rest = text;
    while let Some(start) = rest.find(|it: char| it.is_ascii_digit()) {
        let after = rest[start..].trim_start_matches(|it: char| it.is_ascii_digit()).trim_start();
        let is_letter = |it: char| it.is_ascii_alphabetic() || matches!(it, 'µ' | 'μ');
        let end = after.find(|it| !is_letter(it)).unwrap_or(after.len());
        if is_unit(&after[..end]) {
            return true;
        }
        rest = after;
    }
    false
}

fn is_period(text: &str) -> bool {
    let Some((start, end)) = text.split_once('/') else { return false };
    let is_part = |part: &str| match part.starts_with('P') {
        true => is_iso_duration(part),
        false => is_date_time(part),
    };
    let is_two_durations = start.starts_with('P') && end.starts_with('P');
    !is_two_durations && is_part(start) && is_part(end)
}

fn is_ipv4(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok()
}

fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

fn is_hostname(text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@').filter(|_| text.len() <= 254) else {
        return false;
    };
    let quoted = local.strip_prefix('"').filter(|_| local.len() > 1);
    let is_local = match quoted {
        Some(rest) => !rest[..rest.len() - 1].contains(['\\', '"']),
        None => {
            let is_allowed =
                |it: char| it.is_ascii_alphanumeric() || ".!#$%&'*+-/=?^_`{|}~".contains(it);
            let has_dots = local.starts_with('.') || local.ends_with('.') || local.contains("..");
            !has_dots && local.chars().all(is_allowed)
        }
    };
    let address = domain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_domain = match address {
        Some(address) => match address.strip_prefix("IPv6:") {
            Some(address) => is_ipv6(address),
            None => is_ipv4(address),
        },
        None => is_hostname(domain),
    };
    local.len() <= 64 && is_local && is_domain
}

fn is_uuid(text: &str) -> bool {
    let lengths = text.split('-').map(str::len);
    let is_hex = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    lengths.eq([8, 4, 4, 4, 12]) && text.bytes().all(is_hex)
}

/// A URI with a scheme.
fn is_uri(text: &str) -> bool {
    is_reference(text) && scheme(text).is_some()
}

fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_valid = scheme.starts_with(|it: char| it.is_ascii_alphabetic())
        && scheme.chars().all(|it| it.is_ascii_alphanumeric() || "+-.".contains(it));
    is_valid.then_some(scheme)
}

/// A URI, or a path, query and fragment.
fn is_reference(text: &str) -> bool {
    if text.chars().any(|it| it.is_ascii_control()) || text.starts_with(':') {
        return false;
    }
    let rest = scheme(text).map_or(text, |scheme| &text[scheme.len() + 1..]);
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let path = rest.split_once('?').map_or(rest, |(path, _)| path);
    let (authority, path) = match path.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", path),
    };
    // `a:b` is a path only after a scheme or a slash.
    let first = path.split('/').next().unwrap_or_default();
    let is_ambiguous = authority.is_empty() && scheme(text).is_none() && first.contains(':');
    !is_ambiguous && [path, fragment].iter().all(|it| has_escapes(it)) && is_authority(authority)
}

fn has_escapes(text: &str) -> bool {
    text.split('%')
        .skip(1)
        .all(|after| after.len() >= 2 && after.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit))
}

fn is_authority(text: &str) -> bool {
    let host = text.rsplit_once('@').map_or(text, |(_, host)| host);
    let (host, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let Some((address, port)) = rest.split_once(']').filter(|it| is_ipv6(it.0)) else {
                return false;
            };
            (address, port)
        }
        None => host.split_at(host.rfind(':').unwrap_or(host.len())),
    };
    let is_port = match port.strip_prefix(':') {
        Some(port) => port.bytes().all(|byte| byte.is_ascii_digit()),
        None => port.is_empty(),
    };
    let is_host = !host.contains([' ', '"', '<', '>', '\\', '^', '`', '{', '|', '}']);
    is_port && is_host && has_escapes(host)
}

fn is_json_pointer(text: &str) -> bool {
    let has_escapes = text.split('~').skip(1).all(|after| after.starts_with(['0', '1']));
    text.is_empty() || text.starts_with('/') && has_escapes
}

fn is_relative_json_pointer(text: &str) -> bool {
    let rest = text.trim_start_matches(|it: char| it.is_ascii_digit());
    let number = &text[..text.len() - rest.len()];
    let is_number = !number.is_empty() && (number.len() == 1 || !number.starts_with('0'));
    is_number && (rest == "#" || is_json_pointer(rest))
}

fn is_semver(text: &str) -> bool {
    let (text, build) = text.split_once('+').map_or((text, None), |(a, b)| (a, Some(b)));
    let (core, pre) = text.split_once('-').map_or((text, None), |(a, b)| (a, Some(b)));
    let is_identifier = |it: &str| {
        !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
    let has_zero = |it: &str| it.len() > 1 && it.starts_with('0');
    let is_pre = |it: &str| is_identifier(it) && !(is_number(it) && has_zero(it));
    core.split('.').count() == 3
        && core.split('.').all(|it| is_number(it) && !has_zero(it))
        && pre.is_none_or(|pre| pre.split('.').all(is_pre))
        && build.is_none_or(|build| build.split('.').all(is_identifier))
}

#[cfg(test)]
mod tests {
    use super::is_valid;

    #[test]
    fn formats_accept_valid_strings_and_reject_others() {
        let formats = [
            (
                "date-time",
                "2024-02-29T12:00:00Z 2024-01-01t00:00:00.5+01:00 2016-12-31T23:59:60Z",
                "2023-02-29T12:00:00Z 2024-01-01 2024-01-01T24:00:00Z 2024-01-01T00:00:00 2024-01-01T00:00:60Z x",
            ),
            ("date", "2024-12-31", "2024-13-01 2024-1-1 2024-04-31"),
            ("time", "10:00:00Z 10:00:00-05:30", "10:00Z 25:00:00Z 10:00:00.Z 10:00:00+5:00"),
            ("duration", "P1Y2M P2W PT5S 1h30m 90s 0 1day", "P PT 1 x P1X h"),
            ("period", "2024-01-01T00:00:00Z/P1D P1D/2024-01-01T00:00:00Z", "P1D/P1D x"),
            ("ipv4", "10.0.0.1", "10.0.0 10.0.0.256 010.0.0.1"),
            ("ipv6", "::1 fe80::1 ::ffff:10.0.0.1", "10.0.0.1 fe80::1%eth0 :::"),
            ("hostname", "a.example.com a. A1", "-a a_b a..b a-"),
            ("email", "a@example.com \"a b\"@b a@[10.0.0.1]", "a a@ .a@b a..b@c a@[x]"),
            (
                "uuid",
                "123e4567-e89b-12d3-a456-426614174000",
                "123e4567 123e4567-e89b-12d3-a456-42661417400g",
            ),
            (
                "uri",
                "https://example.com/a?b#c urn:x mailto:a@b http://[::1]:80",
                "/a //b http://[::1 http://a:b http://a/%zz 1:",
            ),
            ("uri-reference", "/a a/b #c", "a\\b %zz"),
            ("json-pointer", "/a/~0b", "a /~2"),
            ("relative-json-pointer", "0# 1/a", "/a 01/a"),
            ("semver", "1.2.3 1.2.3-rc.1+b.01", "1.2 01.2.3 1.2.3- 1.2.3-01"),
            ("regex", "^a+$", "("),
            ("int32", "anything", ""),
        ];
        for (format, valid, invalid) in formats {
            for text in valid.replace("a b", "a\u{0}b").split(' ') {
                let text = text.replace('\u{0}', " ");
                assert!(is_valid(format, &text), "{format} {text}");
            }
            for text in invalid.split(' ').filter(|it| !it.is_empty()) {
                assert!(!is_valid(format, text), "{format} {text}");
            }
        }
    }
}
