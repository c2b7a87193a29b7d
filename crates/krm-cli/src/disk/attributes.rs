//! Who may access a file: mode, owner, group, access control lists and extended attributes, kept when its content is replaced.
//!
//! Replacing a file creates a new one, which gets all of this again. Where the system refuses, the new file is accessible to fewer
//! users than the old one, never to more.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, fchown};

/// What a file has besides its content.
#[derive(Debug)]
pub(super) struct Attributes {
    metadata: Metadata,
    extended: extended::Attributes,
    /// The bits of the mode that a copy may have.
    allowed: u32,
}

impl Attributes {
    pub(super) fn of(file: &File, metadata: Metadata) -> io::Result<Self> {
        Ok(Self { extended: extended::read(file)?, metadata, allowed: 0o7777 })
    }

    /// Takes away from copies what group and others may not do with another file. Returns whether that is anything.
    pub(super) fn narrow_like(&mut self, other: &Self) -> bool {
        let before = self.metadata.mode() & self.allowed;
        let is_same_group = self.metadata.gid() == other.metadata.gid();
        let mode = narrowed(other.metadata.mode() & 0o777, [true, is_same_group]);
        self.allowed &= 0o7700 | mode;
        self.metadata.mode() & self.allowed != before
    }

    /// The mode to create a copy with: only for its owner, until the copy has all attributes.
    pub(super) fn private_mode(&self) -> u32 {
        self.metadata.mode() & 0o700
    }

    /// Gives a file that was created with the private mode the same attributes.
    pub(super) fn copy_to(&self, file: &File) -> io::Result<()> {
        let own = self.copy_owner(file)?;
        let is_same = [own.uid() == self.metadata.uid(), own.gid() == self.metadata.gid()];
        // An access control list has entries for the owner and the group, so it would mean something else for others.
        let acl = extended::copy_acl(&self.extended, file, is_same == [true, true])?;
        let mode = match acl {
            extended::Acl::None => narrowed(self.metadata.mode() & 0o7777, is_same),
            extended::Acl::Copied => self.metadata.mode() & 0o7777,
            // The group bits of its mode were the mask of the list, which can be more than the group had.
            extended::Acl::Refused => self.metadata.mode() & 0o700,
        };
        // With an access control list, the bits of the group are the mask of all its entries.
        let mode = mode & self.allowed;
        extended::copy_others(&self.extended, file)?;
        if (own.mode() & 0o7777, acl) == (mode, extended::Acl::None) {
            return Ok(());
        }
        Ok(rustix::fs::fchmod(file, rustix::fs::Mode::from_raw_mode(mode as rustix::fs::RawMode))?)
    }

    /// Copies owner and group as far as allowed, and returns the metadata after that.
    fn copy_owner(&self, file: &File) -> io::Result<Metadata> {
        let own = file.metadata()?;
        let (uid, gid) = (self.metadata.uid(), self.metadata.gid());
        if (own.uid(), own.gid()) == (uid, gid) {
            return Ok(own);
        }
        // Only root may change the owner; others may choose among their groups.
        if fchown(file, Some(uid), Some(gid)).is_err() {
            let _ = fchown(file, None, Some(gid));
        }
        file.metadata()
    }
}

/// The mode of a file whose owner or group could not be kept.
///
/// Users change their class then: members of the old group are others now, and others may be members of the new group. So a class
/// that users may have come to gets only what their former class had, too.
fn narrowed(mode: u32, [same_owner, same_group]: [bool; 2]) -> u32 {
    let [owner, group, other] = [6, 3, 0].map(|shift| mode >> shift & 0o7);
    let (mut group, mut other) = match same_group {
        true => (group, other),
        false => (group & other, group & other),
    };
    if !same_owner {
        group &= owner;
        other &= owner;
    }
    // The bits for set-user-ID and set-group-ID name the owner and the group.
    let special = if same_owner && same_group { mode & 0o7000 } else { mode & 0o1000 };
    special | owner << 6 | group << 3 | other
}

#[cfg(target_os = "linux")]
mod extended {
    use std::ffi::{OsStr, OsString};
    use std::fs::File;
    use std::io;
    use std::os::unix::ffi::OsStrExt;

    use rustix::fs::{XattrFlags, fgetxattr, fgetxattr_query, flistxattr, fremovexattr, fsetxattr};
    use rustix::io::Errno;

    const ACL: &str = "system.posix_acl_access";

    /// Attributes that belong to the content, which is another one now.
    const OF_CONTENT: [&str; 3] = ["security.ima", "security.evm", "security.capability"];

    pub(super) type Attributes = Vec<(OsString, Vec<u8>)>;

    /// What became of the access control list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Acl {
        None,
        Copied,
        Refused,
    }

    pub(super) fn read(file: &File) -> io::Result<Attributes> {
        let names = match with_buffer(|buffer| flistxattr(file, buffer)) {
            Err(Errno::NOTSUP | Errno::NOSYS | Errno::PERM) => return Ok(Vec::new()),
            names => names?,
        };
        let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let mut attributes = Vec::new();
        for name in names.map(OsStr::from_bytes) {
            match with_buffer(|buffer| fgetxattr(file, name, buffer)) {
                Ok(value) => attributes.push((name.to_owned(), value)),
                // Removed meanwhile, or not ours to read.
                Err(Errno::NODATA | Errno::NOTSUP | Errno::PERM | Errno::ACCESS) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(attributes)
    }

    /// Calls with a larger buffer as long as the kernel finds it too small. Most files have no attributes at all.
    fn with_buffer(read: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
        let mut small = [0; 256];
        match read(&mut small[..]) {
            Ok(length) => return Ok(small[..length].to_vec()),
            Err(Errno::RANGE) => {}
            Err(error) => return Err(error),
        }
        // The largest value and the largest list of names that Linux has.
        let mut large = vec![0; 1 << 16];
        let length = read(&mut large[..])?;
        large.truncate(length);
        Ok(large)
    }

    /// Copies the access control list, or removes one that the new file inherited from its directory.
    pub(super) fn copy_acl(from: &Attributes, file: &File, is_valid: bool) -> io::Result<Acl> {
        let acl = from.iter().find(|(name, _)| name == ACL);
        if let (Some((name, value)), true) = (acl, is_valid)
            && fsetxattr(file, name, value, XattrFlags::empty()).is_ok()
        {
            return Ok(Acl::Copied);
        }
        // Looked up first, because a removal writes to the disk even if there is nothing to remove.
        match fgetxattr_query(file, ACL) {
            Ok(_) => fremovexattr(file, ACL)?,
            Err(Errno::NODATA | Errno::NOTSUP | Errno::NOSYS) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(if acl.is_some() { Acl::Refused } else { Acl::None })
    }

    /// Copies all other attributes. Those of users must be kept; for labels the system decides.
    pub(super) fn copy_others(from: &Attributes, file: &File) -> io::Result<()> {
        for (name, value) in from {
            if name == ACL || OF_CONTENT.iter().any(|it| name == it) {
                continue;
            }
            let copied = fsetxattr(file, name, value, XattrFlags::empty());
            if name.as_bytes().starts_with(b"user.") {
                copied?;
            }
        }
        Ok(())
    }
}

/// Other systems have other access control lists, which are not read as attributes.
#[cfg(not(target_os = "linux"))]
mod extended {
    use std::fs::File;
    use std::io;

    pub(super) type Attributes = ();

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[expect(dead_code, reason = "no list is copied here")]
    pub(super) enum Acl {
        None,
        Copied,
        Refused,
    }

    pub(super) fn read(_: &File) -> io::Result<Attributes> {
        Ok(())
    }

    pub(super) fn copy_acl(_: &Attributes, _: &File, _: bool) -> io::Result<Acl> {
        Ok(Acl::None)
    }

    pub(super) fn copy_others(_: &Attributes, _: &File) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::narrowed;

    #[test]
    fn mode_never_widens_where_owner_or_group_change() {
        assert_eq!(narrowed(0o664, [true, true]), 0o664);
        assert_eq!(narrowed(0o660, [true, false]), 0o600);
        assert_eq!(narrowed(0o664, [true, false]), 0o644);
        assert_eq!(narrowed(0o604, [true, false]), 0o600, "members of the old group had no access");
        assert_eq!(narrowed(0o264, [false, true]), 0o220, "neither had the old owner");
        assert_eq!(narrowed(0o6755, [true, false]), 0o755);
        assert_eq!(narrowed(0o6755, [true, true]), 0o6755);
    }
}
