//! Credentials: docker's `config.json`, podman's `auth.json`, and docker's credential helpers.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use data_encoding::BASE64;
use serde::Deserialize;

use super::helper;
use crate::{Control, OciKind};

/// Docker's key for Docker Hub.
const DOCKER_HUB: &str = "https://index.docker.io/v1/";
/// Far more than any real file.
const MAX_FILE: u64 = 16 << 20;

/// A user name and password, or a token that is exchanged for others.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    Password { user: String, password: String },
    IdentityToken(String),
}

/// Secrets are never printed.
impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential")
    }
}

/// Where credentials come from. Files are read when a registry asks for credentials.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    files: Vec<PathBuf>,
    search_path: Vec<PathBuf>,
    environment: Vec<(OsString, OsString)>,
}

impl Credentials {
    /// The files that docker and podman use with this environment, in the order in which they are asked.
    pub fn from_environment(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let environment: Vec<(OsString, OsString)> = environment.into_iter().collect();
        let get = |name: &str| {
            let found = environment.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| PathBuf::from(value)).filter(|it| !it.as_os_str().is_empty())
        };
        let docker = get("DOCKER_CONFIG").or_else(|| get("HOME").map(|it| it.join(".docker")));
        let podman = get("XDG_RUNTIME_DIR").map(|it| it.join("containers/auth.json"));
        let files = [
            get("REGISTRY_AUTH_FILE"),
            docker.map(|it| it.join("config.json")),
            podman,
            get("HOME").map(|it| it.join(".config/containers/auth.json")),
        ];
        let path = get("PATH").unwrap_or_default();
        let search_path = std::env::split_paths(&path).filter(|it| it.is_absolute()).collect();
        Self { files: files.into_iter().flatten().collect(), search_path, environment }
    }

    /// The credential for a repository of a registry; none for an anonymous user.
    pub(super) fn find(
        &self,
        registry: &str,
        repository: &str,
        control: &Control,
    ) -> Result<Option<Credential>, OciKind> {
        for path in &self.files {
            if let Some(file) = ConfigFile::read(path)?
                && let Some(found) = self.find_in(&file, path, (registry, repository), control)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn find_in(
        &self,
        file: &ConfigFile,
        path: &Path,
        (registry, repository): (&str, &str),
        control: &Control,
    ) -> Result<Option<Credential>, OciKind> {
        let server = if registry == "docker.io" { DOCKER_HUB } else { registry };
        let helper = file.cred_helpers.get(registry).or_else(|| file.cred_helpers.get(server));
        if let Some(helper) = helper.or(file.creds_store.as_ref()) {
            let (path, environment) = (&self.search_path, &self.environment);
            let found = helper::get(helper, server, path, environment, control)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        // Compat: podman has keys with a repository, of which the longest counts. Docker has addresses.
        let whole = format!("{registry}/{repository}");
        let ends = whole.match_indices('/').map(|(at, _)| at).chain([whole.len()]);
        let mut keys: Vec<&str> = ends.map(|end| &whole[..end]).collect();
        keys.reverse();
        let entry = keys.iter().find_map(|key| file.auths.get(*key));
        let entry = entry.or_else(|| file.auths.get(server)).or_else(|| {
            let host = |key: &str| {
                let key = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://"))?;
                Some(key.split('/').next().unwrap_or(key).to_owned())
            };
            let mut entries = file.auths.iter();
            entries.find(|(key, _)| host(key).is_some_and(|it| it == registry)).map(|(_, it)| it)
        });
        entry.map_or(Ok(None), |entry| {
            entry.credential().map_err(|reason| OciKind::InvalidConfiguration {
                path: path.display().to_string(),
                reason: format!("the entry for `{registry}` {reason}"),
            })
        })
    }
}

/// The part of docker's configuration that is about credentials.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ConfigFile {
    auths: BTreeMap<String, AuthEntry>,
    cred_helpers: BTreeMap<String, String>,
    creds_store: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase", default)]
struct AuthEntry {
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
    identitytoken: Option<String>,
}

impl ConfigFile {
    /// Reads a file; none if there is none.
    fn read(path: &Path) -> Result<Option<Self>, OciKind> {
        let invalid = |reason: String| OciKind::InvalidConfiguration {
            path: path.display().to_string(),
            reason,
        };
        let mut text = Vec::new();
        let read = File::open(path).and_then(|file| file.take(MAX_FILE).read_to_end(&mut text));
        match read {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(invalid(error.to_string())),
            Ok(_) => {}
        }
        // The message of the parser could quote a secret.
        let parsed = serde_json::from_slice(&text).map_err(|error| {
            invalid(format!("invalid JSON at line {}, column {}", error.line(), error.column()))
        })?;
        Ok(Some(parsed))
    }
}

impl AuthEntry {
    fn credential(&self) -> Result<Option<Credential>, &'static str> {
        let is_set = |text: &&String| !text.is_empty();
        if let Some(token) = self.identitytoken.as_ref().filter(is_set) {
            return Ok(Some(Credential::IdentityToken(token.clone())));
        }
        if let Some(auth) = self.auth.as_ref().filter(is_set) {
            let decoded = BASE64.decode(auth.as_bytes()).map_err(|_| "is not valid Base64")?;
            let decoded = String::from_utf8(decoded).map_err(|_| "is not valid UTF-8")?;
            let (user, password) = decoded.split_once(':').ok_or("has no password")?;
            // Compat: docker ends some passwords with zero bytes.
            let password = password.trim_end_matches('\0').to_owned();
            return Ok(Some(Credential::Password { user: user.to_owned(), password }));
        }
        Ok(match (&self.username, &self.password) {
            (Some(user), Some(password)) => {
                Some(Credential::Password { user: user.clone(), password: password.clone() })
            }
            // An empty entry says that a store has the credential.
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(config: &str, registry: &str, repository: &str) -> Result<Option<Credential>, OciKind> {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("config.json"), config).unwrap();
        let environment = [("DOCKER_CONFIG".into(), directory.path().into())];
        Credentials::from_environment(environment).find(registry, repository, &Control::default())
    }

    fn password(user: &str, password: &str) -> Option<Credential> {
        Some(Credential::Password { user: user.to_owned(), password: password.to_owned() })
    }

    #[test]
    fn entry_of_the_registry_is_found() {
        let auth = BASE64.encode(b"me:p:w");
        let config = format!(r#"{{"auths":{{"a.io":{{"auth":"{auth}"}}}}, "x": 1}}"#);
        assert_eq!(find(&config, "a.io", "b").unwrap(), password("me", "p:w"));
        assert_eq!(find(&config, "b.io", "b").unwrap(), None);
        let hub = format!(r#"{{"auths":{{"{DOCKER_HUB}":{{"auth":"{auth}"}}}}}}"#);
        assert_eq!(find(&hub, "docker.io", "library/x").unwrap(), password("me", "p:w"));
        let address = format!(r#"{{"auths":{{"https://a.io/v2/":{{"auth":"{auth}"}}}}}}"#);
        assert_eq!(find(&address, "a.io", "b").unwrap(), password("me", "p:w"));
    }

    #[test]
    fn longest_key_of_podman_counts() {
        let config = r#"{"auths":{"a.io":{"username":"all","password":"1"},"a.io/team":{"username":"team","password":"2"}}}"#;
        assert_eq!(find(config, "a.io", "team/x").unwrap(), password("team", "2"));
        assert_eq!(find(config, "a.io", "teams/x").unwrap(), password("all", "1"));
    }

    #[test]
    fn identity_tokens_are_preferred() {
        let config = r#"{"auths":{"a.io":{"auth":"bWU6","identitytoken":"t"}}}"#;
        let expected = Some(Credential::IdentityToken("t".to_owned()));
        assert_eq!(find(config, "a.io", "x").unwrap(), expected);
    }

    #[test]
    fn errors_do_not_contain_secrets() {
        for config in
            [r#"{"auths":{"a.io":{"auth":"%secret"}}}"#, r#"{"auths": "secret"}"#, "{secret"]
        {
            let error = find(config, "a.io", "x").unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        let credential = password("me", "secret");
        assert!(!format!("{credential:?}").contains("secret"));
    }

    #[cfg(unix)]
    mod helpers {
        use std::os::unix::fs::PermissionsExt;

        use super::*;

        /// Runs a helper with this script.
        fn find(script: &str) -> Result<Option<Credential>, OciKind> {
            let directory = tempfile::tempdir().unwrap();
            let program = directory.path().join("docker-credential-test");
            std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            let config = r#"{"credHelpers":{"a.io":"test"}}"#;
            std::fs::write(directory.path().join("config.json"), config).unwrap();
            let path = format!("{}:/usr/bin:/bin", directory.path().display());
            let environment =
                [("DOCKER_CONFIG".into(), directory.path().into()), ("PATH".into(), path.into())];
            Credentials::from_environment(environment).find("a.io", "x", &Control::default())
        }

        #[test]
        fn helper_gets_the_registry_and_prints_the_credential() {
            let script = r#"read server; test "$1 $server" = "get a.io" && echo '{"ServerURL":"a.io","Username":"me","Secret":"pw"}'"#;
            assert_eq!(find(script).unwrap(), password("me", "pw"));
            let token = r#"echo '{"Username":"<token>","Secret":"t"}'"#;
            let expected = Some(Credential::IdentityToken("t".to_owned()));
            assert_eq!(find(token).unwrap(), expected);
        }

        #[test]
        fn helper_without_a_credential_is_an_anonymous_user() {
            let script = "echo credentials not found in native keychain; exit 1";
            assert_eq!(find(script).unwrap(), None);
        }

        #[test]
        fn failing_helper_is_an_error_without_its_output() {
            let error = find("echo secret; exit 3").unwrap_err();
            assert!(matches!(error, OciKind::CredentialHelper { .. }));
            assert!(!error.to_string().contains("secret"), "{error}");
            assert!(find("echo '{'").is_err());
        }

        #[test]
        fn helper_must_be_a_plain_name_on_the_path() {
            let directory = tempfile::tempdir().unwrap();
            for name in ["../x", "a/b", "", "missing"] {
                let config = format!(r#"{{"credsStore":"{name}"}}"#);
                std::fs::write(directory.path().join("config.json"), config).unwrap();
                let environment = [("DOCKER_CONFIG".into(), directory.path().into())];
                let found = Credentials::from_environment(environment).find(
                    "a.io",
                    "x",
                    &Control::default(),
                );
                assert!(found.is_err(), "{name}");
            }
        }
    }
}
