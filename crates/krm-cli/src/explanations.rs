//! The explanations of all diagnostic ids, whichever crate declares them.

use krm_core::diagnostics::AREAS as CORE;
use krm_core::diagnostics::explain::Area;

use crate::commands::function::kinds::FnCommandKind;
use crate::commands::kinds::CommandKind;
use crate::commands::pkg::kinds::PkgKind;
use crate::disk::FileKind;
use crate::git::GitKind;
use crate::package_source::SourceKind;
use crate::result_cache::CacheKind;

/// The kinds that krm-cli declares.
const CLI: &[Area] = &[
    Area {
        title: "Files and directories",
        ids: &[FileKind::IDS],
        text: include_str!("../explain/files.md"),
    },
    Area {
        title: "Command line",
        ids: &[CommandKind::IDS],
        text: include_str!("../explain/commands.md"),
    },
    Area {
        title: "Function commands",
        ids: &[FnCommandKind::IDS],
        text: include_str!("../explain/functions.md"),
    },
    Area {
        title: "Result cache",
        ids: &[CacheKind::IDS],
        text: include_str!("../explain/cache.md"),
    },
    Area { title: "Git", ids: &[GitKind::IDS], text: include_str!("../explain/git.md") },
    Area {
        title: "Packages and their upstreams",
        ids: &[PkgKind::IDS, SourceKind::IDS],
        text: include_str!("../explain/packages.md"),
    },
];

/// The areas of all crates, from the innermost crate to the command line.
pub(crate) fn areas() -> impl Iterator<Item = &'static Area> {
    let libraries = [
        CORE,
        krm_oci::EXPLANATIONS,
        krm_grpc::EXPLANATIONS,
        krm_sdk::EXPLANATIONS,
        krm_catalog::EXPLANATIONS,
        krm_run::EXPLANATIONS,
    ];
    libraries.into_iter().chain([CLI]).flatten()
}

/// The first sentence of an explanation, on one line.
pub(crate) fn summary(explanation: &str) -> String {
    let paragraph = explanation.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    match paragraph.split_once(". ") {
        Some((sentence, _)) => format!("{sentence}."),
        None => paragraph,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_is_explained_with_an_example() {
        let gaps: Vec<String> = areas().flat_map(Area::gaps).collect();
        assert!(gaps.is_empty(), "{gaps:#?}");
    }

    #[test]
    fn ids_are_unique_in_all_crates() {
        let mut seen = BTreeSet::new();
        let repeated: Vec<&str> =
            areas().flat_map(Area::ids).filter(|id| !seen.insert(*id)).collect();
        assert!(repeated.is_empty(), "declared more than once: {repeated:?}");
    }

    #[test]
    fn ids_are_kebab_case() {
        let is_kebab = |id: &str| {
            id.split('-').all(|part| {
                !part.is_empty()
                    && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
            })
        };
        let others: Vec<&str> = areas().flat_map(Area::ids).filter(|id| !is_kebab(id)).collect();
        assert!(others.is_empty(), "{others:?}");
    }

    #[test]
    fn summary_is_the_first_sentence_on_one_line() {
        assert_eq!(summary("A file\nis missing. Add it.\n\nMore."), "A file is missing.");
        assert_eq!(summary("A file is missing.\n\n```yaml\n```"), "A file is missing.");
    }
}
