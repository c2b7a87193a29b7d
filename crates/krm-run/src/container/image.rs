//! The image of a container: its digest, and how it is pulled.

use std::fmt;
use std::io;
use std::time::Duration;

use super::engine::Engine;
use crate::{Execution, Interrupt, Invocation, Limits, process};

/// An engine that needs longer does not know the image.
const INSPECT_TIMEOUT: Duration = Duration::from_secs(60);
/// Pulling depends on the network and not on the function.
const PULL_TIMEOUT: Duration = Duration::from_secs(1800);
/// One repository digest per line, and the id of the image last.
const FORMAT: &str = "--format={{range .RepoDigests}}{{println .}}{{end}}{{.Id}}";

/// The exact image that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The id of the local image: `sha256:…`.
    pub id: Box<str>,
    /// The name with its registry digest; none for an image that was never in a registry.
    pub digest: Option<Box<str>>,
}

/// The registry digest, or else the id of the local image.
impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.digest.as_ref().unwrap_or(&self.id))
    }
}

/// When an image is pulled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pull {
    /// Before every run.
    Always,
    /// If it is not present.
    #[default]
    IfNotPresent,
    /// Never: a missing image is an error.
    Never,
}

/// The spellings of kpt in any case, and those of docker.
///
/// ```
/// use krm_run::Pull;
///
/// assert_eq!("ifNotPresent".parse(), Ok(Pull::IfNotPresent));
/// assert_eq!("missing".parse(), Ok(Pull::IfNotPresent));
/// assert!("sometimes".parse::<Pull>().is_err());
/// ```
impl std::str::FromStr for Pull {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "always" => Ok(Self::Always),
            "ifnotpresent" | "missing" => Ok(Self::IfNotPresent),
            "never" => Ok(Self::Never),
            _ => Err(format!("expected Always, IfNotPresent or Never, found `{text}`")),
        }
    }
}

/// The image that the engine has under this name, if any.
pub(super) fn inspect(engine: &Engine, image: &str, interrupt: &Interrupt) -> Option<Image> {
    let args = ["image", "inspect", FORMAT, image];
    let ask = || engine.ask(&args, INSPECT_TIMEOUT, interrupt);
    parse(&engine.image_from_daemon(image).or_else(ask)?, image)
}

fn parse(output: &str, image: &str) -> Option<Image> {
    let mut lines: Vec<&str> =
        output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let id = lines.pop()?;
    // Compat: podman leaves out the algorithm.
    let id = if id.contains(':') { id.to_owned() } else { format!("sha256:{id}") };
    let digest = lines.iter().find(|line| is_digest_of(line, image)).or(lines.first());
    Some(Image { id: id.into(), digest: digest.map(|digest| (*digest).into()) })
}

/// Whether a digest belongs to this name: an image can have several.
fn is_digest_of(digest: &str, image: &str) -> bool {
    let repository = digest.split('@').next().unwrap_or_default();
    let rest = image.strip_prefix(repository);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '@']))
}

/// Pulls the image.
pub(super) fn pull(engine: &Engine, image: &str, interrupt: &Interrupt) -> io::Result<Execution> {
    let mut command = engine.command();
    command.args(["pull", "--quiet", image]);
    let limits = Limits { time: PULL_TIMEOUT, ..Limits::default() };
    let interrupt = interrupt.clone();
    process::run(command, &mut Invocation { limits, interrupt, ..Invocation::new(b"") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_belongs_to_the_requested_name() {
        let output = "a.io/x@sha256:1\na.io/x-y@sha256:2\nb.io/z@sha256:3\n\nsha256:9\n";
        let digest = |image: &str| parse(output, image).unwrap().to_string();
        assert_eq!(digest("a.io/x:v1"), "a.io/x@sha256:1");
        assert_eq!(digest("a.io/x-y"), "a.io/x-y@sha256:2");
        assert_eq!(digest("b.io/z@sha256:3"), "b.io/z@sha256:3");
        assert_eq!(digest("z"), "a.io/x@sha256:1");
    }

    #[test]
    fn local_image_is_identified_by_its_id() {
        let image = parse("sha256:9\n", "x").unwrap();
        assert_eq!((image.to_string().as_str(), image.digest), ("sha256:9", None));
        assert_eq!(&*parse("9\n", "x").unwrap().id, "sha256:9");
        assert_eq!(parse("\n", "x"), None);
    }
}
