//! A limit on the bytes that copies of values add to all resources together.
//!
//! An edit is limited by itself, but a package may have any number of files, each with many fields that get the same long value.

use krm_sdk::{Diagnostic, Error, Resource};

use crate::changes::in_resource;
use crate::kinds::CatalogKind;

/// Real values are short: with 1,000 bytes each, this is enough for a quarter of a million fields.
const MAX_ADDED: usize = 256 << 20;

/// The bytes that a function added so far.
pub(crate) struct Growth {
    added: usize,
    limit: usize,
}

impl Growth {
    pub(crate) fn new() -> Self {
        Self { added: 0, limit: MAX_ADDED }
    }

    /// Changes a resource, and counts what was added to its text.
    pub(crate) fn track<T>(
        &mut self,
        item: &mut Resource,
        change: impl FnOnce(&mut Resource) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let before = item.text().len();
        let changed = change(item)?;
        self.added += item.text().len().saturating_sub(before);
        if self.is_exceeded() {
            let error =
                Diagnostic::error(CatalogKind::ReplacementsTooLarge { limit: self.limit >> 20 });
            return Err(in_resource(item, error));
        }
        Ok(changed)
    }

    /// Whether the limit was the reason of an error, so that going on is pointless.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.added > self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_several_resources_share_one_limit() {
        let mut growth = Growth { added: 0, limit: 50 };
        let mut add = || {
            let text = "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n    x: y\n";
            let mut item = Resource::parse(text).expect("the text is a resource");
            growth.track(&mut item, |item| item.set_annotation("a", "0123456789"))
        };
        assert!(add().is_ok());
        assert!(add().is_ok());
        let error = add().expect_err("three times 18 bytes are more than 50");
        assert_eq!(error.diagnostics[0].id(), "replacements-too-large");
    }
}
