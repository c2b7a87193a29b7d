//! Reads all documents of a text: without the front end what is certain, and with it the rest.

use crate::document::Document;
use crate::fast_parser::FastParser;
use crate::parser::{Parser, ReadOptions};
use crate::span::Span;
use crate::table_builder::Builder;

/// Reads all documents of a text.
pub(crate) fn read(text: &str, options: ReadOptions) -> Vec<Document> {
    if options.thorough || options.strict_indentation {
        return parse_all(text, options);
    }
    // What follows an error begins where the front end finds its way again: there it reads everything.
    parse_fast_documents(text, options)
        .map_or_else(|| parse_all(text, options), |read| read.documents)
}

/// How many documents of a text are read without the front end, and how many there are.
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
    /// How many of them the front end has not seen.
    quick: usize,
}

/// Reads with the front end only the documents that are not certain; none where one has an error.
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
                builder.store_nodes(&mut reader.nodes, &mut reader.indents);
                read.next
            }
            None => builder.take_documents(at)?,
        };
    }
    Some(FastResult { documents: builder.finish(), quick })
}

/// Reads all documents with the front end.
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
