//! Kinds of diagnostics that commands report about their arguments and their results.

use krm_yaml::{Excerpt, diagnostic_kinds};

diagnostic_kinds! {
    /// What is wrong with a command line, or what a command did not do.
    pub(crate) enum CommandKind {
        /// The command line does not parse; the message is clap's.
        InvalidUsage { message: String } = "invalid-usage": "{message}";
        /// No command is named.
        MissingCommand = "missing-command": "missing command", hint "use --help to list the commands";
        /// `krm man` is asked for a command that does not exist.
        UnknownCommand { parent: String, name: String } = "unknown-command": "unknown command `{parent} {name}`";
        /// `krm explain` is asked for an id that does not exist.
        UnknownId { id: String } = "unknown-id": "unknown diagnostic id `{id}`";
        /// Standard input is named twice, and can be read only once.
        RepeatedStdin = "repeated-stdin": "`-` (standard input) is given more than once";
        /// Standard input where the directory of a package is needed.
        StdinIsNotAPackage = "stdin-not-a-package": "expected the directory of a package, found `-` (standard input)";
        /// Standard input is redirected to a command that reads the current directory.
        StdinNotNamed = "stdin-not-named": "standard input is redirected, but no file is named",
            hint "use `-` to read standard input, or `.` to read the current directory";
        /// An argument that has no default.
        MissingArgument { names: &'static str } = "missing-argument": "missing argument {names}",
            hint "use --help to see the arguments";
        /// A number after `--increment`, which takes its value after `=` only.
        IncrementNeedsEquals { number: String } = "increment-needs-equals": "expected a file, found the number `{number}`",
            hint "use --increment={number} to add {number}";
        /// `-e` without a path or a value.
        InvalidAssignment { text: String } = "invalid-assignment": "expected PATH=VALUE, found `{text}`",
            hint "quote the argument: 'metadata.labels.app=shop'";
        /// A path of `-e` or of a file of edits that cannot be parsed.
        InvalidEditPath { path: String, reason: String } = "invalid-edit-path": "invalid path `{path}`: {reason}";
        /// A variable that `--from-env` names is not set.
        VariableNotSet { name: String } = "variable-not-set": "environment variable `{name}` is not set";
        /// `--where`, `--kind` and the like select nothing.
        NothingSelected = "nothing-selected": "no document or resource matches the selection";
        /// A pattern that matches a node and another one inside of it.
        OverlappingMatches { pattern: String, outer: String, inner: String } = "overlapping-matches":
            "`{pattern}` matches `{outer}` and, inside of it, `{inner}`", hint "use a path that matches only one of them";
        /// `--increment` of something that is not an integer.
        NotAnInteger { path: String, found: Excerpt } = "not-an-integer": "cannot increment `{path}`: expected an integer, found {found}";
        /// `--increment` beyond what can be represented.
        IncrementTooLarge { path: String } = "increment-too-large": "cannot increment `{path}`: the result is too large";
        /// An entry of a file of edits says not what to do, or several things.
        EditWithoutOperation { count: usize } = "edit-without-operation":
            "expected one of `value`, `append`, `merge`, `increment` and `remove`, found {count}";
        /// A command reads standard input, which nobody redirected.
        StdinIsATerminal = "stdin-is-a-terminal": "expected input on standard input, found a terminal",
            hint "pipe a list or documents into the command, as in `krm fn source DIR | ...`";
        /// `-o` for the changes of a command that writes them.
        FormatWithoutPreview = "format-without-preview": "--output needs a preview",
            hint "use it with --check, --diff or --dry-run";
        /// `--kv` with the same key twice.
        RepeatedAnnotation { key: String } = "repeated-annotation": "annotation `{key}` is given more than once";
        /// No resource has what was asked for.
        NoMatchingResource = "no-matching-resource": "no resource matches; nothing was changed";
        /// A setter that is defined without a value.
        SetterWithoutValue { name: String } = "setter-without-value": "setter `{name}` has no value",
            hint "use `krm cfg set` to set it";
        /// An empty argument as a value, most likely of an unset variable.
        EmptyValue = "empty-value": "expected a value, found an empty argument",
            hint "use --string '' for an empty string, or --null for null";
        /// `--doc` with a number that the file does not have.
        DocumentNotFound { index: usize, count: usize } = "document-not-found": "document {index} not found: the file has {count}, counted from 0";
        /// A path is looked up in a file of comments alone.
        EmptyFile { path: String } = "empty-file": "`{path}` not found: the file has no document";
        /// An edit would change a value that comes from another mapping.
        InheritedValue { path: String } = "inherited-value": "`{path}` is inherited through the merge key `<<`",
            hint "edit the mapping that it is inherited from";
        /// Some documents do not have the parent of the path.
        DocumentsSkipped { count: usize, parent: String } = "documents-skipped": "skipped {} without {parent}" (documents(*count));
        /// More warnings than are worth printing.
        WarningsOmitted { count: usize } = "warnings-omitted": "{count} more warnings are not shown";
        /// More findings than GitHub shows as annotations.
        FindingsOmitted { count: usize } = "findings-omitted": "{count} more findings of this severity",
            hint "see the summary of the step, or write another report";
        /// A package is not written because a part of it cannot be read.
        UnreadableFiles = "unreadable-files": "nothing was written: some files of the package cannot be read";
        /// The target dialect of a migration cannot represent everything.
        LossyMigration = "lossy-migration": "nothing was written: the other dialect cannot represent all of it",
            hint "use --lossy to drop what it cannot represent";
        /// The directory has a Krmfile.
        AlreadyAPackage = "already-a-package": "the directory is already a package";
        /// Several resources for a file format that holds one.
        SeveralResourcesInJson = "several-resources-in-json": "cannot write several resources to one JSON file";
        /// Standard output cannot be written to.
        OutputFailed { reason: String } = "output-failed": "cannot write to standard output: {reason}";
        /// A file that `--check` would change, in reports.
        WouldChange { verb: &'static str } = "would-change": "krm would {verb} this file",
            hint "run the same command without --check";
        /// Progress that is reported with `--verbose`, in formats for programs.
        Status { message: String } = "status": "{message}";
        /// A panic.
        InternalError { version: &'static str, panic: String } = "internal-error": "this is a bug in krm {version}: {panic}",
            hint "please report it with the command line and, if possible, the file";
    }
}

fn documents(count: usize) -> String {
    format!("{count} document{}", if count == 1 { "" } else { "s" })
}
