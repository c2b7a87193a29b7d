//! Handing resources to a validator: as Kubernetes reads them, with findings where that is not what YAML 1.2 says.

use std::borrow::Cow;

use krm_core::kubernetes_reader::{self, Difference};
use krm_core::{Diagnostic, Severity};
use krm_sdk::{FunctionResult, Resource};
use krm_yaml::NodeRef;

/// A resource and what a validator judges of it.
pub(crate) struct ValidationInput<'a> {
    /// The resource as it is written, for messages and locations.
    pub(crate) written: &'a Resource,
    /// The resource as Kubernetes reads it, without aliases and merge keys: the written one, or JSON.
    pub(crate) read: Cow<'a, Resource>,
    /// The scalars that Kubernetes and YAML 1.2 read differently.
    pub(crate) differences: Vec<Difference<'a>>,
}

impl<'a> ValidationInput<'a> {
    /// All resources that Kubernetes can read, and errors for the others.
    #[cfg(feature = "gatekeeper")]
    pub(crate) fn all(written: &'a [Resource]) -> (Vec<Self>, Vec<FunctionResult>) {
        let (mut readable, mut errors) = (Vec::new(), Vec::new());
        for resource in written {
            match Self::of(resource) {
                Ok(input) => readable.push(input),
                Err(unreadable) => errors.extend(unreadable),
            }
        }
        (readable, errors)
    }

    /// The resource as Kubernetes reads it.
    ///
    /// # Errors
    /// Results with the severity error: Kubernetes cannot read the resource, or what it reads is not certain.
    pub(crate) fn of(written: &'a Resource) -> Result<Self, Vec<FunctionResult>> {
        let hidden = kubernetes_reader::hidden_text(written.item().file());
        if !hidden.is_empty() {
            return Err(hidden.iter().map(|it| result(written, it, None)).collect());
        }
        let root = written.root();
        if kubernetes_reader::is_read_as_written(root) {
            return Ok(Self { written, read: Cow::Borrowed(written), differences: Vec::new() });
        }
        let json = kubernetes_reader::read(root)
            .map_err(|it| vec![result(written, &it.to_diagnostic(), Some(it.node))])?;
        let mut read = written.clone();
        read.replace(json).map_err(|error| {
            error.diagnostics.iter().map(|it| result(written, it, None)).collect::<Vec<_>>()
        })?;
        let differences = kubernetes_reader::differences(root);
        Ok(Self { written, read: Cow::Owned(read), differences })
    }

    /// The finding for a difference: an error if it decides whether the resource is valid.
    pub(crate) fn finding(&self, difference: Difference<'a>, is_error: bool) -> FunctionResult {
        let mut warning = difference.to_diagnostic(self.written.item().file());
        if is_error {
            warning.severity = Severity::Error;
        }
        result(self.written, &warning, Some(difference.scalar.node()))
    }
}

/// A diagnostic about a resource as a result, about a field where it has one.
fn result(resource: &Resource, it: &Diagnostic, node: Option<NodeRef<'_>>) -> FunctionResult {
    let mut message = it.message().to_owned();
    if let (None, Some(at)) = (node, &it.location) {
        message.push_str(&format!(" (line {}, column {})", at.line, at.column));
    }
    it.hints.iter().for_each(|hint| message.push_str(&format!("; {hint}")));
    let result = resource.result(it.severity, message);
    match node {
        Some(node) => {
            let mut result = FunctionResult::from(result.at(node.value_of_key().unwrap_or(node)));
            // The message quotes the scalar, and masks it where it is secret.
            if let Some(field) = &mut result.field {
                field.current = None;
            }
            result
        }
        None => result.into(),
    }
}
