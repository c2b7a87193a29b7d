//! Finding scalars that Kubernetes and YAML 1.2 read differently.

use krm_yaml::{File, NodeRef, Scalar, ScalarType};

use super::kinds::ReaderKind;
use super::scalars;
use crate::Diagnostic;
use crate::query::ScalarReading;

/// A scalar that Kubernetes and YAML 1.2 read differently.
#[derive(Clone, Copy, Debug)]
pub struct Difference<'a> {
    /// The scalar, which may be a key.
    pub scalar: Scalar<'a>,
    /// Its type in YAML 1.2.
    pub yaml12: ScalarType,
    /// Its type for Kubernetes.
    pub kubernetes: ScalarType,
}

/// The scalars below a node, including keys, that Kubernetes and YAML 1.2 read differently. Scalars that Kubernetes cannot read are
/// errors of [`read`](super::read()).
pub fn find(node: NodeRef<'_>) -> Vec<Difference<'_>> {
    let scalars = node.descendants().filter_map(NodeRef::as_scalar);
    scalars.filter_map(difference).collect()
}

fn difference(scalar: Scalar<'_>) -> Option<Difference<'_>> {
    let (yaml12, kubernetes) = (scalar.resolve(), scalars::resolve(scalar).ok()?);
    (yaml12 != kubernetes).then_some(Difference { scalar, yaml12, kubernetes })
}

impl Difference<'_> {
    /// The warning that names both types.
    pub fn to_diagnostic(self, file: &File) -> Diagnostic {
        let text = self.scalar.raw();
        let reading = |value| ScalarReading::of(text, value);
        let (yaml12, kubernetes) = (reading(self.yaml12), reading(self.kubernetes));
        let kind = ReaderKind::Difference { text: text.into(), yaml12, kubernetes };
        Diagnostic::warning(kind).at(file, self.scalar.node().span())
    }
}
