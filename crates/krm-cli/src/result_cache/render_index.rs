//! The index of rendered packages: what the files of a package looked like when rendering it changed nothing.
//!
//! If every file and directory has the same device, inode, size and times as then, rendering changes nothing again, and the package need not
//! be read. The time of the last status change (`ctime`) cannot be set by programs, so an edit is noticed even if the modification time is
//! restored, and a directory shows that files were added, removed or renamed in it.
//!
//! Times are only as fine as the clock of the kernel. A file that was written right before it was read can be written again within the same
//! tick, with the same times. So a package with such a file is not added to the index: its times are not trusted (git calls this *racy*).
//! Like git, this does not notice programs that write through a mapping that they opened long ago.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use krm_oci::Digest;

use crate::disk::FileState;

const MAGIC: &[u8] = b"krmindex1\n";

/// A file or directory and its state; none if it did not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) state: Option<FileState>,
}

impl Input {
    /// The state that a path has now. Symlinks are not followed.
    pub(crate) fn of(path: PathBuf) -> Self {
        let state = std::fs::symlink_metadata(&path).ok().map(|it| FileState::of(&it));
        Self { path, state }
    }

    /// Whether the path still has this state.
    fn is_same_now(&self) -> bool {
        let now = std::fs::symlink_metadata(&self.path).ok().map(|it| FileState::of(&it));
        now == self.state
    }

    /// Whether every write after a time is certain to change the state.
    pub(crate) fn is_settled_at(&self, time: SystemTime) -> bool {
        self.state.is_none_or(|it| it.is_settled_at(time))
    }
}

/// A package that rendering did not change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RenderedPackage {
    /// Its directory, relative to the one that was rendered; empty for that one itself.
    pub(crate) root: String,
    pub(crate) inputs: Vec<Input>,
    /// What was printed about it.
    pub(crate) report: String,
    pub(crate) counts: Counts,
}

/// What the closing line counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) resources: usize,
    pub(crate) functions: usize,
    pub(crate) infos: usize,
}

/// The packages of a directory that rendering did not change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RenderIndex {
    /// What all packages depend on, and files and directories that are in no package.
    pub(crate) shared: Vec<Input>,
    /// Resources that are in no package.
    pub(crate) loose_resources: usize,
    /// How many packages the directory has, whether they are in the index or not.
    pub(crate) all_roots: Vec<String>,
    pub(crate) packages: Vec<RenderedPackage>,
}

impl RenderIndex {
    /// Whether nothing that all packages depend on has changed.
    pub(crate) fn is_current(&self) -> bool {
        self.shared.iter().all(Input::is_same_now)
    }

    /// Removes packages that have changed.
    pub(crate) fn retain_unchanged(&mut self) {
        let is_same = |package: &RenderedPackage| {
            use rayon::prelude::*;
            package.inputs.par_iter().with_min_len(256).all(Input::is_same_now)
        };
        let is_same: Vec<bool> = crate::parallel::map(&self.packages, None, is_same);
        let mut is_same = is_same.into_iter();
        self.packages.retain(|_| is_same.next().unwrap_or(false));
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer(MAGIC.to_vec());
        writer.inputs(&self.shared);
        writer.number(self.loose_resources as u64);
        writer.number(self.all_roots.len() as u64);
        self.all_roots.iter().for_each(|root| writer.bytes(root.as_bytes()));
        writer.number(self.packages.len() as u64);
        for package in &self.packages {
            writer.bytes(package.root.as_bytes());
            writer.inputs(&package.inputs);
            writer.bytes(package.report.as_bytes());
            let Counts { resources, functions, infos } = package.counts;
            [resources, functions, infos].iter().for_each(|it| writer.number(*it as u64));
        }
        let digest = Digest::of(&writer.0);
        writer.0.extend_from_slice(digest.hex().as_bytes());
        writer.0
    }

    /// Reads an index; none if it is damaged or from another version of krm.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (content, digest) = bytes.split_at_checked(bytes.len().checked_sub(64)?)?;
        if Digest::of(content).hex().as_bytes() != digest {
            return None;
        }
        let mut reader = Reader(content.strip_prefix(MAGIC)?);
        let mut index =
            Self { shared: reader.inputs()?, loose_resources: reader.size()?, ..Self::default() };
        for _ in 0..reader.size()? {
            index.all_roots.push(reader.text()?);
        }
        for _ in 0..reader.size()? {
            index.packages.push(RenderedPackage {
                root: reader.text()?,
                inputs: reader.inputs()?,
                report: reader.text()?,
                counts: Counts {
                    resources: reader.size()?,
                    functions: reader.size()?,
                    infos: reader.size()?,
                },
            });
        }
        reader.0.is_empty().then_some(index)
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn inputs(&mut self, inputs: &[Input]) {
        self.number(inputs.len() as u64);
        for Input { path, state } in inputs {
            self.bytes(path.as_os_str().as_encoded_bytes());
            self.number(state.is_some().into());
            state.iter().flat_map(FileState::numbers).for_each(|it| self.number(it));
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let (head, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*head))
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    fn text(&mut self) -> Option<String> {
        let length = self.size()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn inputs(&mut self) -> Option<Vec<Input>> {
        let mut inputs = Vec::new();
        for _ in 0..self.size()? {
            let path = PathBuf::from(self.text()?);
            let state = match self.number()? {
                0 => None,
                _ => {
                    let mut numbers = [0; 8];
                    for number in &mut numbers {
                        *number = self.number()?;
                    }
                    Some(FileState::from_numbers(numbers))
                }
            };
            inputs.push(Input { path, state });
        }
        Some(inputs)
    }
}

/// Whether a directory is on a file system whose times come from the clock of this machine. A file server has another clock, and may
/// show old times for a while.
#[cfg(target_os = "linux")]
pub(crate) fn has_reliable_times(path: &Path) -> bool {
    // ext2 to ext4, XFS, Btrfs, tmpfs, overlayfs, ZFS, F2FS and bcachefs.
    const LOCAL: [u64; 8] = [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0x0102_1994,
        0x794c_7630,
        0x2fc1_2fc1,
        0xf2f5_2010,
        0xca45_1a4e,
    ];
    rustix::fs::statfs(path).is_ok_and(|it| LOCAL.contains(&(it.f_type as u64 & 0xffff_ffff)))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn has_reliable_times(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_survives_and_damage_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let inputs = vec![Input::of(directory.path().into()), Input::of("/nonexistent".into())];
        let package = RenderedPackage {
            root: "a".to_owned(),
            inputs: inputs.clone(),
            report: "Package\n".to_owned(),
            counts: Counts { resources: 1, functions: 2, infos: 3 },
        };
        let index = RenderIndex {
            shared: inputs,
            loose_resources: 4,
            all_roots: vec!["a".to_owned(), "b".to_owned()],
            packages: vec![package],
        };
        let bytes = index.encode();
        assert_eq!(RenderIndex::decode(&bytes), Some(index));
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(RenderIndex::decode(&damaged), None, "byte {at}");
            assert_eq!(RenderIndex::decode(&bytes[..at]), None, "first {at} bytes");
        }
    }

    #[test]
    fn changed_inputs_are_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a");
        std::fs::write(&file, "1").unwrap();
        let [present, absent] = [file.clone(), directory.path().join("b")].map(Input::of);
        let now = SystemTime::now();
        assert!(present.is_same_now() && absent.is_same_now() && absent.is_settled_at(now));
        assert!(!present.is_settled_at(now), "it was written a moment ago");
        std::fs::write(&file, "22").unwrap();
        std::fs::write(&absent.path, "").unwrap();
        assert!(!present.is_same_now() && !absent.is_same_now());
    }
}
