//! Formatting resources: fields are sorted by the Kubernetes convention, at every depth.
//!
//! Formatting consists of edits, so comments and styles are kept. Documents without resources are not changed, and neither are
//! mappings that cannot be reordered safely, which are reported.

mod anchor_order;
mod field_order;
mod kinds;
mod lists;
mod quotes;
mod reorder;
mod scope;
mod sort;

use krm_yaml::{DocumentRef, File, Indentation, NodeKind, NodeRef};

pub use field_order::sort_value;
pub use kinds::FormatKind;

use crate::Diagnostic;
use crate::diagnostics::explain::Area;
use crate::schema::Schema;
use anchor_order::AnchorOrder;
use scope::FormatScope;
use sort::{Reordering, SkippedNode};

/// The kinds of diagnostics about formatting.
pub(crate) const AREA: Area = Area {
    title: "Formatting",
    ids: &[FormatKind::IDS],
    text: include_str!("../../explain/format.md"),
};

/// The maximum number of passes over a document. Sorting one mapping can make it possible to sort another.
const MAX_PASSES: usize = 8;

/// Options of [`format()`].
#[derive(Clone, Copy, Debug, Default)]
pub struct FormatOptions<'s> {
    /// Whether the file is JSON.
    pub json: bool,
    /// Whether containers and webhook operations are sorted.
    pub sort_lists: bool,
    /// The new indentation.
    pub indentation: Indentation,
    /// A schema by which quotes are added to strings, and removed from numbers and booleans.
    pub schema: Option<&'s Schema>,
}

/// The result of [`format()`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formatted {
    /// The new text; none if nothing changes.
    pub text: Option<String>,
    /// Changes of quotes, and what could not be formatted.
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
    // Fields are sorted after quotes are changed, so that locations of diagnostics refer to the original file.
    let mut formatted = match options.schema {
        Some(schema) => quotes::by_schema(file, schema, options)?,
        None => Formatted::default(),
    };
    formatted.then(file, |file| sort_fields(file, options))?;
    if options.indentation != Indentation::default() {
        formatted.then(file, |file| reindent(file, options.indentation))?;
    }
    Ok(formatted)
}

/// Reindents the documents that have resources.
fn reindent(file: &File, indentation: Indentation) -> Result<Formatted, Vec<Diagnostic>> {
    let (mut errors, mut diagnostics) = (Vec::new(), Vec::new());
    let text = replace_documents(file, |document| match FormatScope::of(document) {
        Ok(scope) if scope.is_whole_document() => match document.reindent(indentation) {
            Ok(new) => Some(new),
            Err(error) => {
                let kind = FormatKind::NotReindented { reason: error.to_string().into() };
                diagnostics.push(Diagnostic::warning(kind).at(file, error.span));
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

/// The text of a file with new texts for some of its documents.
fn replace_documents<'a>(
    file: &'a File,
    mut new: impl FnMut(DocumentRef<'a>) -> Option<String>,
) -> String {
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
    /// Applies another step to the result of the previous ones.
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

/// Sorts the fields of all resources.
fn sort_fields(file: &File, options: FormatOptions<'_>) -> Result<Formatted, Vec<Diagnostic>> {
    let (mut errors, mut all, mut diagnostics) = (Vec::new(), Vec::new(), Vec::new());
    for document in file.documents() {
        match find_unsorted(document, options) {
            Ok((unsorted, skipped)) => {
                let skipped = skipped.into_iter().map(|skip| not_sorted(skip.node, skip.reason));
                diagnostics.extend(skipped);
                all.push(unsorted);
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
    let text = match reorder::apply_all(file, all.iter().flatten(), options.json) {
        Ok(text) => text,
        Err(_) => sort_each_document(file, &all, options, &mut diagnostics),
    };
    Ok(Formatted { text: Some(text).filter(|text| text != file.text()), diagnostics })
}

/// The collections of a document that are not sorted, and those that cannot be.
fn find_unsorted<'a>(
    document: DocumentRef<'a>,
    options: FormatOptions<'_>,
) -> Result<(Vec<Reordering<'a>>, Vec<SkippedNode<'a>>), Diagnostic> {
    let scope = FormatScope::of(document)?;
    let anchor_order = AnchorOrder::of(document);
    let (mut unsorted, mut skipped) = (Vec::new(), Vec::new());
    for mapping in scope.nodes().filter(|node| node.kind() == NodeKind::Mapping) {
        match sort::of_fields(mapping, &anchor_order) {
            Ok(reordering) => unsorted.extend(reordering),
            Err(skip) => skipped.push(skip),
        }
    }
    if options.sort_lists {
        let lists = |resource| lists::find_unsorted(resource, &anchor_order);
        unsorted.extend(scope.resources().flat_map(lists));
    }
    Ok((unsorted, skipped))
}

/// Sorts each document by itself, because not all reorderings of the file could be applied together.
fn sort_each_document(
    file: &File,
    all: &[Vec<Reordering<'_>>],
    options: FormatOptions<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> String {
    replace_documents(file, |document| {
        let is_unsorted = all.get(document.index()).is_some_and(|it| !it.is_empty());
        is_unsorted.then(|| sort_document(document, options, diagnostics))
    })
}

/// Sorts as much of a document as possible, and reports the rest.
fn sort_document(
    document: DocumentRef<'_>,
    options: FormatOptions<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> String {
    let mut text = document.text().to_owned();
    let mut skipped = Vec::new();
    for _ in 0..MAX_PASSES {
        let Ok(own) = File::parse(text.clone()) else { break };
        let found = own.document(0).filter(|_| own.documents().len() == 1);
        let unsorted = found.map(|found| find_unsorted(found, options));
        let Some(Ok((unsorted, _))) = unsorted else { break };
        let (new, rest) = reorder::apply_possible(&own, &unsorted, options.json);
        skipped = rest.into_iter().map(|skip| (skip.node.path(), skip.reason)).collect();
        if skipped.is_empty() || new == text {
            text = new;
            break;
        }
        text = new;
    }
    for (path, reason) in skipped {
        let node = document.find(&path).or(document.root());
        diagnostics.extend(node.map(|node| not_sorted(node, reason)));
    }
    text
}

fn not_sorted(node: NodeRef<'_>, reason: String) -> Diagnostic {
    let warning = Diagnostic::warning(FormatKind::NotSorted { reason: reason.into() });
    warning.at(node.document().file(), node.full_span())
}
