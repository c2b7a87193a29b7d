//! Functions that are built into krm, each written on `krm-sdk` as any author would.

pub mod annotate_apply_time_mutations;
pub mod apply_replacements;
pub mod apply_setters;
mod builtin;
mod changes;
mod config;
pub mod create_setters;
pub mod delete_annotations;
mod depends_on;
pub mod ensure_name_substring;
mod field_spec;
mod field_type;
pub mod format;
#[cfg(feature = "gatekeeper")]
pub mod gatekeeper;
pub mod gen_pkg_context;
pub mod kubeconform;
pub mod list_setters;
mod look;
pub mod no_op;
mod own_config;
pub mod remove_local_config_resources;
mod scope;
#[cfg(any(feature = "gatekeeper", feature = "starlark"))]
mod script_place;
pub mod search_replace;
pub mod set_annotations;
pub mod set_enforcement_action;
pub mod set_image;
pub mod set_labels;
pub mod set_namespace;
mod setters_config;
#[cfg(feature = "starlark")]
pub mod starlark;
mod telling;
pub mod upsert_resource;

pub use builtin::Builtin;

/// All built-in functions, by name.
pub const BUILTINS: &[Builtin] = &[
    annotate_apply_time_mutations::BUILTIN,
    apply_replacements::BUILTIN,
    apply_setters::BUILTIN,
    create_setters::BUILTIN,
    delete_annotations::BUILTIN,
    ensure_name_substring::BUILTIN,
    format::BUILTIN,
    #[cfg(feature = "gatekeeper")]
    gatekeeper::BUILTIN,
    gen_pkg_context::BUILTIN,
    kubeconform::BUILTIN,
    kubeconform::KUBEVAL,
    list_setters::BUILTIN,
    no_op::BUILTIN,
    remove_local_config_resources::BUILTIN,
    search_replace::BUILTIN,
    set_annotations::BUILTIN,
    set_enforcement_action::BUILTIN,
    set_image::BUILTIN,
    set_labels::BUILTIN,
    set_namespace::BUILTIN,
    #[cfg(feature = "starlark")]
    starlark::BUILTIN,
    upsert_resource::BUILTIN,
];

/// The built-in function of this short name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|builtin| builtin.name == name || builtin.aliases.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_said_once() {
        assert!(BUILTINS.is_sorted_by(|a, b| a.name < b.name));
        assert_eq!(find("no-op").map(|it| it.name), Some("no-op"));
    }
}
