//! Tests of functions on directories of files, without starting a process.
//!
//! ```text
//! tests/cases/
//!   three-replicas/
//!     in/…              the input files; a function that generates everything needs none
//!     config.yaml       the functionConfig (optional)
//!     expected/…        the output files; if missing, nothing may change
//!     results.yaml      the results; if missing, there must be none
//! ```
//!
//! ```no_run
//! # use krm_sdk::{Error, Function, ResourceList, testing};
//! # fn my_function(_: &mut ResourceList) -> Result<(), Error> { Ok(()) }
//! #[test]
//! fn cases() {
//!     testing::golden(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases"), my_function);
//! }
//! ```
//!
//! If a case expects results of severity error, no file may change: orchestrators write nothing then. [`golden_under`] runs the compiled
//! function on the same cases under krm, kpt and kustomize.
//!
//! With `UPDATE_CASES=1` in the environment, `expected` and `results.yaml` are rewritten; review the diff.

mod case;
mod hosts;

use std::path::Path;

pub use case::Case;
pub use hosts::{Host, HostProgram, Program, golden_under};

use crate::{Error, Function, Resource, ResourceList};

/// Runs a function on every case in a directory. The function is run a second time on the output of each case, which must
/// change nothing.
///
/// # Panics
///
/// If the output of a case differs from what is expected, or if there is no case.
pub fn golden(directory: impl AsRef<Path>, function: impl Into<Function>) {
    let function = function.into();
    let cases = Case::all(directory.as_ref());
    assert!(!cases.is_empty(), "no test cases in {}", directory.as_ref().display());
    let is_update = std::env::var_os("UPDATE_CASES").is_some();
    let checked = cases.iter().map(|case| match is_update {
        true => case.update(&function),
        false => case.check(&function),
    });
    let failures: Vec<String> = checked.filter_map(Result::err).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Parses a list of resources.
///
/// # Panics
///
/// If a text is not a resource.
pub fn list(texts: &[&str]) -> ResourceList {
    let resource = |text: &&str| Resource::parse(*text).expect("a valid resource");
    ResourceList { items: texts.iter().map(resource).collect(), ..ResourceList::default() }
}

/// The texts of the resources of a list.
pub fn texts(list: &ResourceList) -> Vec<&str> {
    list.items.iter().map(Resource::text).collect()
}

/// Runs a function twice and panics if the second run changes anything.
///
/// ```
/// use krm_sdk::{Error, ResourceList, testing};
///
/// fn label(list: &mut ResourceList) -> Result<(), Error> {
///     list.items.iter_mut().try_for_each(|item| item.set_label("a", "b"))
/// }
///
/// testing::assert_idempotent(label, &mut testing::list(&["apiVersion: v1\nkind: Pod\n"]));
/// ```
///
/// # Panics
///
/// If the function fails or is not idempotent.
pub fn assert_idempotent(
    function: impl Fn(&mut ResourceList) -> Result<(), Error>,
    list: &mut ResourceList,
) {
    let run = |list: &mut ResourceList| {
        if let Err(error) = function(list) {
            panic!("the function failed: {error}");
        }
        texts(list).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let once = run(list);
    let twice = run(list);
    for (at, (once, twice)) in once.iter().zip(&twice).enumerate() {
        assert!(once == twice, "the second run changes item {at}:\n{}", case::diff(once, twice));
    }
    assert_eq!(once.len(), twice.len(), "the second run changes the number of resources");
}

#[cfg(test)]
mod tests;
