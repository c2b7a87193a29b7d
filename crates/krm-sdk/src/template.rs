//! Resources from Jinja templates, with values that are quoted as YAML needs it.

use std::sync::{Arc, Mutex, PoisonError};

use krm_core::Diagnostic;
use krm_yaml::{Edit, EditError, File, NodeRef, ScalarStyle, Value};
use minijinja::{Environment, UndefinedBehavior, syntax::SyntaxConfig};
use serde::Serialize;

use crate::kinds::TemplateKind;
use crate::typed::to_value;
use crate::{Error, Resource};

/// A template of one or more resources, in the language of Jinja (feature `templates`).
///
/// An inserted value is never part of the YAML syntax. A field that consists of one `{{ value }}` gets the value with its type, and inside
/// a longer or quoted scalar the value is a part of the string. So a string is quoted where necessary, and no value can add fields.
/// `{{ text | safe }}` inserts YAML. A variable that is not defined is an error.
///
/// ```
/// use krm_sdk::{Template, value};
///
/// let template = Template::new("\
/// apiVersion: apps/v1
/// kind: Deployment
/// metadata:
///   name: {{ name }}-web # of {{ name }}
///   labels:
/// {% for label in labels %}
///     {{ label.key }}: {{ label.value }}
/// {% endfor %}
/// spec:
///   replicas: {{ replicas }}
///   args: {{ args }}
/// ")?;
/// let resources = template.render(&serde_values())?;
/// assert_eq!(resources[0].text(), "\
/// apiVersion: apps/v1
/// kind: Deployment
/// metadata:
///   name: shop-web # of shop
///   labels:
///     version: \"1.0\"
///     note: \"on: {}\"
/// spec:
///   replicas: 3
///   args:
///   - -v
///   - \"5\"
/// ");
/// #
/// # fn serde_values() -> impl serde::Serialize {
/// #     #[derive(serde::Serialize)]
/// #     struct Label { key: &'static str, value: &'static str }
/// #     #[derive(serde::Serialize)]
/// #     struct Values { name: &'static str, labels: [Label; 2], replicas: u32, args: [&'static str; 2] }
/// #     let labels = [Label { key: "version", value: "1.0" }, Label { key: "note", value: "on: {}" }];
/// #     Values { name: "shop", labels, replicas: 3, args: ["-v", "5"] }
/// # }
/// # let _ = value!(null);
/// # Ok::<(), krm_sdk::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Template {
    source: String,
}

/// The name of the template in messages.
const NAME: &str = "template";

/// The values that a template inserted, in the order of their tokens.
type Inserted = Arc<Mutex<Vec<Value<'static>>>>;

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// The template has a syntax error.
    pub fn new(source: impl Into<String>) -> Result<Self, Error> {
        let template = Self { source: source.into() };
        template.environment(&Inserted::default()).map(|_| template)
    }

    /// The resources that the template makes of the fields of an object.
    ///
    /// # Errors
    /// A variable is not defined, an expression fails, or the output is not YAML.
    pub fn render<T: Serialize>(&self, values: &T) -> Result<Vec<Resource>, Error> {
        let inserted = Inserted::default();
        let environment = self.environment(&inserted)?;
        let template = environment.get_template(NAME).map_err(|error| invalid(&error))?;
        let text = template.render(to_jinja(to_value(values)?)).map_err(|error| invalid(&error))?;
        let values = std::mem::take(&mut *inserted.lock().unwrap_or_else(PoisonError::into_inner));
        documents(text, &Tokens { prefix: self.prefix(), values })
    }

    fn environment(&self, inserted: &Inserted) -> Result<Environment<'static>, Error> {
        let mut environment = Environment::new();
        let mut syntax = SyntaxConfig::builder();
        let syntax = syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
        environment.set_syntax(syntax.build().map_err(|error| invalid(&error))?);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        let (inserted, prefix) = (Arc::clone(inserted), self.prefix());
        environment.set_formatter(move |out, _, value| {
            if value.is_safe() {
                return Ok(write!(out, "{value}")?);
            }
            if value.is_undefined() {
                return Err(minijinja::ErrorKind::UndefinedError.into());
            }
            let value = to_value(value).map_err(|error| {
                minijinja::Error::new(minijinja::ErrorKind::BadSerialization, error.to_string())
            })?;
            let mut all = inserted.lock().unwrap_or_else(PoisonError::into_inner);
            all.push(value);
            Ok(write!(out, "{prefix}{}x", all.len() - 1)?)
        });
        environment
            .add_template_owned(NAME, self.source.clone())
            .map_err(|error| invalid(&error))?;
        Ok(environment)
    }

    /// The beginning of the tokens that stand for values until the output is parsed. It does not occur in the template.
    fn prefix(&self) -> String {
        let mut prefix = "krmvalue".to_owned();
        while self.source.contains(&prefix) {
            prefix.push('q');
        }
        prefix
    }
}

fn invalid(error: &minijinja::Error) -> Error {
    Diagnostic::error(TemplateKind::Invalid { reason: error.to_string() }).into()
}

fn to_jinja(value: Value<'static>) -> minijinja::Value {
    match value {
        Value::Null => ().into(),
        Value::Bool(value) => value.into(),
        Value::String(text) => text.into_owned().into(),
        Value::Number(text) => {
            match (text.parse::<i64>(), text.parse::<u64>(), text.parse::<f64>()) {
                (Ok(number), _, _) => number.into(),
                (_, Ok(number), _) => number.into(),
                (_, _, Ok(number)) => number.into(),
                _ => text.into_owned().into(),
            }
        }
        Value::Sequence(items) => items.into_iter().map(to_jinja).collect(),
        Value::Mapping(entries) => {
            entries.into_iter().map(|(key, value)| (to_jinja(key), to_jinja(value))).collect()
        }
        Value::Node(_) | Value::OwnedNode(_) => ().into(),
    }
}

/// The tokens of a rendered text and the values that they stand for.
struct Tokens {
    prefix: String,
    values: Vec<Value<'static>>,
}

/// A part of a scalar.
enum Part<'t> {
    Text(&'t str),
    Value(&'t Value<'static>),
}

impl Tokens {
    /// Splits a text at its tokens; none if it has no token.
    fn split<'t>(&'t self, text: &'t str) -> Option<Vec<Part<'t>>> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(&self.prefix) {
            let after = &rest[at + self.prefix.len()..];
            let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
            let value = after[..digits].parse::<usize>().ok().and_then(|at| self.values.get(at))?;
            parts.extend((at > 0).then(|| Part::Text(&rest[..at])));
            parts.push(Part::Value(value));
            rest = after[digits..].strip_prefix('x')?;
        }
        if parts.is_empty() {
            return None;
        }
        parts.extend((!rest.is_empty()).then_some(Part::Text(rest)));
        Some(parts)
    }

    /// The value that a scalar is to have.
    fn value_of(&self, text: &str, is_plain: bool) -> Option<Value<'static>> {
        let parts = self.split(text)?;
        match &parts[..] {
            [Part::Value(value)] if is_plain => Some((*value).clone()),
            _ => Some(Value::from(self.joined(&parts))),
        }
    }

    fn joined(&self, parts: &[Part<'_>]) -> String {
        let text = |part: &Part<'_>| match part {
            Part::Text(text) => (*text).to_owned(),
            Part::Value(Value::String(text) | Value::Number(text)) => text.to_string(),
            Part::Value(Value::Null) => String::new(),
            Part::Value(other) => krm_core::print::json::display(other),
        };
        parts.iter().map(text).collect()
    }
}

/// The documents of a rendered text, with values in place of the tokens.
fn documents(text: String, tokens: &Tokens) -> Result<Vec<Resource>, Error> {
    let wrong = |reason: String| -> Error {
        Diagnostic::error(TemplateKind::InvalidOutput { reason: reason.into() }).into()
    };
    let file = File::parse(text).map_err(|error| wrong(error.to_string()))?;
    if let Some(error) = file.errors().next() {
        let line = file.position(error.span.start).line;
        return Err(wrong(format!("{error} at line {line} of the output")));
    }
    let mut edit = Edit::new(&file);
    for root in file.documents().filter_map(|document| document.root()) {
        insert(&mut edit, root, tokens).map_err(|error| wrong(error.to_string()))?;
    }
    let text = edit.apply().map_err(|error| wrong(error.to_string()))?;
    let file = File::parse(text).map_err(|error| wrong(error.to_string()))?;
    let is_empty = |root: NodeRef<'_>| root.as_scalar().is_some_and(|it| it.raw().is_empty());
    let roots = file.documents().filter_map(|document| document.root());
    let items = roots.filter(|root| !is_empty(*root)).map(|root| {
        let item = krm_core::functions::resource_list::Item::from_node(root)?;
        Resource::parse(item.into_text())
    });
    items.collect()
}

fn insert<'a>(edit: &mut Edit<'a>, root: NodeRef<'a>, tokens: &Tokens) -> Result<(), EditError> {
    for node in root.descendants() {
        let Some(scalar) = node.as_scalar() else { continue };
        let is_plain = scalar.style() == ScalarStyle::Plain;
        let Some(value) = tokens.value_of(&scalar.value(), is_plain) else { continue };
        match node.value_of_key() {
            Some(_) => {
                let key = match value {
                    Value::String(text) | Value::Number(text) => text.into_owned(),
                    other => krm_core::print::json::display(&other),
                };
                edit.rename(node, &key)?;
            }
            None => edit.set(node, value)?,
        }
    }
    for comment in root.document().comments() {
        if let Some(parts) = tokens.split(comment.text) {
            let text = tokens.joined(&parts).replace(['\n', '\r'], " ");
            let text = text.trim_start_matches('#').trim_start().to_owned();
            edit.replace_comment(root.document().index(), &comment, Some(&text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn render(template: &str, value: &str) -> Result<String, String> {
        let values = BTreeMap::from([("x", value)]);
        let rendered = Template::new(template).and_then(|it| it.render(&values));
        let rendered = rendered.map_err(|error| error.to_string())?;
        Ok(rendered.iter().map(|it| it.text().to_owned()).collect::<Vec<_>>().join("---\n"))
    }

    #[test]
    fn values_are_quoted_wherever_they_are_inserted() {
        for (template, value, expected) in [
            ("a: {{ x }}\n", "plain", "a: plain\n"),
            ("a: {{ x }}\n", "on", "a: \"on\"\n"),
            ("a: {{ x }}\n", "b\nc: d", "a: |-\n  b\n  c: d\n"),
            ("a: {{ x }}-db\n", "1", "a: 1-db\n"),
            ("a: {{ x }}-db\n", "b: c", "a: \"b: c-db\"\n"),
            ("a: '{{ x }}'\n", "it's", "a: 'it''s'\n"),
            ("a: \"{{ x }}\"\n", "5", "a: \"5\"\n"),
            ("a: [{{ x }}, b]\n", "c, d", "a: [\"c, d\", b]\n"),
            ("a: b # {{ x }}\n", "c\nd: e", "a: b # c d: e\n"),
            ("{{ x }}: b\n", "c: d", "\"c: d\": b\n"),
            ("a: |\n  1 {{ x }}\n  2\n", "b\nc", "a: |\n  1 b\n  c\n  2\n"),
            ("a: {{ x | upper | length }}\n", "four", "a: 4\n"),
            ("a: {{ x | safe }}\n", "{b: c}", "a: {b: c}\n"),
            ("{% if x == 'y' %}\na: 1\n{% endif %}\nb: 2\n", "y", "a: 1\nb: 2\n"),
            ("a: 1\n---\nb: {{ x }}\n", "c", "a: 1\n---\nb: c\n"),
        ] {
            assert_eq!(render(template, value).as_deref(), Ok(expected), "{template} {value}");
        }
    }

    #[test]
    fn undefined_variables_and_broken_output_are_errors() {
        assert!(render("a: {{ y }}\n", "").unwrap_err().contains("undefined"));
        assert!(render("a: {{ x \n", "").is_err());
        let error = render("a: [{{ x | safe }}\n", "b").unwrap_err();
        assert!(error.starts_with("the output of the template is not valid"), "{error}");
    }
}
