//! Candidates for completion that depend on the package: kinds and names of resources, setters, functions.
//!
//! What cannot be read is not completed. Nothing is printed, as the shell is waiting with a half-typed command line.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};
use krm_catalog::BUILTINS;
use krm_core::functions::PackageTree;
use krm_core::functions::kptfile::Program;
use krm_core::{Package, Resource};

use crate::commands::cfg;
use crate::explanations::{areas, summary};
use crate::loader::{self, LoadOptions};

/// Kinds of the resources of the package.
pub(crate) fn kinds() -> Vec<CompletionCandidate> {
    of_resources(|resource| resource.kind().into_owned())
}

/// Names of the resources of the package.
pub(crate) fn names() -> Vec<CompletionCandidate> {
    of_resources(|resource| resource.name().into_owned())
}

/// Namespaces of the resources of the package.
pub(crate) fn namespaces() -> Vec<CompletionCandidate> {
    of_resources(|resource| resource.namespace().into_owned())
}

fn of_resources(text: impl Fn(Resource<'_>) -> String) -> Vec<CompletionCandidate> {
    let package = package();
    let texts: BTreeSet<String> = package.resources().map(|it| text(it.resource)).collect();
    texts.into_iter().filter(|it| !it.is_empty()).map(CompletionCandidate::new).collect()
}

/// Names of the built-in functions.
pub(crate) fn builtins() -> Vec<CompletionCandidate> {
    let candidate =
        |name, help: &'static str| CompletionCandidate::new(name).help(Some(help.into()));
    BUILTINS.iter().map(|it| candidate(it.name, it.summary)).collect()
}

/// Images: those of the pipelines of the package, and built-in functions.
pub(crate) fn images() -> Vec<CompletionCandidate> {
    let tree = PackageTree::of(&package()).ok();
    let nodes = tree.iter().flat_map(PackageTree::nodes);
    let images: BTreeSet<&str> = nodes
        .flat_map(|node| node.pipeline.functions())
        .filter_map(|function| match &function.program {
            Program::Image(image) => Some(image.as_str()),
            Program::Exec(_) | Program::Wasm(_) => None,
        })
        .collect();
    let declared = images.into_iter().map(CompletionCandidate::new);
    declared.chain(builtins()).collect()
}

/// Ids of diagnostics.
pub(crate) fn ids() -> Vec<CompletionCandidate> {
    let ids = areas().flat_map(|area| area.ids().map(move |id| (area, id)));
    ids.map(|(area, id)| {
        let help = summary(area.explanation(id).unwrap_or_default());
        CompletionCandidate::new(id).help(Some(help.into()))
    })
    .collect()
}

/// Names of setters of the package, with their values.
pub(crate) fn setters() -> Vec<CompletionCandidate> {
    let setters = cfg::setter_values(&directory()).into_iter();
    setters.map(|(name, value)| CompletionCandidate::new(name).help(Some(value.into()))).collect()
}

/// The first argument of a command for setters: a directory or, as that may be omitted, the name of a setter.
pub(crate) fn directory_or_setter(current: &OsStr) -> Vec<CompletionCandidate> {
    let starts_with = |it: &CompletionCandidate| {
        it.get_value().to_string_lossy().starts_with(&*current.to_string_lossy())
    };
    let setters = setters().into_iter().filter(starts_with);
    setters.chain(PathCompleter::dir().complete(current)).collect()
}

fn package() -> Package {
    let loaded = loader::load(&directory(), LoadOptions::default());
    loaded.map_or_else(|_| Package::default(), |loaded| loaded.package)
}

/// The package that the command line names: its first argument that is a directory, or else the current directory.
fn directory() -> String {
    directory_in(std::env::args())
}

/// The completion script passes the command line after `--`; its last word is the one to complete.
fn directory_in(arguments: impl Iterator<Item = String>) -> String {
    let mut words: Vec<String> = arguments.skip_while(|it| it != "--").skip(2).collect();
    words.pop();
    let is_directory = |word: &&String| !word.starts_with('-') && Path::new(word).is_dir();
    words.iter().find(is_directory).cloned().unwrap_or_else(|| ".".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_is_the_first_argument_that_is_one() {
        let of = |line: &str| directory_in(line.split(' ').map(str::to_owned));
        assert_eq!(of("krm -- krm cfg set /tmp rep"), "/tmp");
        assert_eq!(of("krm -- krm fn eval -i set-labels /tmp --match-kind "), "/tmp");
        assert_eq!(of("krm -- krm cfg set rep"), ".");
        assert_eq!(of("krm -- krm cfg set /tmp"), ".");
    }
}
