//! The cache that machines share: where its address and credentials come from. Without the feature `oci` an address is an error.
//!
//! Only flags, variables and the configuration of the user name a server, because a server decides what functions return. That results are
//! uploaded is not part of the configuration: what one machine uploads, all others use, so it is said for each job.

#[cfg(feature = "oci")]
#[path = "server.rs"]
mod backend;
#[cfg(not(feature = "oci"))]
#[path = "unsupported.rs"]
mod backend;

use std::fmt;

use krm_core::Diagnostic;

pub(crate) use backend::SharedServer;

use super::CacheKind;

const SERVER_VARIABLE: &str = "KRM_CACHE_SERVER";
const UPLOAD_VARIABLE: &str = "KRM_CACHE_UPLOAD";
const TOKEN_VARIABLE: &str = "KRM_CACHE_TOKEN";
const USER_VARIABLE: &str = "KRM_CACHE_USER";
const PASSWORD_VARIABLE: &str = "KRM_CACHE_PASSWORD";

/// Instead of an address: no server, whatever is configured elsewhere.
const OFF: &str = "off";

/// The address of a server, and where it comes from, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerAddress {
    pub(crate) url: String,
    pub(crate) source: &'static str,
}

impl ServerAddress {
    /// The address that counts: that of the flag, of the variable or of the configuration; none if there is none, or the first one is
    /// `off`.
    pub(crate) fn find(flag: Option<&str>, configured: Option<&str>) -> Option<Self> {
        Self::first(flag, variable(SERVER_VARIABLE).as_deref(), configured)
    }

    fn first(flag: Option<&str>, variable: Option<&str>, configured: Option<&str>) -> Option<Self> {
        let flag = flag.map(|url| (url, "--cache-server"));
        let variable = variable.map(|url| (url, SERVER_VARIABLE));
        let configured = configured.map(|url| (url, "the configuration"));
        let (url, source) = flag.or(variable).or(configured)?;
        (url != OFF).then(|| Self { url: url.to_owned(), source })
    }
}

/// Whether results are uploaded, as the environment says.
pub(crate) fn uploads_by_variable() -> Result<bool, CacheKind> {
    match variable(UPLOAD_VARIABLE).as_deref() {
        None | Some("false" | "0") => Ok(false),
        Some("true" | "1") => Ok(true),
        Some(value) => Err(CacheKind::InvalidUploadVariable { value: value.to_owned() }),
    }
}

/// What krm identifies itself with. It is never printed.
#[cfg_attr(not(feature = "oci"), expect(dead_code, reason = "nothing is sent"))]
enum Credentials {
    Token(String),
    Password { user: String, password: String },
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

impl Credentials {
    /// Those of the environment.
    fn find() -> Result<Option<Self>, CacheKind> {
        let invalid = |reason: &str| CacheKind::InvalidCredentials { reason: reason.to_owned() };
        let (user, password) = (variable(USER_VARIABLE), variable(PASSWORD_VARIABLE));
        match (variable(TOKEN_VARIABLE), user, password) {
            (None, None, None) => Ok(None),
            (Some(token), None, None) => Ok(Some(Self::Token(token))),
            (None, Some(user), Some(password)) if !user.contains(':') => {
                Ok(Some(Self::Password { user, password }))
            }
            (None, Some(_), Some(_)) => Err(invalid("KRM_CACHE_USER contains a colon")),
            (None, Some(_), None) => {
                Err(invalid("KRM_CACHE_USER is set without KRM_CACHE_PASSWORD"))
            }
            (None, None, Some(_)) => {
                Err(invalid("KRM_CACHE_PASSWORD is set without KRM_CACHE_USER"))
            }
            (Some(_), _, _) => Err(invalid(
                "KRM_CACHE_TOKEN is set together with KRM_CACHE_USER or KRM_CACHE_PASSWORD",
            )),
        }
    }
}

/// The server at an address, with the credentials of the environment. Nothing is sent yet.
pub(crate) fn open(address: &ServerAddress) -> Result<SharedServer, Diagnostic> {
    backend::open(address, Credentials::find().map_err(Diagnostic::error)?)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_counts_before_variable_and_configuration() {
        let first = |flag, variable, configured| {
            ServerAddress::first(flag, variable, configured).map(|it| (it.url, it.source))
        };
        let some = |url: &str, source| Some((url.to_owned(), source));
        assert_eq!(first(Some("a"), Some("b"), Some("c")), some("a", "--cache-server"));
        assert_eq!(first(None, Some("b"), Some("c")), some("b", "KRM_CACHE_SERVER"));
        assert_eq!(first(None, None, Some("c")), some("c", "the configuration"));
        assert_eq!(first(Some("off"), Some("b"), Some("c")), None);
        assert_eq!(first(None, Some("off"), Some("c")), None);
        assert_eq!(first(None, None, None), None);
    }
}
