//! A limit on the bytes of the values that a function puts into the fields of all resources together.
//!
//! An edit is limited by itself, but a package may have any number of files, each with many fields that get the same long value. The
//! values are counted before they are written, because a list of them needs the memory already.

use krm_sdk::{Diagnostic, Error, Resource};

use crate::changes::in_resource;
use crate::kinds::CatalogKind;

/// The limit that merges and setters have. With 1,000 bytes each, this is enough for 67,000 fields.
pub(crate) const MAX_BYTES: usize = 64 << 20;

/// The bytes of new values so far.
pub(crate) struct ValueBudget {
    used: usize,
    limit: usize,
}

impl ValueBudget {
    pub(crate) fn new() -> Self {
        Self { used: 0, limit: MAX_BYTES }
    }

    /// Counts the bytes of a new value. False if the limit is exceeded: then the value must not be kept.
    pub(crate) fn charge(&mut self, bytes: usize) -> bool {
        self.used = self.used.saturating_add(bytes);
        !self.is_exceeded()
    }

    /// How many bytes a next value may have.
    pub(crate) fn rest(&self) -> usize {
        self.limit.saturating_sub(self.used)
    }

    pub(crate) fn is_exceeded(&self) -> bool {
        self.used > self.limit
    }

    /// Fails if the limit is exceeded.
    pub(crate) fn check(&self, item: &Resource) -> Result<(), Error> {
        let limit = self.limit >> 20;
        match self.is_exceeded() {
            true => {
                let error = Diagnostic::error(CatalogKind::ReplacementsTooLarge { limit });
                Err(in_resource(item, error))
            }
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_sdk::ResourceList;

    /// A thousand resources with a hundred fields each: values of 1,000 bytes have 100 MB together.
    fn many_fields(config: &str) -> ResourceList {
        let fields: String = (0..100).map(|at| format!("  k{at}: old\n")).collect();
        let text =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n{fields}");
        let item = Resource::parse(&text).expect("the text is a resource");
        let function_config = Some(Resource::parse(config).expect("the text is a resource"));
        ResourceList { items: vec![item; 1000], function_config, ..ResourceList::default() }
    }

    fn assert_too_large(error: &Error) {
        assert_eq!(error.diagnostics[0].id(), "replacements-too-large");
    }

    #[test]
    fn search_replace_has_one_limit_for_all_files() {
        let value = "x".repeat(1000);
        let config = |value: &str| {
            format!(
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: f\ndata:\n  by-value: old\n  put-value: {value}\n"
            )
        };
        let mut list = many_fields(&config(&value));
        assert_too_large(&crate::search_replace::run(&mut list).expect_err("100 MB are put"));
        let mut list = many_fields(&config("new"));
        assert!(crate::search_replace::run(&mut list).is_ok());
    }

    #[test]
    fn search_replace_measures_a_value_before_it_builds_it() {
        // 10,000 times a group of 100,000 bytes.
        let config = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: f\ndata:\n  by-value-regex: (x+)\n  put-value: '{}'\n",
            "${1}".repeat(10_000)
        );
        let text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: {}\n",
            "x".repeat(100_000)
        );
        let mut list = many_fields(&config);
        list.items = vec![Resource::parse(&text).expect("the text is a resource")];
        assert_too_large(&crate::search_replace::run(&mut list).expect_err("1 GB is put"));
    }

    #[test]
    fn resources_that_get_the_same_value_have_one_limit() {
        let value = "x".repeat(100_000);
        let config = |value: &str| {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: f\ndata:\n  k: {value}\n")
        };
        let mut list = many_fields(&config(&value));
        let error = crate::set_annotations::run(&mut list).expect_err("100 MB are put");
        assert_eq!(error.diagnostics[0].id(), "replacements-too-large");
        assert!(error.diagnostics[0].resource.is_none(), "it depends on the number of threads");
        let mut list = many_fields(&config("short"));
        assert!(crate::set_annotations::run(&mut list).is_ok());
    }

    #[test]
    fn apply_replacements_has_one_limit_for_all_files() {
        let value = "x".repeat(1000);
        let config = format!(
            "apiVersion: fn.kpt.dev/v1alpha1\nkind: ApplyReplacements\nmetadata:\n  name: f\nreplacements:\n- sourceValue: {value}\n  targets:\n  - select:\n      kind: ConfigMap\n    fieldPaths:\n    - data.*\n"
        );
        let mut list = many_fields(&config);
        let run = crate::apply_replacements::run;
        let error = run(&mut list, crate::Version::new(0, 1, 2)).expect_err("100 MB are put");
        assert_too_large(&error);
    }
}
