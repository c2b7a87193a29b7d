//! A lossless YAML engine: the text is the truth, the tree is an index into it,
//! and every change is an edit.
//!
//! ```
//! use krm_yaml::{File, Path};
//!
//! let file = File::parse("spec:\n  replicas: 3 # for now\n".to_owned())?;
//! let document = file.document(0).expect("there is one document");
//! let replicas = document.find(&"spec.replicas".parse::<Path>()?).expect("it is there");
//! assert_eq!(replicas.text(), "3");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod comment;
mod document;
mod edit;
mod error;
mod error_help;
mod events;
mod fast_parser;
mod file;
mod flow_style;
mod kind;
mod layout;
mod lookup;
mod node;
mod node_ref;
mod owned_node;
mod parser;
mod path;
mod read;
mod reindent;
mod scalar;
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
pub use file::{File, decode};
pub use kind::{DiagnosticKind, Excerpt, KindParameter};
pub use lookup::PathLookup;
pub use node::{CollectionStyle, NodeKind, ScalarStyle};
pub use node_ref::{Children, Entry, Mapping, NodeRef, Scalar, Sequence};
pub use owned_node::{DocumentCopy, OwnedNode};
pub use parser::ReadOptions;
pub use path::{Path, PathError, Segment};
#[doc(hidden)]
pub use read::parse_fast;
pub use reindent::{Indentation, SequenceIndent};
pub use scalar::ScalarType;
pub use span::{Position, Span};
pub use value::{ExpansionError, Value};
