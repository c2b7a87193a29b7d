//! The description of a built-in function.

use krm_sdk::{Diagnostic, Error, ResourceList};

use crate::interpreter::{InProcess, Interpreter};

/// A function that runs inside krm.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// The last part of the image name, without tag.
    pub name: &'static str,
    /// Other names of the function.
    pub aliases: &'static [&'static str],
    /// What the function does, in one line.
    pub summary: &'static str,
    /// The documentation in Markdown: what the function does, its functionConfig, and examples that tests run.
    pub doc: &'static str,
    /// The tags of the image for which the function stands in, besides none, `latest` and `unstable`.
    pub tags: &'static [&'static str],
    /// The function itself.
    pub run: Run,
}

/// The code of a built-in function.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// A function in Rust.
    Native(fn(&mut ResourceList) -> Result<(), Error>),
    /// A function that runs scripts or policies with an interpreter.
    Interpreted(RunInterpreted),
}

/// A function that needs an interpreter.
pub type RunInterpreted = fn(&mut ResourceList, &dyn Interpreter) -> Result<(), Error>;

impl Builtin {
    /// Whether the function only judges resources, so that it must see what a cluster would get.
    pub fn is_validator(&self) -> bool {
        matches!(self.name, "kubeconform" | "kubeval" | "gatekeeper")
    }

    /// Runs the function, with interpreters in this process. An error in the functionConfig gets at least a hint to the
    /// documentation.
    pub fn call(&self, list: &mut ResourceList) -> Result<(), Error> {
        self.call_with(list, &InProcess)
    }

    /// Like [`Builtin::call`], with interpreters of the caller's choice.
    pub fn call_with(
        &self,
        list: &mut ResourceList,
        interpreter: &dyn Interpreter,
    ) -> Result<(), Error> {
        let config = list.function_config.as_ref().map(|config| config.view().label());
        let result = match self.run {
            Run::Native(run) => run(list),
            Run::Interpreted(run) => run(list, interpreter),
        };
        result.map_err(|mut error| {
            let is_in_config = |it: &&mut Diagnostic| it.resource.as_deref() == config.as_deref();
            let diagnostics = error.diagnostics.iter_mut().filter(is_in_config);
            for it in diagnostics.filter(|it| it.resource.is_some() && it.hints.is_empty()) {
                it.hints.push(doc_hint(self.name));
            }
            error
        })
    }
}

/// A hint to the documentation of a function.
pub(crate) fn doc_hint(name: &str) -> String {
    format!("see `krm fn doc {name}`")
}
