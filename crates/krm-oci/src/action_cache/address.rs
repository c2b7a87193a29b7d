//! The address of a server and the credentials for it.

use std::fmt;

use data_encoding::BASE64;

/// The address of a cache, such as `https://cache.example.com` or `http://10.0.0.7:8080/team`.
///
/// It has no credentials, so it can be printed.
///
/// ```
/// use krm_oci::ServerUrl;
///
/// assert_eq!(ServerUrl::parse("https://cache.example.com/team/")?.to_string(), "https://cache.example.com/team");
/// assert!(ServerUrl::parse("https://me:secret@cache.example.com").is_err());
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl(Box<str>);

impl ServerUrl {
    /// Reads an address.
    ///
    /// # Errors
    /// If it is not an address of HTTP. The reason does not quote it.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let rest = rest.ok_or("expected an address that begins with `https://` or `http://`")?;
        if !rest.bytes().all(|it| it.is_ascii_graphic()) {
            return Err("expected an address of ASCII characters without spaces");
        }
        if rest.contains(['?', '#', '\\']) {
            return Err("expected an address without query and fragment");
        }
        let host = rest.split('/').next().unwrap_or_default();
        if rest.contains('@') {
            return Err("expected an address without credentials");
        }
        // A name or number with an optional port; IPv6 in brackets.
        let is_host = !host.is_empty() && !host.starts_with(':') && !host.ends_with(':');
        if !is_host || rest.split('/').any(|it| matches!(it, "." | "..")) {
            return Err("expected a host name");
        }
        Ok(Self(text.trim_end_matches('/').into()))
    }

    /// Whether the server is asked with TLS.
    pub(super) fn is_secure(&self) -> bool {
        self.0.starts_with("https://")
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is sent to a server as `Authorization`. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Authorization(Box<str>);

impl Authorization {
    /// A user name and password. They are only as safe as the connection.
    pub fn basic(user: &str, password: &str) -> Self {
        Self(format!("Basic {}", BASE64.encode(format!("{user}:{password}").as_bytes())).into())
    }

    /// A token; none if it cannot be part of a header.
    pub fn bearer(token: &str) -> Option<Self> {
        let is_token = !token.is_empty() && token.bytes().all(|it| it.is_ascii_graphic());
        is_token.then(|| Self(format!("Bearer {token}").into()))
    }

    /// The value of the header.
    pub(super) fn header(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorization")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_has_a_scheme_and_a_host_and_nothing_secret() {
        for text in ["http://a", "https://a.b:8080/c/d", "http://[::1]:80", "http://127.0.0.1:1"] {
            assert_eq!(ServerUrl::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "",
            "a.b",
            "grpc://a",
            "ftp://a",
            "HTTP://a",
            "http://",
            "https:///x",
            "http://:80",
            "http://a:",
            "http://a b",
            "http://a/?b",
            "http://a#b",
            "http://a@b",
            "http://a:b@c",
            "http://a/@b",
            "http://a\r\nb",
            "http://ä",
            "http://a/../b",
            "http://a\\b",
        ] {
            let reason = ServerUrl::parse(text).unwrap_err();
            assert!(reason.starts_with("expected "), "{text}");
        }
    }

    #[test]
    fn credentials_are_not_printed() {
        let basic = Authorization::basic("me", "secret");
        let bearer = Authorization::bearer("secret").unwrap();
        assert_eq!(basic.header(), "Basic bWU6c2VjcmV0");
        assert_eq!(bearer.header(), "Bearer secret");
        assert_eq!(format!("{basic:?} {bearer:?}"), "Authorization Authorization");
        for token in ["", "a b", "a\r\nb", "ä"] {
            assert_eq!(Authorization::bearer(token), None);
        }
    }
}
