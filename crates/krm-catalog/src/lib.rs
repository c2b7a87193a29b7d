//! Functions that are built into krm, each written on `krm-sdk` as any author would.

pub mod apply_replacements;
pub mod apply_setters;
mod builtin;
pub mod create_setters;
mod field_type;
pub mod format;
pub mod gen_pkg_context;
pub mod list_setters;
pub mod no_op;
mod own_config;
pub mod remove_local_config_resources;
pub mod search_replace;
mod setters_config;
mod telling;

pub use builtin::Builtin;

/// All built-in functions, by name.
pub const BUILTINS: &[Builtin] = &[
    apply_replacements::BUILTIN,
    apply_setters::BUILTIN,
    create_setters::BUILTIN,
    format::BUILTIN,
    gen_pkg_context::BUILTIN,
    list_setters::BUILTIN,
    no_op::BUILTIN,
    remove_local_config_resources::BUILTIN,
    search_replace::BUILTIN,
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
