//! The actions of the cases, implemented on the public API.

use krm_testkit::Case;
use krm_yaml::{
    CommentPosition, DocumentRef, Edit, EditError, EditErrorKind, EmptyParents, File, Indentation,
    KeyPosition, NodeRef, Path, PathLookup, Segment, SequenceIndent, Value,
};

/// Applies the edit of an action: the new text, or the error.
pub(crate) fn edit(
    case: &Case,
    file: &File,
    document: usize,
    action: &str,
) -> Result<String, String> {
    let (verb, rest) = action.split_once(' ').unwrap_or((action, ""));
    let document = file.document(document).ok_or("there is no such document")?;
    if verb == "indent" {
        return indent(document, rest).map_err(|error| with_position(file, &error));
    }
    let (path, rest) = split_path(rest);
    let target: Path = path.parse().map_err(|error| format!("{error}"))?;
    let json = case.input().file_name().is_some_and(|name| name.ends_with(".json"));
    let other = case
        .input_named(rest.split_whitespace().nth(1).unwrap_or_default())
        .map(|section| section.input_text());
    let value_text = rest.split(" at ").next().unwrap_or(rest).to_owned();
    let other = File::parse(other.unwrap_or(value_text)).map_err(|error| error.to_string())?;
    let mut edit = Edit::new(file).json(json);
    let job = Action { document, target: &target, rest, other: &other };
    job.run(verb, &mut edit).map_err(|error| with_position(file, &error))?;
    edit.apply().map_err(|error| with_position(file, &error))
}

/// Reindents a document by the given arguments; `-` leaves mappings as they are.
fn indent(document: DocumentRef<'_>, text: &str) -> Result<String, EditError> {
    let sequence = match text.split_whitespace().nth(1) {
        Some("wide") => Some(SequenceIndent::Wide),
        Some("compact") => Some(SequenceIndent::Compact),
        _ => None,
    };
    let mapping = text.split_whitespace().next().and_then(|number| number.parse().ok());
    let (text, span) = (document.file().text(), document.span());
    let new = document.reindent(Indentation { mapping, sequence })?;
    Ok(format!("{}{new}{}", &text[..span.start as usize], &text[span.end as usize..]))
}

fn with_position(file: &File, error: &EditError) -> String {
    if matches!(error.kind, EditErrorKind::PathNotFound { .. } | EditErrorKind::NoDocument) {
        return error.to_string();
    }
    let position = file.position(error.span.start);
    format!("{}:{} {error}", position.line, position.column)
}

/// Splits the path from the rest of an action; brackets and quotes may contain spaces.
fn split_path(text: &str) -> (&str, &str) {
    let mut quote = None;
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') => depth -= 1,
            (None, ' ') if depth == 0 => return (&text[..at], &text[at + 1..]),
            _ => {}
        }
    }
    (text, "")
}

struct Action<'a, 'j> {
    document: DocumentRef<'a>,
    target: &'j Path,
    rest: &'j str,
    /// The file that contains the value: the action's own text, or another input.
    other: &'a File,
}

impl<'a> Action<'a, '_> {
    fn run(&self, verb: &str, edit: &mut Edit<'a>) -> Result<(), EditError> {
        match verb {
            "set" | "replace" => self.put(edit, self.value()),
            "insert" => {
                let (parent, key) = self.parent()?;
                let place = self.rest.split(" at ").last().unwrap_or_default();
                let order: Vec<&str>;
                let place = match place.split_once(' ') {
                    Some(("before", key)) => KeyPosition::Before(key),
                    Some(("after", key)) => KeyPosition::After(key),
                    Some((_, keys)) => {
                        order = keys.split(',').collect();
                        KeyPosition::InOrder(&order)
                    }
                    None if place == "first" => KeyPosition::First,
                    None => KeyPosition::Last,
                };
                Ok(edit.insert_key(parent, &key, self.value(), place)?)
            }
            "append" => Ok(edit.append(self.node()?, self.value())?),
            "insert-item" => {
                let (list, index) = self.item()?;
                Ok(edit.insert_element(list, index, self.value())?)
            }
            "move" => {
                let (list, index) = self.item()?;
                Ok(edit.move_element(list, index, self.rest.trim().parse().expect("a number"))?)
            }
            "remove" => edit.remove_at(self.document, self.target, EmptyParents::Keep),
            "remove-prune" => edit.remove_at(self.document, self.target, EmptyParents::Remove),
            "rename" => {
                let node = self.node()?;
                let key = node.parent().and_then(NodeRef::as_mapping).and_then(|mapping| {
                    mapping
                        .entries()
                        .filter(|entry| entry.value == node)
                        .map(|entry| entry.key)
                        .last()
                });
                Ok(edit.rename(key.unwrap_or(node), &text_of(self.rest))?)
            }
            "comment" | "uncomment" => {
                let (place, text) = self.rest.split_once(' ').unwrap_or((self.rest, ""));
                let place =
                    if place == "above" { CommentPosition::Head } else { CommentPosition::Line };
                Ok(edit.set_comment(self.node()?, place, (verb == "comment").then_some(text))?)
            }
            "graft" => {
                let path: Path =
                    self.rest.split_whitespace().nth(2).unwrap_or(".").parse().expect("a path");
                let node = self.other.document(0).and_then(|document| document.find(&path));
                let value = Value::Node(node.expect("the other input has it"));
                match self.document.find(self.target) {
                    Some(old) => edit.replace(old, value),
                    None => self.put(edit, value),
                }
            }
            other => panic!("there is no action `{other}`"),
        }
    }

    /// Sets the value; only the last key of the path may be missing.
    fn put(&self, edit: &mut Edit<'a>, value: Value<'a>) -> Result<(), EditError> {
        let missing = self.document.lookup(self.target);
        if let Some(PathLookup::Missing { at, found }) = missing
            && (found + 1 < self.target.segments().len()
                || matches!(self.target.segments().last(), Some(Segment::Match { .. })))
        {
            return Err(not_found(at));
        }
        edit.set_at(self.document, self.target, value)
    }

    fn value(&self) -> Value<'a> {
        let root = self.other.document(0).and_then(DocumentRef::root);
        root.map_or(Value::Null, |root| root.to_value().expect("values of cases are small"))
    }

    fn node(&self) -> Result<NodeRef<'a>, EditError> {
        locate(self.document, self.target)
    }

    fn parent(&self) -> Result<(NodeRef<'a>, String), EditError> {
        let (parent, last) = self.target.split_last().expect("an entry has a parent");
        let Segment::Key(key) = last else { panic!("a key ends the path of `insert`") };
        Ok((locate(self.document, &parent)?, key.clone()))
    }

    fn item(&self) -> Result<(NodeRef<'a>, usize), EditError> {
        let (parent, last) = self.target.split_last().expect("an item has a list");
        let index = match last {
            Segment::Index(index) => *index,
            Segment::Key(key) => key.parse().expect("a number"),
            _ => panic!("an index ends the path"),
        };
        Ok((locate(self.document, &parent)?, index))
    }
}

fn locate<'a>(document: DocumentRef<'a>, path: &Path) -> Result<NodeRef<'a>, EditError> {
    let nothing = || EditError::new(document.span(), EditErrorKind::NoDocument);
    match document.lookup(path).ok_or_else(nothing)? {
        PathLookup::Found(node) => Ok(node),
        PathLookup::Missing { at, .. } => Err(not_found(at)),
        PathLookup::Shared { by } => {
            Err(EditError::at(by, EditErrorKind::PathThroughAlias { alias: by.text().to_owned() }))
        }
    }
}

fn not_found(at: NodeRef<'_>) -> EditError {
    EditError::at(at, EditErrorKind::PathNotFound { found: at.path().to_string() })
}

/// The value of a scalar.
fn text_of(text: &str) -> String {
    let file = File::parse(text.to_owned()).expect("names are short");
    let root = file.document(0).and_then(DocumentRef::root).and_then(NodeRef::as_scalar);
    root.map_or_else(String::new, |scalar| scalar.value().into_owned())
}
