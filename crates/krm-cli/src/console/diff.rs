//! Unified diffs, with the values of Secrets masked.

use std::borrow::Cow;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use krm_core::PlannedChange;
use krm_core::diagnostics::mask_secrets;
use krm_core::print::{log_line, visible_line};
use krm_yaml::File;
use similar::{ChangeTag, TextDiff};

const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();
const HUNK: Style = AnsiColor::Cyan.on_default();

/// Prints the change of one file.
pub(super) fn write(
    change: &PlannedChange,
    show_secrets: bool,
    colored: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let old = change.old.as_deref().unwrap_or_default();
    let new = change.new_text();
    let name = change.display_path.trim_start_matches('/');
    // As git prints them, so that `git apply` and `patch -p1` take the output.
    let side = |prefix: &str, exists: bool| match exists {
        true => format!("{prefix}/{name}"),
        false => "/dev/null".to_owned(),
    };
    let old_name = side("a", change.old.is_some());
    let new_name = side("b", new.is_some());
    if change.binary.is_some() {
        return writeln!(
            out,
            "Binary files {} and {} differ",
            log_line(&old_name),
            log_line(&new_name)
        );
    }
    let new = new.unwrap_or_default();
    compare((&old_name, old), (&new_name, &new), show_secrets, colored, out)
}

/// Prints the difference of two files, each a name and its text.
pub(super) fn compare(
    (old_name, old): (&str, &str),
    (new_name, new): (&str, &str),
    show_secrets: bool,
    colored: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    if old == new {
        return Ok(());
    }
    let (old, new) = masked_texts(old, new, show_secrets);
    let diff = TextDiff::from_lines(&*old, &*new);
    let mut unified = diff.unified_diff();
    let paint = |style: Style| if colored { style } else { Style::new() };
    writeln!(out, "--- {}\n+++ {}", file_name(old_name), file_name(new_name))?;
    for hunk in unified.context_radius(3).iter_hunks() {
        let style = paint(HUNK);
        writeln!(out, "{style}{}{style:#}", hunk.header())?;
        for line in hunk.iter_changes() {
            let (sign, style) = match line.tag() {
                ChangeTag::Delete => ('-', paint(REMOVED)),
                ChangeTag::Insert => ('+', paint(ADDED)),
                ChangeTag::Equal => (' ', Style::new()),
            };
            let text = line.value().trim_end_matches('\n');
            // The carriage return of a line break is kept: it is part of the change.
            let (text, end) = match text.strip_suffix('\r') {
                Some(text) => (text, "\r"),
                None => (text, ""),
            };
            let text = format!("{sign}{text}");
            let parts: Vec<_> = text.split('\t').map(log_line).collect();
            writeln!(out, "{style}{}{end}{style:#}", parts.join("\t"))?;
            if line.missing_newline() {
                writeln!(out, "\\ No newline at end of file")?;
            }
        }
    }
    Ok(())
}

/// The name of a file as git writes it in a patch: in quotes if it has characters that would end or change the line, and followed by a
/// tab if it has spaces, because programs take what follows a space as a date.
fn file_name(name: &str) -> String {
    let is_visible = |c: char| matches!(visible_line(c.encode_utf8(&mut [0; 4])), Cow::Borrowed(_));
    let is_plain = |c: char| !matches!(c, '"' | '\\') && is_visible(c);
    if name.chars().all(is_plain) && !name.contains("##") {
        return if name.contains(' ') { format!("{name}\t") } else { name.to_owned() };
    }
    let mut quoted = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if is_plain(c) && c != '#' => quoted.push(c),
            c => {
                let mut bytes = [0; 4];
                let bytes = c.encode_utf8(&mut bytes).bytes();
                quoted.extend(bytes.map(|byte| format!("\\{byte:03o}")));
            }
        }
    }
    quoted + "\""
}

/// Masks the values of Secrets, unless `--show-secrets` is given. A file that cannot be parsed is shown as it is.
pub(crate) fn masked_texts<'a>(
    old: &'a str,
    new: &'a str,
    show_secrets: bool,
) -> (Cow<'a, str>, Cow<'a, str>) {
    let may_hold_secrets = old.contains("Secret") || new.contains("Secret");
    if show_secrets || !may_hold_secrets {
        return (old.into(), new.into());
    }
    match (File::parse(old.to_owned()), File::parse(new.to_owned())) {
        (Ok(old), Ok(new)) => {
            let (old, new) = mask_secrets(&old, &new);
            (old.into(), new.into())
        }
        _ => (old.into(), new.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_those_of_git() {
        assert_eq!(file_name("a/web.yaml"), "a/web.yaml");
        assert_eq!(file_name("a/日本 x.yaml"), "a/日本 x.yaml\t");
        assert_eq!(file_name("a/x\n+++ b"), "\"a/x\\012+++ b\"");
        assert_eq!(file_name("a/\"q\"\\.yaml"), "\"a/\\\"q\\\"\\\\.yaml\"");
        assert_eq!(file_name("a/##[x"), "\"a/\\043\\043[x\"");
    }
}
