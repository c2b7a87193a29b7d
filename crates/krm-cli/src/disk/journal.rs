//! The journal of a run: which files it stages and where they go, so that the next run can complete or roll back a killed one.
//!
//! POSIX can rename one file atomically, but not several. So new contents are staged next to their targets and flushed, then the journal
//! is committed by one appended line, then the files are renamed. A run that is killed before the commit is rolled back, one that is killed
//! after it is completed: every state in between has either all old contents or all new ones, in the target or staged. Writing the files
//! in place, with a backup, was the alternative; a kill during a write would leave a truncated file that other tools read.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use krm_run::{RegularFileError, read_opened};

use super::identity::Identity;
use super::root::Directory;

/// The name of the journal, in the directory that all its changes are below.
pub(super) const NAME: &str = ".krm-journal";

/// The name of a journal that is going to replace it.
const NEXT: &str = ".krm-journal-next";

/// The prefix of every staged file. Staged files have no extension, so that they are never read as manifests.
pub(super) const STAGED: &str = ".krm-";

/// Version 2 names the directory that the journal belongs to. A journal of version 1 could come from anywhere.
const TITLE: &str = "krm journal 2";

/// A journal has a line of some hundred bytes for each file. One that came with an archive can be a sparse file of any size.
const LIMIT: u64 = 256 << 20;

/// The last line of a committed journal: from here on a killed run is completed, not rolled back.
const COMMIT: &str = "commit";

/// A change to one file or directory; paths are relative to the journal's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum JournalStep {
    /// The staged content replaces the old one.
    Replace { target: PathBuf, staged: OsString, old: u64, new: u64 },
    /// The staged content becomes a new file.
    Create { target: PathBuf, staged: OsString, new: u64 },
    /// The file is deleted.
    Delete { target: PathBuf, old: u64 },
    /// A staged file that is not needed any more.
    Drop { staged: PathBuf },
    /// A directory that the run creates.
    CreateDirectory { path: PathBuf },
    /// A directory that is removed if it is empty, because the run that created it is rolled back.
    RemoveDirectory { path: PathBuf },
}

impl JournalStep {
    /// The file whose content changes.
    pub(super) fn target(&self) -> Option<&Path> {
        match self {
            Self::Replace { target, .. }
            | Self::Create { target, .. }
            | Self::Delete { target, .. } => Some(target),
            Self::Drop { .. } | Self::CreateDirectory { .. } | Self::RemoveDirectory { .. } => None,
        }
    }

    /// The file or directory that changes.
    pub(super) fn place(&self) -> &Path {
        match self {
            Self::Drop { staged: path }
            | Self::CreateDirectory { path }
            | Self::RemoveDirectory { path } => path,
            Self::Replace { target, .. }
            | Self::Create { target, .. }
            | Self::Delete { target, .. } => target,
        }
    }

    /// The file beside the target that holds the new content.
    pub(super) fn staged(&self) -> Option<PathBuf> {
        match self {
            Self::Replace { target, staged, .. } | Self::Create { target, staged, .. } => {
                Some(target.with_file_name(staged))
            }
            Self::Drop { staged } => Some(staged.clone()),
            Self::Delete { .. } | Self::CreateDirectory { .. } | Self::RemoveDirectory { .. } => {
                None
            }
        }
    }

    fn to_line(&self) -> String {
        match self {
            Self::Replace { target, staged, old, new } => {
                format!("replace {old:016x} {new:016x} {} {}", name(staged), escaped(target))
            }
            Self::Create { target, staged, new } => {
                format!("create {new:016x} {} {}", name(staged), escaped(target))
            }
            Self::Delete { target, old } => format!("delete {old:016x} {}", escaped(target)),
            Self::Drop { staged } => format!("drop {}", escaped(staged)),
            Self::CreateDirectory { path } => format!("mkdir {}", escaped(path)),
            Self::RemoveDirectory { path } => format!("rmdir {}", escaped(path)),
        }
    }

    fn from_line(line: &str) -> Option<Self> {
        let columns: Vec<&str> = line.split(' ').collect();
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        let step = match columns.as_slice() {
            ["replace", old, new, staged, target] => Self::Replace {
                target: inside(target)?,
                staged: staged_name(staged)?,
                old: number(old)?,
                new: number(new)?,
            },
            ["create", new, staged, target] => Self::Create {
                target: inside(target)?,
                staged: staged_name(staged)?,
                new: number(new)?,
            },
            ["delete", old, target] => Self::Delete { target: inside(target)?, old: number(old)? },
            ["drop", staged] => {
                let staged = inside(staged)?;
                staged_name(staged.file_name()?.to_str()?)?;
                Self::Drop { staged }
            }
            ["mkdir", path] => Self::CreateDirectory { path: inside(path)? },
            ["rmdir", path] => Self::RemoveDirectory { path: inside(path)? },
            _ => return None,
        };
        Some(step)
    }
}

/// A journal read from disk.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Journal {
    /// The directory that it was written for; none if the run was killed before it wrote that, and before it staged anything.
    pub(super) directory: Option<Identity>,
    pub(super) steps: Vec<JournalStep>,
    pub(super) is_committed: bool,
}

impl Journal {
    /// Reads a journal. Its last line may be incomplete after a crash; the lines before it were written before anything was staged.
    /// Any other line that krm does not write makes the whole journal invalid.
    pub(super) fn parse(text: &str) -> io::Result<Self> {
        let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let mut lines = whole.enumerate().peekable();
        let mut journal = Self::default();
        while let Some((at, line)) = lines.next() {
            let is_last = lines.peek().is_none();
            match at {
                0 if line == TITLE => {}
                1 => journal.directory = Some(Identity::from_line(line).ok_or(invalid(at))?),
                2.. if line == COMMIT && is_last => journal.is_committed = true,
                2.. => journal.steps.push(JournalStep::from_line(line).ok_or(invalid(at))?),
                _ => return Err(invalid(at)),
            }
        }
        Ok(journal)
    }

    /// Whether it was written for this directory.
    pub(super) fn is_of(&self, directory: &Directory) -> io::Result<bool> {
        self.directory.as_ref().map_or(Ok(true), |identity| identity.is_of(directory))
    }
}

fn invalid(at: usize) -> io::Error {
    let reason = format!("line {} of the journal is not valid", at + 1);
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// A journal that is being written.
pub(super) struct Open {
    file: fs::File,
    /// Its length without the commit line.
    length: u64,
}

/// Writes a new journal. An existing one belongs to another run, and is an error.
pub(super) fn begin(directory: &Directory, steps: &[JournalStep]) -> io::Result<Open> {
    create(directory, NAME, &Identity::mark(directory)?, steps)
}

/// Writes a journal beside the one in effect, which it replaces when it is complete.
pub(super) fn begin_next(directory: &Directory, steps: &[JournalStep]) -> io::Result<Open> {
    remove_next(directory)?;
    create(directory, NEXT, &Identity::of(directory)?, steps)
}

fn create(
    directory: &Directory,
    name: &str,
    identity: &Identity,
    steps: &[JournalStep],
) -> io::Result<Open> {
    // Digests tell something about contents, so other users may not read them.
    let file = directory.create(Path::new(name), 0o600)?;
    let text = text(identity, steps);
    let mut open = Open { file, length: text.len() as u64 };
    let written = open.file.write_all(text.as_bytes());
    written.inspect_err(|_| _ = directory.remove_file(OsStr::new(name)))?;
    Ok(open)
}

impl Open {
    /// Commits the run: from here on it is completed, not rolled back.
    pub(super) fn commit(&mut self) -> io::Result<()> {
        self.file.write_all(format!("{COMMIT}\n").as_bytes())?;
        self.file.sync_all()
    }

    /// Removes the commit line, as long as nothing was renamed.
    pub(super) fn take_back(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)
    }
}

/// Makes the next journal the one in effect.
pub(super) fn replace(directory: &Directory) -> io::Result<()> {
    directory.rename(OsStr::new(NEXT), OsStr::new(NAME))
}

/// Reads the journal in effect.
pub(super) fn read(directory: &Directory) -> io::Result<Journal> {
    read_file(directory, NAME)
}

/// The steps of a next journal that never came into effect, because its run was killed or failed before.
pub(super) fn next_steps(directory: &Directory) -> io::Result<Vec<JournalStep>> {
    let journal = match read_file(directory, NEXT) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        journal => journal?,
    };
    Ok(if journal.is_of(directory)? { journal.steps } else { Vec::new() })
}

fn read_file(directory: &Directory, name: &str) -> io::Result<Journal> {
    let (file, metadata) = directory.file(Path::new(name))?;
    let bytes = read_opened(file, &metadata, LIMIT).map_err(|error| match error {
        RegularFileError::Io(error) => error,
        RegularFileError::NotRegular => io::ErrorKind::InvalidInput.into(),
        RegularFileError::TooLarge { .. } => {
            let reason = format!("the journal is larger than {} MiB", LIMIT >> 20);
            io::Error::new(io::ErrorKind::InvalidData, reason)
        }
    })?;
    Journal::parse(&String::from_utf8_lossy(&bytes))
}

/// Removes the next journal.
pub(super) fn remove_next(directory: &Directory) -> io::Result<()> {
    match directory.remove_file(OsStr::new(NEXT)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes the journal: nothing is left to complete or roll back.
pub(super) fn end(directory: &Directory) -> io::Result<()> {
    remove_next(directory)?;
    directory.remove_file(OsStr::new(NAME))?;
    Identity::unmark(directory);
    Ok(())
}

fn text(directory: &Identity, steps: &[JournalStep]) -> String {
    let lines: String = steps.iter().map(|step| step.to_line() + "\n").collect();
    format!("{TITLE}\n{}\n{lines}", directory.to_line())
}

/// A digest of a file's content; two contents have the same one with a probability of 2^-64. It must not depend on the version of
/// krm, because an upgrade must be able to complete what an older krm left.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    siphasher::sip::SipHasher13::new().hash(bytes)
}

fn name(staged: &OsStr) -> String {
    escaped(Path::new(staged))
}

/// Accepts only names of staged files: a journal is a file that anybody can write, so it must not name other files.
fn staged_name(text: &str) -> Option<OsString> {
    let rest = text.strip_prefix(STAGED)?;
    let is_own = rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (is_own && text != NAME && text != NEXT).then(|| text.into())
}

/// A path below the journal's directory; none for any other, and none for the files of git.
fn inside(text: &str) -> Option<PathBuf> {
    let path = unescaped(text)?;
    let stays = path.components().all(|part| match part {
        // A hook in there would be executed by the next `git` command.
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        _ => false,
    });
    (stays && path.components().next().is_some()).then_some(path)
}

fn escaped(path: &Path) -> String {
    let mut text = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'!'..=b'$' | b'&'..=b'~' => text.push(char::from(*byte)),
            _ => text.push_str(&format!("%{byte:02x}")),
        }
    }
    text
}

fn unescaped(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, more) = rest.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
        rest = more;
    }
    path_of(bytes)
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    Some(OsString::from_vec(bytes).into())
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps() -> Vec<JournalStep> {
        let staged = OsString::from(".krm-0a-1");
        vec![
            JournalStep::CreateDirectory { path: "new directory".into() },
            JournalStep::Replace {
                target: "a%\n é.yaml".into(),
                staged: staged.clone(),
                old: 1,
                new: u64::MAX,
            },
            JournalStep::Create { target: "b/c.yaml".into(), staged, new: 3 },
            JournalStep::Delete { target: "d".into(), old: 4 },
            JournalStep::Drop { staged: "b/.krm-0a-2".into() },
            JournalStep::RemoveDirectory { path: "e".into() },
        ]
    }

    #[test]
    fn journal_round_trips() {
        let temporary = tempfile::tempdir().unwrap();
        let directory = Directory::open(temporary.path()).unwrap();
        let mut file = begin(&directory, &steps()).unwrap();
        let read = || {
            let journal = read(&directory).unwrap();
            assert!(journal.directory.is_some() && journal.is_of(&directory).unwrap());
            (journal.steps, journal.is_committed)
        };
        assert_eq!(read(), (steps(), false));
        file.commit().unwrap();
        assert_eq!(read(), (steps(), true));
        file.take_back().unwrap();
        assert_eq!(read(), (steps(), false));
        let mut next = begin_next(&directory, &steps()[1..]).unwrap();
        assert_eq!(read(), (steps(), false));
        assert_eq!(next_steps(&directory).unwrap(), steps()[1..]);
        next.commit().unwrap();
        replace(&directory).unwrap();
        assert_eq!(next_steps(&directory).unwrap(), []);
        assert_eq!(read(), (steps()[1..].to_vec(), true));
        assert!(begin(&directory, &[]).is_err(), "an existing journal is never overwritten");
    }

    #[test]
    fn huge_journal_is_refused_unread() {
        let temporary = tempfile::tempdir().unwrap();
        let directory = Directory::open(temporary.path()).unwrap();
        for name in [NAME, NEXT] {
            fs::File::create(temporary.path().join(name)).unwrap().set_len(1 << 40).unwrap();
        }
        let reason = "the journal is larger than 256 MiB";
        assert_eq!(read(&directory).unwrap_err().to_string(), reason);
        assert_eq!(next_steps(&directory).unwrap_err().to_string(), reason);
    }

    /// The text of a committed journal.
    fn committed() -> String {
        let temporary = tempfile::tempdir().unwrap();
        let identity = Identity::of(&Directory::open(temporary.path()).unwrap()).unwrap();
        format!("{}{COMMIT}\n", text(&identity, &steps()))
    }

    #[test]
    fn incomplete_journal_is_never_committed() {
        let whole = committed();
        assert!(Journal::parse(&whole).unwrap().is_committed);
        for end in 0..whole.len() {
            let Some(torn) = whole.get(..end) else { continue };
            let journal = Journal::parse(torn).unwrap();
            assert!(!journal.is_committed, "{torn:?}");
            assert!(journal.directory.is_some() || journal.steps.is_empty(), "{torn:?}");
        }
    }

    #[test]
    fn journal_with_a_line_that_krm_does_not_write_is_invalid() {
        let whole = committed();
        for (at, line) in whole.lines().enumerate() {
            for other in ["", "x", "commit", "drop a", TITLE, "mkdir .git", "mkdir a/.GIT/hooks"] {
                let is_commit = |line: &str| line == COMMIT;
                if line == other || at + 1 == whole.lines().count() && is_commit(other) {
                    continue;
                }
                let text = whole.replacen(&format!("{line}\n"), &format!("{other}\n"), 1);
                assert!(Journal::parse(&text).is_err(), "{text}");
            }
        }
        assert!(Journal::parse("krm journal 1\nmkdir a\n").is_err());
    }

    #[test]
    fn journal_paths_outside_its_directory_are_ignored() {
        let lines = [
            "replace 0 0 .krm-1-1 ../a",
            "replace 0 0 .krm-1-1 /etc/passwd",
            "replace 0 0 .krm-1-1 a/%2e%2e/%2e%2e/b",
            "replace 0 0 ../.krm-1-1 a",
            "replace 0 0 .krm-1%2f.. a",
            "create 0 other.yaml a",
            "create 0 .krm-journal a",
            "create 0 .krm-journal-next a",
            "delete 0 .",
            "drop a.yaml",
            "drop ../.krm-1-1",
            "mkdir ..",
            "delete 0 .git/config",
            "replace 0 0 .krm-1-1 a/.Git/hooks/pre-commit",
            "create 0 .krm-1-1 .git/hooks/post-checkout",
            "drop .git/.krm-1-1",
            "rmdir ..",
        ];
        for line in lines {
            assert_eq!(JournalStep::from_line(line), None, "{line}");
        }
    }

    /// A journal is a file that anybody can write. The parser is part of a program, which no fuzz target can link.
    #[test]
    fn damaged_journal_is_invalid_or_stays_inside() {
        let whole = committed();
        let pieces =
            ["%", "%2e", "..", "/", ".git", " ", "\n", "\0", "é", "drop ", ".krm-", "-", "+"];
        let mut state = 1_u64;
        let mut below = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % bound
        };
        let mut valid = 0;
        for _ in 0..50_000 {
            let mut bytes = whole.clone().into_bytes();
            for _ in 0..1 + below(3) {
                let start = below(bytes.len());
                let end = (start + below(4)).min(bytes.len());
                let piece = pieces[below(pieces.len())];
                bytes.splice(start..end, piece.bytes());
            }
            let text = String::from_utf8_lossy(&bytes);
            let Ok(journal) = Journal::parse(&text) else { continue };
            valid += 1;
            for step in &journal.steps {
                let staged = step.staged();
                let paths = [Some(step.place()), staged.as_deref()].into_iter().flatten();
                for part in paths.flat_map(Path::components) {
                    let is_inside = matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"));
                    assert!(is_inside, "{step:?} of {text:?}");
                }
            }
            let Some(identity) = &journal.directory else { continue };
            let again = Journal::parse(&self::text(identity, &journal.steps)).unwrap();
            assert_eq!(
                (again.directory, again.steps),
                (journal.directory, journal.steps),
                "{text:?}"
            );
        }
        assert!(valid > 1_000, "only {valid} damaged journals are valid");
    }

    #[test]
    fn digests_differ_by_length_and_by_bytes() {
        let texts: [&[u8]; 6] = [b"", b"\0", b"\0\0", b"abcdefgh", b"abcdefgi", b"abcdefgh\0"];
        for (at, text) in texts.iter().enumerate() {
            assert!(texts[..at].iter().all(|other| digest(other) != digest(text)), "{text:?}");
        }
    }
}
