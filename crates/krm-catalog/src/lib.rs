//! The functions that are built into krm: replacements for the kpt catalog, written with `krm-sdk`.
//!
//! ```
//! use krm_catalog::BuiltinRelease;
//! use krm_sdk::{Error, Resource, testing};
//!
//! fn main() -> Result<(), Error> {
//!     let mut list = testing::list(&["apiVersion: v1\nkind: Service\nmetadata:\n  name: web # the shop\n"]);
//!     let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {tier: frontend}\n";
//!     list.function_config = Some(Resource::parse(config)?);
//!
//!     let Some(set_labels) = krm_catalog::find("set-labels") else { return Err(Error::new("not built in")) };
//!     BuiltinRelease::from(set_labels).call(&mut list)?;
//!
//!     let text = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web # the shop\n  labels:\n    tier: frontend\nspec:\n  selector:\n    tier: frontend\n";
//!     assert_eq!(list.items[0].text(), text);
//!     assert_eq!(list.results[0].message, "set 2 labels in total");
//!     Ok(())
//! }
//! ```
//!
//! A built-in function is an ordinary function of `krm-sdk` in a module of its own, with a [`Builtin`] that describes it:
//!
//! ```
//! use krm_catalog::{Builtin, BuiltinRelease, Release, Run};
//! use krm_sdk::{Error, ResourceList, testing};
//!
//! const BUILTIN: Builtin = Builtin {
//!     name: "set-owner",
//!     aliases: &[],
//!     summary: "set the owner of every resource",
//!     doc: "# set-owner\n",
//!     releases: &[Release::new(0, 1, 0, "the first one")],
//!     run: Run::Native(run),
//! };
//!
//! fn run(list: &mut ResourceList) -> Result<(), Error> {
//!     list.items.iter_mut().try_for_each(|item| item.set_annotation("example.com/owner", "team-a"))
//! }
//!
//! # fn main() -> Result<(), Error> {
//! let mut list = testing::list(&["apiVersion: v1\nkind: Pod\n"]);
//! BuiltinRelease::from(&BUILTIN).call(&mut list)?;
//! assert_eq!(list.items[0].annotation("example.com/owner").as_deref(), Some("team-a"));
//! # Ok(())
//! # }
//! ```
//!
//! The features `gatekeeper` and `starlark` are on by default; without them the functions of these names are left out, and builds
//! are much faster.

mod align;
pub mod annotate_apply_time_mutations;
pub mod apply_replacements;
pub mod apply_setters;
pub mod bind;
mod builtin;
mod changes;
mod config;
pub mod create_setters;
pub mod delete_annotations;
mod depends_on;
pub mod enable_gcp_services;
pub mod ensure_name_substring;
pub mod export_terraform;
#[cfg(feature = "cel")]
pub mod expression;
mod field_spec;
mod field_type;
pub mod fix;
pub mod format;
#[cfg(feature = "gatekeeper")]
pub mod gatekeeper;
pub mod gen_pkg_context;
pub mod generate_folders;
pub mod generate_kpt_pkg_docs;
mod generated;
#[cfg(any(feature = "gatekeeper", feature = "starlark"))]
mod go_float;
#[cfg(any(feature = "cel", feature = "starlark"))]
mod go_regex;
#[cfg(any(feature = "gatekeeper", feature = "starlark"))]
mod go_text;
mod host;
pub mod interpreter;
pub mod kinds;
pub mod kubeconform;
pub mod list_setters;
mod lookup;
pub mod no_op;
mod redact;
mod releases;
pub mod remove_local_config_resources;
mod rename;
pub mod render_helm_chart;
mod results;
mod schema_files;
mod scope;
#[cfg(any(feature = "gatekeeper", feature = "starlark"))]
mod script_location;
pub mod search_replace;
pub mod set_annotations;
pub mod set_enforcement_action;
pub mod set_image;
pub mod set_labels;
pub mod set_name_prefix;
pub mod set_namespace;
pub mod set_project_id;
mod setters_config;
#[cfg(feature = "starlark")]
pub mod starlark;
pub mod upsert_resource;
mod validation_input;
mod value_budget;

pub use builtin::{
    Builtin, BuiltinRelease, Run, RunDocumenting, RunInterpreted, RunRendering, RunValidating,
};
pub use changes::{MAX_PARSED_BYTES, MIN_PER_THREAD};
pub use host::Host;
pub use releases::{Change, Handling, Release, TagMatch, Version};
pub use schema_files::{NamedBy, NoSchemaFiles, SchemaFiles};

use kinds::CatalogKind;
use krm_core::diagnostics::explain::Area;

/// The kinds that krm-catalog declares, with their explanations.
pub const EXPLANATIONS: &[Area] = &[Area {
    title: "Built-in functions",
    ids: &[CatalogKind::IDS],
    text: include_str!("../explain/catalog.md"),
}];

/// The README, so that its examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// All built-in functions, sorted by name.
pub const BUILTINS: &[Builtin] = &[
    annotate_apply_time_mutations::BUILTIN,
    apply_replacements::BUILTIN,
    apply_setters::BUILTIN,
    bind::BUILTIN,
    create_setters::BUILTIN,
    delete_annotations::BUILTIN,
    enable_gcp_services::BUILTIN,
    ensure_name_substring::BUILTIN,
    export_terraform::BUILTIN,
    fix::BUILTIN,
    format::BUILTIN,
    #[cfg(feature = "gatekeeper")]
    gatekeeper::BUILTIN,
    gen_pkg_context::BUILTIN,
    generate_folders::BUILTIN,
    generate_kpt_pkg_docs::BUILTIN,
    kubeconform::BUILTIN,
    kubeconform::KUBEVAL,
    list_setters::BUILTIN,
    no_op::BUILTIN,
    remove_local_config_resources::BUILTIN,
    render_helm_chart::BUILTIN,
    search_replace::BUILTIN,
    set_annotations::BUILTIN,
    set_enforcement_action::BUILTIN,
    set_image::BUILTIN,
    set_labels::BUILTIN,
    set_name_prefix::BUILTIN,
    set_namespace::BUILTIN,
    set_project_id::BUILTIN,
    #[cfg(feature = "starlark")]
    starlark::BUILTIN,
    upsert_resource::BUILTIN,
];

/// The built-in function with this name or alias.
pub fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name || builtin.aliases.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_unique() {
        assert!(BUILTINS.is_sorted_by(|a, b| a.name < b.name));
        assert_eq!(find("no-op").map(|it| it.name), Some("no-op"));
    }

    #[test]
    fn releases_are_sorted_and_have_a_source() {
        for builtin in BUILTINS {
            let releases = builtin.releases;
            assert!(releases.is_sorted_by(|a, b| a.version < b.version), "{}", builtin.name);
            assert!(releases.iter().all(|it| !it.source.is_empty()), "{}", builtin.name);
        }
    }

    #[test]
    fn every_kind_is_explained_with_an_example() {
        let gaps: Vec<String> = EXPLANATIONS.iter().flat_map(Area::gaps).collect();
        assert!(gaps.is_empty(), "{gaps:#?}");
    }
}
