//! A kit for tests of functions: folders of files that go in and come out, without a process.
//!
//! ```text
//! tests/cases/
//!   three-replicas/
//!     in/…              files that the function gets
//!     config.yaml       its functionConfig, where it has one
//!     expected/…        the files afterwards; without it nothing may change
//!     results.yaml      what it has to say; without it nothing
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
//! With `UPDATE_CASES=1` in the environment `expected` and `results.yaml` are written anew; read the difference.

mod case;

use std::path::Path;

pub use case::Case;

use crate::{Error, Function, Resource, ResourceList};

/// Runs a function on every case in a folder, in order, and panics with all differences. Every case is run a second
/// time on what came out of it, which must change nothing.
///
/// # Panics
///
/// Where a case does not come out as it should, or there is no case.
pub fn golden(folder: impl AsRef<Path>, function: impl Into<Function>) {
    let function = function.into();
    let cases = Case::all(folder.as_ref());
    assert!(!cases.is_empty(), "there is no case in {}", folder.as_ref().display());
    let is_update = std::env::var_os("UPDATE_CASES").is_some();
    let done = cases.iter().map(|case| match is_update {
        true => case.update(&function),
        false => case.check(&function),
    });
    let wrong: Vec<String> = done.filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A list of resources, each given by its text.
///
/// # Panics
///
/// Where a text is no resource.
pub fn list(texts: &[&str]) -> ResourceList {
    let resource = |text: &&str| Resource::parse(*text).expect("the text is a resource");
    ResourceList { items: texts.iter().map(resource).collect(), ..ResourceList::default() }
}

/// The texts of the resources of a list.
pub fn texts(list: &ResourceList) -> Vec<&str> {
    list.items.iter().map(Resource::text).collect()
}

/// Runs a function twice and panics where the second time changes anything.
///
/// ```
/// use krm_sdk::{Error, ResourceList, testing};
///
/// fn label(list: &mut ResourceList) -> Result<(), Error> {
///     list.items.iter_mut().try_for_each(|it| it.set_label("a", "b"))
/// }
///
/// testing::assert_idempotent(label, &mut testing::list(&["apiVersion: v1\nkind: Pod\n"]));
/// ```
///
/// # Panics
///
/// Where the function fails, or is not idempotent.
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
        assert!(
            once == twice,
            "item {at} changes the second time:\n{}",
            case::difference(once, twice)
        );
    }
    assert_eq!(once.len(), twice.len(), "the second time there are more or fewer resources");
}

#[cfg(test)]
mod tests;
