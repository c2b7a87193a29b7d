//! The values that setters have in the fields of a package now.

use std::collections::BTreeMap;

use super::fields;
use super::reference::ReferenceTarget;
use crate::PackageFile;

/// The values that setters have in fields with `kpt-set` comments, as far as the fields agree.
#[derive(Clone, Debug, Default)]
pub struct CurrentValues {
    /// None if fields have different values.
    values: BTreeMap<String, Option<String>>,
}

impl CurrentValues {
    /// Adds the values of the fields of a file. A field whose value can be split in several ways tells nothing.
    pub fn add(&mut self, file: &PackageFile) {
        for field in fields::find(file).fields {
            let ReferenceTarget::Pattern(pattern) = &field.reference.target else { continue };
            let Some(text) = field.node.as_scalar().map(|it| it.value()) else { continue };
            for (name, value) in pattern.derive(&text, |_| None).unwrap_or_default() {
                let known = self.values.entry(name).or_insert_with(|| Some(value.clone()));
                if known.as_ref().is_some_and(|known| *known != value) {
                    *known = None;
                }
            }
        }
    }

    /// The value of a setter; none if it is not known, or if fields differ.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.values.get(name).cloned().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_must_agree_on_a_value() {
        let text = "a: x # kpt-set: ${a}\nb: y # kpt-set: ${b}\nc: z # kpt-set: ${b}\nd: 1:2 # kpt-set: ${c}:${d}\ne: 1-2-3 # kpt-set: ${e}-${f}\n";
        let mut values = CurrentValues::default();
        values.add(&PackageFile::from_text("a.yaml", text).unwrap());
        let found = ["a", "b", "c", "d", "e", "f"].map(|name| values.get(name));
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(found, [some("x"), None, some("1"), some("2"), None, None]);
    }
}
