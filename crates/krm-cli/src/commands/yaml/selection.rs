//! Selecting documents and resources of files: `--where`, `--kind`, `--name`, `--namespace`, `--label` and `--doc`.

use clap_complete::engine::ArgValueCandidates;
use krm_core::annotate::ResourceFilter;
use krm_core::diagnostics::closest_name;
use krm_core::model::resources;
use krm_core::query::Query;
use krm_core::{Diagnostic, Resource};
use krm_yaml::{DocumentRef, File, NodeRef};

use super::input;
use crate::Failure;
use crate::cli::Documents;
use crate::commands::completion::candidates;
use crate::commands::kinds::CommandKind;

/// Which documents of the files, or which resources in them, a command reads or edits.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Selection of documents and resources")]
pub(super) struct Selection {
    /// Only what matches this query, as in krm cfg grep: 'kind=Deployment && metadata.name=web'
    #[arg(long = "where", value_name = "QUERY")]
    query: Option<Query>,

    /// Only resources of this kind
    #[arg(long, add = ArgValueCandidates::new(candidates::kinds))]
    kind: Option<String>,

    /// Only resources with this name
    #[arg(long, add = ArgValueCandidates::new(candidates::names))]
    name: Option<String>,

    /// Only resources in this namespace
    #[arg(long, add = ArgValueCandidates::new(candidates::namespaces))]
    namespace: Option<String>,

    /// Only resources with this label; may be repeated
    #[arg(short, long, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = label)]
    label: Vec<(String, String)>,

    #[command(flatten)]
    documents: Documents,
}

fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

/// A part of a file that is read or edited on its own: a document, or a resource in a list. It is found again after an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    document: usize,
    item: Option<usize>,
}

/// The nodes of units in a file, in order. A unit that an edit removed has none.
pub(super) fn roots<'a>(units: &[Unit], file: &'a File) -> Vec<NodeRef<'a>> {
    let mut roots = Vec::with_capacity(units.len());
    // The resources of a list are listed once for all of its units.
    for of_document in units.chunk_by(|a, b| a.document == b.document) {
        let Some(document) = file.document(of_document[0].document) else { continue };
        let has_items = of_document.iter().any(|unit| unit.item.is_some());
        let items = if has_items { resources(document) } else { Vec::new() };
        roots.extend(of_document.iter().filter_map(|unit| match unit.item {
            None => document.root(),
            item => items.binary_search_by_key(&item, |it| it.item).ok().map(|at| items[at].node),
        }));
    }
    roots
}

impl Selection {
    /// Whether only some documents or resources are selected.
    pub(super) fn is_on(&self) -> bool {
        self.query.is_some() || self.has_filter() || self.documents.doc.is_some()
    }

    fn has_filter(&self) -> bool {
        self.kind.is_some()
            || self.name.is_some()
            || self.namespace.is_some()
            || !self.label.is_empty()
    }

    fn filter(&self) -> ResourceFilter {
        ResourceFilter {
            kind: self.kind.clone(),
            api_version: None,
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            labels: self.label.clone(),
        }
    }

    /// The documents of a file that `--doc` selects.
    pub(super) fn documents<'a>(
        &self,
        file: &'a File,
        name: &str,
    ) -> Result<Vec<DocumentRef<'a>>, Failure> {
        input::select(file, name, &self.documents)
    }

    /// The selected parts of documents. With a query of its own, an edit selects among them.
    pub(super) fn units(&self, documents: &[DocumentRef<'_>], own: Option<&Query>) -> Vec<Unit> {
        let whole = |document: &DocumentRef<'_>| Unit { document: document.index(), item: None };
        if self.query.is_none() && own.is_none() && !self.has_filter() {
            return documents.iter().map(whole).collect();
        }
        let (filter, mut units) = (self.filter(), Vec::new());
        for document in documents {
            let matches = |node: NodeRef<'_>| {
                self.query.iter().chain(own).all(|query| query.matches_node(node))
            };
            let found = resources(*document);
            let chosen = found.iter().filter(|it| filter.matches(**it) && matches(it.node));
            units.extend(chosen.map(|it| Unit { document: document.index(), item: it.item }));
            let is_other = found.is_empty() && !self.has_filter();
            if is_other && document.root().is_some_and(matches) {
                units.push(whole(document));
            }
        }
        units
    }

    /// The error for a selection that matches nothing, with what was probably meant.
    pub(super) fn nothing<'a>(&self, files: impl Iterator<Item = &'a File>) -> Diagnostic {
        let documents = files.flat_map(File::documents);
        let all: Vec<Resource<'a>> = documents.flat_map(resources).collect();
        let mut error = Diagnostic::error(CommandKind::NothingSelected);
        let kinds: Vec<_> = all.iter().map(|it| it.kind()).collect();
        if let Some(kind) = self.kind.as_ref().filter(|kind| !kinds.iter().any(|it| it == *kind))
            && let Some(similar) = closest_name(kinds.iter().map(|it| &**it), kind)
        {
            error = error.hint(format!("did you mean `--kind {similar}`?"));
        }
        let similar = self.query.as_ref().and_then(|query| query.suggestion(&all));
        similar.into_iter().flat_map(|it| it.hints).fold(error, Diagnostic::hint)
    }
}
