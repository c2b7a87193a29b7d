//! Formatting: fields in the order that people know, made as edits, so that nothing else changes.
//!
//! Every mapping of a resource is put in order, at every depth. What is no resource
//! stays as it is, and so does a mapping that cannot be reordered without harm, which is diagnostics.

mod anchor_order;
mod field_order;
mod lists;
mod quotes;
mod reorder;
mod scope;
mod sort;

use krm_yaml::{DocumentRef, File, Indentation, NodeKind, NodeRef};

use crate::Diagnostic;
use crate::schema::Schema;
use anchor_order::AnchorOrder;
use scope::FormatScope;
use sort::{Reordering, SkippedNode};

/// How often a document is gone over where something is left: what is put in order may make room for the rest.
const MOST_ROUNDS: usize = 8;

/// What is to be done besides the order of fields.
#[derive(Clone, Copy, Debug, Default)]
pub struct FormatOptions<'s> {
    /// Whether the file is JSON.
    pub json: bool,
    /// Whether containers and operations of webhooks are sorted.
    pub sort_lists: bool,
    /// The indentation that is asked for.
    pub indentation: Indentation,
    /// Text that reads as something else gets quotes, and what is no text loses them, as this says.
    pub schema: Option<&'s Schema>,
}

/// What became of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formatted {
    /// The new text; none where nothing changes.
    pub text: Option<String>,
    /// What was left as it is, and why.
    pub diagnostics: Vec<Diagnostic>,
}

/// Formats the resources of a file.
///
/// ```
/// use krm_core::format::{FormatOptions, format};
///
/// let text = "kind: A # a kind\n\napiVersion: v1\n# no spec\nmetadata: {}\n".to_owned();
/// let formatted = format(&krm_yaml::File::parse(text)?, FormatOptions::default()).expect("it can be formatted");
/// assert_eq!(formatted.text.as_deref(), Some("apiVersion: v1\n\nkind: A # a kind\n# no spec\nmetadata: {}\n"));
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn format(file: &File, options: FormatOptions<'_>) -> Result<Formatted, Vec<Diagnostic>> {
    // The order comes last, so that everything is diagnostics of the file as it is.
    let mut formatted = match options.schema {
        Some(schema) => quotes::by_schema(file, schema, options)?,
        None => Formatted::default(),
    };
    formatted.then(file, |file| in_order(file, options))?;
    if options.indentation != Indentation::default() {
        formatted.then(file, |file| indented(file, options.indentation))?;
    }
    Ok(formatted)
}

/// The documents with resources, with the indentation that is asked for.
fn indented(file: &File, how: Indentation) -> Result<Formatted, Vec<Diagnostic>> {
    let (mut errors, mut diagnostics) = (Vec::new(), Vec::new());
    let text = rebuilt(file, |document| match FormatScope::of(document) {
        Ok(scope) if scope.is_whole() => match document.reindent(how) {
            Ok(new) => Some(new),
            Err(error) => {
                let message = format!("the document keeps its indentation: {error}");
                diagnostics.push(Diagnostic::untyped_warning(message).at(file, error.span));
                None
            }
        },
        Ok(_) => None,
        Err(error) => {
            errors.push(error);
            None
        }
    });
    if errors.is_empty() { Ok(Formatted { text: Some(text), diagnostics }) } else { Err(errors) }
}

/// The file with new texts for some of its documents.
fn rebuilt<'a>(file: &'a File, mut new: impl FnMut(DocumentRef<'a>) -> Option<String>) -> String {
    let mut text = String::with_capacity(file.text().len());
    let mut at = 0;
    for document in file.documents() {
        if let Some(new) = new(document) {
            text.push_str(&file.text()[at..document.span().start as usize]);
            text.push_str(&new);
            at = document.span().end as usize;
        }
    }
    text.push_str(&file.text()[at..]);
    text
}

impl Formatted {
    /// One more step, on what the steps before made of the file.
    fn then(
        &mut self,
        file: &File,
        step: impl Fn(&File) -> Result<Self, Vec<Diagnostic>>,
    ) -> Result<(), Vec<Diagnostic>> {
        let next = match &self.text {
            Some(text) => match File::parse(text.clone()) {
                Ok(file) => step(&file)?,
                Err(error) => return Err(vec![Diagnostic::from(&error)]),
            },
            None => step(file)?,
        };
        self.text = next.text.or(self.text.take()).filter(|text| text != file.text());
        self.diagnostics.extend(next.diagnostics);
        Ok(())
    }
}

/// The fields of all resources in order.
fn in_order(file: &File, options: FormatOptions<'_>) -> Result<Formatted, Vec<Diagnostic>> {
    let (mut errors, mut all, mut diagnostics) = (Vec::new(), Vec::new(), Vec::new());
    for document in file.documents() {
        match wishes(document, options) {
            Ok((wishes, left)) => {
                diagnostics.extend(left.iter().map(|left| warning(file, left.node, &left.why)));
                all.push(wishes);
            }
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    if all.iter().all(Vec::is_empty) {
        return Ok(Formatted { text: None, diagnostics });
    }
    let text = match reorder::all(file, all.iter().flatten(), options.json) {
        Ok(text) => text,
        Err(_) => one_by_one(file, &all, options, &mut diagnostics),
    };
    Ok(Formatted { text: Some(text).filter(|text| text != file.text()), diagnostics })
}

/// What should change places in a document, and what is left as it is.
fn wishes<'a>(
    document: DocumentRef<'a>,
    options: FormatOptions<'_>,
) -> Result<(Vec<Reordering<'a>>, Vec<SkippedNode<'a>>), Diagnostic> {
    let scope = FormatScope::of(document)?;
    let anchor_order = AnchorOrder::of(document);
    let (mut wishes, mut left) = (Vec::new(), Vec::new());
    for mapping in scope.nodes().filter(|node| node.kind() == NodeKind::Mapping) {
        match sort::of_fields(mapping, &anchor_order) {
            Ok(wish) => wishes.extend(wish),
            Err(why) => left.push(why),
        }
    }
    if options.sort_lists {
        wishes
            .extend(scope.resources().flat_map(|resource| lists::wishes(resource, &anchor_order)));
    }
    Ok((wishes, left))
}

/// The file with each document formatted by itself, where something cannot be done.
fn one_by_one(
    file: &File,
    all: &[Vec<Reordering<'_>>],
    options: FormatOptions<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> String {
    rebuilt(file, |document| {
        let has_wishes = all.get(document.index()).is_some_and(|wishes| !wishes.is_empty());
        has_wishes.then(|| in_rounds(document, options, diagnostics))
    })
}

/// One document with everything in order that can be, and warnings at the places of the rest.
fn in_rounds(
    document: DocumentRef<'_>,
    options: FormatOptions<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> String {
    let mut text = document.text().to_owned();
    let mut left = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let Ok(own) = File::parse(text.clone()) else { break };
        let found = own.document(0).filter(|_| own.documents().len() == 1);
        let Some(Ok((wishes, _))) = found.map(|found| self::wishes(found, options)) else { break };
        let (new, remain) = reorder::most(&own, &wishes, options.json);
        left = remain.into_iter().map(|left| (left.node.path(), left.why)).collect();
        if left.is_empty() || new == text {
            text = new;
            break;
        }
        text = new;
    }
    for (path, why) in left {
        let place = document.find(&path).or(document.root());
        diagnostics.extend(place.map(|node| warning(document.file(), node, &why)));
    }
    text
}

fn warning(file: &File, node: NodeRef<'_>, why: &str) -> Diagnostic {
    let message = format!("the fields here stay in their order: {why}");
    Diagnostic::untyped_warning(message).at(file, node.full_span())
}
