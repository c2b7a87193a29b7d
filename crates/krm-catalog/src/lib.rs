//! Functions that are built into krm, each written on `krm-sdk` as any author would.

pub mod apply_setters;
mod builtin;
mod changes;
mod config;
pub mod create_setters;
mod depends_on;
mod field_spec;
pub mod list_setters;
pub mod no_op;
pub mod remove_local_config_resources;
mod scope;
pub mod set_annotations;
pub mod set_labels;
pub mod set_namespace;
mod setters_config;
mod telling;

pub use builtin::Builtin;

/// All built-in functions, by name.
pub const BUILTINS: &[Builtin] = &[
    apply_setters::BUILTIN,
    create_setters::BUILTIN,
    list_setters::BUILTIN,
    no_op::BUILTIN,
    remove_local_config_resources::BUILTIN,
    set_annotations::BUILTIN,
    set_labels::BUILTIN,
    set_namespace::BUILTIN,
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
