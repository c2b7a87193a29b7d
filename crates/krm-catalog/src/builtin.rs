//! What is known of a built-in function: its names, what it does and how it is called.

use krm_sdk::{Error, ResourceList};

/// A function that runs inside krm.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// The last part of its image's name, without a tag.
    pub name: &'static str,
    /// Other names that it answers to.
    pub aliases: &'static [&'static str],
    /// One line: what it does.
    pub summary: &'static str,
    /// The page: what it does, its functionConfig, an example. Markdown, kept beside the source.
    pub doc: &'static str,
    /// The released tags of the image that it stands for, beside none, `latest` and `unstable`.
    pub tags: &'static [&'static str],
    /// Does the work.
    pub run: fn(&mut ResourceList) -> Result<(), Error>,
}
