//! One function of a pipeline: its program, its functionConfig and its selectors.

use krm_yaml::{Mapping, NodeRef};

use super::selection::{Selection, Selector};
use super::{DeclarationSite, KptfileKind, Parser, config};
use crate::PackagePath;
use crate::diagnostics::CommonKind;
use crate::model::ImageName;
use crate::model::resource::{field, scalar_text};

/// A function of a pipeline.
#[derive(Clone, Debug)]
pub struct Function {
    /// The program that runs.
    pub program: Program,
    /// Whether it is a mutator or a validator.
    pub role: Role,
    /// The name that the pipeline gives it.
    pub name: Option<String>,
    /// The version constraint of the image.
    pub tag: Option<String>,
    /// Its functionConfig.
    pub config: Config,
    /// The condition under which it runs.
    pub condition: Option<Condition>,
    /// The resources that it gets.
    pub selection: Selection,
    /// Where it is declared.
    pub place: DeclarationSite,
}

/// The program of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// An image: a built-in function of that name, or else a container.
    Image(String),
    /// A command line.
    Exec(String),
    /// A WASI module.
    Wasm(String),
}

impl Program {
    /// The program as declared.
    pub fn text(&self) -> &str {
        match self {
            Self::Image(text) | Self::Exec(text) | Self::Wasm(text) => text,
        }
    }
}

/// The role of a function in a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It changes resources.
    Mutator,
    /// It validates them.
    Validator,
}

impl Role {
    /// The name of the role.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mutator => "mutator",
            Self::Validator => "validator",
        }
    }

    fn list(self) -> &'static str {
        match self {
            Self::Mutator => "mutators",
            Self::Validator => "validators",
        }
    }
}

/// The functionConfig of a function.
#[derive(Clone, Debug)]
pub enum Config {
    /// None.
    None,
    /// A file of the package.
    File {
        /// Relative to the package.
        path: PackagePath,
        /// Where `configPath` is.
        place: DeclarationSite,
    },
    /// A ConfigMap, made of inline values.
    Inline(InlineConfig),
    /// A resource of the package.
    Ref(Box<ConfigRef>),
}

/// A ConfigMap that is made of the inline values of `configMap`.
#[derive(Clone, Debug)]
pub struct InlineConfig {
    /// The text of the ConfigMap, with an entry of `data` for each value.
    pub text: String,
    /// Where each value is declared: its key and the value itself.
    pub sites: Vec<(DeclarationSite, DeclarationSite)>,
}

/// The condition under which a function runs.
#[derive(Clone, Debug)]
pub struct Condition {
    /// A CEL expression about the resources that the function selects.
    pub expression: String,
    /// Where `condition` is.
    pub place: DeclarationSite,
}

/// A reference to a resource of the package. Fields that are not given match any value.
#[derive(Clone, Debug)]
pub struct ConfigRef {
    /// The `apiVersion`.
    pub api_version: Option<String>,
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The namespace.
    pub namespace: Option<String>,
    /// Where `configRef` is.
    pub place: DeclarationSite,
}

/// The fields of which a function has exactly one.
const PROGRAMS: [&str; 3] = ["image", "exec", "wasm"];

impl<'a> Parser<'a> {
    /// Parses the functions of one role.
    pub(super) fn functions(&mut self, pipeline: Option<NodeRef<'a>>, role: Role) -> Vec<Function> {
        let list = pipeline.and_then(|it| field(it, role.list())).and_then(|it| it.as_sequence());
        let items = list.into_iter().flat_map(|list| list.items().enumerate());
        let items: Vec<(usize, NodeRef<'a>)> = items.collect();
        items.into_iter().filter_map(|(at, item)| self.function(item.resolve(), role, at)).collect()
    }

    fn function(&mut self, node: NodeRef<'a>, role: Role, at: usize) -> Option<Function> {
        let path = format!("pipeline.{}[{at}]", role.list());
        // A misspelled field was reported; that the field is missing would be the same failure again.
        if self.errors.iter().any(|it| it.field.as_deref().is_some_and(|it| it.starts_with(&path)))
        {
            return None;
        }
        let program = self.program(node, &path);
        let config = self.config(node, &path);
        let tag = self.tag(node, program.as_ref(), &path);
        Some(Function {
            program: program?,
            role,
            name: text(node, "name"),
            tag,
            config: config?,
            // Compat: the second name was discussed before kpt chose the first.
            condition: field(node, "condition")
                .or_else(|| field(node, "celCondition"))
                .and_then(|it| self.condition(it)),
            selection: selection(node),
            place: DeclarationSite::of(self.file, node),
        })
    }

    fn program(&mut self, node: NodeRef<'a>, path: &str) -> Option<Program> {
        let given: Vec<(&str, NodeRef<'a>, String)> = PROGRAMS
            .iter()
            .filter_map(|name| {
                let node = field(node, name)?;
                Some((*name, node, scalar_text(node)?.into_owned()))
            })
            .filter(|(_, _, text)| !text.trim().is_empty())
            .collect();
        let error = match &given[..] {
            [] => self.error(node, KptfileKind::MissingProgram),
            [(name, node, text)] => {
                let program = match *name {
                    "exec" => return Some(Program::Exec(text.clone())),
                    "wasm" => return Some(Program::Wasm(text.clone())),
                    _ => Program::Image(text.clone()),
                };
                match ImageName::parse(text) {
                    Ok(_) => return Some(program),
                    Err(error) => self.error(*node, error),
                }
            }
            [(first, ..), .., (second, node, _)] => self.error(*node, exclusive(first, second)),
        };
        self.errors.push(error.field(path));
        None
    }

    fn config(&mut self, node: NodeRef<'a>, path: &str) -> Option<Config> {
        let file = field(node, "configPath").filter(|it| scalar_text(*it).is_some());
        let inline = field(node, "configMap").and_then(|it| it.as_mapping());
        let inline = inline.filter(|it| it.entries().next().is_some());
        if let Some(reference) = field(node, "configRef").filter(|it| it.as_mapping().is_some()) {
            let other = file.map(|_| "configPath").or(inline.map(|_| "configMap"));
            return self.config_ref(reference, other, &format!("{path}.configRef"));
        }
        let Some(named) = file else {
            return Some(inline.map_or(Config::None, |it| Config::Inline(self.inline(it))));
        };
        let path = format!("{path}.configPath");
        let count = self.errors.len();
        if inline.is_some() {
            let error = self.error(named, exclusive("configMap", "configPath"));
            self.errors.push(error.field(&*path));
        }
        match config::parse_path(&scalar_text(named).unwrap_or_default()) {
            Ok(path) if self.errors.len() == count => {
                Some(Config::File { path, place: DeclarationSite::of(self.file, named) })
            }
            Ok(_) => None,
            Err(error) => {
                self.errors.push(self.error(named, error).field(path));
                None
            }
        }
    }

    fn inline(&self, values: Mapping<'a>) -> InlineConfig {
        let site = |node| DeclarationSite::of(self.file, node);
        let sites = values.entries().map(|entry| (site(entry.key), site(entry.value)));
        InlineConfig { text: config::inline(values), sites: sites.collect() }
    }

    fn config_ref(&mut self, node: NodeRef<'a>, other: Option<&str>, path: &str) -> Option<Config> {
        let string = |name: &str| text(node, name).filter(|it| !it.is_empty());
        let (kind, name) = (string("kind"), string("name"));
        let missing = [("kind", &kind), ("name", &name)];
        let missing = missing.into_iter().filter(|(_, value)| value.is_none());
        let missing = missing.map(|(field, _)| {
            let (field, owner) = (field.to_owned(), "`configRef`".to_owned());
            self.error(node, CommonKind::MissingField { field, owner })
        });
        let exclusive = other.map(|other| self.error(node, exclusive(other, "configRef")));
        let errors: Vec<_> = missing.chain(exclusive).map(|error| error.field(path)).collect();
        self.errors.extend(errors);
        Some(Config::Ref(Box::new(ConfigRef {
            api_version: string("apiVersion"),
            kind: kind?,
            name: name?,
            namespace: string("namespace"),
            place: DeclarationSite::of(self.file, node),
        })))
    }

    fn condition(&self, node: NodeRef<'a>) -> Option<Condition> {
        let expression = scalar_text(node).filter(|text| !text.trim().is_empty())?.into_owned();
        Some(Condition { expression, place: DeclarationSite::of(self.file, node) })
    }

    fn tag(&mut self, node: NodeRef<'a>, program: Option<&Program>, path: &str) -> Option<String> {
        let tag = field(node, "tag")?;
        let given = scalar_text(tag)?.into_owned();
        let error = match program? {
            Program::Image(image) => {
                let image = ImageName::parse(image).ok()?;
                let Some(own) = image.tag.or(image.digest) else { return Some(given) };
                let what = if image.tag.is_some() { "tag" } else { "digest" };
                self.error(tag, KptfileKind::RedundantTag { what, value: own.to_owned() })
            }
            _ => self.error(tag, KptfileKind::TagWithoutImage),
        };
        self.errors.push(error.field(format!("{path}.tag")));
        None
    }
}

fn exclusive(first: &str, second: &str) -> KptfileKind {
    KptfileKind::ExclusiveFields { first: first.to_owned(), second: second.to_owned() }
}

fn text(node: NodeRef<'_>, name: &str) -> Option<String> {
    field(node, name).and_then(scalar_text).map(std::borrow::Cow::into_owned)
}

/// The resources that a function in a pipeline gets.
pub(crate) fn selection(function: NodeRef<'_>) -> Selection {
    Selection {
        selectors: selectors(function, "selectors"),
        exclude: selectors(function, "exclude"),
    }
}

fn selectors(function: NodeRef<'_>, name: &str) -> Vec<Selector> {
    let list = field(function, name).and_then(NodeRef::as_sequence);
    let selector = |node: NodeRef<'_>| {
        let string = |name| text(node, name).filter(|it| !it.is_empty());
        Selector {
            api_version: string("apiVersion"),
            kind: string("kind"),
            name: string("name"),
            namespace: string("namespace"),
            labels: string_map(node, "labels"),
            annotations: string_map(node, "annotations"),
        }
    };
    list.into_iter().flat_map(|list| list.items()).map(NodeRef::resolve).map(selector).collect()
}

fn string_map(node: NodeRef<'_>, name: &str) -> Vec<(String, String)> {
    let mapping = field(node, name).and_then(NodeRef::as_mapping);
    let entries = mapping.into_iter().flat_map(|mapping| mapping.entries());
    let pair = |entry: krm_yaml::Entry<'_>| {
        let value = scalar_text(entry.value).unwrap_or_default();
        Some((scalar_text(entry.key)?.into_owned(), value.into_owned()))
    };
    entries.filter_map(pair).collect()
}
