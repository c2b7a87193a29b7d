//! Docker's daemon, asked directly: starting docker's program only for a question takes longer than all that krm does.
//!
//! Whatever is not certain here is left to the program.

use std::path::{Path, PathBuf};

use krm_yaml::File;

use crate::Environment;

/// Where the daemon listens unless somebody says otherwise.
const USUAL: &str = "/var/run/docker.sock";

/// Whether somebody listens where docker will look. A `false` says nothing: then docker itself has to be asked.
pub(super) fn is_there(engine: &str, environment: &Environment) -> bool {
    address(engine, environment).is_some_and(|path| wire::listens(&path))
}

/// What `image inspect` would say: one digest a line, and the image's own number last. None where the program must be asked.
pub(super) fn image(engine: &str, environment: &Environment, image: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/:@".contains(c);
    let path = address(engine, environment).filter(|_| image.chars().all(is_plain))?;
    let answer = wire::ask(&path, &format!("/images/{image}/json"))?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let is_good = head.lines().next()?.split(' ').nth(1) == Some("200");
    lines(body).filter(|_| is_good)
}

/// JSON is YAML, too.
fn lines(json: &str) -> Option<String> {
    let file = File::parse(json.to_owned()).ok()?;
    let about = file.documents().next()?.root()?.as_mapping()?;
    let id = about.get("Id")?.as_str()?;
    let digests = about.get("RepoDigests").and_then(|node| node.as_sequence());
    let digests = digests.into_iter().flat_map(|list| list.items());
    let digests = digests.filter_map(|node| node.as_str());
    Some(digests.chain([id]).map(|line| format!("{line}\n")).collect())
}

/// The socket that docker will use, where that is certain. Compat: docker's own order.
fn address(engine: &str, environment: &Environment) -> Option<PathBuf> {
    let set = |name: &str| environment.get(name).filter(|value| !value.is_empty());
    if engine != "docker" {
        return None;
    }
    if let Some(host) = set("DOCKER_HOST") {
        return host.to_str()?.strip_prefix("unix://").map(PathBuf::from);
    }
    let is_elsewhere = set("DOCKER_CONTEXT").is_some() || has_context(environment);
    (!is_elsewhere).then(|| PathBuf::from(USUAL))
}

/// Whether the person's configuration may name another daemon.
fn has_context(environment: &Environment) -> bool {
    let folder = environment.get("DOCKER_CONFIG").map(PathBuf::from);
    let home = || environment.get("HOME").map(|home| Path::new(home).join(".docker"));
    let Some(folder) = folder.or_else(home) else { return true };
    match std::fs::read_to_string(folder.join("config.json")) {
        Ok(text) => text.contains("currentContext"),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

#[cfg(unix)]
mod wire {
    //! One question and its answer, on a socket.

    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::time::Duration;

    /// A daemon that takes longer is asked by its own program, which can be stopped.
    const PATIENCE: Duration = Duration::from_secs(2);
    /// Far more than there is to say about an image.
    const MOST: u64 = 1 << 20;

    pub(super) fn listens(path: &Path) -> bool {
        UnixStream::connect(path).is_ok()
    }

    pub(super) fn ask(path: &Path, question: &str) -> Option<String> {
        let mut stream = UnixStream::connect(path).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        stream.set_write_timeout(Some(PATIENCE)).ok()?;
        // The older version of the protocol: the answer comes in one piece and ends with the stream.
        let words = format!("GET {question} HTTP/1.0\r\nHost: docker\r\n\r\n");
        stream.write_all(words.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.take(MOST).read_to_string(&mut answer).ok()?;
        Some(answer)
    }
}

#[cfg(not(unix))]
mod wire {
    //! Docker does not listen on such sockets here.

    use std::path::Path;

    pub(super) fn listens(_: &Path) -> bool {
        false
    }

    pub(super) fn ask(_: &Path, _: &str) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address_of(variables: &[(&str, &str)]) -> Option<String> {
        let environment = Environment::from_iter(variables.iter().copied());
        address("docker", &environment).map(|path| path.display().to_string())
    }

    #[test]
    fn the_socket_is_the_one_that_docker_would_use() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let name = home.path().to_str().expect("a name of letters");
        assert_eq!(address_of(&[("HOME", name)]).as_deref(), Some(USUAL));
        let host = ("DOCKER_HOST", "unix:///run/mine.sock");
        assert_eq!(address_of(&[host, ("DOCKER_CONTEXT", "x")]).as_deref(), Some("/run/mine.sock"));
        assert_eq!(address_of(&[("HOME", name), ("DOCKER_HOST", "tcp://far:2376")]), None);
        assert_eq!(address_of(&[("HOME", name), ("DOCKER_CONTEXT", "far")]), None);
        assert_eq!(address_of(&[]), None);
        std::fs::create_dir(home.path().join(".docker")).expect("a folder");
        let file = home.path().join(".docker/config.json");
        std::fs::write(&file, "{}").expect("a file");
        assert_eq!(address_of(&[("HOME", name)]).as_deref(), Some(USUAL));
        std::fs::write(&file, "{\"currentContext\": \"far\"}").expect("a file");
        assert_eq!(address_of(&[("HOME", name)]), None);
    }

    #[test]
    fn digests_come_before_the_number() {
        let json =
            "{\"Id\":\"sha256:9\",\"RepoDigests\":[\"a.io/x@sha256:1\"],\"Other\":{\"Id\":1}}";
        assert_eq!(lines(json).as_deref(), Some("a.io/x@sha256:1\nsha256:9\n"));
        assert_eq!(
            lines("{\"Id\":\"sha256:9\",\"RepoDigests\":null}").as_deref(),
            Some("sha256:9\n")
        );
        assert_eq!(lines("{\"message\":\"no such image\"}"), None);
        assert_eq!(lines("{"), None);
    }
}
