//! `--save`: the function that ran becomes one of the Kptfile's pipeline.

use std::collections::BTreeMap;

use krm_core::{Diagnostic, Package, PackagePath};
use krm_yaml::{Edit, File, NodeRef, Path, Segment, Value};

use crate::Failure;
use crate::show::Screen;

const KPTFILE: &str = "Kptfile";

/// What is saved.
#[derive(Clone, Debug)]
pub(super) struct Saving {
    /// `mutator` or `validator`.
    pub(super) role: &'static str,
    /// `image` or `exec`.
    pub(super) runtime: &'static str,
    pub(super) name: String,
    pub(super) config: Config,
    /// `selectors` and `exclude`, each with its fields.
    pub(super) selection: [(&'static str, Vec<(&'static str, String)>); 2],
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
        screen: &mut Screen,
    ) -> Result<(), Failure> {
        let kptfile = package.files().iter().find(|file| file.path.as_str() == KPTFILE);
        let Some(kptfile) = kptfile else {
            let told = Diagnostic::warning("the function is not saved: there is no Kptfile");
            screen.tell(&told.hint("make one with `kpt pkg init`, or by hand"));
            return Ok(());
        };
        let text = match texts.get(&kptfile.path) {
            Some(Some(text)) => text.clone(),
            _ => kptfile.file().map(|file| file.text().to_owned()).unwrap_or_default(),
        };
        let file = File::parse(text).map_err(|error| Failure::input(Diagnostic::from(&error)))?;
        let (text, is_new) =
            self.edited(&file).map_err(|told| Failure::input(told.in_file(&*kptfile.shown)))?;
        texts.insert(kptfile.path.clone(), Some(text));
        let word = if is_new { "Added" } else { "Updated" };
        screen.say(&format!("{word} \"{}\" as {} in the Kptfile.", self.name, self.role));
        Ok(())
    }

    fn edited(&self, file: &File) -> Result<(String, bool), Diagnostic> {
        let document = file.documents().find(|document| document.root().is_some());
        let document = document.ok_or_else(|| Diagnostic::error("the Kptfile is empty"))?;
        let list = Path::default().join("pipeline").join(&format!("{}s", self.role));
        let entries = document.find(&list).and_then(NodeRef::as_sequence);
        let is_it = |(_, node): &(usize, NodeRef<'_>)| {
            let name = node.step(&Segment::Key(self.runtime.to_owned()));
            name.and_then(NodeRef::as_str).is_some_and(|name| name == self.name)
        };
        let entries = entries.into_iter().flat_map(|entries| entries.items());
        let there = entries.enumerate().find(is_it).map(|(at, _)| at);
        let mut edit = Edit::new(file);
        let told = |error: krm_yaml::PathEditError| Diagnostic::from_path_edit(&error, file);
        let mut path = list;
        match there {
            None => {
                path.push(Segment::End);
                let head = (Value::from(self.runtime), Value::string(self.name.clone()));
                let fields = std::iter::once(head).chain(self.fields()).collect();
                edit.set_at(document, &path, Value::Mapping(fields)).map_err(told)?;
            }
            Some(at) => {
                path.push(Segment::Index(at));
                for (key, value) in self.fields() {
                    let Value::String(key) = key else { continue };
                    edit.set_at(document, &path.join(&key), value).map_err(told)?;
                }
            }
        }
        let text = edit.apply().map_err(|error| Diagnostic::from_edit(&error, file))?;
        Ok((text, there.is_none()))
    }

    fn fields(&self) -> Vec<(Value<'static>, Value<'static>)> {
        let text = |text: &str| Value::string(text.to_owned());
        let pairs = |pairs: &[(String, String)]| {
            Value::Mapping(pairs.iter().map(|(key, value)| (text(key), text(value))).collect())
        };
        let mut fields = match &self.config {
            Config::None => Vec::new(),
            Config::Path(path) => vec![(Value::from("configPath"), text(path))],
            Config::Map(map) => vec![(Value::from("configMap"), pairs(map))],
        };
        for (name, wanted) in self.selection.iter().filter(|(_, wanted)| !wanted.is_empty()) {
            let entries = wanted.iter().map(|(key, value)| (text(key), text(value))).collect();
            fields.push((Value::from(*name), Value::Sequence(vec![Value::Mapping(entries)])));
        }
        fields
    }
}
