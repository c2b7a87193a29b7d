//! Values in results without what may be a secret.

/// What stands for a secret.
const REDACTED: &str = "<redacted>";

/// The longest value that is written whole, in bytes.
const LIMIT: usize = 128;

/// Parts of the names of fields and setters that hold secrets.
const NAMES: [&str; 13] = [
    "apikey",
    "api-key",
    "api_key",
    "auth",
    "bearer",
    "cert",
    "credential",
    "passwd",
    "password",
    "privatekey",
    "private_key",
    "secret",
    "token",
];

/// Prefixes of well-known keys and tokens, and how many characters of a key follow at least.
const PREFIXES: [(&str, usize); 4] = [("AKIA", 16), ("ghp_", 36), ("sk-", 20), ("eyJ", 20)];

/// The value for a result about a field: `names` are its path and the comment with its setters.
///
/// Compat: `apply-setters` since v0.3.
pub(crate) fn redact(value: &str, names: [&str; 2]) -> String {
    let is_named = names.iter().any(|name| {
        let name = name.to_ascii_lowercase();
        NAMES.iter().any(|part| name.contains(part))
    });
    if is_named || is_key(value) {
        return REDACTED.to_owned();
    }
    match value.char_indices().map(|(at, _)| at).take_while(|at| *at <= LIMIT).last() {
        Some(end) if value.len() > LIMIT => {
            format!("{}... (truncated {} chars)", &value[..end], value.len() - end)
        }
        _ => value.to_owned(),
    }
}

/// Whether a value looks like a key, a token or a certificate.
fn is_key(value: &str) -> bool {
    let is_of_key = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let has_prefix = PREFIXES.iter().any(|(prefix, length)| {
        let mut rests = value.match_indices(prefix).map(|(at, it)| &value[at + it.len()..]);
        rests.any(|rest| rest.chars().take_while(|it| is_of_key(*it)).count() >= *length)
    });
    let slack = ["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-"];
    let has_slack = slack.iter().any(|prefix| value.contains(prefix));
    has_prefix || has_slack || value.contains("-----BEGIN ") || is_base64(value)
}

/// Whether a long value consists of the characters of base64, of two sorts at least.
fn is_base64(value: &str) -> bool {
    let is_symbol = |it: char| "+/=".contains(it);
    let has = |is: &dyn Fn(char) -> bool| usize::from(value.chars().any(is));
    let sorts = has(&|it| it.is_ascii_uppercase())
        + has(&|it| it.is_ascii_lowercase())
        + has(&|it| it.is_ascii_digit())
        + has(&is_symbol);
    let is_plain = value.chars().all(|it| it.is_ascii_alphanumeric() || is_symbol(it));
    value.len() >= 40 && is_plain && sorts >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognized_by_name_and_by_form() {
        assert_eq!(redact("hush", ["spec.adminPassword", ""]), REDACTED);
        assert_eq!(redact("hush", ["spec.value", "kpt-set: ${api-key}"]), REDACTED);
        for value in [
            "-----BEGIN PRIVATE KEY-----\nabc",
            "key AKIAABCDEFGHIJKLMNOP",
            "xoxb-1",
            "c2VjcmV0IGNvbnRlbnQgdGhhdCBpcyBsb25nIGVub3VnaCB0byBtYXR0ZXI=",
        ] {
            assert_eq!(redact(value, ["spec.value", ""]), REDACTED, "{value}");
        }
        for value in ["", "nginx:1.16.2", "a-name-that-is-long-but-has-only-dashes-between-words"] {
            assert_eq!(redact(value, ["spec.image", "kpt-set: ${image}"]), value);
        }
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let long = "é ".repeat(60);
        let cut = redact(&long, ["spec.value", ""]);
        assert_eq!(cut, format!("{}... (truncated 52 chars)", &long[..128]));
    }
}
