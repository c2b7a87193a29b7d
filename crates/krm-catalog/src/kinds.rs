//! The diagnostics of built-in functions.
//!
//! Compat: functions of the kpt catalog are compared by their messages, in tests and by tools. Where a built-in function repeats the
//! wording of the original, its message is a parameter of [`CatalogKind::ConfigRejected`] or [`CatalogKind::Failed`].

use krm_yaml::{Excerpt, diagnostic_kinds};

diagnostic_kinds! {
    /// What built-in functions report.
    pub enum CatalogKind {
        /// A functionConfig that the function does not accept, in the words of the original function.
        ConfigRejected { message: Excerpt } = "config-rejected": "{message}";
        /// A resource that the function cannot handle, in the words of the original function.
        Failed { message: Excerpt } = "builtin-function-failed": "{message}";
        /// A field cannot be set, because its parent is a scalar or a sequence.
        NotAMapping { field: String } = "parent-not-a-mapping": "cannot set `{field}`: expected a mapping here",
            hint "make it a mapping, or remove it";
        /// A field that holds a collection where a scalar is to be set.
        NotAScalar { field: String } = "field-not-a-scalar": "cannot set `{field}`: it is a mapping or a sequence",
            hint "give the path of a scalar inside it";
        /// A regular expression, glob or path that cannot be parsed.
        InvalidPattern { syntax: &'static str, pattern: Excerpt, reason: String } = "invalid-pattern": "invalid {syntax} `{pattern}`: {reason}";
        /// Values that are copied into too many fields.
        ReplacementsTooLarge { limit: usize } = "replacements-too-large": "the function puts values of more than {limit} MiB into the package",
            hint "use a shorter value, or select fewer fields";
        /// A location of schemas that cannot be used, such as a URL.
        SchemaLocation { location: String, reason: &'static str } = "schema-location-unsupported": "cannot read schemas from `{location}`: {reason}";
        /// A file with a schema that is not one.
        InvalidSchema { path: String, reason: String } = "invalid-schema-file": "cannot read the schema `{path}`: {reason}";
        /// A file of the package, where there is no package.
        NoPackageFiles { path: String } = "no-package-files": "cannot read `{path}`: there is no package with files here";
        /// A chart that is not in the package.
        ChartNotFound { directory: String } = "helm-chart-not-found": "no chart found in `{directory}`";
        /// A file with values that does not exist.
        ValuesNotFound { path: String } = "helm-values-not-found": "cannot read the values `{path}`: no such file", hint "the path is relative to the package directory";
        /// Values that would have to be downloaded.
        RemoteValues { path: String } = "helm-values-remote": "cannot read the values `{path}`: built-in functions do not use the network";
        /// A Kubernetes version whose kinds are not built in.
        UnknownKubernetesVersion { version: String } = "unknown-kubernetes-version": "no schemas of Kubernetes `{version}` are built in";
        /// A constraint without its template.
        MissingTemplate { kind: String } = "missing-constraint-template": "no ConstraintTemplate defines the constraint kind `{kind}`";
        /// A template without a policy that can be evaluated.
        InvalidTemplate { template: String, reason: String } = "invalid-constraint-template": "ConstraintTemplate {template}: {reason}";
        /// A policy that fails.
        PolicyFailed { reason: Excerpt } = "policy-evaluation-failed": "cannot evaluate the policy: {reason}";
        /// A Starlark script that fails.
        ScriptFailed { message: Excerpt } = "starlark-error": "{message}";
        /// A Starlark script that leaves no list of resources.
        ScriptResult { found: &'static str } = "invalid-starlark-result": "expected a list in `ctx.resource_list[\"items\"]` after the script, found {found}";
        /// A script whose brackets, operators or blocks are nested too deep for its interpreter.
        ScriptNesting { limit: usize } = "script-nesting": "nested more than {limit} levels deep here", hint "split the expression or the block into several";
        /// A policy function that calls itself, directly or through others.
        RecursiveFunction { cycle: Excerpt } = "recursive-policy-function": "recursive function: {cycle}", hint "Rego does not allow recursion; use a comprehension or `walk`";
        /// A panic of an interpreter.
        InterpreterPanicked { message: String } = "interpreter-panicked": "the interpreter panicked: {message}", hint "report this bug in krm with the script or policy";
        /// An interpreter that ended without a response.
        InterpreterCrashed { reason: String } = "interpreter-crashed": "the interpreter crashed: {reason}", hint "report this bug in krm with the script or policy";
        /// A script that overflows the stack of its interpreter.
        InterpreterStack = "interpreter-stack-overflow": "exceeded the stack of the interpreter: values or calls are nested too deep";
    }
}

impl CatalogKind {
    /// Whether an interpreter failed by itself, which is a bug and not the fault of a script.
    pub fn is_crash(&self) -> bool {
        matches!(self, Self::InterpreterPanicked { .. } | Self::InterpreterCrashed { .. })
    }
}
