//! Kinds of diagnostics about queries, and about what they find in documents.

use krm_yaml::{Excerpt, ScalarType, diagnostic_kinds};

diagnostic_kinds! {
    /// Why a query cannot be parsed.
    pub enum QueryError {
        /// A condition without a path.
        EmptyCondition = "query-empty-condition": "expected a condition, such as metadata.name=web";
        /// Parentheses or negations are nested too deep.
        TooDeep { limit: usize } = "query-too-deep": "nested more than {limit} levels deep";
        /// A closing parenthesis without an opening one.
        UnmatchedParenthesis = "query-unmatched-parenthesis": "unexpected `)`", hint "write `\\)` if it is part of a regular expression";
        /// A parenthesis that is not closed, or is followed by something else than an operator.
        TextAfterParenthesis = "query-text-after-parenthesis": "expected `&&`, `||` or the end after a condition in parentheses", hint "close the parenthesis, or write `\\(` if it is part of a regular expression";
        /// A quote in a path that is not closed.
        UnclosedQuote { quote: char } = "query-unclosed-quote": "expected a closing `{quote}`", hint "close the quote, or write `\\{quote}` if it is part of a name";
        /// `&` instead of `&&`, or `|` instead of `||`.
        SingleOperator { operator: char } = "query-single-operator": "expected `{operator}{operator}` between conditions, found `{operator}`", hint "write `\\{operator}` if it is part of a regular expression";
        /// `and` instead of `&&`, or `or` instead of `||`.
        WordOperator { word: String } = "query-word-operator": "expected `&&` or `||` between conditions, found `{word}`", hint "write `\\s{word}\\s` if it is part of a regular expression";
        /// A space in a path that is not quoted.
        SpaceInPath { path: String } = "query-space-in-path": "unexpected space in the path `{path}`", hint "combine conditions with `&&`, `||` and `!`, or quote a key with a space";
        /// `==` instead of `=`.
        DoubleEquals { path: String, value: String } = "query-double-equals": "unknown operator `==`; write `{path}=^{value}$` for an exact match";
        /// An operator of another language.
        UnknownOperator { operator: &'static str, instead: String } = "query-unknown-operator": "unknown operator `{operator}`; write `{instead}`";
        /// A value in quotes.
        QuotedValue { instead: String } = "query-quoted-value": "unexpected quotes around the value; write `{instead}`";
        /// A comparison with something that is not a number.
        NotAQuantity { operator: &'static str, value: String } = "query-not-a-quantity": "expected a number or a quantity such as 500m after `{operator}`, found `{value}`";
        /// An invalid regular expression.
        InvalidRegex { regex: String, reason: String } = "query-invalid-regex": "invalid regular expression `{regex}`: {reason}";
        /// An invalid path.
        InvalidPath { path: String, reason: String } = "query-invalid-path": "invalid path `{path}`: {reason}";
    }
}

diagnostic_kinds! {
    /// What a search of documents finds.
    pub enum QueryKind {
        /// No resource has a field, but some have one with a similar name.
        UnknownField { path: String, similar: Excerpt } = "query-unknown-field": "no resource has the field `{path}`",
            hint "did you mean `{similar}`?";
        /// No resource has a value, but some have a similar one.
        UnknownValue { path: String, value: String, similar: Excerpt } = "query-unknown-value": "no resource matches `{path}={value}`",
            hint "did you mean `{path}={similar}`?";
        /// A path that a document does not have.
        PathNotFound { path: String, existing: ExistingPath, help: Excerpt } = "path-not-found": "path `{path}` not found{existing}",
            hint "{help}";
        /// A key that occurs twice in a mapping.
        DuplicateKey { path: String } = "duplicate-key": "duplicate key `{path}`; the last one is used";
        /// A scalar that YAML 1.1 and YAML 1.2 resolve differently.
        Yaml11 { text: Excerpt, yaml12: ScalarReading, yaml11: ScalarReading, help: &'static str } = "yaml11-scalar": "`{text}` is {yaml12} in YAML 1.2, but {yaml11} in YAML 1.1",
            hint "{help}";
    }
}

/// How a version of YAML reads a scalar. It implies the value, so it is masked together with the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScalarReading {
    text: String,
    description: String,
}

impl ScalarReading {
    /// How a scalar with this text is read.
    pub(crate) fn of(text: &str, value: ScalarType) -> Self {
        let description = match value {
            ScalarType::Null => "null".to_owned(),
            ScalarType::Bool(value) => format!("the boolean {value}"),
            ScalarType::Int(Some(value)) => format!("the number {value}"),
            ScalarType::Float(value) => format!("the number {value}"),
            ScalarType::Int(None) => "a number".to_owned(),
            ScalarType::String => "a string".to_owned(),
        };
        Self { text: text.to_owned(), description }
    }
}

impl krm_yaml::KindParameter for ScalarReading {
    fn masked(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        let description = "***".to_owned();
        hides(&self.text).then(|| Self { text: String::new(), description })
    }
}

impl std::fmt::Display for ScalarReading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.description)
    }
}

/// The part of a missing path that exists; shown after the message, unless it is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExistingPath(pub(super) Option<String>);

impl krm_yaml::KindParameter for ExistingPath {}

impl std::fmt::Display for ExistingPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.as_ref().map_or(Ok(()), |path| write!(f, "; only `{path}` exists"))
    }
}
