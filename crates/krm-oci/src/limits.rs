//! Limits on what a registry and an archive may make krm store: all of it comes from strangers.

/// The limits of an image. Numbers are bytes unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLimits {
    /// A manifest, an index or a configuration; 4 MiB, as registries have it.
    pub manifest: u64,
    /// Layers of an image; 500.
    pub layers: usize,
    /// All compressed layers; 8 GiB.
    pub compressed: u64,
    /// The limits of all unpacked layers together.
    pub archive: ArchiveLimits,
}

impl Default for ImageLimits {
    fn default() -> Self {
        Self {
            manifest: 4 << 20,
            layers: 500,
            compressed: 8 << 30,
            archive: ArchiveLimits::default(),
        }
    }
}

/// The limits of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArchiveLimits {
    /// The archive after decompression; 16 GiB.
    pub bytes: u64,
    /// Entries, and paths with the directories above them; one million each.
    pub entries: u64,
    /// Length of a path; 4096, as Linux has it.
    pub path: usize,
    /// Directories in a path; 128. Each is an open file while a tree is removed.
    pub depth: usize,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        Self { bytes: 16 << 30, entries: 1_000_000, path: 4096, depth: 128 }
    }
}

impl ArchiveLimits {
    /// The limits of a package of configuration, which is held in memory: 256 MiB and 100,000 files.
    pub fn of_package() -> Self {
        Self { bytes: 256 << 20, entries: 100_000, ..Self::default() }
    }
}
