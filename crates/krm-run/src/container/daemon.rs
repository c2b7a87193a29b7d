//! Docker's daemon, asked directly over its socket: starting docker's client for a query takes longer than all of krm.
//!
//! Whatever is uncertain here is left to the client.

use std::path::{Path, PathBuf};

use krm_yaml::File;

use crate::{Environment, RegularFileError, read_regular_file};

/// Where the daemon listens by default.
const DEFAULT_SOCKET: &str = "/var/run/docker.sock";

/// The largest configuration of docker that is read.
const MAX_CONFIG: u64 = 16 << 20;

/// Whether the daemon listens on the socket that docker will use. `false` means unknown: ask the client.
pub(super) fn is_listening(engine: &str, environment: &Environment) -> bool {
    socket_path(engine, environment).is_some_and(|path| socket::is_listening(&path))
}

/// What `image inspect` would print: one repository digest per line, and the id of the image last. None if the client must
/// be asked.
pub(super) fn image(engine: &str, environment: &Environment, image: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
    let path = socket_path(engine, environment).filter(|_| image.chars().all(is_plain))?;
    let response = socket::get(&path, &format!("/images/{image}/json"))?;
    let (head, body) = response.split_once("\r\n\r\n")?;
    let is_ok = head.lines().next()?.split(' ').nth(1) == Some("200");
    digest_lines(body).filter(|_| is_ok)
}

/// The digests and the id of an image. JSON is YAML, too.
fn digest_lines(json: &str) -> Option<String> {
    let file = File::parse(json.to_owned()).ok()?;
    let about = file.documents().next()?.root()?.as_mapping()?;
    let id = about.get("Id")?.as_str()?;
    let digests = about.get("RepoDigests").and_then(|node| node.as_sequence());
    let digests = digests.into_iter().flat_map(|list| list.items());
    let digests = digests.filter_map(|node| node.as_str());
    Some(digests.chain([id]).map(|line| format!("{line}\n")).collect())
}

/// The socket that docker will use, if that is certain. Compat: docker's own order of precedence.
fn socket_path(engine: &str, environment: &Environment) -> Option<PathBuf> {
    let set = |name: &str| environment.get(name).filter(|value| !value.is_empty());
    if engine != "docker" {
        return None;
    }
    if let Some(host) = set("DOCKER_HOST") {
        return host.to_str()?.strip_prefix("unix://").map(PathBuf::from);
    }
    let is_elsewhere = set("DOCKER_CONTEXT").is_some() || has_context(environment);
    (!is_elsewhere).then(|| PathBuf::from(DEFAULT_SOCKET))
}

/// Whether docker's configuration may select another daemon.
fn has_context(environment: &Environment) -> bool {
    let directory = environment.get("DOCKER_CONFIG").map(PathBuf::from);
    let home = || environment.get("HOME").map(|home| Path::new(home).join(".docker"));
    let Some(directory) = directory.or_else(home) else { return true };
    match read_regular_file(&directory.join("config.json"), MAX_CONFIG) {
        Ok(text) => String::from_utf8_lossy(&text).contains("currentContext"),
        Err(RegularFileError::Io(error)) => error.kind() != std::io::ErrorKind::NotFound,
        Err(_) => true,
    }
}

#[cfg(unix)]
mod socket {
    //! One HTTP request over a Unix socket.

    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::time::Duration;

    /// A slower daemon is asked by the client, which can be interrupted.
    const TIMEOUT: Duration = Duration::from_secs(2);
    /// Far more than the description of an image.
    const MAX_RESPONSE: u64 = 1 << 20;

    pub(super) fn is_listening(path: &Path) -> bool {
        UnixStream::connect(path).is_ok()
    }

    pub(super) fn get(path: &Path, resource: &str) -> Option<String> {
        let mut stream = UnixStream::connect(path).ok()?;
        stream.set_read_timeout(Some(TIMEOUT)).ok()?;
        stream.set_write_timeout(Some(TIMEOUT)).ok()?;
        // HTTP/1.0: the response is not chunked and ends with the stream.
        let request = format!("GET {resource} HTTP/1.0\r\nHost: docker\r\n\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        let mut response = String::new();
        stream.take(MAX_RESPONSE).read_to_string(&mut response).ok()?;
        Some(response)
    }
}

#[cfg(not(unix))]
mod socket {
    //! Docker does not listen on Unix sockets here.

    use std::path::Path;

    pub(super) fn is_listening(_: &Path) -> bool {
        false
    }

    pub(super) fn get(_: &Path, _: &str) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket_of(variables: &[(&str, &str)]) -> Option<String> {
        let environment = Environment::from_iter(variables.iter().copied());
        socket_path("docker", &environment).map(|path| path.display().to_string())
    }

    #[test]
    fn socket_follows_the_configuration_of_docker() {
        let home = tempfile::tempdir().expect("a temporary directory");
        let name = home.path().to_str().expect("a UTF-8 path");
        assert_eq!(socket_of(&[("HOME", name)]).as_deref(), Some(DEFAULT_SOCKET));
        let host = ("DOCKER_HOST", "unix:///run/mine.sock");
        assert_eq!(socket_of(&[host, ("DOCKER_CONTEXT", "x")]).as_deref(), Some("/run/mine.sock"));
        assert_eq!(socket_of(&[("HOME", name), ("DOCKER_HOST", "tcp://far:2376")]), None);
        assert_eq!(socket_of(&[("HOME", name), ("DOCKER_CONTEXT", "far")]), None);
        assert_eq!(socket_of(&[]), None);
        std::fs::create_dir(home.path().join(".docker")).expect("a directory");
        let file = home.path().join(".docker/config.json");
        std::fs::write(&file, "{}").expect("a file");
        assert_eq!(socket_of(&[("HOME", name)]).as_deref(), Some(DEFAULT_SOCKET));
        std::fs::write(&file, "{\"currentContext\": \"far\"}").expect("a file");
        assert_eq!(socket_of(&[("HOME", name)]), None);
    }

    #[test]
    fn digests_come_before_the_id() {
        let json =
            "{\"Id\":\"sha256:9\",\"RepoDigests\":[\"a.io/x@sha256:1\"],\"Other\":{\"Id\":1}}";
        assert_eq!(digest_lines(json).as_deref(), Some("a.io/x@sha256:1\nsha256:9\n"));
        assert_eq!(
            digest_lines("{\"Id\":\"sha256:9\",\"RepoDigests\":null}").as_deref(),
            Some("sha256:9\n")
        );
        assert_eq!(digest_lines("{\"message\":\"no such image\"}"), None);
        assert_eq!(digest_lines("{"), None);
    }
}
