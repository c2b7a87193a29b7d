//! Extended headers of POSIX archives: `LENGTH KEY=VALUE\n`, where a value may contain anything.

use crate::OciKind;

/// The records that matter here. Owners, times and extended attributes are not restored.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Extended {
    pub(super) path: Option<Vec<u8>>,
    pub(super) link: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    pub(super) is_sparse: bool,
}

pub(super) fn parse(mut rest: &[u8]) -> Result<Extended, OciKind> {
    let mut extended = Extended::default();
    while !rest.is_empty() {
        let (key, value, next) = record(rest).ok_or_else(malformed)?;
        rest = next;
        // A later record replaces an earlier one. An empty value removes it.
        let value = (!value.is_empty()).then_some(value);
        match key {
            b"path" => extended.path = value.map(<[u8]>::to_vec),
            b"linkpath" => extended.link = value.map(<[u8]>::to_vec),
            b"size" => extended.size = value.map(number).transpose()?,
            key if key.starts_with(b"GNU.sparse.") => extended.is_sparse = true,
            _ => {}
        }
    }
    Ok(extended)
}

/// The key and value of the first record, and what follows it.
fn record(text: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let space = text.iter().take(20).position(|byte| *byte == b' ')?;
    let length = number(&text[..space]).ok()?;
    let (record, next) = text.split_at_checked(usize::try_from(length).ok()?)?;
    let record = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some((&record[..equals], &record[equals + 1..], next))
}

fn number(digits: &[u8]) -> Result<u64, OciKind> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_number);
    text.and_then(|text| text.parse().ok()).ok_or_else(malformed)
}

fn malformed() -> OciKind {
    super::invalid("", "an extended header is malformed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_split_by_length() {
        let text = b"12 path=a/b\n24 SCHILY.xattr.x=a\nb=\nc\n9 size=7\n";
        assert_eq!(text[12..36].len(), 24);
        let text = [&text[..12], b"25 SCHILY.xattr.x=a\nb=\nc\n", b"9 size=7\n"].concat();
        let extended = parse(&text).unwrap();
        assert_eq!(extended.path.as_deref(), Some(&b"a/b"[..]));
        assert_eq!(extended.size, Some(7));
    }

    #[test]
    fn malformed_records_are_errors() {
        for text in [
            &b"x"[..],
            b"99 path=a\n",
            b"5 a=b",
            b"0 path=a\n",
            b"3 =",
            b"10 path=a",
            b"-1 a=b\n",
            b"99999999999999999999 a=b\n",
            b"10 size=xx\n",
        ] {
            assert!(parse(text).is_err(), "{}", String::from_utf8_lossy(text));
        }
    }
}
