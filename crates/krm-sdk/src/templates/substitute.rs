//! Replaces the markers in rendered YAML by values.

use krm_core::Diagnostic;
use krm_yaml::{Edit, File, NodeRef, ScalarStyle, Span, Value};

use super::markers::{Part, Values};
use crate::Error;
use crate::kinds::TemplateKind;

/// The text of a template with its values.
pub(super) fn substitute(template: &str, text: String, values: &Values) -> Result<String, Error> {
    if !values.is_marked(&text) {
        return Ok(text);
    }
    let file = parse(template, text, values)?;
    let rendered = Rendered { template, file: &file, values };
    let mut edit = Edit::new(&file).allow_shared(true);
    for document in file.documents() {
        let Some(root) = document.root() else { continue };
        rendered.replace_nodes(root, &mut edit)?;
        for comment in document.comments() {
            if values.is_marked(comment.text) {
                let text = rendered.comment(root, comment.text)?;
                edit.replace_comment(document.index(), &comment, Some(&text));
            }
        }
    }
    let text = edit.apply().map_err(|error| Diagnostic::from_edit(&error, &file));
    let text = text.map_err(|error| Error::from(error).context(in_template(template)))?;
    match values.is_marked(&text) {
        true => {
            let template = template.to_owned();
            Err(Diagnostic::error(TemplateKind::ValueNotInScalar { template }).into())
        }
        false => Ok(text),
    }
}

/// Parses rendered text.
pub(super) fn parse(template: &str, text: String, values: &Values) -> Result<File, Error> {
    let file =
        File::parse(text).map_err(|error| Error::from(error).context(in_template(template)))?;
    let Some(error) = file.errors().next() else { return Ok(file) };
    let text = values.shown(file.text());
    // An error can be in the middle of a marker, so that the rest of the text is no help.
    let offset = |at: u32| {
        let at = values.shown(&file.text()[..at as usize]).len().min(text.len());
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    };
    let (start, end) = (offset(error.span.start), offset(error.span.end));
    let span = Span { start: start as u32, end: end.max(start) as u32 };
    let line = text[start..].lines().next().unwrap_or_default().len() + start;
    let line = text[..line].lines().last().unwrap_or_default().trim().to_owned();
    let template = template.to_owned();
    let reason = error.kind.to_string();
    let kind = TemplateKind::InvalidYaml { template, reason, line: line.into() };
    Err(Diagnostic::error(kind).at(&File::parse(text)?, span).into())
}

fn in_template(template: &str) -> String {
    format!("template `{template}`")
}

/// A rendered template.
struct Rendered<'r> {
    template: &'r str,
    file: &'r File,
    values: &'r Values,
}

impl Rendered<'_> {
    /// Replaces the markers in a node and everything below it.
    fn replace_nodes<'f>(&self, root: NodeRef<'f>, edit: &mut Edit<'f>) -> Result<(), Error> {
        let mut pending = vec![root];
        while let Some(node) = pending.pop() {
            if let Some(mapping) = node.as_mapping() {
                let mut keys = Vec::new();
                for entry in mapping.entries() {
                    pending.push(entry.value);
                    match entry.key.as_scalar() {
                        Some(key) => keys.push((entry.key, key.value())),
                        None => pending.push(entry.key),
                    }
                }
                if keys.iter().any(|(_, key)| self.values.is_marked(key)) {
                    self.replace_keys(&keys, edit)?;
                }
            } else if let Some(scalar) = node.as_scalar() {
                let text = scalar.value();
                if self.values.is_marked(&text) {
                    let value = self.value(node, &text, scalar.style() == ScalarStyle::Plain)?;
                    edit.set(node, value).map_err(|error| self.edit_error(&error))?;
                }
            } else {
                pending.extend(node.children());
            }
        }
        Ok(())
    }

    fn replace_keys<'f>(
        &self,
        keys: &[(NodeRef<'f>, std::borrow::Cow<'f, str>)],
        edit: &mut Edit<'f>,
    ) -> Result<(), Error> {
        let mut names: Vec<String> = Vec::new();
        for (node, key) in keys {
            let name = self.text(*node, key)?;
            if names.contains(&name) {
                let template = self.template.to_owned();
                let kind = TemplateKind::DuplicateKey { template, key: name.into() };
                return Err(Diagnostic::error(kind).into());
            }
            names.push(name);
        }
        for ((node, key), name) in keys.iter().zip(&names) {
            if self.values.is_marked(key) {
                edit.rename(*node, name).map_err(|error| self.edit_error(&error))?;
            }
        }
        Ok(())
    }

    fn edit_error(&self, error: &krm_yaml::EditError) -> Error {
        let diagnostic = Diagnostic::from_edit(error, self.file);
        Error::from(diagnostic).context(in_template(self.template))
    }

    /// The value of a scalar. A plain scalar that is nothing but a value has the type of the value; any other one is a string.
    fn value(
        &self,
        node: NodeRef<'_>,
        text: &str,
        is_plain: bool,
    ) -> Result<Value<'static>, Error> {
        match self.values.parts(text)[..] {
            [Part::Value(index)] if is_plain => self.resolved(node, self.values.get(index)?),
            _ => self.text(node, text).map(Value::from),
        }
    }

    /// A value without markers, which strings have if they were made of printed text.
    fn resolved(&self, node: NodeRef<'_>, value: Value<'static>) -> Result<Value<'static>, Error> {
        Ok(match value {
            Value::String(text) if self.values.is_marked(&text) => {
                self.text(node, &text).map(Value::from)?
            }
            Value::Sequence(items) => {
                let items = items.into_iter().map(|item| self.resolved(node, item));
                Value::Sequence(items.collect::<Result<_, _>>()?)
            }
            Value::Mapping(entries) => {
                let entries = entries.into_iter().map(|(key, value)| {
                    Ok::<_, Error>((self.resolved(node, key)?, self.resolved(node, value)?))
                });
                Value::Mapping(entries.collect::<Result<_, _>>()?)
            }
            other => other,
        })
    }

    /// A text with its values, which must be scalars.
    fn text(&self, node: NodeRef<'_>, text: &str) -> Result<String, Error> {
        let mut out = String::new();
        for part in self.values.parts(text) {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Value(index) => match self.values.get(index)? {
                    Value::String(text) => out.push_str(&self.text(node, &text)?),
                    Value::Number(number) => out.push_str(&number),
                    Value::Bool(value) => out.push_str(&value.to_string()),
                    other => return Err(self.not_a_scalar(node, &other)),
                },
            }
        }
        Ok(out)
    }

    fn not_a_scalar(&self, node: NodeRef<'_>, value: &Value<'_>) -> Error {
        let found = match value {
            Value::Null => "null",
            Value::Sequence(_) => "a list",
            _ => "a map",
        };
        let (template, field) =
            (self.template.to_owned(), self.values.shown(&node.path().to_string()));
        Diagnostic::error(TemplateKind::NotAScalar { template, found, field }).into()
    }

    /// A comment with its values. What does not fit on one line is written as JSON.
    fn comment(&self, node: NodeRef<'_>, text: &str) -> Result<String, Error> {
        let mut out = String::new();
        for part in self.values.parts(text) {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Value(index) => match self.resolved(node, self.values.get(index)?)? {
                    Value::String(text) if !text.contains(char::is_control) => out.push_str(&text),
                    other => out.push_str(&crate::to_json(&other)),
                },
            }
        }
        Ok(out)
    }
}
