//! The attributes of files on systems without modes and owners, which means Windows.
//!
//! A file that replaces another one gets the access control list that its directory gives to new files. Only the attribute
//! "read-only" is copied.

use std::fs::{File, Metadata};
use std::io;

/// What a file has besides its content.
#[derive(Debug)]
pub(super) struct Attributes {
    metadata: Metadata,
}

impl Attributes {
    pub(super) fn of(_: &File, metadata: Metadata) -> io::Result<Self> {
        Ok(Self { metadata })
    }

    /// Takes no access away: there is no mode to compare.
    pub(super) fn narrow_like(&mut self, _: &Self) -> bool {
        false
    }

    /// The mode to create a copy with, which has no meaning here.
    pub(super) fn private_mode(&self) -> u32 {
        0
    }

    /// Gives a file that was created with the private mode the same attributes.
    pub(super) fn copy_to(&self, file: &File) -> io::Result<()> {
        file.set_permissions(self.metadata.permissions())
    }
}
