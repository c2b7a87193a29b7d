//! `AddSetterComments`: fields that hold values of setters get `kpt-set` references, as create-setters writes them.

use std::collections::BTreeMap;

use krm_yaml::{Comment, File, NodeKind, NodeRef, OwnedNode, Value};

use super::add_references::{Beside, beside, can_have_line_comment};
use super::changes::{Changes, Op};
use super::definition::{SetterValue, texts, warning_at};
use super::fields::is_settable;
use super::function_config;
use super::pattern::{DeriveError, Pattern};
use super::reference::{self, ParsedComment, ReferenceSyntax, ReferenceTarget};
use crate::{Diagnostic, PackageFile};

/// Setters by their values.
///
/// ```
/// use krm_core::PackageFile;
/// use krm_core::setters::AddSetterComments;
///
/// let config = PackageFile::from_text("setters.yaml", "data:\n  image: nginx\n  tag: 1.7.9\n")?;
/// let data = config.file().and_then(|file| file.document(0)?.find(&"data".parse().ok()?)).expect("it is there");
/// let file = PackageFile::from_text("pod.yaml", "spec:\n  image: nginx:1.7.9\n")?;
/// let marked = AddSetterComments::new(&config, data).expect("these are values").compute(&file);
/// let text = marked.changes.text(&file).expect("the file can be edited");
/// assert_eq!(text.as_deref(), Some("spec:\n  image: nginx:1.7.9 # kpt-set: ${image}:${tag}\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct AddSetterComments {
    /// Names and values, the longest value first.
    texts: Vec<(String, String)>,
    /// Names and the items of lists, sorted.
    lists: Vec<(String, Vec<String>)>,
}

/// What marking comes to in a file.
#[derive(Debug, Default)]
pub struct AddSetterCommentsResult<'a> {
    /// What changes.
    pub changes: Changes<'a>,
    /// The fields that hold a value, also those that have the reference already.
    pub fields: Vec<CommentedField<'a>>,
    /// Fields that cannot have a reference.
    pub warnings: Vec<Diagnostic>,
}

/// A field and the reference that it has now.
#[derive(Clone, Debug)]
pub struct CommentedField<'a> {
    /// The field.
    pub node: NodeRef<'a>,
    /// `kpt-set: ${name}`
    pub reference: String,
    /// What stands there.
    pub value: SetterValue,
}

impl AddSetterComments {
    /// The setters in the `data` of a functionConfig.
    pub fn new(config: &PackageFile, data: NodeRef<'_>) -> Result<Self, Vec<Diagnostic>> {
        let (mut mark, mut errors) = (Self::default(), Vec::new());
        for setter in function_config::of_data(config, data) {
            let error = |words: String| setter.location.map(|location| location.error(words));
            let name = setter.name.clone();
            let is_mapping = setter
                .function_config_value()
                .is_some_and(|it| it.resolve().kind() == NodeKind::Mapping);
            match setter.value {
                _ if is_mapping => {
                    let hint = "a setter holds a text, or a list written as text";
                    let told = error(format!("the value of `{name}` is a mapping"));
                    errors.extend(told.map(|it| it.hint(hint)));
                }
                SetterValue::List(items) => mark.lists.push((name, sorted(items))),
                SetterValue::Text(text) if !text.trim().is_empty() => {
                    match function_config::list(&text) {
                        Some(items) => mark.lists.push((name, sorted(items))),
                        None => {
                            mark.texts.push((name, text.trim_end_matches(['\n', '\r']).to_owned()));
                        }
                    }
                }
                _ => {
                    let words = format!("`{name}` has no value, by which fields could be found");
                    errors.extend(error(words).map(|it| it.hint("an empty list is written []")));
                }
            }
        }
        // Of two that fit, the longer one tells more; the order of names decides between equals.
        mark.texts.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then_with(|| a.0.cmp(&b.0)));
        if errors.is_empty() { Ok(mark) } else { Err(errors) }
    }

    /// What it comes to in a file.
    pub fn compute<'a>(&self, file: &'a PackageFile) -> AddSetterCommentsResult<'a> {
        let mut walk = Walk {
            mark: self,
            file,
            beside: Beside::new(),
            out: AddSetterCommentsResult::default(),
        };
        // JSON has no comments.
        let text = file.file().filter(|_| !file.path.is_json());
        for document in text.into_iter().flat_map(File::documents) {
            walk.beside = beside(document);
            if let Some(root) = document.root() {
                walk.mapping(root, true, false);
            }
        }
        walk.out
    }

    /// The text with names in place of values.
    fn replaced(&self, text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some(c) = rest.chars().next() {
            match self.texts.iter().find(|(_, value)| rest.starts_with(value.as_str())) {
                Some((name, value)) => {
                    out.push_str(&format!("${{{name}}}"));
                    rest = &rest[value.len()..];
                }
                None => {
                    out.push(c);
                    rest = &rest[c.len_utf8()..];
                }
            }
        }
        out
    }

    /// The pattern of a text that holds a value; none where it would not give the text again.
    fn pattern(&self, text: &str) -> Option<Pattern> {
        let pattern = Pattern::with_names(&self.replaced(text)).ok()?;
        let values: BTreeMap<&str, &str> =
            self.texts.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let again = pattern.fill(|name| values.get(name).map(|value| (*value).to_owned())).ok()?;
        (again == text && !pattern.markers().is_empty() && text.trim() == text).then_some(pattern)
    }
}

fn sorted(mut items: Vec<String>) -> Vec<String> {
    items.sort();
    items
}

struct Walk<'m, 'a> {
    mark: &'m AddSetterComments,
    file: &'a PackageFile,
    beside: Beside<'a>,
    out: AddSetterCommentsResult<'a>,
}

impl<'a> Walk<'_, 'a> {
    /// As deep as the text is nested, which the reader bounds.
    fn node(&mut self, node: NodeRef<'a>) {
        match node.kind() {
            NodeKind::Mapping => self.mapping(node, false, false),
            NodeKind::Sequence => node.children().for_each(|item| self.node(item)),
            NodeKind::Scalar(_) => {
                if let Some(comment) = self.scalar(node) {
                    self.put(node, comment);
                }
            }
            NodeKind::Alias => {}
        }
    }

    fn mapping(&mut self, node: NodeRef<'a>, is_root: bool, is_annotations: bool) {
        let Some(mapping) = node.as_mapping() else { return };
        for entry in mapping.entries() {
            let name = entry.key.as_scalar().map(|key| key.value()).unwrap_or_default();
            // What a resource is, is no setting, and neither is what tools note.
            let is_kind = is_root && (name == "apiVersion" || name == "kind");
            let of_tools = ["config.kubernetes.io/", "internal.config.kubernetes.io/"];
            if is_kind || is_annotations && of_tools.iter().any(|it| name.starts_with(it)) {
                continue;
            }
            match entry.value.kind() {
                NodeKind::Sequence => self.list(entry.value),
                NodeKind::Mapping => self.mapping(entry.value, false, name == "annotations"),
                _ => self.node(entry.value),
            }
        }
    }

    fn list(&mut self, list: NodeRef<'a>) {
        let before = self.out.fields.len();
        let items = is_settable(list).then(|| sorted(texts(list)));
        let found = self.mark.lists.iter().find(|(_, other)| items.as_ref() == Some(other));
        let own = found.and_then(|(name, _)| {
            let pattern = Pattern::with_names(&format!("${{{name}}}")).ok()?;
            self.comment(list, &pattern, SetterValue::List(items.unwrap_or_default()))
        });
        if list.is_block() || !is_settable(list) {
            list.children().for_each(|item| self.node(item));
        } else if let Some(lines) = self.lines(list) {
            // No comment can stand between brackets.
            self.out.changes.at(self.file, list, Op::Write(list, Value::OwnedNode(lines)));
            if let Some(comment) = own {
                self.out.changes.at(self.file, list, Op::Beside(list, comment));
            }
            return;
        }
        match own {
            Some(comment) if can_have_line_comment(list) => self.put(list, comment),
            Some(_) => {
                self.out.fields.truncate(before);
                self.refuse(list);
            }
            None => {}
        }
    }

    /// A list in brackets as lines, where an item gets a reference.
    fn lines(&mut self, list: NodeRef<'a>) -> Option<OwnedNode> {
        if list.text().contains(['#', '\n', '&', '*']) || !can_have_line_comment(list) {
            let holds = |item: &NodeRef<'a>| {
                item.as_scalar().is_some_and(|it| self.mark.pattern(&it.value()).is_some())
            };
            let left: Vec<NodeRef<'a>> = list.children().filter(holds).collect();
            left.into_iter().for_each(|item| self.refuse(item));
            return None;
        }
        let count = self.out.fields.len();
        let item = |item: NodeRef<'a>| match self.scalar(item) {
            Some(comment) => format!("- {} {comment}\n", item.text()),
            None => format!("- {}\n", item.text()),
        };
        let text: String = list.children().map(item).collect();
        if self.out.fields.len() == count {
            return None;
        }
        OwnedNode::root(File::parse(text).ok()?)
    }

    /// The comment of a value that holds one of ours.
    fn scalar(&mut self, node: NodeRef<'a>) -> Option<String> {
        let value = node.as_scalar()?.value();
        let fresh = self.mark.pattern(&value).filter(|_| !value.contains('\n'))?;
        self.comment(node, &fresh, SetterValue::Text(value.into_owned()))
    }

    /// The whole comment with the reference. One that is there stays, with names in place of more of its text.
    fn comment(
        &mut self,
        node: NodeRef<'a>,
        fresh: &Pattern,
        value: SetterValue,
    ) -> Option<String> {
        let there: Option<Comment<'a>> = self.beside.get(&node.start()).copied();
        let words = there.map(|comment| comment.text);
        let (words, pattern) = match words.map(reference::parse) {
            None | Some(ParsedComment::None) => (words, fresh.as_str().to_owned()),
            Some(ParsedComment::Reference(found)) => match found.target {
                ReferenceTarget::Pattern(old) => {
                    let pattern = match self.extended(&old, &value) {
                        Some(pattern) => pattern,
                        None => fresh.as_str().to_owned(),
                    };
                    (words.map(|words| &words[..found.range.start]), pattern)
                }
                _ => {
                    let words = "this field has a reference already, and keeps it";
                    self.warn(node, words);
                    return None;
                }
            },
            Some(ParsedComment::Invalid(reason)) => {
                self.warn(node, &reason);
                return None;
            }
        };
        if !self.names(&pattern) {
            self.warn(node, "this field has another reference already, and keeps it");
            return None;
        }
        let reference = reference::write(ReferenceSyntax::Pattern, "", "", &pattern);
        let comment = reference::join(words, &reference);
        self.out.fields.push(CommentedField { node, reference, value });
        Some(comment)
    }

    /// A pattern that is there and fits, with names in place of values in the rest of it.
    fn extended(&self, old: &Pattern, value: &SetterValue) -> Option<String> {
        let SetterValue::Text(text) = value else { return Some(old.as_str().to_owned()) };
        if matches!(
            old.derive(text, |_| None),
            Err(DeriveError::NoMatch | DeriveError::TooManyCandidates)
        ) {
            return None;
        }
        Some(old.with_texts(|part| self.mark.replaced(part)))
    }

    /// Whether a pattern names one of the setters.
    fn names(&self, pattern: &str) -> bool {
        let texts = self.mark.texts.iter().map(|(name, _)| name);
        let mut names = texts.chain(self.mark.lists.iter().map(|(name, _)| name));
        names.any(|name| pattern.contains(&format!("${{{name}}}")))
    }

    fn put(&mut self, node: NodeRef<'a>, comment: String) {
        let there = self.beside.get(&node.start()).copied();
        if !can_have_line_comment(node) {
            self.out.fields.pop();
            return self.refuse(node);
        }
        let op = match there {
            Some(old) => Op::Comment(old, Some(comment)),
            None => Op::Beside(node, comment),
        };
        self.out.changes.at(self.file, node, op);
    }

    fn refuse(&mut self, node: NodeRef<'a>) {
        self.warn(node, "no comment can stand beside this field, so it gets no reference");
    }

    fn warn(&mut self, node: NodeRef<'a>, words: &str) {
        self.out.warnings.push(warning_at(self.file, node.full_span(), words));
    }
}
