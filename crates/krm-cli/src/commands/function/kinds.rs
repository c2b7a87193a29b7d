//! Kinds of diagnostics of the `krm fn` commands.

use krm_yaml::{Excerpt, diagnostic_kinds};

diagnostic_kinds! {
    /// What is wrong with the arguments or the input of a `krm fn` command.
    pub(crate) enum FnCommandKind {
        /// A flag for containers with another runtime.
        ContainerFlag { flag: &'static str, runtime: &'static str } = "container-flag": "{flag} applies to containers, not to {runtime}";
        /// An option that needs files, with a list on standard input.
        OptionNeedsPackage { option: &'static str } = "option-needs-package": "{option} needs a package, not standard input";
        /// `-o` prints the resources elsewhere, and a preview the changes of the package.
        OutputWithPreview = "output-with-preview": "--output writes the resources elsewhere and has no preview",
            hint "use -o json for the changes of a preview as JSON";
        /// `fn render` of a directory without packages.
        NoPackage = "no-kptfile": "no Kptfile or Krmfile found", hint "use the directory of a package, or run a function on any directory with `krm fn eval`";
        /// A package without functions, so that rendering it does nothing.
        NoPipeline = "no-pipeline": "no function ran: no Kptfile declares a pipeline", hint "add a pipeline to a Kptfile, or run a function with `krm fn eval`";
        /// `fn run` of a package without functions.
        NoFunctions = "no-functions": "no function ran: no resource declares one", hint "add the annotation config.kubernetes.io/function to a functionConfig, or name a function with --image";
        /// A function that received nothing, so that its success says nothing.
        NoResources { function: String, selected: usize, total: usize } = "no-resources-selected": "`{function}` ran on no resource: {}" (no_resources(*selected, *total));
        /// `--save` cannot add the function to the Kptfile.
        CannotSave { reason: &'static str } = "cannot-save-function": "cannot save the function: {reason}";
        /// A functionConfig on the command line without a function.
        ConfigWithoutFunction = "config-without-function": "a functionConfig is given without a function", hint "use --image or --exec-path to name the function";
        /// A file for a functionConfig with none or several objects.
        FunctionConfigCount { found: usize } = "function-config-count": "expected one object as functionConfig, found {found}";
        /// Compat: the last part is the message of kpt.
        FunctionConfigWithoutName = "function-config-without-name": "functionConfig without a name: resource must have `metadata.name`";
        /// An argument that is not a pair.
        InvalidPair { text: Excerpt } = "invalid-key-value": "expected KEY=VALUE, found `{text}`";
        /// There is no built-in function of this name.
        UnknownFunction { name: String } = "unknown-function": "no built-in function `{name}`";
        /// `fn sink --prune` without a list.
        PruneWithoutList = "prune-without-list": "no list on standard input: --prune would delete everything", hint "use `items: []` for an empty list";
        /// `fn sink` to an existing directory.
        SinkExists = "sink-directory-exists": "the directory exists", hint "use --overwrite to edit its resources, or --prune to also delete those that are not in the list";
        /// `fn source` of directories with the same path.
        DuplicatePath { path: String } = "duplicate-path": "two directories contain `{path}`", hint "name the directories from a common parent";
        /// A path that is not one inside a package.
        InvalidPath { reason: String } = "invalid-package-path": "{reason}";
        /// A function deletes more than it may by default.
        DeletionNotAllowed { function: String, deleted: &'static str } = "deletion-not-allowed": "{function} deletes {deleted}", hint "use --allow-delete to allow it";
        /// `fn new` with an existing directory.
        ProjectExists = "project-exists": "the directory exists and is not overwritten", hint "choose another name";
        /// `fn new` with a name that is not one for crates, images and resources.
        InvalidProjectName { name: String } = "invalid-project-name": "invalid function name `{name}`", hint "use lower case letters, digits and dashes, as in set-owner";
        /// `--sdk` with a directory without krm-sdk.
        SdkNotFound = "sdk-not-found": "krm-sdk not found", hint "use the directory of a checkout of krm";
        /// `--locked` without a lock file.
        NoLockFile = "no-lock-file": "no krm.lock found in this directory or above it", hint "run `krm pkg vendor` to write one";
        /// The document of a Kptfile or of standard input is empty.
        EmptyDocument { what: &'static str } = "empty-document": "{what} is empty";
        /// `-o stdout` and `-o unwrap` after a function that changed a README.
        DocumentNotPrinted = "document-not-printed": "the changed file is not a resource and is not printed", hint "use `-o DIR` to write it to a new directory, or run without `-o` to change the package";
    }
}

fn no_resources(selected: usize, total: usize) -> String {
    match (selected, total) {
        (0, 0) => "the package has none".to_owned(),
        (0, total) => format!("the selectors match none of {total}"),
        _ => "the package has only a Kptfile".to_owned(),
    }
}
