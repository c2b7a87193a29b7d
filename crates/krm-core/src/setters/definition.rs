//! Setters and substitutions as values, each with the location of its definition.

use krm_yaml::{NodeRef, Span};

use super::pattern::Pattern;
use super::reference::ReferenceTarget;
use crate::diagnostics::Kind;
use crate::model::resource::{field, scalar_text};
use crate::{Diagnostic, PackageFile};

/// A node and its file; shown as `file:line:column`.
#[derive(Clone, Copy, Debug)]
pub struct NodeLocation<'a> {
    /// The file.
    pub file: &'a PackageFile,
    /// For a definition its key, otherwise the value.
    pub node: NodeRef<'a>,
}

impl NodeLocation<'_> {
    /// An error at this location.
    pub(super) fn error(&self, kind: impl Into<Kind>) -> Diagnostic {
        error_at(self.file, self.node.full_span(), kind)
    }
}

impl std::fmt::Display for NodeLocation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.node.position();
        write!(f, "{}:{}:{}", self.file.display_path, at.line, at.column)
    }
}

/// An error at a span of a file.
pub(super) fn error_at(file: &PackageFile, span: Span, kind: impl Into<Kind>) -> Diagnostic {
    locate(Diagnostic::error(kind), file, span)
}

/// A warning at a span of a file.
pub(super) fn warning_at(file: &PackageFile, span: Span, kind: impl Into<Kind>) -> Diagnostic {
    locate(Diagnostic::warning(kind), file, span)
}

fn locate(diagnostic: Diagnostic, file: &PackageFile, span: Span) -> Diagnostic {
    let diagnostic = diagnostic.in_file(&*file.display_path);
    match file.file() {
        Some(text) => diagnostic.at(text, span),
        None => diagnostic,
    }
}

/// The value of a setter, without types: those are decided by each field and by the schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SetterValue {
    /// No value yet.
    #[default]
    Unset,
    /// A single value.
    Scalar(String),
    /// A list of values.
    List(Vec<String>),
}

impl SetterValue {
    /// The value of a scalar, or the scalar elements of a sequence.
    pub(super) fn of_node(node: NodeRef<'_>) -> Self {
        match node.as_scalar() {
            Some(scalar) => Self::Scalar(scalar.value().into_owned()),
            None => Self::List(scalar_elements(node)),
        }
    }
}

/// As tables show it: `[a,b]` for a list.
impl std::fmt::Display for SetterValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unset => Ok(()),
            Self::Scalar(value) => f.write_str(value),
            Self::List(items) => write!(f, "[{}]", items.join(",")),
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
    /// Only in the fields whose `kpt-set` comments name it.
    FieldsOnly,
}

/// A setter.
#[derive(Clone, Debug)]
pub struct Setter<'a> {
    /// Its name.
    pub name: String,
    /// The key of its definition, or of its entry in the functionConfig.
    pub location: Option<NodeLocation<'a>>,
    /// Where its value is stored.
    pub source: SetterSource<'a>,
    /// Its value.
    pub value: SetterValue,
    /// `enumValues`: aliases of values, and the values that fields get for them.
    pub enum_values: Vec<(String, String)>,
    /// Who set it.
    pub set_by: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Whether it must be set before the package is used.
    pub required: bool,
    /// Whether it has been set.
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

    /// The value node in the functionConfig of apply-setters.
    pub(super) fn function_config_value(&self) -> Option<NodeRef<'a>> {
        match self.source {
            SetterSource::FunctionConfig { value } => Some(value),
            _ => None,
        }
    }

    /// The schema that its values are validated against.
    pub(super) fn schema(&self) -> Option<NodeRef<'a>> {
        match self.source {
            SetterSource::OpenApi { definition, .. } => Some(definition),
            _ => None,
        }
    }

    /// The `type` of its schema. `int` and `bool` are accepted as `integer` and `boolean`.
    pub fn schema_type(&self) -> Option<&'static str> {
        openapi_type(&field(self.schema()?, "type").and_then(scalar_text)?)
    }

    /// Whether it holds a list.
    pub(super) fn is_list(&self) -> bool {
        self.schema_type() == Some("array") || matches!(self.value, SetterValue::List(_))
    }

    /// The value that fields get: one of `enumValues` is replaced by what it stands for.
    pub(super) fn expand_enum(&self, value: &SetterValue) -> SetterValue {
        let SetterValue::Scalar(alias) = value else { return value.clone() };
        let found = self.enum_values.iter().find(|(name, _)| name == alias);
        found.map_or_else(|| value.clone(), |(_, value)| SetterValue::Scalar(value.clone()))
    }
}

/// The OpenAPI type of this name, or of a common abbreviation.
pub(super) fn openapi_type(name: &str) -> Option<&'static str> {
    Some(match name {
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

/// A substitution: a string that is made of a pattern and the values of setters.
#[derive(Clone, Debug)]
pub struct Substitution<'a> {
    /// Its name.
    pub name: String,
    /// The key of its definition.
    pub location: NodeLocation<'a>,
    /// The pattern; its markers are those of `values`.
    pub pattern: Pattern,
    /// What each marker is replaced with.
    pub values: Vec<SubstitutionValue<'a>>,
}

/// A marker of a substitution, and what replaces it.
#[derive(Clone, Debug)]
pub struct SubstitutionValue<'a> {
    /// The marker.
    pub marker: String,
    /// The setter or substitution.
    pub target: ReferenceTarget,
    /// The `ref`.
    pub node: NodeRef<'a>,
}

/// The scalar elements of a sequence; other elements are skipped.
pub(super) fn scalar_elements(list: NodeRef<'_>) -> Vec<String> {
    let items = list.children().map(NodeRef::resolve);
    items.filter_map(|item| Some(item.as_scalar()?.value().into_owned())).collect()
}
