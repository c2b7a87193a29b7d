//! Line breaks of the package on disk: git can check files out with CRLF (`core.autocrlf`, `eol=crlf`), which nobody changed.

use std::collections::BTreeSet;

use krm_core::{Package, PackageFile, PackagePath};

use super::versions::{LocalVersion, Version};

/// Gives fetched files the line breaks that they have on disk, so that only the text between them is compared, and what is written has them, too.
///
/// A file is converted if all its line breaks are CRLF on disk and LF in the version that was last fetched. Files that mix them stay as they are.
pub(super) fn follow_local(versions: [&mut Version; 2], local: &LocalVersion) {
    let [base, upstream] = versions;
    let is_converted = |path: &&PackagePath| {
        let had = base.content(path).is_some_and(|it| line_breaks(it) == LineBreaks::Lf);
        had && local.content(path).is_some_and(|it| line_breaks(it) == LineBreaks::Crlf)
    };
    let paths: BTreeSet<PackagePath> = local.paths().filter(is_converted).cloned().collect();
    if paths.is_empty() {
        return;
    }
    for version in [base, upstream] {
        convert(version, &paths);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineBreaks {
    Lf,
    Crlf,
    /// Both, none, or not a text.
    Other,
}

fn line_breaks(content: &[u8]) -> LineBreaks {
    let is_text = || !content.contains(&0) && std::str::from_utf8(content).is_ok();
    let all = || content.iter().filter(|byte| **byte == b'\n').count();
    let with_return = || content.windows(2).filter(|pair| pair == b"\r\n").count();
    match content.contains(&b'\r') {
        // Most files: nothing is counted.
        false if content.contains(&b'\n') && is_text() => LineBreaks::Lf,
        true if all() == with_return() && all() > 0 && is_text() => LineBreaks::Crlf,
        _ => LineBreaks::Other,
    }
}

fn convert(version: &mut Version, paths: &BTreeSet<PackagePath>) {
    let is_wanted = |path: &PackagePath, content: &[u8]| {
        paths.contains(path) && line_breaks(content) == LineBreaks::Lf
    };
    for (path, content) in &mut version.others {
        if is_wanted(path, content) {
            let text = String::from_utf8_lossy(content).replace('\n', "\r\n");
            *content = text.into_bytes().into();
        }
    }
    let files = std::mem::take(&mut version.package).into_files();
    let converted = files.into_iter().map(|file| {
        let text = file.file().map(|it| it.text()).unwrap_or_default();
        match is_wanted(&file.path, text.as_bytes()) {
            true => with_crlf(&file, text).unwrap_or(file),
            false => file,
        }
    });
    version.package = Package::new(converted.collect());
}

fn with_crlf(file: &PackageFile, text: &str) -> Option<PackageFile> {
    file.with_text(text.replace('\n', "\r\n")).ok()
}

#[cfg(test)]
mod tests {
    use super::{LineBreaks, line_breaks};

    #[test]
    fn only_texts_with_one_kind_of_line_break_have_one() {
        for (content, expected) in [
            (&b"a\nb\n"[..], LineBreaks::Lf),
            (b"a\nb", LineBreaks::Lf),
            (b"a\r\nb\r\n", LineBreaks::Crlf),
            (b"a\r\nb\n", LineBreaks::Other),
            (b"a\rb\n", LineBreaks::Other),
            (b"a", LineBreaks::Other),
            (b"a\0\r\n", LineBreaks::Other),
            (b"\xff\n", LineBreaks::Other),
        ] {
            assert_eq!(line_breaks(content), expected, "{content:?}");
        }
    }
}
