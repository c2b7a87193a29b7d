//! Wrapping resources in a list, such as a ResourceList. Each item is copied as it is written.

use krm_yaml::{File, NodeRef, Value};

use crate::Diagnostic;
use crate::print::PrintKind;
use crate::print::json;
use crate::print::list_output;

/// The head of a list of resources.
#[derive(Clone, Debug)]
pub struct ListWrapper {
    /// `kind` of the list.
    pub kind: String,
    /// `apiVersion` of the list.
    pub version: String,
    /// The `functionConfig` as YAML.
    pub function_config: Option<String>,
}

impl ListWrapper {
    /// The list with these items. It is verified that each item has the same meaning as its text.
    pub fn wrap(&self, texts: &[String]) -> Result<String, Diagnostic> {
        let scalar = |text: &str| match list_output::is_plain_scalar(text) {
            true => text.to_owned(),
            false => json::string(text),
        };
        let mut out =
            format!("apiVersion: {}\nkind: {}\n", scalar(&self.version), scalar(&self.kind));
        out.push_str(if texts.is_empty() { "items: []\n" } else { "items:\n" });
        texts.iter().for_each(|text| item(text, &mut out));
        if let Some(config) = &self.function_config {
            out.push_str("functionConfig:\n");
            config.split_inclusive('\n').for_each(|line| indented(line, &mut out));
        }
        self.check(&out, texts)?;
        Ok(out)
    }

    fn check(&self, list: &str, texts: &[String]) -> Result<(), Diagnostic> {
        let wrong = |_| Diagnostic::error(PrintKind::NotWrappable);
        let value = |text: &str| {
            let file = File::parse(text.to_owned()).map_err(|error| error.to_string())?;
            let root = file.document(0).and_then(|document| document.root()).ok_or("")?;
            Ok(json::display(&Value::Node(root)))
        };
        let file = File::parse(list.to_owned()).map_err(|error| wrong(error.to_string()))?;
        let root = file.document(0).and_then(|document| document.root());
        let items = root.and_then(|root| root.as_mapping()?.get("items"));
        let items: Vec<String> = items
            .into_iter()
            .flat_map(NodeRef::children)
            .map(|item| json::display(&Value::Node(item)))
            .collect();
        let expected: Result<Vec<String>, String> = texts.iter().map(|text| value(text)).collect();
        if expected.map_err(wrong)? == items { Ok(()) } else { Err(wrong(String::new())) }
    }
}

/// Writes an item of a block sequence. Comments above it are written above its dash.
pub(crate) fn item(text: &str, out: &mut String) {
    let is_head_comment = |line: &&str| line.starts_with('#') || line.trim().is_empty();
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next_if(is_head_comment) {
        out.push_str(line);
    }
    if let Some(first) = lines.next() {
        out.push_str("- ");
        out.push_str(first);
    }
    lines.for_each(|line| indented(line, out));
}

/// Writes an indented line. Empty lines are not indented; lines of spaces are, because they may be part of a block scalar.
#[inline]
pub(crate) fn indented(line: &str, out: &mut String) {
    if !matches!(line, "\n" | "\r\n") {
        out.push_str("  ");
    }
    out.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_copied_as_they_are_written() {
        let texts = [
            "# above\nkind: A # beside\ntext: |+\n  one\n\n   two\n\n".to_owned(),
            "{\"kind\": \"B\",\n \"x\": \"y\n  z\"}\n".to_owned(),
            "a: &x 1\nb: *x\r\nc: 'two\n\n  lines'\n".to_owned(),
        ];
        let wrapper = ListWrapper {
            kind: "List".to_owned(),
            version: "v1".to_owned(),
            function_config: Some("a: |\n  x\n".to_owned()),
        };
        let list = wrapper.wrap(&texts).unwrap();
        assert!(list.starts_with(
            "apiVersion: v1\nkind: List\nitems:\n# above\n- kind: A # beside\n  text: |+\n    one\n"
        ));
        assert!(list.ends_with("\nfunctionConfig:\n  a: |\n    x\n"), "{list}");
        assert_eq!(wrapper.wrap(&[]).unwrap().lines().nth(2), Some("items: []"));
    }

    #[test]
    fn items_keep_their_meaning_in_every_style() {
        let wrapper = ListWrapper {
            kind: "List".to_owned(),
            version: "v1".to_owned(),
            function_config: None,
        };
        for item in [
            "a: |\n\n  text\n     \n  more\n\n\nb: >-\n  x\n\n  y\n",
            "a: |2\n    x\n  y\n",
            "a: \"x\\\n  y\n\n  z\"\nb: 'q\n  r'\nc: plain\n  text\n",
            "a: 1\r\nb: |\r\n  x\r\n\r\n  y\r\n",
            "!!map\na: 1\n",
        ] {
            wrapper.wrap(&[item.to_owned(), "b: 2\n".to_owned()]).expect(item);
        }
    }
}
