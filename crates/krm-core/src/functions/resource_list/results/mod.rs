//! Results: what a function reports about resources, in the form of the specification.

mod parse;
mod serialize;

use std::sync::Arc;

use krm_yaml::Value;

use crate::Severity;
use crate::model::resource::label;
pub use parse::{ParsedResults, parse};

/// One result of a function.
#[derive(Clone, Debug)]
pub struct FunctionResult {
    /// The message.
    pub message: String,
    /// The severity.
    pub severity: Severity,
    /// Whether the function gave no severity, so that the default counts and none is written.
    pub is_severity_default: bool,
    /// The resource that the result is about. Boxed, because a function may report every resource, and most results name the file only.
    pub resource: Option<Box<ResourceRef>>,
    /// The field of the resource.
    pub field: Option<FieldRef>,
    /// The file of the resource.
    pub file: Option<FileRef>,
    /// Data of other tools, in source order.
    pub tags: Vec<(String, String)>,
}

/// A reference to a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceRef {
    /// `apiVersion`
    pub api_version: String,
    /// `kind`
    pub kind: String,
    /// The namespace; empty if there is none.
    pub namespace: String,
    /// The name.
    pub name: String,
}

/// A reference to a field of a resource, with the values that the function proposes.
#[derive(Clone, Debug)]
pub struct FieldRef {
    /// The path as the function wrote it: `spec.ports[0].port`, or `spec.ports.0.port`.
    pub path: String,
    /// The value that the function saw.
    pub current: Option<Value<'static>>,
    /// The values that the function proposes; one of them is to be chosen.
    pub proposed: Vec<Value<'static>>,
}

/// A reference to a resource by its file and index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileRef {
    /// The path, relative to the package, with slashes. Results about one file can share it.
    pub path: Arc<str>,
    /// The index of the resource in the file, from zero.
    pub index: u64,
}

impl FunctionResult {
    /// A result that is not about a resource.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            severity,
            is_severity_default: false,
            resource: None,
            field: None,
            file: None,
            tags: Vec::new(),
        }
    }
}

impl FieldRef {
    /// A field without values.
    pub fn new(path: impl Into<String>) -> Self {
        Self { path: path.into(), current: None, proposed: Vec::new() }
    }
}

impl ResourceRef {
    /// The label of the resource in messages: `Deployment shop/web`.
    pub fn label(&self) -> String {
        label(&self.kind, &self.namespace, &self.name)
    }
}
