//! Archives that no well-meaning tool writes.

use std::io::Write;

use proptest::prelude::*;

use super::*;

/// An archive entry with any bytes as its path.
pub(crate) fn raw(kind: u8, path: &[u8], link: &[u8], mode: u32, data: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_old_mut().name[..path.len()].copy_from_slice(path);
    header.as_old_mut().linkname[..link.len()].copy_from_slice(link);
    header.set_entry_type(EntryType::new(kind));
    header.set_mode(mode);
    header.set_mtime(1_000_000_000);
    header.set_size(data.len() as u64);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend_from_slice(data);
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
    bytes
}

fn read(bytes: &[u8]) -> Result<Vec<Entry>, OciKind> {
    let limits = ArchiveLimits { bytes: 1 << 20, entries: 100, ..ArchiveLimits::default() };
    let mut archive = Archive::new(bytes, limits, Used::default());
    let mut entries = Vec::new();
    while let Some(entry) = archive.next()? {
        entries.push(entry);
    }
    archive.finish()?;
    Ok(entries)
}

fn names(bytes: &[u8]) -> Vec<String> {
    read(bytes).unwrap().iter().map(Entry::name).collect()
}

#[test]
fn long_names_and_extended_headers_replace_the_path() {
    let long = [b'n'; 200];
    let record = |key: &str, value: &str| {
        let length = key.len() + value.len() + 3;
        let digits = (length + (length + 2).to_string().len()).to_string().len();
        format!("{} {key}={value}\n", length + digits).into_bytes()
    };
    let bytes = [
        raw(b'L', b"././@LongLink", b"", 0, &[&long[..], b"\0"].concat()),
        raw(b'0', b"short", b"", 0o644, b"data"),
        raw(b'x', b"pax", b"", 0, &record("path", "from/pax")),
        raw(b'0', b"ignored", b"", 0o644, b""),
        raw(b'g', b"global", b"", 0, b"52 comment=0123456789012345678901234567890123456789\n"),
        raw(b'0', b"/absolute/./x", b"", 0o6755, b""),
        raw(b'0', b"old/", b"", 0o755, b""),
    ]
    .concat();
    let expected = [&*"n".repeat(200), "from/pax", "absolute/x", "old"];
    assert_eq!(names(&bytes), expected);
    let entries = read(&bytes).unwrap();
    assert_eq!(entries[2].mode, 0o755, "set-id bits are dropped");
    assert_eq!(entries[3].kind, EntryKind::Directory);
}

#[test]
fn paths_that_leave_the_archive_are_errors() {
    for path in [&b"../x"[..], b"a/../../x", b"a/..", b"..", b"a\0b/.."] {
        let bytes = raw(b'0', path, b"", 0o644, b"");
        if path.contains(&0) {
            assert_eq!(names(&bytes), ["a"], "names end at a zero byte");
            continue;
        }
        let error = read(&bytes).unwrap_err();
        assert!(matches!(error, OciKind::InvalidLayer { .. }), "{error}");
    }
    let pax = b"16 path=a\0b/..x\n";
    let bytes = [raw(b'x', b"p", b"", 0, pax), raw(b'0', b"x", b"", 0, b"")].concat();
    assert!(read(&bytes).is_err());
}

#[test]
fn sizes_of_two_headers_must_agree() {
    // Readers that disagree about the size see different entries.
    let inner = raw(b'0', b"hidden", b"", 0o644, b"");
    let bytes =
        [raw(b'x', b"p", b"", 0, b"12 size=512\n"), raw(b'0', b"x", b"", 0o644, b""), inner]
            .concat();
    assert!(read(&bytes).is_err());
    let sparse = raw(b'x', b"p", b"", 0, b"22 GNU.sparse.major=1\n");
    assert!(read(&[sparse, raw(b'0', b"x", b"", 0o644, b"")].concat()).is_err());
    assert!(read(&raw(b'S', b"x", b"", 0o644, b"")).is_err());
}

#[test]
fn links_and_directories_have_no_data() {
    let mut directory = raw(b'5', b"d", b"", 0o755, b"");
    directory[124..136].copy_from_slice(b"00000001000\0");
    let sum: u32 = {
        let block: [u8; BLOCK] = directory[..BLOCK].try_into().unwrap();
        checksum(&block)
    };
    directory[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    assert_eq!(names(&[directory, raw(b'0', b"f", b"", 0o644, b"")].concat()), ["d", "f"]);
}

#[test]
fn limits_hold() {
    let many: Vec<u8> = (0..101).flat_map(|_| raw(b'0', b"x", b"", 0o644, b"")).collect();
    assert!(matches!(read(&many), Err(OciKind::TooLarge { limit: 100, .. })));
    let large = raw(b'0', b"x", b"", 0o644, &vec![0; 2 << 20]);
    assert!(matches!(read(&large), Err(OciKind::TooLarge { .. })));
    let mut extension = raw(b'x', b"x", b"", 0, b"");
    extension[124..136].copy_from_slice(b"77777777777\0");
    let block: [u8; BLOCK] = extension[..BLOCK].try_into().unwrap();
    let sum = checksum(&block);
    extension[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    assert!(matches!(read(&extension), Err(OciKind::TooLarge { what: "an extended header", .. })));
    let deep = [b"a/".repeat(49), b"f".to_vec()].concat();
    assert!(read(&raw(b'0', &deep, b"", 0o644, b"")).is_ok());
}

#[test]
fn gzip_bomb_is_stopped_at_the_limit() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&raw(b'0', b"x", b"", 0o644, &vec![0; 64 << 20])).unwrap();
    let bomb = gzip.finish().unwrap();
    assert!(bomb.len() < 100_000);
    let limits = ArchiveLimits { bytes: 1 << 20, ..ArchiveLimits::of_package() };
    assert!(matches!(unpack_files(&bomb, &limits), Err(OciKind::TooLarge { .. })));
}

#[test]
fn packages_have_no_files_of_git_and_no_links() {
    let pack = |bytes: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        unpack_files(&gzip.finish().unwrap(), &ArchiveLimits::of_package())
    };
    for path in [&b".git/hooks/post-checkout"[..], b"a/.GIT/config", b"a\\b", b"a\x1b[1m"] {
        assert!(pack(&raw(b'0', path, b"", 0o755, b"x")).is_err());
    }
    let bytes = [raw(b'2', b"link", b"/etc/passwd", 0o777, b""), raw(b'0', b"f", b"", 0o755, b"x")];
    let (files, skipped) = pack(&bytes.concat()).unwrap();
    assert_eq!((files.len(), files[0].executable), (1, true));
    assert_eq!(skipped, [SkippedEntry { path: "link".to_owned(), what: "a symlink" }]);
    let twice = [raw(b'0', b"f", b"", 0, b"1"), raw(b'0', b"./f", b"", 0, b"2")].concat();
    assert!(pack(&twice).is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let _ = read(&bytes);
    }

    #[test]
    fn damaged_archives_are_read_or_refused(at in 0_usize..3000, byte: u8) {
        let mut bytes = [
            raw(b'x', b"p", b"", 0, b"12 path=a/b\n"),
            raw(b'0', b"x", b"", 0o644, b"data"),
            raw(b'2', b"l", b"target", 0o777, b""),
        ].concat();
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok(entries) = read(&bytes) {
            prop_assert!(entries.iter().all(|entry| entry.path.iter().all(|name| &**name != b"..")));
        }
    }

    #[test]
    fn packing_is_reproducible_and_reversible(
        files in proptest::collection::btree_map("[a-z]{1,8}(/[a-z]{1,120}){0,2}", proptest::collection::vec(any::<u8>(), 0..600), 0..8)
    ) {
        let files: Vec<PackageFile> = files.into_iter()
            .map(|(path, data)| PackageFile { executable: data.len() % 2 == 1, path, data }).collect();
        let reversed: Vec<PackageFile> = files.iter().rev().cloned().collect();
        let packed = pack(&files).unwrap();
        prop_assert_eq!(&packed, &pack(&reversed).unwrap());
        let (unpacked, skipped) = unpack_files(&packed, &ArchiveLimits::of_package()).unwrap();
        prop_assert_eq!(unpacked, files);
        prop_assert!(skipped.is_empty());
    }
}
