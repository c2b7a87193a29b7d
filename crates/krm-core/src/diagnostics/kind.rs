//! The kind of a diagnostic, whichever area declared it.

use std::any::Any;
use std::sync::Arc;

use krm_yaml::DiagnosticKind;

/// A [`DiagnosticKind`] of any area. Cheap to clone; equal kinds have the same id and parameters.
#[derive(Clone, Debug)]
pub struct Kind(Arc<dyn DiagnosticKind>);

impl Kind {
    pub(super) fn id(&self) -> &'static str {
        self.0.id()
    }

    pub(super) fn message(&self, hides: &dyn Fn(&str) -> bool) -> String {
        self.0.message(hides)
    }

    pub(super) fn hint(&self, hides: &dyn Fn(&str) -> bool) -> Option<String> {
        self.0.hint(hides)
    }

    pub(super) fn downcast<K: DiagnosticKind>(&self) -> Option<&K> {
        let kind: &dyn Any = &*self.0;
        kind.downcast_ref()
    }
}

impl<K: DiagnosticKind> From<K> for Kind {
    fn from(kind: K) -> Self {
        Self(Arc::new(kind))
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        let all = &|_: &str| false;
        self.id() == other.id() && self.message(all) == other.message(all)
    }
}

impl Eq for Kind {}
