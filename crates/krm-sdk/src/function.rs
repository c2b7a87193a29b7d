//! A function with its name and documentation.

use std::fmt;

use krm_yaml::Value;

use crate::{Error, ResourceList, schema};

type Run = Box<dyn Fn(&mut ResourceList) -> Result<(), Error>>;

/// A function with its name and documentation.
pub struct Function {
    pub(crate) name: String,
    pub(crate) readme: &'static str,
    /// A schema that the author chose.
    pub(crate) schema: Option<Value<'static>>,
    pub(crate) run: Run,
}

impl Function {
    /// Creates a function.
    pub fn new(
        name: impl Into<String>,
        run: impl Fn(&mut ResourceList) -> Result<(), Error> + 'static,
    ) -> Self {
        Self { name: name.into(), readme: "", schema: None, run: Box::new(run) }
    }

    /// Sets the documentation, in Markdown: `include_str!("../README.md")`. Its first paragraph is the summary.
    #[must_use]
    pub fn readme(mut self, readme: &'static str) -> Self {
        self.readme = readme;
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first paragraph of the documentation.
    pub fn summary(&self) -> String {
        let is_text =
            |part: &&str| !part.trim().is_empty() && !part.trim_start().starts_with(['#', '<']);
        let paragraph = self.readme.split("\n\n").find(is_text).unwrap_or_default();
        paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The JSON Schema of the type as which the function reads its functionConfig; none if it reads none.
    pub fn schema(&self) -> Option<Value<'static>> {
        self.schema.clone().or_else(|| {
            schema::of_function(|list| {
                // Only the type is of interest: the call ends with an error as soon as the type is known.
                let _ = self.apply(list);
            })
        })
    }

    /// The documentation as data: name, summary (`short`), documentation (`long`), examples and schema.
    pub fn doc(&self) -> Value<'static> {
        let examples = self.readme.find("\n## Example").map_or("", |at| &self.readme[at + 1..]);
        let text = |text: String| Value::String(text.into());
        let mut entries = vec![
            (Value::from("name"), text(self.name.clone())),
            (Value::from("short"), text(self.summary())),
            (Value::from("long"), text(self.readme.to_owned())),
            (Value::from("examples"), text(examples.to_owned())),
        ];
        entries.extend(self.schema().map(|schema| (Value::from("schema"), schema)));
        Value::Mapping(entries)
    }
}

impl<F: Fn(&mut ResourceList) -> Result<(), Error> + 'static> From<F> for Function {
    fn from(run: F) -> Self {
        Self::new("", run)
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function {:?}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doc_splits_the_readme_into_summary_and_examples() {
        let function = Function::new("it", |_| Ok(()));
        let function =
            function.readme("# it\n\nDoes a thing,\nand well.\n\nMore.\n\n## Examples\n\nx\n");
        assert_eq!(function.summary(), "Does a thing, and well.");
        let doc = krm_core::print::json::display(&function.doc());
        assert!(doc.starts_with(r#"{"name":"it","short":"Does a thing, and well.","long":"#));
        assert!(doc.ends_with("\"examples\":\"## Examples\\n\\nx\\n\"}"), "{doc}");
    }
}
