//! Parses all documents of a text: with the fast parser if it is certain, with the complete one otherwise.
//!
//! Decisions that apply to both: of duplicate keys the last one counts, as in Kubernetes' own reader; a block scalar that ends a file
//! without a line break has none (Spec: YAML 1.2 §8.1.1.2).

use crate::document::Document;
use crate::fast_parser::FastParser;
use crate::lenient::read_leniently;
use crate::parser::{Parser, ReadOptions};
use crate::span::Span;
use crate::table_builder::Builder;

/// Parses all documents of a text.
pub(crate) fn read(text: &str, options: ReadOptions) -> Vec<Document> {
    if options.strict {
        return parse_all(text, options);
    }
    if options.thorough {
        let documents = parse_all(text, options);
        let is_valid = documents.iter().all(|document| document.error.is_none());
        return if is_valid {
            documents
        } else {
            read_leniently(text, options).unwrap_or(documents)
        };
    }
    // The text after an error starts where the complete parser recovers, so that one reads the whole file.
    match parse_fast_documents(text, options) {
        Some(read) => read.documents,
        None => read_leniently(text, options).unwrap_or_else(|| parse_all(text, options)),
    }
}

/// The number of documents that the fast parser handles, and the number of all documents.
#[doc(hidden)]
pub fn parse_fast(text: &str) -> (usize, usize) {
    let options = ReadOptions::default();
    match parse_fast_documents(text, options) {
        Some(read) => (read.quick, read.documents.len()),
        None => (0, parse_all(text, options).len()),
    }
}

struct FastResult {
    documents: Vec<Document>,
    /// The number of documents that the fast parser handled.
    quick: usize,
}

/// Uses the complete parser only for documents that the fast parser gives up on; `None` if one has an error.
fn parse_fast_documents(text: &str, options: ReadOptions) -> Option<FastResult> {
    let mut builder = Builder::new(text, options);
    let mut reader = FastParser::new(text, options);
    let mut quick = 0;
    let mut next = Some(0);
    while let Some(at) = next {
        next = match reader.document(at) {
            Some(read) => {
                quick += 1;
                builder.start_document(read.marker.unwrap_or(Span::empty(at)));
                builder.store_nodes(&mut reader.nodes, &mut reader.indents, read.has_unique_keys);
                read.next
            }
            None => builder.take_documents(at)?,
        };
    }
    Some(FastResult { documents: builder.finish(), quick })
}

/// Parses all documents with the complete parser.
fn parse_all(text: &str, options: ReadOptions) -> Vec<Document> {
    let mut builder = Builder::new(text, options);
    let mut front = Parser::new(text, options);
    while let Some(next) = front.next() {
        match next {
            Ok(event) => builder.take(event),
            Err(error) => {
                builder.fail(&error);
                if !front.recover() {
                    break;
                }
            }
        }
    }
    builder.finish()
}
