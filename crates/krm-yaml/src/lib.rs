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

mod brackets;
mod comment;
mod document;
mod edit;
mod error;
mod events;
mod explain;
mod file;
mod find;
mod front;
mod gap;
mod graft;
mod index;
mod kind;
mod layout;
mod manners;
mod node;
mod path;
mod quick;
mod reading;
mod reindent;
mod scalar;
mod span;
mod value;
mod view;

pub use comment::{Comment, CommentPosition};
pub use document::DocumentRef;
pub use edit::{Edit, EmptyParents, KeyPosition};
pub use error::{
    DIAGNOSTIC_IDS, EXPLANATIONS, EditError, EditErrorKind, PathErrorKind, ReadError, SyntaxError,
    SyntaxErrorKind,
};
pub use events::events;
pub use file::{File, decode};
pub use find::PathLookup;
pub use front::ReadOptions;
pub use graft::{DocumentCopy, OwnedNode};
pub use kind::{DiagnosticKind, Excerpt, KindParameter};
pub use node::{CollectionStyle, NodeKind, ScalarStyle};
pub use path::{Path, PathError, Segment};
#[doc(hidden)]
pub use reading::parse_fast;
pub use reindent::{Indentation, SequenceIndent};
pub use scalar::ScalarType;
pub use span::{Position, Span};
pub use value::{ExpansionError, Value};
pub use view::{Children, Entry, Mapping, NodeRef, Scalar, Sequence};
