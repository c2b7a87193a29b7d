//! `--save`: the function that ran becomes one of the Kptfile's pipeline.

use std::collections::BTreeMap;

use krm_core::{Diagnostic, Package, PackagePath};
use krm_yaml::{Edit, EmptyParents, File, NodeRef, Path, Segment, Value};

use crate::Failure;
use crate::console::Console;

const KPTFILE: &str = "Kptfile";

/// What a function in a pipeline is told and given: all of it is as it was when the function ran.
const FIELDS: [&str; 5] = ["tag", "configPath", "configMap", "selectors", "exclude"];

/// What a selector asks for, field by field.
pub(super) type Wanted = Vec<(&'static str, Value<'static>)>;

/// What is saved.
#[derive(Clone, Debug)]
pub(super) struct Saving {
    /// `mutator` or `validator`.
    pub(super) role: &'static str,
    /// `image` or `exec`.
    pub(super) runtime: &'static str,
    pub(super) name: String,
    /// The tag of an image, or a constraint on it, where it stands apart.
    pub(super) tag: Option<String>,
    pub(super) config: Config,
    /// `selectors` and `exclude`, each with its fields.
    pub(super) selection: [(&'static str, Wanted); 2],
}

/// The configuration of what is saved.
#[derive(Clone, Debug)]
pub(super) enum Config {
    None,
    /// A file of the package.
    Path(String),
    /// Pairs.
    Map(Vec<(String, String)>),
}

impl Saving {
    /// Adds the function to the Kptfile, or renews what it says about it.
    pub(super) fn apply(
        &self,
        package: &Package,
        texts: &mut BTreeMap<PackagePath, Option<String>>,
        console: &mut Console,
    ) -> Result<(), Failure> {
        let kptfile = package.files().iter().find(|file| file.path.as_str() == KPTFILE);
        let Some(kptfile) = kptfile else {
            let told =
                Diagnostic::untyped_warning("the function is not saved: there is no Kptfile");
            console.report(&told.hint("make one with `kpt pkg init`, or by hand"));
            return Ok(());
        };
        let text = match texts.get(&kptfile.path) {
            Some(Some(text)) => text.clone(),
            _ => kptfile.file().map(|file| file.text().to_owned()).unwrap_or_default(),
        };
        let file = File::parse(text).map_err(|error| Failure::input(Diagnostic::from(&error)))?;
        let (text, is_new) = self
            .edited(&file)
            .map_err(|told| Failure::input(told.in_file(&*kptfile.display_path)))?;
        texts.insert(kptfile.path.clone(), Some(text));
        let word = if is_new { "Added" } else { "Updated" };
        console.status(&format!("{word} \"{}\" as {} in the Kptfile.", self.name, self.role));
        Ok(())
    }

    fn edited(&self, file: &File) -> Result<(String, bool), Diagnostic> {
        let document = file.documents().find(|document| document.root().is_some());
        let document = document.ok_or_else(|| Diagnostic::untyped_error("the Kptfile is empty"))?;
        let list = Path::default().join("pipeline").join(&format!("{}s", self.role));
        let entries = document.find(&list).and_then(NodeRef::as_sequence);
        let is_it = |(_, node): &(usize, NodeRef<'_>)| {
            let name = node.step(&Segment::Key(self.runtime.to_owned()));
            name.and_then(NodeRef::as_str).is_some_and(|name| name == self.name)
        };
        let entries = entries.into_iter().flat_map(|entries| entries.items());
        let there = entries.enumerate().find(is_it).map(|(at, _)| at);
        let mut edit = Edit::new(file);
        let told = |error: krm_yaml::EditError| Diagnostic::from_edit(&error, file);
        let mut path = list;
        match there {
            None => {
                path.push(Segment::End);
                let head = (Value::from(self.runtime), Value::string(self.name.clone()));
                let fields = self.fields().into_iter().map(|(key, value)| (key.into(), value));
                let fields = std::iter::once(head).chain(fields).collect();
                edit.set_at(document, &path, Value::Mapping(fields)).map_err(told)?;
            }
            Some(at) => {
                path.push(Segment::Index(at));
                let mut fields = self.fields();
                for key in FIELDS {
                    let path = path.join(key);
                    let given = fields.iter().position(|(field, _)| *field == key);
                    match given.map(|at| fields.swap_remove(at).1) {
                        Some(value) => edit.set_at(document, &path, value).map_err(told)?,
                        None if document.find(&path).is_some() => {
                            edit.remove_at(document, &path, EmptyParents::Remove).map_err(told)?;
                        }
                        None => {}
                    }
                }
            }
        }
        let text = edit.apply().map_err(|error| Diagnostic::from_edit(&error, file))?;
        Ok((text, there.is_none()))
    }

    fn fields(&self) -> Wanted {
        let text = |text: &str| Value::string(text.to_owned());
        let tag = self.tag.iter().map(|tag| ("tag", text(tag)));
        let config = match &self.config {
            Config::None => None,
            Config::Path(path) => Some(("configPath", text(path))),
            Config::Map(map) => Some(("configMap", pairs(map))),
        };
        let wanted = self.selection.iter().filter(|(_, wanted)| !wanted.is_empty());
        let selection = wanted.map(|(name, wanted)| {
            let fields = wanted.iter().cloned().map(|(key, value)| (key.into(), value)).collect();
            (*name, Value::Sequence(vec![Value::Mapping(fields)]))
        });
        tag.chain(config).chain(selection).collect()
    }
}

/// Texts by their names.
pub(super) fn pairs(pairs: &[(String, String)]) -> Value<'static> {
    let text = |text: &String| Value::string(text.clone());
    Value::Mapping(pairs.iter().map(|(key, value)| (text(key), text(value))).collect())
}
