//! What the user has settled for all packages: which images are built in, and which are others.

use krm_core::Diagnostic;
use krm_core::diagnostics::closest_name;
use krm_core::model::ImageName;
use krm_yaml::{Entry, File, NodeRef};

use super::{Target, UseBuiltin};

const FIELDS: [&str; 3] = ["builtin", "imagePrefix", "images"];

/// The user's configuration. What is not said there is as it is without one.
///
/// ```
/// use krm_run::{Configuration, Target};
///
/// let text = "images:\n  gcr.io/kpt-fn/set-labels: container\n  example.com/labels: builtin/set-labels\n";
/// let file = krm_yaml::File::parse(text.to_owned())?;
/// let configuration = Configuration::read(&file).expect("all of it is known");
/// assert_eq!(configuration.images[0].1, Target::Container(None));
/// assert_eq!(configuration.images[1].1, Target::Builtin(Some("set-labels".to_owned())));
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Whether built-in functions stand for images.
    pub builtin: Option<UseBuiltin>,
    /// What stands before the name of an image that has none.
    pub prefix: Option<String>,
    /// What runs for certain images.
    pub images: Vec<(String, Target)>,
}

impl Configuration {
    /// Reads the file. Everything that is wrong with it comes together.
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
    fn wrong(&mut self, node: NodeRef<'a>, words: impl Into<String>, hint: impl Into<String>) {
        self.errors.push(Diagnostic::untyped_error(words).at(self.file, node.span()).hint(hint));
    }

    fn root(&mut self, root: NodeRef<'a>) {
        let Some(mapping) = root.as_mapping() else {
            return self.wrong(root, "a mapping is wanted", format!("with {}", FIELDS.join(", ")));
        };
        for entry in mapping.entries() {
            let name = entry.key.as_str().unwrap_or_default();
            match &*name {
                "images" => self.images(entry.value.resolve()),
                "imagePrefix" => self.read.prefix = entry.value.as_str().map(|it| it.into_owned()),
                "builtin" => self.builtin(entry.value),
                _ => {
                    let hint = match closest_name(FIELDS, &name) {
                        Some(meant) => format!("did you mean `{meant}`?"),
                        None => format!("there are {}", FIELDS.join(", ")),
                    };
                    self.wrong(entry.key, format!("`{name}` is nothing that can be settled"), hint);
                }
            }
        }
    }

    fn builtin(&mut self, node: NodeRef<'a>) {
        match node.as_str().as_deref() {
            Some("fitting") => self.read.builtin = Some(UseBuiltin::WhereItFits),
            Some("never") => self.read.builtin = Some(UseBuiltin::Never),
            Some("only") => self.read.builtin = Some(UseBuiltin::Only),
            _ => self.wrong(node, "this is no use of built-in functions", "fitting, never or only"),
        }
    }

    fn images(&mut self, node: NodeRef<'a>) {
        let Some(mapping) = node.as_mapping() else {
            let hint = "write `IMAGE: container`, `IMAGE: builtin/NAME` or `IMAGE: OTHER-IMAGE`";
            return self.wrong(node, "a mapping of images is wanted", hint);
        };
        for entry in mapping.entries() {
            match image(&entry) {
                Ok(pair) => self.read.images.push(pair),
                Err((node, words)) => {
                    self.wrong(node, words, "write `container`, `builtin/NAME` or another image");
                }
            }
        }
    }
}

fn image<'a>(entry: &Entry<'a>) -> Result<(String, Target), (NodeRef<'a>, String)> {
    let text = |node: NodeRef<'a>| {
        let text = node.as_str().ok_or_else(|| (node, "a text is wanted".to_owned()))?;
        ImageName::parse(&text).map_err(|error| (node, error.to_string()))?;
        Ok(text.into_owned())
    };
    let (of, value) = (text(entry.key)?, text(entry.value)?);
    let target = match value.as_str() {
        "container" => Target::Container(None),
        "builtin" => Target::Builtin(None),
        value => match value.strip_prefix("builtin/") {
            Some(name) => Target::Builtin(Some(name.to_owned())),
            None => Target::Container(Some(value.to_owned())),
        },
    };
    Ok((of, target))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Configuration, Vec<String>> {
        let told = |it: Vec<Diagnostic>| it.into_iter().map(|it| it.message().to_owned()).collect();
        Configuration::read(&File::parse(text.to_owned()).unwrap()).map_err(told)
    }

    #[test]
    fn everything_can_be_left_out() {
        assert_eq!(read(""), Ok(Configuration::default()));
        let all = read("builtin: never\nimagePrefix: mirror.local\nimages: {a: b/c:v1}\n").unwrap();
        assert_eq!(all.builtin, Some(UseBuiltin::Never));
        assert_eq!(all.prefix.as_deref(), Some("mirror.local"));
        assert_eq!(all.images[0].1, Target::Container(Some("b/c:v1".to_owned())));
    }

    #[test]
    fn all_mistakes_are_told() {
        let told = read("image: {}\nbuiltin: 1\nimages: {A: b, c: [d]}\n").unwrap_err();
        assert_eq!(
            told,
            [
                "`image` is nothing that can be settled",
                "this is no use of built-in functions",
                "`A` is no part of an image's name",
                "a text is wanted"
            ]
        );
        assert_eq!(read("- a\n").unwrap_err(), ["a mapping is wanted"]);
    }
}
