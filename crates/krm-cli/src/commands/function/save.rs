//! `--save`: adds the function that ran to the pipeline of the Kptfile.

use krm_core::{Diagnostic, Package};
use krm_yaml::{Edit, EmptyParents, File, NodeRef, Path, Segment, Value};

use super::finish::FileContents;
use super::kinds::FnCommandKind;
use crate::Failure;
use crate::console::Console;

const KPTFILE: &str = "Kptfile";

/// The fields of a saved function. All of them are replaced, so that the pipeline runs the function as it ran now.
const FIELDS: [&str; 5] = ["tag", "configPath", "configMap", "selectors", "exclude"];

/// The fields of a selector.
pub(super) type SelectorFields = Vec<(&'static str, Value<'static>)>;

/// A function for the pipeline of the Kptfile.
#[derive(Clone, Debug)]
pub(super) struct SavedFunction {
    /// `mutator` or `validator`.
    pub(super) role: &'static str,
    /// `image` or `exec`.
    pub(super) runtime: &'static str,
    pub(super) name: String,
    /// The tag of an image, or a version constraint, if it is a field of its own.
    pub(super) tag: Option<String>,
    pub(super) config: SavedConfig,
    /// `selectors` and `exclude`, each with its fields.
    pub(super) selection: [(&'static str, SelectorFields); 2],
}

/// The functionConfig of a saved function.
#[derive(Clone, Debug)]
pub(super) enum SavedConfig {
    None,
    /// A file of the package.
    Path(String),
    /// The data of a ConfigMap.
    Map(Vec<(String, String)>),
}

impl SavedFunction {
    /// Checks that the package has a Kptfile, before anything runs.
    pub(super) fn check(&self, package: &Package) -> Result<(), Failure> {
        match package.files().iter().any(|file| file.path.as_str() == KPTFILE) {
            true => Ok(()),
            false => {
                let error =
                    Diagnostic::error(FnCommandKind::CannotSave { reason: "no Kptfile found" });
                Err(Failure::input(error.hint("create one with `krm pkg init`")))
            }
        }
    }

    /// Adds the function to the Kptfile, or replaces the one of the same name.
    pub(super) fn apply(
        &self,
        package: &Package,
        contents: &mut FileContents,
        console: &mut Console,
    ) -> Result<(), Failure> {
        let kptfile = package.files().iter().find(|file| file.path.as_str() == KPTFILE);
        let Some(kptfile) = kptfile else { return Ok(()) };
        let text = match contents.get(&kptfile.path) {
            Some(Some(text)) => text.text().into_owned(),
            _ => kptfile.file().map(|file| file.text().to_owned()).unwrap_or_default(),
        };
        let file = File::parse(text).map_err(|error| Failure::input(Diagnostic::from(&error)))?;
        let (text, is_new) = self
            .edited(&file)
            .map_err(|error| Failure::input(error.in_file(&*kptfile.display_path)))?;
        contents.insert(kptfile.path.clone(), Some(text.into()));
        let verb = if is_new { "Added" } else { "Updated" };
        console.status(&format!("{verb} \"{}\" as {} in the Kptfile.", self.name, self.role));
        Ok(())
    }

    fn edited(&self, file: &File) -> Result<(String, bool), Diagnostic> {
        let document = file.documents().find(|document| document.root().is_some());
        let document = document.ok_or_else(|| {
            Diagnostic::error(FnCommandKind::EmptyDocument { what: "the Kptfile" })
        })?;
        let list = Path::default().join("pipeline").join(&format!("{}s", self.role));
        let entries = document.find(&list).and_then(NodeRef::as_sequence);
        let is_same = |(_, node): &(usize, NodeRef<'_>)| {
            let name = node.step(&Segment::Key(self.runtime.to_owned()));
            name.and_then(NodeRef::as_str).is_some_and(|name| name == self.name)
        };
        let entries = entries.into_iter().flat_map(|entries| entries.items());
        let existing = entries.enumerate().find(is_same).map(|(at, _)| at);
        let mut edit = Edit::new(file);
        let refused = |error: krm_yaml::EditError| Diagnostic::from_edit(&error, file);
        let mut path = list;
        match existing {
            None => {
                path.push(Segment::End);
                let head = (Value::from(self.runtime), Value::string(self.name.clone()));
                let fields = self.fields().into_iter().map(|(key, value)| (key.into(), value));
                let fields = std::iter::once(head).chain(fields).collect();
                edit.set_at(document, &path, Value::Mapping(fields)).map_err(refused)?;
            }
            Some(at) => {
                path.push(Segment::Index(at));
                let mut fields = self.fields();
                for key in FIELDS {
                    let path = path.join(key);
                    let given = fields.iter().position(|(field, _)| *field == key);
                    match given.map(|at| fields.swap_remove(at).1) {
                        Some(value) => edit.set_at(document, &path, value).map_err(refused)?,
                        None if document.find(&path).is_some() => {
                            edit.remove_at(document, &path, EmptyParents::Remove)
                                .map_err(refused)?;
                        }
                        None => {}
                    }
                }
            }
        }
        let text = edit.apply().map_err(|error| Diagnostic::from_edit(&error, file))?;
        Ok((text, existing.is_none()))
    }

    fn fields(&self) -> SelectorFields {
        let string = |text: &str| Value::string(text.to_owned());
        let tag = self.tag.iter().map(|tag| ("tag", string(tag)));
        let config = match &self.config {
            SavedConfig::None => None,
            SavedConfig::Path(path) => Some(("configPath", string(path))),
            SavedConfig::Map(map) => Some(("configMap", pairs(map))),
        };
        let selectors = self.selection.iter().filter(|(_, fields)| !fields.is_empty());
        let selection = selectors.map(|(name, fields)| {
            let fields = fields.iter().cloned().map(|(key, value)| (key.into(), value)).collect();
            (*name, Value::Sequence(vec![Value::Mapping(fields)]))
        });
        tag.chain(config).chain(selection).collect()
    }
}

/// A mapping of strings.
pub(super) fn pairs(pairs: &[(String, String)]) -> Value<'static> {
    let string = |text: &String| Value::string(text.clone());
    Value::Mapping(pairs.iter().map(|(key, value)| (string(key), string(value))).collect())
}
