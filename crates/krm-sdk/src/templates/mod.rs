//! Templates of resources and patches, in the syntax of Jinja.
//!
//! # Values stay values
//!
//! A template engine writes text, and text that is pasted into YAML can mean something else: `{{ tag }}` with the string `1.10` becomes a
//! number, and a string with a line break becomes other fields. Here a template writes markers where it prints values (`markers`). The
//! text with markers is parsed as YAML, and then each marker is replaced by an edit of its scalar (`substitute`), which quotes and indents
//! as necessary. So the structure of the output is that of the template, whatever the values are.

mod markers;
mod source;
mod substitute;

use std::collections::BTreeMap;

use krm_core::Diagnostic;
use krm_core::diagnostics::closest_name;
use krm_yaml::{File, Span, Value};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

use crate::kinds::TemplateKind;
use crate::stream::Stream;
use crate::typed::to_value;
use crate::{Error, Resource};
use source::Source;

/// Named templates, which are rendered to resources, patches and other YAML.
///
/// ```
/// use krm_sdk::Templates;
///
/// #[derive(serde::Deserialize, serde::Serialize)]
/// struct Config {
///     name: String,
///     version: String,
///     replicas: u32,
///     labels: std::collections::BTreeMap<String, String>,
/// }
///
/// # fn main() -> Result<(), krm_sdk::Error> {
/// // Embed files with `include_str!("../templates/web.yaml")`.
/// let templates = Templates::new([("web.yaml", "\
/// apiVersion: apps/v1
/// kind: Deployment
/// metadata:
///   name: {{ name }}-web # of {{ name }}
///   labels: {{ labels }}
/// spec:
///   replicas: {{ replicas }}
///   template:
///     metadata:
///       labels:
///         version: {{ version }}
/// {% if replicas > 1 %}
///       annotations:
///         note: web of {{ name }}
/// {% endif %}
/// ")])?;
///
/// let config = Config {
///     name: "shop".to_owned(),
///     version: "1.10".to_owned(),
///     replicas: 2,
///     labels: [("team".to_owned(), "on".to_owned())].into(),
/// };
/// assert_eq!(templates.resources("web.yaml", &config)?[0].text(), "\
/// apiVersion: apps/v1
/// kind: Deployment
/// metadata:
///   name: shop-web # of shop
///   labels:
///     team: \"on\"
/// spec:
///   replicas: 2
///   template:
///     metadata:
///       labels:
///         version: \"1.10\"
///       annotations:
///         note: web of shop
/// ");
/// # Ok(())
/// # }
/// ```
///
/// # Syntax
///
/// The engine is [minijinja](https://docs.rs/minijinja/3): `{{ expression }}`, `{% for %}`, `{% if %}`, `{% macro %}`, `{% include %}`,
/// `{# comment #}`, and its filters and tests. A line that has nothing but tags leaves no line in the output. A variable or field that does not exist is
/// an error; test it with `is defined`, or use the filter `default`.
///
/// # Values
///
/// | in the template | printed |
/// |---|---|
/// | `key: {{ value }}`, `- {{ value }}` | the value with its type: a string is quoted if it would be read as something else, a number is a number, a list or a map is written below the key |
/// | `key: a-{{ value }}`, `"{{ value }}"`, a block scalar | a string that contains the value, which must be a string, a number or a boolean |
/// | `{{ value }}: x` | a key, always a string |
/// | `# {{ value }}` | a comment on one line |
/// | `{{ value \| to_json }}`, `{{ value \| to_yaml }}` | a string with the value as JSON or YAML: for configuration files in ConfigMaps |
/// | `{{ value \| safe }}` | the text as it is, which may be any YAML |
///
/// The text of `{% set x %}…{% endset %}` and of macros is YAML, too: print it, but do not compare or measure it.
#[derive(Debug)]
pub struct Templates {
    engine: Environment<'static>,
    sources: BTreeMap<String, Source>,
}

impl Templates {
    /// Templates with their names, which errors mention and other templates include.
    ///
    /// # Errors
    /// The first syntax error, with its line and column.
    pub fn new<N: Into<String>, S: Into<String>>(
        templates: impl IntoIterator<Item = (N, S)>,
    ) -> Result<Self, Error> {
        let mut engine = Environment::new();
        engine.set_debug(true);
        let mut syntax = SyntaxConfig::builder();
        syntax.keep_trailing_newline(true);
        engine.set_syntax(syntax.build()?);
        engine.set_undefined_behavior(UndefinedBehavior::Strict);
        engine.set_auto_escape_callback(|_| AutoEscape::Custom("yaml".into()));
        engine.set_formatter(markers::format);
        engine.add_filter("to_json", |value: minijinja::Value| {
            converted(&value, |value| Ok(crate::to_json(&value)))
        });
        engine.add_filter("to_yaml", |value: minijinja::Value| converted(&value, yaml_text));
        let mut new = Self { engine, sources: BTreeMap::new() };
        for (name, source) in templates {
            let (name, source) = (name.into(), Source::new(source.into()));
            let added = new.engine.add_template_owned(name.clone(), source.engine().to_owned());
            added.map_err(|error| failed(&error, &name, Some(&source)))?;
            new.sources.insert(name, source);
        }
        Ok(new)
    }

    /// The engine, to add filters, tests, functions and globals of your own.
    ///
    /// ```
    /// # use krm_sdk::Templates;
    /// let mut templates = Templates::new([("a.yaml", "a: {{ 'Web' | slug }}\n")])?;
    /// templates.engine().add_filter("slug", |text: String| text.to_lowercase());
    /// assert_eq!(templates.render("a.yaml", ())?, "a: web\n");
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn engine(&mut self) -> &mut Environment<'static> {
        &mut self.engine
    }

    /// Renders a template to YAML text. The data are a struct, a map, or [`crate::Any`] with a value of [`crate::value!`].
    pub fn render(&self, name: &str, data: impl Serialize) -> Result<String, Error> {
        let template = self.engine.get_template(name).map_err(|_| self.not_found(name))?;
        let rendered = template.render_captured(Serde(data));
        let rendered = rendered.map_err(|error| self.failed_in(&error, name))?;
        let values = markers::Values::of(rendered.state());
        substitute::substitute(name, rendered.into_output(), &values)
    }

    /// Renders a template to resources: its documents, or the items of a list. Empty documents are left out.
    ///
    /// [`crate::ResourceList::sync_generated`] merges them with the package.
    pub fn resources(&self, name: &str, data: impl Serialize) -> Result<Vec<Resource>, Error> {
        let in_template = |error: Error| error.context(format!("template `{name}`"));
        let (stream, list) = Stream::read(self.render(name, data)?).map_err(in_template)?;
        stream.check_documents().map_err(in_template)?;
        // Parsed again, because an item of a stream remembers its position there.
        let new = |it: &Resource| Resource::parse(it.text());
        list.items.iter().map(new).collect::<Result<_, _>>().map_err(in_template)
    }

    /// Renders a template to a value: for [`Resource::set`], [`Resource::patch`] and [`Patch::merge`](method@crate::Patch::merge).
    ///
    /// ```
    /// use krm_sdk::{ContainerSelector, Patch, Selector, Templates, testing};
    ///
    /// #[derive(serde::Serialize)]
    /// struct Config {
    ///     owner: String,
    ///     proxy: String,
    /// }
    ///
    /// let templates = Templates::new([
    ///     ("owner.yaml", "metadata:\n  annotations:\n    example.com/owner: {{ owner }}\n"),
    ///     ("proxy.yaml", "env:\n- name: HTTP_PROXY\n  value: {{ proxy }}\n"),
    /// ])?;
    /// let config = Config { owner: "0815".to_owned(), proxy: "http://proxy:3128".to_owned() };
    /// let mut list = testing::list(&["\
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web # the shop
    /// spec:
    ///   containers:
    ///   - name: web
    ///   - name: logs
    /// "]);
    /// list.patch(&[
    ///     Patch::merge(templates.value("owner.yaml", &config)?).target(Selector::new().kind("Pod")),
    ///     Patch::merge(templates.value("proxy.yaml", &config)?).containers(ContainerSelector::new().name("web")),
    /// ])?;
    /// assert_eq!(list.items[0].text(), "\
    /// apiVersion: v1
    /// kind: Pod
    /// metadata:
    ///   name: web # the shop
    ///   annotations:
    ///     example.com/owner: \"0815\"
    /// spec:
    ///   containers:
    ///   - name: web
    ///     env:
    ///     - name: HTTP_PROXY
    ///       value: http://proxy:3128
    ///   - name: logs
    /// ");
    /// # Ok::<(), krm_sdk::Error>(())
    /// ```
    pub fn value(&self, name: &str, data: impl Serialize) -> Result<Value<'static>, Error> {
        let file = substitute::parse(name, self.render(name, data)?, &markers::Values::default())?;
        let roots: Vec<_> = file.documents().filter_map(|document| document.root()).collect();
        match roots[..] {
            [root] => crate::resource::owned(root),
            _ => {
                let (template, found) = (name.to_owned(), roots.len());
                Err(Diagnostic::error(TemplateKind::NotOneDocument { template, found }).into())
            }
        }
    }

    fn not_found(&self, name: &str) -> Error {
        let error = Diagnostic::error(TemplateKind::NotFound { template: name.to_owned() });
        let names: Vec<&str> = self.engine.templates().map(|(name, _)| name).collect();
        match closest_name(names, name) {
            Some(similar) => error.hint(format!("did you mean `{similar}`?")).into(),
            None => error.into(),
        }
    }

    /// The error of rendering a template, which may be in one that it includes.
    fn failed_in(&self, error: &minijinja::Error, name: &str) -> Error {
        let mut innermost = error;
        let mut source = std::error::Error::source(error);
        while let Some(cause) = source {
            let known = cause.downcast_ref::<minijinja::Error>().filter(|it| it.line().is_some());
            innermost = known.unwrap_or(innermost);
            source = cause.source();
        }
        let name = innermost.name().unwrap_or(name);
        failed(innermost, name, self.sources.get(name))
    }
}

/// An error of the engine, located in the source of the template.
fn failed(error: &minijinja::Error, name: &str, source: Option<&Source>) -> Error {
    let kind = error.kind().to_string();
    let reason = match error.detail() {
        Some(detail) => format!("{kind}: {detail}"),
        None => kind,
    };
    let kind = TemplateKind::Failed { template: name.to_owned(), reason: reason.into() };
    let diagnostic = Diagnostic::error(kind);
    let located = || {
        let (source, range) = (source?, error.range()?);
        let span =
            Span { start: source.offset(range.start) as u32, end: source.offset(range.end) as u32 };
        let file = File::parse(source.written().to_owned()).ok()?;
        let is_inside = span.end as usize <= file.text().len();
        is_inside.then(|| diagnostic.clone().at(&file, span))
    };
    located().unwrap_or(diagnostic).into()
}

/// A value of the engine as text.
fn converted(
    value: &minijinja::Value,
    convert: impl Fn(Value<'static>) -> Result<String, Error>,
) -> Result<String, minijinja::Error> {
    let text = to_value(value).and_then(convert);
    text.map_err(|error| {
        minijinja::Error::new(minijinja::ErrorKind::BadSerialization, error.to_string())
    })
}

/// A value in block style. Without the last line break, which the block scalar around it has.
fn yaml_text(value: Value<'static>) -> Result<String, Error> {
    let file = File::parse("x\n".to_owned())?;
    let mut edit = krm_yaml::Edit::new(&file);
    if let Some(root) = file.documents().find_map(|document| document.root()) {
        edit.overwrite(root, value)?;
    }
    let mut text = edit.apply()?;
    text.truncate(text.trim_end_matches('\n').len());
    Ok(text)
}

#[cfg(test)]
mod tests;
