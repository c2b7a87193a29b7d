//! Functions that are built into krm, each written on `krm-sdk` as any author would.

mod builtin;
#[cfg(feature = "gatekeeper")]
pub mod gatekeeper;
pub mod kubeconform;
mod look;
pub mod no_op;
pub mod remove_local_config_resources;
#[cfg(any(feature = "gatekeeper", feature = "starlark"))]
mod script_place;
#[cfg(feature = "starlark")]
pub mod starlark;

pub use builtin::Builtin;

/// All built-in functions, by name.
pub const BUILTINS: &[Builtin] = &[
    #[cfg(feature = "gatekeeper")]
    gatekeeper::BUILTIN,
    kubeconform::BUILTIN,
    kubeconform::KUBEVAL,
    no_op::BUILTIN,
    remove_local_config_resources::BUILTIN,
    #[cfg(feature = "starlark")]
    starlark::BUILTIN,
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
