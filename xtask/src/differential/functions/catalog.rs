//! The compared functions, and the built-in functions that are compared elsewhere.

use super::configs::{
    apply_replacements, apply_setters, bind, create_setters, delete_annotations,
    ensure_name_substring, none, search_replace, set_annotations, set_enforcement_action,
    set_image, set_labels, set_name_prefix, set_namespace, set_project_id, starlark,
    upsert_resource,
};
use super::extras::{mutated, no_extra, policy};
use super::layout::Layout;
use super::{config_connector, old_packages};
use crate::corpus::random::Random;

/// A built-in function that also exists as a program in the catalog.
pub(super) struct Function {
    pub(super) name: &'static str,
    /// The functionConfig; empty for none.
    pub(super) config: fn(&mut Random) -> String,
    /// How the resources are written.
    pub(super) layout: Layout,
    /// Documents that every package has in addition.
    pub(super) extra: fn(&mut Random) -> Vec<String>,
    /// Whether references to setters in comments are compared, too.
    pub(super) compares_comments: bool,
    /// Whether the files of the resources are compared, because the function creates or moves resources.
    pub(super) compares_files: bool,
    /// Whether it fails because of the resources, so that the results of failures are compared.
    pub(super) is_validator: bool,
}

const PLAIN: Layout = Layout { setters: 2, flow: 12 };
const SETTERS: Layout = Layout { setters: 45, flow: 12 };

const fn function(name: &'static str, config: fn(&mut Random) -> String) -> Function {
    Function {
        name,
        config,
        layout: PLAIN,
        extra: no_extra,
        compares_comments: false,
        compares_files: false,
        is_validator: false,
    }
}

pub(super) const FUNCTIONS: &[Function] = &[
    Function { extra: mutated, ..function("annotate-apply-time-mutations", none) },
    function("apply-replacements", apply_replacements),
    Function { layout: SETTERS, ..function("apply-setters", apply_setters) },
    Function { extra: config_connector::placeholder, ..function("bind", bind) },
    Function { compares_comments: true, ..function("create-setters", create_setters) },
    function("delete-annotations", delete_annotations),
    Function {
        extra: config_connector::services,
        compares_files: true,
        ..function("enable-gcp-services", none)
    },
    function("ensure-name-substring", ensure_name_substring),
    Function {
        extra: old_packages::package,
        compares_comments: true,
        compares_files: true,
        ..function("fix", none)
    },
    function("format", none),
    Function { extra: policy, is_validator: true, ..function("gatekeeper", none) },
    Function { extra: config_connector::hierarchy, ..function("generate-folders", none) },
    Function { layout: SETTERS, ..function("list-setters", none) },
    function("remove-local-config-resources", none),
    Function { compares_comments: true, ..function("search-replace", search_replace) },
    function("set-annotations", set_annotations),
    function("set-enforcement-action", set_enforcement_action),
    function("set-image", set_image),
    function("set-labels", set_labels),
    Function { extra: config_connector::prefixed, ..function("set-name-prefix", set_name_prefix) },
    function("set-namespace", set_namespace),
    Function { extra: config_connector::project, ..function("set-project-id", set_project_id) },
    function("starlark", starlark),
    Function { compares_files: true, ..function("upsert-resource", upsert_resource) },
];

/// Built-in functions without a comparison here, and why.
pub(super) const NOT_COMPARED: &[(&str, &str)] = &[
    ("export-terraform", "has no generated packages here yet"),
    ("gen-pkg-context", "part of kpt, not a program of the catalog"),
    ("generate-kpt-pkg-docs", "has no generated packages here yet"),
    ("kubeconform", "`--kubeconform` compares it with the real kubeconform"),
    (
        "kubeval",
        "the validation of kubeconform with other messages; the real kubeval downloads schemas",
    ),
    ("no-op", "returns its input, and has no original"),
    ("render-helm-chart", "runs helm, which both would need"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_function_is_compared_or_has_a_reason() {
        for builtin in krm_catalog::BUILTINS {
            let is_compared = FUNCTIONS.iter().any(|it| it.name == builtin.name);
            let has_reason = NOT_COMPARED.iter().any(|(name, _)| *name == builtin.name);
            assert!(is_compared != has_reason, "{}", builtin.name);
        }
    }
}
