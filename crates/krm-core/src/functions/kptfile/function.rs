//! One function of a pipeline: what is run, how it is configured and what it gets.

use krm_yaml::NodeRef;

use super::selection::{Selection, Selector};
use super::{DeclarationSite, Reader, config};
use crate::PackagePath;
use crate::model::ImageName;
use crate::model::resource::{field, scalar_text};

/// A function as it is declared.
#[derive(Clone, Debug)]
pub struct Function {
    /// What is run.
    pub program: Program,
    /// Whether it may change something.
    pub role: Role,
    /// What the package calls it.
    pub name: Option<String>,
    /// Which releases of the image will do.
    pub tag: Option<String>,
    /// How it is configured.
    pub config: Config,
    /// Which resources it gets.
    pub selection: Selection,
    /// Where it is declared.
    pub place: DeclarationSite,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A built-in of this name, or else a container.
    Image(String),
    /// A command line.
    Exec(String),
    /// A WASI module.
    Wasm(String),
}

impl Program {
    /// The words of its declaration.
    pub fn text(&self) -> &str {
        match self {
            Self::Image(text) | Self::Exec(text) | Self::Wasm(text) => text,
        }
    }
}

/// What a function is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It changes resources.
    Mutator,
    /// It looks at them.
    Validator,
}

impl Role {
    /// The word for it.
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

/// How a function is configured.
#[derive(Clone, Debug)]
pub enum Config {
    /// Not at all.
    None,
    /// By a file of the package.
    File {
        /// Relative to the package.
        path: PackagePath,
        /// Where it is named.
        place: DeclarationSite,
    },
    /// By this text of a ConfigMap.
    Inline(String),
}

/// The fields of which a function has exactly one.
const PROGRAMS: [&str; 3] = ["image", "exec", "wasm"];

impl<'a> Reader<'a> {
    /// The functions of one list of a pipeline.
    pub(super) fn functions(&mut self, pipeline: Option<NodeRef<'a>>, role: Role) -> Vec<Function> {
        let list = pipeline.and_then(|it| field(it, role.list())).and_then(|it| it.as_sequence());
        let items = list.into_iter().flat_map(|list| list.items().enumerate());
        let items: Vec<(usize, NodeRef<'a>)> = items.collect();
        items.into_iter().filter_map(|(at, item)| self.function(item.resolve(), role, at)).collect()
    }

    fn function(&mut self, node: NodeRef<'a>, role: Role, at: usize) -> Option<Function> {
        let path = format!("pipeline.{}[{at}]", role.list());
        let program = self.program(node, &path);
        let config = self.config(node, &path);
        let tag = self.tag(node, program.as_ref(), &path);
        Some(Function {
            program: program?,
            role,
            name: text(node, "name"),
            tag,
            config: config?,
            selection: Selection {
                selectors: selectors(node, "selectors"),
                exclude: selectors(node, "exclude"),
            },
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
        let wrong = match &given[..] {
            [] => {
                let words = "a function without `image`, `exec` or `wasm`";
                self.error(node, words).hint("say what is to be run")
            }
            [(name, node, text)] => {
                let program = match *name {
                    "exec" => return Some(Program::Exec(text.clone())),
                    "wasm" => return Some(Program::Wasm(text.clone())),
                    _ => Program::Image(text.clone()),
                };
                match ImageName::parse(text) {
                    Ok(_) => return Some(program),
                    Err(error) => self.error(*node, error.to_string()).hint(
                        "an image is named like `ghcr.io/kptdev/krm-functions-catalog/set-labels:v0.2.0`",
                    ),
                }
            }
            [(one, ..), .., (other, node, _)] => self
                .error(*node, format!("`{one}` and `{other}` are both given, and one is wanted")),
        };
        self.errors.push(wrong.field(path));
        None
    }

    fn config(&mut self, node: NodeRef<'a>, path: &str) -> Option<Config> {
        let file = field(node, "configPath").filter(|it| scalar_text(*it).is_some());
        let inline = field(node, "configMap").and_then(|it| it.as_mapping());
        let inline = inline.filter(|it| it.entries().next().is_some());
        let Some(named) = file else {
            return Some(inline.map_or(Config::None, |it| Config::Inline(config::inline(it))));
        };
        let path = format!("{path}.configPath");
        let count = self.errors.len();
        if inline.is_some() {
            let words = "`configMap` and `configPath` are both given, and one is wanted";
            self.errors.push(self.error(named, words).field(&*path));
        }
        match config::relative(&scalar_text(named).unwrap_or_default()) {
            Ok(path) if self.errors.len() == count => {
                Some(Config::File { path, place: DeclarationSite::of(self.file, named) })
            }
            Ok(_) => None,
            Err(error) => {
                self.errors.push(self.error(named, error.to_string()).field(path));
                None
            }
        }
    }

    fn tag(&mut self, node: NodeRef<'a>, program: Option<&Program>, path: &str) -> Option<String> {
        let tag = field(node, "tag")?;
        let given = scalar_text(tag)?.into_owned();
        let told = match program? {
            Program::Image(image) => {
                let image = ImageName::parse(image).ok()?;
                let Some(own) = image.tag.or(image.digest) else { return Some(given) };
                let what = if image.tag.is_some() { "tag" } else { "digest" };
                self.error(tag, format!("the image has the {what} `{own}` already"))
                    .hint("leave one of the two out")
            }
            _ => self.error(tag, "`tag` is for images only"),
        };
        self.errors.push(told.field(format!("{path}.tag")));
        None
    }
}

fn text(node: NodeRef<'_>, name: &str) -> Option<String> {
    field(node, name).and_then(scalar_text).map(std::borrow::Cow::into_owned)
}

fn selectors(function: NodeRef<'_>, name: &str) -> Vec<Selector> {
    let list = field(function, name).and_then(NodeRef::as_sequence);
    let selector = |node: NodeRef<'_>| {
        let said = |name| text(node, name).filter(|it| !it.is_empty());
        Selector {
            api_version: said("apiVersion"),
            kind: said("kind"),
            name: said("name"),
            namespace: said("namespace"),
            labels: texts(node, "labels"),
            annotations: texts(node, "annotations"),
        }
    };
    list.into_iter().flat_map(|list| list.items()).map(NodeRef::resolve).map(selector).collect()
}

fn texts(node: NodeRef<'_>, name: &str) -> Vec<(String, String)> {
    let mapping = field(node, name).and_then(NodeRef::as_mapping);
    let entries = mapping.into_iter().flat_map(|mapping| mapping.entries());
    let pair = |entry: krm_yaml::Entry<'_>| {
        let value = scalar_text(entry.value).unwrap_or_default();
        Some((scalar_text(entry.key)?.into_owned(), value.into_owned()))
    };
    entries.filter_map(pair).collect()
}
