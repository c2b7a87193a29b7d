//! Kinds of diagnostics about plans, placement, assembly, moves and removal of resources.

use krm_yaml::diagnostic_kinds;

diagnostic_kinds! {
    /// Why files cannot be changed as requested, or why a resource stays where it is.
    pub enum FilesKind {
        /// Two names of one file.
        SameFile { other: String } = "same-file": "this is the same file as {other}", hint "name the file once";
        /// A directory where a file is needed.
        PathIsDirectory { path: String } = "path-is-directory": "`{path}` is a directory";
        /// A file where a directory is needed.
        PathThroughFile { path: String, file: String } = "path-through-file": "cannot use `{path}`: `{file}` is a file";
        /// A path of git or of krm's own files.
        ReservedPath { path: String } = "reserved-path": "cannot use `{path}`: `.git` and `.krm-*` are reserved";
        /// A resource for a file that is not loaded with the package.
        UnreadPath { path: String } = "unread-path": "`{path}` is not loaded with the package",
            hint "use a name that ends with .yaml, .yml or .json, or Kptfile or Krmfile";
        /// A resource that moves to a JSON file, which has no comments.
        CommentsLost { path: String, count: usize } = "json-comments-lost": "{} lost in `{path}`: JSON has no comments" (comments(*count));
        /// Function output would delete a Kptfile or Krmfile.
        DeletesPackageFile { path: String } = "deletes-package-file": "{path} would be deleted",
            hint "use --allow-delete to delete it";
        /// Function output would delete every resource.
        DeletesEverything { count: usize } = "deletes-everything": "{} would be deleted" (all_resources(*count)),
            hint "use --allow-delete to delete them";
        /// Documents of one file that cannot be edited independently.
        CannotEditDocuments = "cannot-edit-documents": "cannot change the resources of this file without changing others",
            hint "move each resource to a file of its own";
        /// A resource that `--set-filenames` leaves in its file.
        NotMoved { reason: String } = "resource-not-moved": "the resource stays in its file: {reason}";
        /// Moving would lose a resource or a comment. This is checked after the files are assembled.
        LossyMove = "lossy-move": "cannot rename the files without changing resources or comments", hint "rename the files by hand";
    }
}

fn comments(count: usize) -> String {
    if count == 1 { "1 comment is".to_owned() } else { format!("{count} comments are") }
}

fn all_resources(count: usize) -> String {
    if count == 1 { "the only resource".to_owned() } else { format!("all {count} resources") }
}
