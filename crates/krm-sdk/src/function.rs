//! A function with its name and its page.

use std::fmt;

use krm_yaml::Value;

use crate::{Error, ResourceList, schema};

type Run = Box<dyn Fn(&mut ResourceList) -> Result<(), Error>>;

/// A function: what it is called, what is written about it, and what it does.
pub struct Function {
    pub(crate) name: String,
    pub(crate) page: &'static str,
    pub(crate) run: Run,
}

impl Function {
    /// A function of this name.
    pub fn new(
        name: impl Into<String>,
        run: impl Fn(&mut ResourceList) -> Result<(), Error> + 'static,
    ) -> Self {
        Self { name: name.into(), page: "", run: Box::new(run) }
    }

    /// The page about it, in Markdown: `include_str!("../README.md")`. Its first paragraph is the short form.
    #[must_use]
    pub fn page(mut self, page: &'static str) -> Self {
        self.page = page;
        self
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first paragraph of the page.
    pub fn summary(&self) -> String {
        let is_text =
            |part: &&str| !part.trim().is_empty() && !part.trim_start().starts_with(['#', '<']);
        let paragraph = self.page.split("\n\n").find(is_text).unwrap_or_default();
        paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The JSON schema of the functionConfig, by the type that the function asks for; none where it asks for none.
    pub fn schema(&self) -> Option<Value<'static>> {
        schema::of_function(|list| {
            // What it says to nothing is of no interest.
            let _ = self.apply(list);
        })
    }

    /// What is known about the function, as data: name, short and long form, examples, schema.
    pub fn doc(&self) -> Value<'static> {
        let examples = self.page.find("\n## Example").map_or("", |at| &self.page[at + 1..]);
        let text = |text: String| Value::String(text.into());
        let mut entries = vec![
            (Value::from("name"), text(self.name.clone())),
            (Value::from("short"), text(self.summary())),
            (Value::from("long"), text(self.page.to_owned())),
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
    fn a_page_has_a_short_form_and_examples() {
        let function = Function::new("it", |_| Ok(()));
        let function =
            function.page("# it\n\nDoes a thing,\nand well.\n\nMore.\n\n## Examples\n\nx\n");
        assert_eq!(function.summary(), "Does a thing, and well.");
        let doc = krm_core::print::json::write(&function.doc());
        assert!(doc.starts_with(r#"{"name":"it","short":"Does a thing, and well.","long":"#));
        assert!(doc.ends_with("\"examples\":\"## Examples\\n\\nx\\n\"}"), "{doc}");
    }
}
