//! Attributes of files that are rewritten: access control lists, extended attributes, owner and group.

use super::*;

/// An access control list in the form of the kernel: tag, permissions and id of each entry.
fn acl(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut bytes = 2u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(permissions.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

/// The owner may read and write, user 1234 may read, the group and others have no access.
const ENTRIES: [(u16, u16, u32); 5] =
    [(1, 6, u32::MAX), (2, 4, 1234), (4, 0, u32::MAX), (16, 4, u32::MAX), (32, 0, u32::MAX)];

pub(super) fn set_attribute(path: &str, name: &str, value: &[u8]) -> bool {
    use rustix::fs::{XattrFlags, setxattr};
    let is_set = setxattr(path, name, value, XattrFlags::empty()).is_ok();
    if !is_set {
        println!("skipped: the file system of {path} does not support {name}");
    }
    is_set
}

fn attribute(path: &str, name: &str) -> Option<Vec<u8>> {
    let mut bytes = [0; 1 << 12];
    let length = rustix::fs::getxattr(path, name, &mut bytes[..]).ok()?;
    Some(bytes[..length].to_vec())
}

#[test]
fn access_control_lists_and_attributes_survive_a_rewrite() {
    use std::os::unix::fs::MetadataExt;
    let directory = TestDirectory::new();
    let path = directory.path("a.yaml");
    let long = [b'x'; 2000];
    let wanted = [
        ("system.posix_acl_access", acl(&ENTRIES)),
        ("user.note", b"mine".to_vec()),
        ("user.long", long.to_vec()),
    ];
    if !wanted.iter().all(|(name, value)| set_attribute(&path, name, value)) {
        return;
    }
    let mode = fs::metadata(&path).unwrap().mode();
    let plan = directory.plan(&[("a.yaml", Some("a: 1\n"), Some("a: 2\n"))]);
    directory.write(&plan).unwrap();
    assert_eq!(directory.all(), OLD.replace("a: 1", "a: 2"));
    for (name, value) in &wanted {
        assert_eq!(attribute(&path, name).as_ref(), Some(value), "{name}");
    }
    assert_eq!(fs::metadata(&path).unwrap().mode(), mode);
}

#[test]
fn access_control_list_of_the_directory_does_not_widen_a_rewritten_file() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let directory = TestDirectory::new();
    let path = directory.path("a.yaml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let everything = ENTRIES.map(|(tag, _, id)| (tag, 7, id));
    if !set_attribute(&directory.path(""), "system.posix_acl_default", &acl(&everything)) {
        return;
    }
    let plan = directory.plan(&[("a.yaml", Some("a: 1\n"), Some("a: 2\n"))]);
    directory.write(&plan).unwrap();
    assert_eq!(attribute(&path, "system.posix_acl_access"), None);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
}

#[test]
fn owner_and_group_survive_a_rewrite_by_root() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    let directory = TestDirectory::new();
    let path = directory.path("a.yaml");
    if chown(&path, Some(1234), Some(4321)).is_err() {
        return println!("skipped: only root may change the owner of a file");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o660)).unwrap();
    let plan = directory.plan(&[("a.yaml", Some("a: 1\n"), Some("a: 2\n"))]);
    directory.write(&plan).unwrap();
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.uid(), metadata.gid(), metadata.mode() & 0o7777), (1234, 4321, 0o660));
}
