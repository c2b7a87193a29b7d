//! Lossless YAML: parse a file, look up nodes, and edit them without changing any other byte.
//!
//! The source text is the truth and the tree is an index into it. An edit changes the text in place, so comments, quotes,
//! indentation and the order of keys stay as their author wrote them. Every edit is verified by parsing its result: if anything else would
//! change its meaning, the edit is refused and nothing changes.
//!
//! # Read and edit by path
//!
//! ```
//! use krm_yaml::File;
//!
//! let text = "\
//! spec:
//!   replicas: 3   # for now
//!   template:
//!     image: 'nginx:1.25'
//! ";
//! let mut file = File::parse(text.to_owned())?;
//!
//! assert_eq!(file.get("spec.replicas").map(|node| node.text()), Some("3"));
//! file.set("spec.replicas", 5)?;
//! file.set("spec.template.image", "nginx:1.27")?;
//! file.insert("spec.paused", true)?;
//!
//! assert_eq!(file.text(), "\
//! spec:
//!   replicas: 5   # for now
//!   template:
//!     image: 'nginx:1.27'
//!   paused: true
//! ");
//! file.remove("spec.paused")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A [`Path`] is `spec.containers[name=web].ports[0]`, or a JSON pointer such as `/spec/containers/0`. A [`PathPattern`] can match many
//! nodes: `spec.containers[*].image`, `**.image`.
//!
//! # Several changes, several documents
//!
//! An [`Edit`] collects changes to nodes of a file and applies them together:
//!
//! ```
//! use krm_yaml::{Edit, File};
//!
//! let file = File::parse("a: 1\n---\nb: {c: 2}\n".to_owned())?;
//! let mut edit = Edit::new(&file);
//! for document in file.documents() {
//!     edit.set_at(document, &"checked".parse()?, true)?;
//! }
//! assert_eq!(edit.apply()?, "a: 1\nchecked: true\n---\nb: {c: 2}\nchecked: true\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Errors
//!
//! A document that cannot be parsed has a [`SyntaxError`]; the other documents of the file can still be read. All errors have a kind
//! ([`SyntaxErrorKind`], [`EditErrorKind`], …) with a stable id, a message and often a hint:
//!
//! ```
//! use krm_yaml::{DiagnosticKind, File};
//!
//! let file = File::parse("spec:\n  replicas 3\n  paused: true\n".to_owned())?;
//! let error = file.errors().next().expect("a colon is missing");
//! assert_eq!(error.kind.id(), "missing-colon");
//! assert_eq!(error.to_string(), "expected `:` after `replicas`");
//! assert_eq!(file.position(error.span.start).line, 2);
//! # Ok::<(), krm_yaml::ReadError>(())
//! ```
//!
//! # Modules
//!
//! ```text
//! text ─► read ─► fast_parser ──────────────────► node table     `node`: twelve bytes per node
//!           └───► parser ─► events ─► table_builder ─┘           `error_help`: from parser errors to syntax errors
//!                 lenient: another pass over a file with errors   what Kubernetes accepts although YAML 1.2 does not
//!
//!         node_ref · path · pattern · lookup · value          views of the table; nothing is copied
//!         trivia · layout · comment                 comments and their owners, computed from the text on request
//!         style · flow_style · scalar               how the document is written, and how to write new text
//!                    │
//!                  Edit ─► lower ─► splices ─► new text ─► verify
//! ```

mod comment;
mod document;
mod edit;
mod error;
mod error_help;
mod events;
mod expansion;
mod fast_parser;
mod file;
mod flow_style;
mod key_filter;
mod kind;
mod layout;
mod lenient;
mod lookup;
mod node;
mod node_ref;
mod owned_node;
mod parser;
mod path;
mod pattern;
mod read;
mod reindent;
mod scalar;
mod shared_text;
mod span;
mod style;
mod table_builder;
mod trivia;
mod value;

pub use comment::{Comment, CommentPosition};
pub use document::DocumentRef;
pub use edit::{Edit, EmptyParents, KeyPosition};
pub use error::{
    DIAGNOSTIC_IDS, EXPLANATIONS, EditError, EditErrorKind, PathErrorKind, ReadError, SyntaxError,
    SyntaxErrorKind,
};
pub use events::events;
pub use expansion::{ExpansionBudget, ExpansionError};
pub use file::{File, decode};
pub use kind::{DiagnosticKind, Excerpt, KindParameter};
pub use lookup::PathLookup;
pub use node::{CollectionStyle, NodeKind, ScalarStyle};
pub use node_ref::{Children, Entry, Mapping, NodeRef, Scalar, Sequence};
pub use owned_node::{DocumentCopy, OwnedNode};
pub use parser::ReadOptions;
pub use path::{Path, PathError, Segment};
pub use pattern::{PathPattern, PatternStep, Place};
#[doc(hidden)]
pub use read::parse_fast;
pub use reindent::{Indentation, SequenceIndent};
pub use scalar::{ScalarType, write_double_quoted};
pub use shared_text::SharedText;
pub use span::{Position, Span};
pub use value::Value;
