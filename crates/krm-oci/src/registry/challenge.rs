//! The `WWW-Authenticate` header: how a registry wants to be asked. Spec: RFC 9110, section 11.

use std::collections::BTreeMap;

/// How to authenticate.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    Basic,
    /// A token from another server, with the scope that the registry names.
    Bearer {
        realm: String,
        service: Option<String>,
        scope: Option<String>,
    },
}

impl Challenge {
    /// The first challenge that is supported; tokens are preferred.
    pub(super) fn parse<'a>(headers: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut basic = None;
        for header in headers {
            for (scheme, mut parameters) in challenges(header) {
                if scheme.eq_ignore_ascii_case("bearer")
                    && let Some(realm) = parameters.remove("realm")
                {
                    let service = parameters.remove("service");
                    return Some(Self::Bearer {
                        realm,
                        service,
                        scope: parameters.remove("scope"),
                    });
                }
                if scheme.eq_ignore_ascii_case("basic") {
                    basic = Some(Self::Basic);
                }
            }
        }
        basic
    }
}

/// The challenges of one header: a scheme, and parameters that are separated by commas, as the challenges are.
fn challenges(header: &str) -> Vec<(String, BTreeMap<String, String>)> {
    let mut found: Vec<(String, BTreeMap<String, String>)> = Vec::new();
    let mut rest = header.trim();
    while !rest.is_empty() {
        rest = rest.trim_start_matches([',', ' ', '\t']);
        let end = rest.find([' ', '\t', '=', ',']).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if let Some(value) = after.trim_start().strip_prefix('=') {
            let (value, after) = quoted(value.trim_start());
            if let Some((_, parameters)) = found.last_mut() {
                parameters.insert(word.to_ascii_lowercase(), value);
            }
            rest = after;
        } else {
            if !word.is_empty() {
                found.push((word.to_owned(), BTreeMap::new()));
            }
            rest = after.trim_start();
            if word.is_empty() && !rest.is_empty() {
                // Not a challenge: nothing after it can be trusted.
                break;
            }
        }
    }
    found
}

/// A value, quoted or not, and what follows it.
fn quoted(text: &str) -> (String, &str) {
    let Some(inside) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = inside.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (value, &inside[at + 1..]),
            '\\' => value.extend(characters.next().map(|(_, c)| c)),
            c => value.push(c),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(header: &str) -> Option<Challenge> {
        Challenge::parse([header].into_iter())
    }

    #[test]
    fn bearer_challenge_has_realm_service_and_scope() {
        let header = r#"Bearer realm="https://auth.io/token?a=b",service="registry.io",scope="repository:a/b:pull,push""#;
        let expected = Challenge::Bearer {
            realm: "https://auth.io/token?a=b".to_owned(),
            service: Some("registry.io".to_owned()),
            scope: Some("repository:a/b:pull,push".to_owned()),
        };
        assert_eq!(parse(header), Some(expected));
    }

    #[test]
    fn tokens_are_preferred_to_passwords() {
        assert_eq!(parse("Basic realm=\"x\""), Some(Challenge::Basic));
        let both = "Basic realm=\"a, Bearer b\", Bearer realm=\"https://c\"";
        assert!(
            matches!(parse(both), Some(Challenge::Bearer { realm, .. }) if realm == "https://c")
        );
        let found = Challenge::parse(["Basic realm=x", "bearer realm=https://c"].into_iter());
        assert!(matches!(found, Some(Challenge::Bearer { .. })));
    }

    #[test]
    fn other_headers_are_no_challenge() {
        for header in ["", ",,", "Negotiate", "Bearer", "=", "\"", "Bearer realm", "Digest a=\"\\"]
        {
            assert_eq!(parse(header), None, "{header}");
        }
    }
}
