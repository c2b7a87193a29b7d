//! Definitions: setters and substitutions as OpenAPI holds them, each with its place.

use krm_yaml::{Entry, NodeRef, ScalarType, Span};

use super::pattern::Pattern;
use super::reference::{self, ReferenceTarget, SETTER_PREFIX, SUBSTITUTION_PREFIX};
use crate::model::resource::{field, scalar_text};
use crate::{Diagnostic, PackageFile};

/// Where something is defined.
#[derive(Clone, Copy, Debug)]
pub struct NodeLocation<'a> {
    /// The file.
    pub file: &'a PackageFile,
    /// The node that tells it apart: the key of the definition, or of the value.
    pub node: NodeRef<'a>,
}

impl NodeLocation<'_> {
    /// A diagnostic at this place.
    pub(super) fn error(&self, message: impl Into<String>) -> Diagnostic {
        error_at(self.file, self.node.full_span(), message)
    }
}

/// `file:line:column`
impl std::fmt::Display for NodeLocation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.node.position();
        write!(f, "{}:{}:{}", self.file.display_path, at.line, at.column)
    }
}

/// An error with its place.
pub(super) fn error_at(file: &PackageFile, span: Span, message: impl Into<String>) -> Diagnostic {
    placed(Diagnostic::untyped_error(message), file, span)
}

/// A warning with its place.
pub(super) fn warning_at(file: &PackageFile, span: Span, message: impl Into<String>) -> Diagnostic {
    placed(Diagnostic::untyped_warning(message), file, span)
}

fn placed(diagnostic: Diagnostic, file: &PackageFile, span: Span) -> Diagnostic {
    let diagnostic = diagnostic.in_file(&*file.display_path);
    match file.file() {
        Some(text) => diagnostic.at(text, span),
        None => diagnostic,
    }
}

/// What a setter holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SetterValue {
    /// Nothing yet.
    #[default]
    Unset,
    /// One value.
    Text(String),
    /// A list.
    List(Vec<String>),
}

impl SetterValue {
    /// As tables show it: `[a,b]` for a list.
    pub fn shown(&self) -> String {
        match self {
            Self::Unset => String::new(),
            Self::Text(text) => text.clone(),
            Self::List(items) => format!("[{}]", items.join(",")),
        }
    }
}

/// Where a setter keeps its value.
#[derive(Clone, Copy, Debug)]
pub enum SetterSource<'a> {
    /// In the `setter` mapping of an OpenAPI definition.
    OpenApi {
        /// The definition, with the schema beside the extension.
        definition: NodeRef<'a>,
        /// `x-k8s-cli.setter`
        setter: NodeRef<'a>,
    },
    /// In the functionConfig of apply-setters.
    FunctionConfig {
        /// The value.
        value: NodeRef<'a>,
    },
    /// Nowhere but in the fields that name it.
    FieldsOnly,
}

/// A setter.
#[derive(Clone, Debug)]
pub struct Setter<'a> {
    /// Its name.
    pub name: String,
    /// Where it is defined: the key of the definition.
    pub location: Option<NodeLocation<'a>>,
    /// Where its value stands.
    pub source: SetterSource<'a>,
    /// Its value.
    pub value: SetterValue,
    /// Words that stand for values.
    pub enum_values: Vec<(String, String)>,
    /// Who set it.
    pub set_by: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Whether somebody must set it.
    pub required: bool,
    /// Whether somebody did.
    pub is_set: bool,
}

impl<'a> Setter<'a> {
    pub(super) fn new(name: String, source: SetterSource<'a>) -> Self {
        Self {
            name,
            location: None,
            source,
            value: SetterValue::Unset,
            enum_values: Vec::new(),
            set_by: None,
            description: None,
            required: false,
            is_set: false,
        }
    }

    /// The value as the functionConfig of apply-setters has it.
    pub(super) fn function_config_value(&self) -> Option<NodeRef<'a>> {
        match self.source {
            SetterSource::FunctionConfig { value } => Some(value),
            _ => None,
        }
    }

    /// The schema that its values are checked against.
    pub fn schema(&self) -> Option<NodeRef<'a>> {
        match self.source {
            SetterSource::OpenApi { definition, .. } => Some(definition),
            _ => None,
        }
    }

    /// The `type` of its schema: `string`, `integer`, `array` and so on; `int` and `bool` are understood, too.
    pub fn schema_type(&self) -> Option<&'static str> {
        let text = field(self.schema()?, "type").and_then(scalar_text)?;
        known_type(&text)
    }

    /// Whether it holds a list.
    pub fn is_list(&self) -> bool {
        self.schema_type() == Some("array") || matches!(self.value, SetterValue::List(_))
    }

    /// What a value means: what the word stands for where there are words.
    pub(super) fn meaning<'b>(&'b self, value: &'b str) -> &'b str {
        let word = self.enum_values.iter().find(|(word, _)| word == value);
        word.map_or(value, |(_, meaning)| meaning)
    }
}

/// A type of OpenAPI by its name, or by what people write for it.
pub(super) fn known_type(text: &str) -> Option<&'static str> {
    Some(match text {
        "string" => "string",
        "integer" | "int" => "integer",
        "number" => "number",
        "boolean" | "bool" => "boolean",
        "array" => "array",
        "object" => "object",
        "null" => "null",
        "file" => "file",
        _ => return None,
    })
}

/// A substitution.
#[derive(Clone, Debug)]
pub struct Substitution<'a> {
    /// Its name.
    pub name: String,
    /// Where it is defined.
    pub location: NodeLocation<'a>,
    /// The pattern; its markers are those of `values`.
    pub pattern: Pattern,
    /// What each marker stands for.
    pub values: Vec<SubstitutionValue<'a>>,
}

/// A marker of a substitution, and what it stands for.
#[derive(Clone, Debug)]
pub struct SubstitutionValue<'a> {
    /// The marker.
    pub marker: String,
    /// The setter or substitution.
    pub target: ReferenceTarget,
    /// The reference as it is written.
    pub node: NodeRef<'a>,
}

/// What one entry of the definitions is.
pub(super) enum DefinitionEntry<'a> {
    Setter(Box<Setter<'a>>),
    Substitution(Substitution<'a>),
    /// Of somebody else.
    Other,
}

/// Reads one entry of `definitions`.
pub(super) fn read<'a>(
    file: &'a PackageFile,
    entry: Entry<'a>,
) -> Result<DefinitionEntry<'a>, Diagnostic> {
    let location = NodeLocation { file, node: entry.key };
    let Some(key) = scalar_text(entry.key) else { return Ok(DefinitionEntry::Other) };
    let part = |name| extension(entry.value, name);
    if let Some(name) = key.strip_prefix(SETTER_PREFIX) {
        let Some(node) = part("setter") else {
            return Err(
                location.error(format!("`{name}` has no x-k8s-cli.setter, which holds its value"))
            );
        };
        check_name(&location, node, name, "setter")?;
        return Ok(DefinitionEntry::Setter(Box::new(setter(location, entry.value, node, name))));
    }
    if let Some(name) = key.strip_prefix(SUBSTITUTION_PREFIX) {
        let Some(node) = part("substitution") else {
            let words = format!("`{name}` has no x-k8s-cli.substitution, which holds its pattern");
            return Err(location.error(words));
        };
        check_name(&location, node, name, "substitution")?;
        return substitution(location, node, name).map(DefinitionEntry::Substitution);
    }
    Ok(DefinitionEntry::Other)
}

fn extension<'a>(definition: NodeRef<'a>, name: &str) -> Option<NodeRef<'a>> {
    let node = field(field(definition, "x-k8s-cli")?, name)?;
    node.as_mapping().map(|_| node)
}

/// Spec: the key of a definition ends with the name that stands inside.
fn check_name(
    location: &NodeLocation<'_>,
    node: NodeRef<'_>,
    name: &str,
    what: &str,
) -> Result<(), Diagnostic> {
    let Some(inside) = field(node, "name") else {
        let words = format!("the {what} has no name; its key says `{name}`");
        return Err(
            error_at(location.file, node.full_span(), words).hint(format!("add name: {name}"))
        );
    };
    if scalar_text(inside).is_some_and(|text| text == name) {
        return Ok(());
    }
    let words = format!("the {what} is named `{}`, and its key says `{name}`", inside.text());
    let mut error = error_at(location.file, inside.full_span(), words)
        .hint("make the two the same; fields refer to the key");
    if let Some(file) = location.file.file() {
        error = error.related(file, location.node.full_span(), "the key");
    }
    Err(error)
}

fn text(node: NodeRef<'_>, name: &str) -> Option<String> {
    field(node, name).and_then(scalar_text).map(|text| text.into_owned())
}

fn flag(node: NodeRef<'_>, name: &str) -> bool {
    let value = field(node, name).and_then(|value| value.as_scalar());
    value.is_some_and(|value| value.resolve() == ScalarType::Bool(true) || value.is("true"))
}

fn setter<'a>(
    location: NodeLocation<'a>,
    definition: NodeRef<'a>,
    node: NodeRef<'a>,
    name: &str,
) -> Setter<'a> {
    let mut setter =
        Setter::new(name.to_owned(), SetterSource::OpenApi { definition, setter: node });
    let list = field(node, "listValues").and_then(|list| list.as_sequence());
    let items: Vec<String> = list.map(|list| texts(list.node())).unwrap_or_default();
    setter.location = Some(location);
    setter.value = match text(node, "value") {
        _ if !items.is_empty() || setter.schema_type() == Some("array") => SetterValue::List(items),
        Some(text) => SetterValue::Text(text),
        None => SetterValue::Unset,
    };
    let words = field(node, "enumValues").and_then(|words| words.as_mapping());
    let words = words.into_iter().flat_map(|words| words.entries().collect::<Vec<_>>());
    setter.enum_values = words
        .filter_map(|word| Some((scalar_text(word.key)?.into(), scalar_text(word.value)?.into())))
        .collect();
    setter.set_by = text(node, "setBy");
    setter.description = text(definition, "description");
    setter.required = flag(node, "required");
    setter.is_set = flag(node, "isSet");
    setter
}

/// The items of a list as texts; what is no scalar is left out.
pub(super) fn texts(list: NodeRef<'_>) -> Vec<String> {
    let items = list.children().map(NodeRef::resolve);
    items.filter_map(|item| Some(item.as_scalar()?.value().into_owned())).collect()
}

fn substitution<'a>(
    location: NodeLocation<'a>,
    node: NodeRef<'a>,
    name: &str,
) -> Result<Substitution<'a>, Diagnostic> {
    let error = |node: NodeRef<'_>, words: String| error_at(location.file, node.full_span(), words);
    let written = field(node, "pattern");
    let Some(pattern) = written.and_then(scalar_text) else {
        return Err(error(node, format!("the substitution `{name}` has no pattern")));
    };
    let list = field(node, "values").and_then(|values| values.as_sequence());
    let mut values = Vec::new();
    for item in list.into_iter().flat_map(|list| list.items()) {
        let Some(marker) = text(item, "marker").filter(|marker| !marker.is_empty()) else {
            let words = format!("a value of the substitution `{name}` has no marker");
            return Err(error(item, words).hint("say which part of the pattern it replaces"));
        };
        let written = field(item, "ref");
        let target = written.and_then(scalar_text).and_then(|it| reference::definition(&it));
        let (Some(target), Some(node)) = (target, written) else {
            let words = format!("the marker `{marker}` of `{name}` refers to no setter");
            return Err(error(written.unwrap_or(item), words).hint(format!(
                "write ref: '{}'",
                reference::pointer(&format!("{SETTER_PREFIX}NAME"))
            )));
        };
        values.push(SubstitutionValue { marker, target, node });
    }
    let markers: Vec<&str> = values.iter().map(|value| value.marker.as_str()).collect();
    let pattern = Pattern::new(&pattern, &markers).map_err(|problem| {
        error(written.unwrap_or(node), format!("{problem} of the substitution `{name}`"))
    })?;
    Ok(Substitution { name: name.to_owned(), location, pattern, values })
}
