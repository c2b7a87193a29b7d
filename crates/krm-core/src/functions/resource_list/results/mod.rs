//! Results: what a function has to say about resources.

mod parse;
mod serialize;

use krm_yaml::Value;

use crate::Severity;
use crate::model::resource::label;
pub use parse::{ParsedResults, parse};

/// One result of a function.
#[derive(Clone, Debug)]
pub struct FunctionResult {
    /// What there is to say.
    pub message: String,
    /// How bad it is.
    pub severity: Severity,
    /// The resource that is meant.
    pub resource: Option<ResourceRef>,
    /// The field of it.
    pub field: Option<FieldRef>,
    /// The file that holds it.
    pub file: Option<FileRef>,
    /// What other tools keep with a result, in the order of the text.
    pub tags: Vec<(String, String)>,
}

/// A resource by its names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceRef {
    /// `apiVersion`
    pub api_version: String,
    /// `kind`
    pub kind: String,
    /// The namespace; empty where there is none.
    pub namespace: String,
    /// The name.
    pub name: String,
}

/// A field of a resource, and what should stand there.
#[derive(Clone, Debug)]
pub struct FieldRef {
    /// The path as the function wrote it: `spec.ports[0].port`, or `spec.ports.0.port`.
    pub path: String,
    /// What stands there, as the function saw it.
    pub current: Option<Value<'static>>,
    /// What should stand there: any one of these.
    pub proposed: Vec<Value<'static>>,
}

/// A file of a package, and which resource of it is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileRef {
    /// The path, relative to the package, with slashes.
    pub path: String,
    /// Which resource of the file, from zero.
    pub index: u64,
}

impl FunctionResult {
    /// A result about nothing in particular.
    pub fn new(severity: Severity, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { message, severity, resource: None, field: None, file: None, tags: Vec::new() }
    }
}

impl ResourceRef {
    /// The resource as it is called in messages: `Deployment shop/web`.
    pub fn label(&self) -> String {
        label(&self.kind, &self.namespace, &self.name)
    }
}
