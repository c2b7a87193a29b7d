//! The user's configuration of images and of the shared cache, for all packages.

use krm_core::Diagnostic;
use krm_core::diagnostics::CommonKind;
use krm_core::diagnostics::closest_name;
use krm_core::model::ImageName;
use krm_yaml::{Entry, File, NodeRef};

use super::{BuiltinPolicy, ImageTarget};
use crate::kinds::ResolutionKind;

const FIELDS: [&str; 4] = ["builtin", "cacheServer", "imagePrefix", "images"];

/// The user's configuration. Fields that are not set have their defaults.
///
/// ```
/// use krm_run::{Configuration, ImageTarget};
///
/// let text = "images:\n  gcr.io/kpt-fn/set-labels: container\n  example.com/labels: builtin/set-labels\n";
/// let file = krm_yaml::File::parse(text.to_owned())?;
/// let configuration = Configuration::read(&file).expect("all fields are known");
/// assert_eq!(configuration.images[0].1, ImageTarget::Container(None));
/// assert_eq!(configuration.images[1].1, ImageTarget::Builtin(Some("set-labels".to_owned())));
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Whether built-in functions replace images.
    pub builtin: Option<BuiltinPolicy>,
    /// The prefix of image names without a registry.
    pub prefix: Option<String>,
    /// What images resolve to.
    pub images: Vec<(String, ImageTarget)>,
    /// The address of the cache that machines share, as it is written.
    pub cache_server: Option<String>,
}

impl Configuration {
    /// Reads a file. All errors are returned together.
    pub fn read(file: &File) -> Result<Self, Vec<Diagnostic>> {
        let mut reader = Reader { file, errors: Vec::new(), read: Self::default() };
        reader.errors.extend(file.errors().map(|error| Diagnostic::from_syntax(error, file)));
        if let Some(root) = file.document(0).and_then(|document| document.root()) {
            reader.root(root);
        }
        if reader.errors.is_empty() { Ok(reader.read) } else { Err(reader.errors) }
    }
}

struct Reader<'a> {
    file: &'a File,
    errors: Vec<Diagnostic>,
    read: Configuration,
}

impl<'a> Reader<'a> {
    fn error(&mut self, node: NodeRef<'a>, error: Diagnostic) {
        self.errors.push(error.at(self.file, node.span()));
    }

    fn root(&mut self, root: NodeRef<'a>) {
        let Some(mapping) = root.as_mapping() else {
            let hint = format!("the fields are {}", FIELDS.join(", "));
            return self.error(root, wrong_type("a mapping", root).hint(hint));
        };
        for entry in mapping.entries() {
            let name = entry.key.as_str().unwrap_or_default();
            match &*name {
                "images" => self.images(entry.value.resolve()),
                "imagePrefix" => self.read.prefix = entry.value.as_str().map(|it| it.into_owned()),
                "builtin" => self.builtin(entry.value),
                "cacheServer" => match entry.value.as_str() {
                    Some(address) => self.read.cache_server = Some(address.into_owned()),
                    None => self.error(entry.value, wrong_type("a string", entry.value)),
                },
                _ => {
                    let hint = match closest_name(FIELDS, &name) {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None => format!("the fields are {}", FIELDS.join(", ")),
                    };
                    let (field, owner) = (name.into_owned(), "the configuration".to_owned());
                    let error = Diagnostic::error(CommonKind::UnknownField { field, owner });
                    self.error(entry.key, error.hint(hint));
                }
            }
        }
    }

    fn builtin(&mut self, node: NodeRef<'a>) {
        match node.as_str().as_deref() {
            Some("fitting") => self.read.builtin = Some(BuiltinPolicy::WhenAvailable),
            Some("never") => self.read.builtin = Some(BuiltinPolicy::Never),
            Some("only") => self.read.builtin = Some(BuiltinPolicy::Only),
            _ => self.error(node, Diagnostic::error(ResolutionKind::InvalidBuiltinMode)),
        }
    }

    fn images(&mut self, node: NodeRef<'a>) {
        let Some(mapping) = node.as_mapping() else {
            let hint = "write `IMAGE: container`, `IMAGE: builtin/NAME` or `IMAGE: OTHER-IMAGE`";
            return self.error(node, wrong_type("a mapping of images", node).hint(hint));
        };
        for entry in mapping.entries() {
            match image(&entry) {
                Ok(pair) => self.read.images.push(pair),
                Err((node, error)) => {
                    let hint = "write `container`, `builtin/NAME` or another image";
                    self.error(node, error.hint(hint));
                }
            }
        }
    }
}

fn image<'a>(entry: &Entry<'a>) -> Result<(String, ImageTarget), (NodeRef<'a>, Box<Diagnostic>)> {
    let name = |node: NodeRef<'a>| {
        let text = node.as_str().ok_or_else(|| (node, Box::new(wrong_type("a string", node))))?;
        ImageName::parse(&text).map_err(|error| {
            let reason = error.to_string().into();
            (node, Box::new(Diagnostic::error(ResolutionKind::InvalidImage { reason })))
        })?;
        Ok(text.into_owned())
    };
    let (image, value) = (name(entry.key)?, name(entry.value)?);
    let target = match value.as_str() {
        "container" => ImageTarget::Container(None),
        "builtin" => ImageTarget::Builtin(None),
        value => match value.strip_prefix("builtin/") {
            Some(name) => ImageTarget::Builtin(Some(name.to_owned())),
            None => ImageTarget::Container(Some(value.to_owned())),
        },
    };
    Ok((image, target))
}

fn wrong_type(expected: &str, node: NodeRef<'_>) -> Diagnostic {
    Diagnostic::error(CommonKind::wrong_type(expected, node.resolve()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Configuration, Vec<String>> {
        let messages =
            |it: Vec<Diagnostic>| it.into_iter().map(|it| it.message().to_owned()).collect();
        Configuration::read(&File::parse(text.to_owned()).unwrap()).map_err(messages)
    }

    #[test]
    fn all_fields_are_optional() {
        assert_eq!(read(""), Ok(Configuration::default()));
        let text = "builtin: never\nimagePrefix: mirror.local\nimages: {a: b/c:v1}\ncacheServer: http://cache\n";
        let all = read(text).unwrap();
        assert_eq!(all.cache_server.as_deref(), Some("http://cache"));
        assert_eq!(all.builtin, Some(BuiltinPolicy::Never));
        assert_eq!(all.prefix.as_deref(), Some("mirror.local"));
        assert_eq!(all.images[0].1, ImageTarget::Container(Some("b/c:v1".to_owned())));
    }

    #[test]
    fn all_errors_are_reported_together() {
        let errors = read("image: {}\nbuiltin: 1\nimages: {A: b, c: [d]}\n").unwrap_err();
        assert_eq!(
            errors,
            [
                "unknown field `image` in the configuration",
                "expected `fitting`, `never` or `only`",
                "invalid image name: invalid name segment `A`",
                "expected a string, found a sequence"
            ]
        );
        assert_eq!(read("cacheServer: []\n").unwrap_err(), ["expected a string, found a sequence"]);
        assert_eq!(read("- a\n").unwrap_err(), ["expected a mapping, found a sequence"]);
    }
}
