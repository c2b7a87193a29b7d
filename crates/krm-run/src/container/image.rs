//! The image of a container: which one it is to the byte, and how it gets here.

use std::fmt;
use std::io;
use std::time::Duration;

use super::engine::Engine;
use crate::function::Ran;
use crate::{Interrupt, Limits, process};

/// An engine that cannot say this quickly does not know it.
const PATIENCE: Duration = Duration::from_secs(60);
/// Fetching depends on the network and not on the function.
const PULL_TIME: Duration = Duration::from_secs(1800);
/// One digest a line, and the image's own number last.
const FORMAT: &str = "--format={{range .RepoDigests}}{{println .}}{{end}}{{.Id}}";

/// Which image ran, to the byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The digest of what is on the disk: `sha256:…`.
    pub id: Box<str>,
    /// The name with the digest that a registry gave it; none for an image that was never in one.
    pub digest: Option<Box<str>>,
}

/// The digest that a registry gave, or that of what is on the disk.
impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.digest.as_ref().unwrap_or(&self.id))
    }
}

/// When an image is fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pull {
    /// Before every run.
    Always,
    /// When it is not here.
    #[default]
    IfNotPresent,
    /// Never: one that is not here is an error.
    Never,
}

/// The spellings of kpt, in any case, and of docker.
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
            _ => Err(format!("`{text}` is none of Always, IfNotPresent, Never")),
        }
    }
}

/// Which image the engine has under this name, if any.
pub(super) fn inspect(engine: &Engine, image: &str, interrupt: &Interrupt) -> Option<Image> {
    let words = ["image", "inspect", FORMAT, image];
    let said = engine.image(image).or_else(|| engine.ask(&words, PATIENCE, interrupt))?;
    read(&said, image)
}

fn read(said: &str, image: &str) -> Option<Image> {
    let mut lines: Vec<&str> =
        said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let id = lines.pop()?;
    // Compat: podman leaves out what kind of digest it is.
    let id = if id.contains(':') { id.to_owned() } else { format!("sha256:{id}") };
    let digest = lines.iter().find(|line| is_of(line, image)).or(lines.first());
    Some(Image { id: id.into(), digest: digest.map(|digest| (*digest).into()) })
}

/// Whether a digest is that of this very name: one image can have several.
fn is_of(digest: &str, image: &str) -> bool {
    let repository = digest.split('@').next().unwrap_or_default();
    let rest = image.strip_prefix(repository);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '@']))
}

/// Fetches the image, quietly.
pub(super) fn pull(engine: &Engine, image: &str, interrupt: &Interrupt) -> io::Result<Ran> {
    let mut command = engine.command();
    command.args(["pull", "--quiet", image]);
    let limits = Limits { time: PULL_TIME, ..Limits::default() };
    process::run(command, b"", &limits, interrupt, &mut |_| {})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_name_that_was_asked_for() {
        let said = "a.io/x@sha256:1\na.io/x-y@sha256:2\nb.io/z@sha256:3\n\nsha256:9\n";
        let digest = |image: &str| read(said, image).unwrap().to_string();
        assert_eq!(digest("a.io/x:v1"), "a.io/x@sha256:1");
        assert_eq!(digest("a.io/x-y"), "a.io/x-y@sha256:2");
        assert_eq!(digest("b.io/z@sha256:3"), "b.io/z@sha256:3");
        assert_eq!(digest("z"), "a.io/x@sha256:1");
    }

    #[test]
    fn an_image_that_was_never_in_a_registry_has_its_own_number() {
        let image = read("sha256:9\n", "x").unwrap();
        assert_eq!((image.to_string().as_str(), image.digest), ("sha256:9", None));
        assert_eq!(&*read("9\n", "x").unwrap().id, "sha256:9");
        assert_eq!(read("\n", "x"), None);
    }
}
