//! A file as one line per value, in an order that does not depend on how it is written, for programs that compare line by line.

use std::collections::BTreeMap;

use krm_yaml::{File, NodeKind, NodeRef, Path, ScalarType, Segment};

use crate::compare::sequences::list_type;
use crate::compare::{FieldSchema, Fields, ListOptions};
use crate::model::resource;
use crate::print::{is_plain_scalar, json, one_line, visible_line};

/// Documents do not nest deeper than this, but an alias may lead into the node that contains it.
const MAX_DEPTH: usize = 300;
/// How many bytes the list may have for each byte of the file: every line has the whole path of its value.
const MAX_FACTOR: usize = 16;
/// How many more it may have, because short files have long lists, too.
const MAX_BEYOND: usize = 64 << 20;

/// Lists each resource, or document that is not a resource, with one line for each of its values. Keys are sorted, elements of
/// associative lists are named by their merge key, aliases and `<<` keys are resolved, and comments are left out.
///
/// None if the list is much longer than the file, such as that of a few aliases that expand to billions of nodes. A part of it would hide
/// changes from those who compare.
///
/// ```
/// let text = "kind: Pod\napiVersion: v1\nmetadata: {name: web}\nspec:\n  containers:\n  - image: web:1 # pinned\n    name: web\n";
/// let file = krm_yaml::File::parse(text.to_owned())?;
/// let lines = krm_core::diff::outline(&file, &krm_core::compare::ListOptions::default()).unwrap();
/// assert!(lines.starts_with("Pod web\n  apiVersion: v1\n  kind: Pod\n  metadata.name: web\n"));
/// assert!(lines.contains("\n  spec.containers[name=web].image: web:1\n"));
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn outline(file: &File, options: &ListOptions<'_>) -> Option<String> {
    let limit = file.text().len().saturating_mul(MAX_FACTOR).saturating_add(MAX_BEYOND);
    let mut outline =
        Outline { options, path: Path::default(), names: Vec::new(), limit, text: String::new() };
    for (number, document) in file.documents().enumerate() {
        let resources = resource::resources(document);
        match document.root() {
            Some(root) if resources.is_empty() => {
                outline.section(&format!("document {number}"), root);
            }
            _ => resources.iter().for_each(|it| outline.section(&it.label(), it.node)),
        }
    }
    (outline.text.len() <= limit).then_some(outline.text)
}

struct Outline<'c, 'r> {
    options: &'c ListOptions<'r>,
    path: Path,
    /// The names of the fields on the path, by which options name a list.
    names: Vec<String>,
    /// Nothing is added to a text that is longer.
    limit: usize,
    text: String,
}

impl<'r> Outline<'_, 'r> {
    fn section(&mut self, title: &str, root: NodeRef<'_>) {
        self.push_line(title);
        let schema = FieldSchema::of_resource(self.options, root);
        self.node(root, &schema, 0);
    }

    fn node(&mut self, node: NodeRef<'_>, schema: &FieldSchema<'r>, depth: usize) {
        if self.text.len() > self.limit {
            return;
        }
        let value = node.resolve();
        let is_empty = value.children().next().is_none();
        if depth >= MAX_DEPTH || is_empty {
            return self.line(value);
        }
        match value.kind() {
            NodeKind::Mapping => self.mapping(value, schema, depth),
            NodeKind::Sequence => self.sequence(value, schema, depth),
            _ => self.line(value),
        }
    }

    fn mapping(&mut self, node: NodeRef<'_>, schema: &FieldSchema<'r>, depth: usize) {
        let schema = schema.or_resource(self.options, node);
        let fields = Fields::of(node, true);
        let sorted: BTreeMap<_, _> = fields.iter().collect();
        for (name, field) in sorted {
            let schema = schema.field(name);
            self.names.push(name.to_owned());
            self.below(Segment::Key(name.to_owned()), field.value, &schema, depth);
            self.names.pop();
        }
    }

    fn sequence(&mut self, node: NodeRef<'_>, schema: &FieldSchema<'r>, depth: usize) {
        let elements: Vec<NodeRef<'_>> = node.children().collect();
        let at = self.names.join(".");
        let list_type = list_type(self.options, &at, schema, std::slice::from_ref(&elements));
        let key = |element: &NodeRef<'_>| {
            let name = list_type.path_key()?;
            let value = resource::scalar_text(resource::field(*element, name)?)?;
            Some((name.to_owned(), value.into_owned()))
        };
        let keys: Vec<_> = elements.iter().map(key).collect();
        let mut counts = BTreeMap::new();
        keys.iter().for_each(|key| *counts.entry(key).or_insert(0) += 1);
        let schema = schema.item();
        for (index, element) in elements.iter().enumerate() {
            // A key that several elements have does not identify any of them.
            let key = keys[index].as_ref().filter(|_| counts[&keys[index]] == 1);
            let segment =
                key.map(|(key, value)| Segment::Match { key: key.clone(), value: value.clone() });
            self.below(segment.unwrap_or(Segment::Index(index)), *element, &schema, depth);
        }
    }

    fn below(
        &mut self,
        segment: Segment,
        node: NodeRef<'_>,
        schema: &FieldSchema<'r>,
        depth: usize,
    ) {
        let parent = self.path.clone();
        self.path.push(segment);
        self.node(node, schema, depth + 1);
        self.path = parent;
    }

    fn line(&mut self, value: NodeRef<'_>) {
        self.push_line(&format!("  {}: {}", self.path, written(value)));
    }

    /// Names come from a file that somebody else may have written, and git prints the list on a terminal.
    fn push_line(&mut self, line: &str) {
        self.text.push_str(&visible_line(line));
        self.text.push('\n');
    }
}

/// A value on one line, independent of its style: a string has quotes only where it could be read as something else.
fn written(node: NodeRef<'_>) -> String {
    let string = node.as_scalar().filter(|it| it.resolve() == ScalarType::String);
    let Some(text) = string.map(|it| it.value()) else { return one_line(node) };
    let is_name = text.chars().all(|c| c.is_ascii_alphanumeric());
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && !text.contains(char::is_control)
        && (!is_name || is_plain_scalar(&text));
    if is_plain { text.into_owned() } else { json::string(&text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> String {
        listed(text).unwrap()
    }

    fn listed(text: &str) -> Option<String> {
        outline(&File::parse(text.to_owned()).unwrap(), &ListOptions::default())
    }

    #[test]
    fn spelling_order_and_comments_do_not_matter() {
        let one =
            "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web # front\n  labels: {b: 'x', a: y}\n";
        let other = "kind: Pod\napiVersion: v1\nmetadata: {labels: {a: y, b: x}, name: web}\n";
        assert_eq!(lines(one), lines(other));
    }

    #[test]
    fn elements_are_named_by_their_merge_key_or_index() {
        let text = "a:\n- name: x\n  v: 1\n- name: w\nb: [1, {}]\nc:\n- name: z\n- name: z\n";
        let expected = "document 0\n  a[name=x].name: x\n  a[name=x].v: 1\n  a[name=w].name: w\n  b[0]: 1\n  b[1]: {}\n  c[0].name: z\n  c[1].name: z\n";
        assert_eq!(lines(text), expected);
    }

    #[test]
    fn values_on_several_lines_are_one_line() {
        assert_eq!(lines("a: |\n  one\n  two\n"), "document 0\n  a: \"one\\ntwo\\n\"\n");
        assert_eq!(lines("x\n"), "document 0\n  : x\n");
    }

    #[test]
    fn aliases_are_resolved_and_bounded() {
        assert_eq!(lines("a: &x {b: 1}\nc: *x\n"), "document 0\n  a.b: 1\n  c.b: 1\n");
        // Many short aliases of a long string, and many values below a long key.
        let long = "x".repeat(10_000);
        let aliases = format!("a: &a {long}\nb: [{}1]\n", "*a, ".repeat(10_000));
        let keys = format!("{}: [{}1]\n", &long[..1_000], "1, ".repeat(100_000));
        assert_eq!([listed(&aliases), listed(&keys)], [None, None]);
    }

    #[test]
    fn names_control_no_terminal_and_begin_no_line() {
        let text = r#"{apiVersion: v1, kind: "P\e[2J", metadata: {name: "a\n  x: forged"}, "k\n\e": "\u202e"}"#;
        let expected = r#"P\u{1b}[2J a\n  x: forged
  apiVersion: v1
  k\n\u{1b}: "\u{202e}"
  kind: "P\u001b[2J"
  metadata.name: "a\n  x: forged"
"#;
        assert_eq!(lines(text), expected);
    }
}
