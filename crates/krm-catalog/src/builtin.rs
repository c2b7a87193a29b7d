//! What is known of a built-in function: its names, what it does and how it is called.

use krm_sdk::{Diagnostic, Error, ResourceList};

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

impl Builtin {
    /// Does the work. An error in the functionConfig says at least where to read what it takes.
    pub fn call(&self, list: &mut ResourceList) -> Result<(), Error> {
        let config = list.function_config.as_ref().map(|config| config.view().label());
        (self.run)(list).map_err(|mut error| {
            let is_its = |it: &&mut Diagnostic| it.resource.as_deref() == config.as_deref();
            let told = error.diagnostics.iter_mut().filter(is_its);
            for told in told.filter(|it| it.resource.is_some() && it.hints.is_empty()) {
                told.hints.push(format!("`krm fn doc {}` shows what it takes", self.name));
            }
            error
        })
    }
}
