//! The plan of a run: every file that is created, changed or deleted, before the first byte reaches a disk.

use std::borrow::Cow;
use std::collections::BTreeMap;

use krm_yaml::SharedText;

use crate::diagnostics::CommonKind;
use crate::files::{FileText, FilesKind};
use crate::{Diagnostic, PackageFile, PackagePath};

/// What happens to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It does not exist yet and is created.
    Create,
    /// Its content changes.
    Update,
    /// It is deleted.
    Delete,
    /// Content and modification time stay.
    Unchanged,
}

/// Where new content is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Destination {
    /// Standard output, for what was read from standard input.
    Stdout,
    /// A file, relative to the directory that the command works on.
    File(PackagePath),
}

/// A file as it was before a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginalFile {
    destination: Destination,
    display_path: String,
    text: Option<SharedText>,
    is_external_symlink: bool,
}

impl OriginalFile {
    /// A file that was read, or none (`text` is none) that is to be created.
    pub fn new(path: PackagePath, display_path: impl Into<String>, text: Option<String>) -> Self {
        Self::with_shared_text(path, display_path, text.map(SharedText::from))
    }

    /// A file that was read, or is to be created, with a text that others share.
    pub fn with_shared_text(
        path: PackagePath,
        display_path: impl Into<String>,
        text: Option<SharedText>,
    ) -> Self {
        let (destination, display_path) = (Destination::File(path), display_path.into());
        Self { destination, display_path, text, is_external_symlink: false }
    }

    /// What was read from standard input.
    pub fn stdin(display_path: impl Into<String>, text: Option<String>) -> Self {
        let (destination, display_path) = (Destination::Stdout, display_path.into());
        let text = text.map(SharedText::from);
        Self { destination, display_path, text, is_external_symlink: false }
    }

    /// The content; none for a file that does not exist yet.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The content, to be shared; none for a file that does not exist yet.
    pub fn shared_text(&self) -> Option<&SharedText> {
        self.text.as_ref()
    }

    /// The same file, written somewhere else.
    #[must_use]
    pub fn at(self, destination: Destination) -> Self {
        Self { destination, ..self }
    }
}

impl From<&PackageFile> for OriginalFile {
    fn from(file: &PackageFile) -> Self {
        let text = file.file().map(|file| file.shared_text().clone());
        let (path, display_path) = (file.path.clone(), file.display_path.as_str());
        let is_external_symlink = file.is_external_symlink;
        Self { is_external_symlink, ..Self::with_shared_text(path, display_path, text) }
    }
}

/// Drops the documents, which matters for packages of thousands of files.
impl From<PackageFile> for OriginalFile {
    fn from(file: PackageFile) -> Self {
        Self::from(&file)
    }
}

/// One file, as it was read and as it should become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedChange {
    /// Where the new content is written.
    pub destination: Destination,
    /// The path that messages show, relative to the working directory.
    pub display_path: String,
    /// The content that was read; none for a file that did not exist.
    pub old: Option<SharedText>,
    /// The content to be written; none for a file that is deleted.
    pub new: Option<FileText>,
    /// The contents, where one of them is not text; then `old` and `new` are empty texts.
    pub binary: Option<BinaryChange>,
    /// Whether the file becomes executable or stops to be; none where that stays, or follows from the content of a new file.
    pub executable: Option<bool>,
    /// Determined once, because that compares the contents.
    action: Action,
}

/// The contents of a file that is not text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinaryChange {
    /// The content that was read; none for a file that did not exist.
    pub old: Option<Vec<u8>>,
    /// The content to be written; none for a file that is deleted.
    pub new: Option<Vec<u8>>,
}

impl PlannedChange {
    /// What happens to the file.
    pub fn action(&self) -> Action {
        self.action
    }

    fn with_action(mut self) -> Self {
        self.action = match (&self.old, &self.new) {
            _ if self.executable.is_none() && self.has_same_content() => Action::Unchanged,
            (None, _) => Action::Create,
            (_, Some(_)) => Action::Update,
            (_, None) => Action::Delete,
        };
        self
    }

    fn has_same_content(&self) -> bool {
        match (&self.binary, &self.old, &self.new) {
            (Some(binary), ..) => binary.old == binary.new,
            (None, Some(old), Some(new)) => *new == **old,
            (None, old, new) => old.is_none() && new.is_none(),
        }
    }

    /// The content that was read; none for a file that did not exist.
    pub fn old_bytes(&self) -> Option<&[u8]> {
        match &self.binary {
            Some(binary) => binary.old.as_deref(),
            None => self.old.as_deref().map(str::as_bytes),
        }
    }

    /// The content to be written; none for a file that is deleted.
    pub fn new_bytes(&self) -> Option<Cow<'_, [u8]>> {
        match &self.binary {
            Some(binary) => binary.new.as_deref().map(Cow::Borrowed),
            None => self.new_text().map(|text| match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            }),
        }
    }

    /// The text to be written; none for a file that is deleted, empty for one that is not text.
    pub fn new_text(&self) -> Option<Cow<'_, str>> {
        self.new.as_ref().map(FileText::text)
    }
}

/// Every change of a run, in the order in which the files were added.
///
/// Whatever writes goes through a plan, so symlinks out of the package are refused here; [`PackagePath`] cannot express a path that
/// leaves it. The disk is checked again when it is written and recovered, because it may have changed since.
///
/// ```
/// use krm_core::{Action, PackageFile, Plan};
///
/// let [a, b] = ["a.yaml", "b.yaml"].map(|path| PackageFile::from_text(path, "x: 1\n"));
/// let mut plan = Plan::default();
/// plan.set(a?, Some("x: 2\n".to_owned()))?;
/// plan.set(b?, Some("x: 1\n".to_owned()))?;
/// assert_eq!(plan.changes().map(|change| change.action()).collect::<Vec<_>>(), [Action::Update]);
/// assert_eq!(plan.files().count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    files: Vec<PlannedChange>,
    index: BTreeMap<Destination, usize>,
}

impl Plan {
    /// Plans the new content of a file; none deletes it.
    ///
    /// # Errors
    /// If the file is a symlink to a file outside the package and its content would change, or if the plan has the file already.
    pub fn set(
        &mut self,
        original: impl Into<OriginalFile>,
        new: Option<impl Into<FileText>>,
    ) -> Result<(), Diagnostic> {
        let OriginalFile { destination, display_path, text: old, is_external_symlink } =
            original.into();
        let (new, binary, executable, action) =
            (new.map(Into::into), None, None, Action::Unchanged);
        let change =
            PlannedChange { destination, display_path, old, new, binary, executable, action };
        let change = change.with_action();
        if is_external_symlink && change.action != Action::Unchanged {
            let error = Diagnostic::error(CommonKind::SymlinkOutsidePackage);
            return Err(error.in_file(change.display_path));
        }
        if let Some(at) = self.index.get(&change.destination) {
            let other = self.files[*at].display_path.clone();
            let error = Diagnostic::error(FilesKind::SameFile { other });
            return Err(error.in_file(change.display_path));
        }
        self.index.insert(change.destination.clone(), self.files.len());
        self.files.push(change);
        Ok(())
    }

    /// Plans the new content of a file that need not be text, and whether it becomes executable; none leaves that as it is.
    ///
    /// # Errors
    /// If the plan has the file already.
    pub fn set_bytes(
        &mut self,
        path: PackagePath,
        display_path: impl Into<String>,
        [old, new]: [Option<Vec<u8>>; 2],
        executable: Option<bool>,
    ) -> Result<(), Diagnostic> {
        let text = |bytes: Option<Vec<u8>>| bytes.map(String::from_utf8).transpose();
        let is_text = [&old, &new].iter().all(|it| {
            it.as_ref().is_none_or(|it| !it.contains(&0) && std::str::from_utf8(it).is_ok())
        });
        let texts = match is_text {
            true => text(old.clone()).ok().zip(text(new.clone()).ok()),
            false => None,
        };
        let empty = |it: &Option<Vec<u8>>| it.as_ref().map(|_| String::new());
        let (binary, old, new) = match texts {
            Some((old, new)) => (None, old, new),
            None => (Some((old.clone(), new.clone())), empty(&old), empty(&new)),
        };
        self.set(OriginalFile::new(path, display_path, old), new)?;
        if let Some(change) = self.files.pop() {
            let binary = binary.map(|(old, new)| BinaryChange { old, new });
            self.files.push(PlannedChange { binary, executable, ..change }.with_action());
        }
        Ok(())
    }

    /// The change of a file.
    pub fn get(&self, destination: &Destination) -> Option<&PlannedChange> {
        self.index.get(destination).map(|at| &self.files[*at])
    }

    /// Whether no file changes.
    pub fn is_empty(&self) -> bool {
        self.changes().next().is_none()
    }

    /// The files that change.
    pub fn changes(&self) -> impl Iterator<Item = &PlannedChange> {
        self.files.iter().filter(|change| change.action() != Action::Unchanged)
    }

    /// All files, the unchanged ones included.
    pub fn files(&self) -> impl Iterator<Item = &PlannedChange> {
        self.files.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(old: Option<&str>, new: Option<&str>) -> Action {
        let [old, new] = [old, new].map(|text| text.map(str::to_owned));
        let (destination, old) = (Destination::Stdout, old.map(SharedText::from));
        let (display_path, binary, executable) = (String::new(), None, None);
        let new = new.map(FileText::from);
        let action = Action::Unchanged;
        PlannedChange { destination, display_path, old, new, binary, executable, action }
            .with_action()
            .action()
    }

    fn file(path: &str, is_external_symlink: bool) -> PackageFile {
        PackageFile { is_external_symlink, ..PackageFile::from_text(path, "a: 1\n").unwrap() }
    }

    #[test]
    fn action_follows_from_the_contents() {
        assert_eq!(change(Some("a"), Some("b")), Action::Update);
        assert_eq!(change(None, Some("")), Action::Create);
        assert_eq!(change(Some(""), None), Action::Delete);
        assert_eq!(change(Some("a"), Some("a")), Action::Unchanged);
        assert_eq!(change(None, None), Action::Unchanged);
    }

    #[test]
    fn plan_without_changes_is_empty() {
        let mut plan = Plan::default();
        plan.set(file("a.yaml", false), Some("a: 1\n".to_owned())).unwrap();
        assert!(plan.is_empty());
        plan.set(file("b.yaml", false), None::<String>).unwrap();
        assert!(!plan.is_empty());
    }

    #[test]
    fn bytes_that_are_text_are_planned_as_text() {
        let path = |name: &str| PackagePath::new(name).unwrap();
        let mut plan = Plan::default();
        let bytes = |text: &[u8]| Some(text.to_vec());
        plan.set_bytes(path("a"), "a", [None, bytes(b"x\n")], Some(true)).unwrap();
        plan.set_bytes(path("b"), "b", [bytes(b"x"), bytes(b"\xff\0")], None).unwrap();
        plan.set_bytes(path("c"), "c", [bytes(b"\0"), bytes(b"\0")], None).unwrap();
        plan.set_bytes(path("d"), "d", [bytes(b"x"), bytes(b"x")], Some(true)).unwrap();
        let actions: Vec<Action> = plan.files().map(PlannedChange::action).collect();
        assert_eq!(actions, [Action::Create, Action::Update, Action::Unchanged, Action::Update]);
        let changes: Vec<&PlannedChange> = plan.files().collect();
        assert_eq!(changes[0].new_text().as_deref(), Some("x\n"));
        assert_eq!(
            (changes[1].old.as_deref(), changes[1].new_bytes().as_deref()),
            (Some(""), Some(&b"\xff\0"[..]))
        );
    }

    #[test]
    fn never_wider() {
        let mut plan = Plan::default();
        let link = file("link.yaml", true);
        plan.set(&link, Some("a: 1\n".to_owned())).expect("an unchanged file is not written");
        let mut plan = Plan::default();
        for new in [Some("a: 2\n".to_owned()), None] {
            let error = plan.set(&link, new).unwrap_err();
            assert_eq!(error.kind(), Some(&CommonKind::SymlinkOutsidePackage));
            assert_eq!(error.file.as_deref(), Some("link.yaml"));
        }
        assert_eq!(plan, Plan::default());
    }

    #[test]
    fn one_file_is_planned_once() {
        let mut plan = Plan::default();
        plan.set(file("a.yaml", false), None::<String>).unwrap();
        let error = plan.set(file("./a.yaml", false), None::<String>).unwrap_err();
        assert_eq!(error.kind(), Some(&FilesKind::SameFile { other: "a.yaml".to_owned() }));
    }
}
