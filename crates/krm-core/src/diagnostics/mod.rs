//! Errors, warnings and infos: their kinds, their source locations, and the masking of Secret values in them.
//!
//! What a diagnostic says is defined here; how it is printed is up to the command line.

mod common;
mod diagnostic;
pub mod explain;
mod kind;
pub(crate) mod secrets;
mod suggest;

pub use common::CommonKind;
pub(crate) use common::node_type;
pub use diagnostic::{Diagnostic, Location, Severity};
pub use kind::Kind;
pub use secrets::{contains_secret, mask_secrets};
pub use suggest::{closest_kind, closest_name};

use crate::PackagePathError;
use crate::files::FilesKind;
use crate::functions::AnnotatedFunctionKind;
use crate::functions::kptfile::KptfileKind;
use crate::functions::resource_list::{OutputKind, ResourceListKind};
use crate::functions::results::ResultKind;
use crate::merge::MergeKind;
use crate::model::{ImageNameError, PackageKind};
use explain::Area;

/// The kinds that krm-core and krm-yaml declare, with their explanations.
pub const AREAS: &[Area] = &[
    Area { title: "YAML", ids: krm_yaml::DIAGNOSTIC_IDS, text: krm_yaml::EXPLANATIONS },
    Area {
        title: "Structure of documents",
        ids: &[CommonKind::IDS],
        text: include_str!("../../explain/common.md"),
    },
    Area { title: "Merge", ids: &[MergeKind::IDS], text: include_str!("../../explain/merge.md") },
    Area {
        title: "Files of a package",
        ids: &[FilesKind::IDS, PackagePathError::IDS, PackageKind::IDS, ImageNameError::IDS],
        text: include_str!("../../explain/files.md"),
    },
    Area {
        title: "Functions and pipelines",
        ids: &[
            ResourceListKind::IDS,
            ResultKind::IDS,
            KptfileKind::IDS,
            AnnotatedFunctionKind::IDS,
        ],
        text: include_str!("../../explain/functions.md"),
    },
    Area {
        title: "Function output",
        ids: &[OutputKind::IDS],
        text: include_str!("../../explain/output.md"),
    },
    crate::format::AREA,
    crate::kubernetes_reader::AREA,
    crate::print::AREA,
    crate::query::AREA,
    crate::schema::AREA,
    crate::setters::AREA,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_explained_with_an_example() {
        let gaps: Vec<String> = AREAS.iter().flat_map(Area::gaps).collect();
        assert!(gaps.is_empty(), "{gaps:#?}");
    }
}
