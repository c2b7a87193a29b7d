//! The description of a built-in function.

use krm_sdk::{Diagnostic, Error, ResourceList};

use crate::generate_kpt_pkg_docs::Documents;
use crate::host::Host;
use crate::interpreter::Interpreter;
use crate::releases::{self, Release, TagMatch, Version};
use crate::render_helm_chart::Helm;
use crate::schema_files::SchemaFiles;

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
    /// The releases of the image that the function replaces, oldest first. It also replaces the image without a tag, and with the
    /// tags `latest` and `unstable`.
    pub releases: &'static [Release],
    /// The function itself.
    pub run: Run,
}

/// The code of a built-in function.
#[derive(Clone, Copy, Debug)]
pub enum Run {
    /// A function in Rust.
    Native(fn(&mut ResourceList) -> Result<(), Error>),
    /// A function in Rust whose releases differ: it behaves as the one that is passed.
    Versioned(fn(&mut ResourceList, Version) -> Result<(), Error>),
    /// A function that runs scripts or policies with an interpreter.
    Interpreted(RunInterpreted),
    /// A function in Rust that validates resources against schemas, which may be in files.
    Validating(RunValidating),
    /// A function that renders charts with another program.
    Rendering(RunRendering),
    /// A function that writes a document of the package.
    Documenting(RunDocumenting),
}

/// A function that needs an interpreter.
pub type RunInterpreted = fn(&mut ResourceList, &dyn Interpreter) -> Result<(), Error>;

/// A function that needs schemas.
pub type RunValidating = fn(&mut ResourceList, &dyn SchemaFiles) -> Result<(), Error>;

/// A function that needs charts.
pub type RunRendering = fn(&mut ResourceList, &dyn Helm) -> Result<(), Error>;

/// A function that needs documents.
pub type RunDocumenting = fn(&mut ResourceList, &dyn Documents) -> Result<(), Error>;

/// A built-in function that behaves as one of its releases.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinRelease {
    /// The function.
    pub function: &'static Builtin,
    /// The release.
    pub version: Version,
    /// Whether the tag of the image names another release, which is not known.
    pub is_assumed: bool,
}

impl From<&'static Builtin> for BuiltinRelease {
    /// The function as its newest release.
    fn from(function: &'static Builtin) -> Self {
        Self { function, version: Version::NEWEST, is_assumed: false }
    }
}

impl BuiltinRelease {
    /// Runs the function, with interpreters in this process and without files. An error in the functionConfig gets at least a hint to
    /// the documentation.
    pub fn call(&self, list: &mut ResourceList) -> Result<(), Error> {
        self.call_with(list, Host::default())
    }

    /// Like [`BuiltinRelease::call`], with what the caller allows the function to use.
    pub fn call_with(&self, list: &mut ResourceList, host: Host<'_>) -> Result<(), Error> {
        let config = list.function_config.as_ref().map(|config| config.view().label());
        let result = match self.function.run {
            Run::Native(run) => run(list),
            Run::Versioned(run) => run(list, self.version),
            Run::Interpreted(run) => run(list, host.interpreter),
            Run::Validating(run) => run(list, host.schemas),
            Run::Rendering(run) => run(list, host.helm),
            Run::Documenting(run) => run(list, host.documents),
        };
        result.map_err(|mut error| {
            let is_in_config = |it: &&mut Diagnostic| it.resource.as_deref() == config.as_deref();
            let diagnostics = error.diagnostics.iter_mut().filter(is_in_config);
            for it in diagnostics.filter(|it| it.resource.is_some() && it.hints.is_empty()) {
                it.hints.push(doc_hint(self.function.name));
            }
            error
        })
    }
}

impl Builtin {
    /// The release that a tag names; none if the tag is not a version, or older than all releases.
    pub fn release(&self, tag: &str) -> Option<TagMatch> {
        releases::find(self.releases, tag)
    }

    /// All tags of releases, oldest first, each minor version before its patches.
    pub fn tags(&self) -> Vec<String> {
        let mut tags: Vec<String> = Vec::new();
        for release in self.releases.iter().filter(|it| it.has_version()) {
            let minor = release.version.minor_tag();
            if !tags.contains(&minor) {
                tags.push(minor);
            }
            tags.push(release.version.to_string());
        }
        tags
    }

    /// Whether the function only judges resources, so that it must see what a cluster would get.
    pub fn is_validator(&self) -> bool {
        matches!(self.name, "kubeconform" | "kubeval" | "gatekeeper")
    }
}

/// A hint to the documentation of a function.
pub(crate) fn doc_hint(name: &str) -> String {
    format!("see `krm fn doc {name}`")
}
