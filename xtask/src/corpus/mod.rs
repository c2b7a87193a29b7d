//! `cargo xtask corpus`: deterministic directories of Kubernetes resources for benchmarks and tests.

pub(crate) mod random;
mod resources;
mod shuffle;
pub(crate) mod versions;

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::TaskResult;
use random::Random;

pub(crate) use shuffle::shuffle;

/// How the resources are spread over files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Layout {
    /// One to three documents per file, in nested directories.
    Many,
    /// One big file, `all.yaml`.
    One,
}

impl Layout {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Layout::Many => "many",
            Layout::One => "one",
        }
    }
}

/// The files that were written.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) bytes: u64,
}

pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
    let (mut out, mut count, mut layout) = (None, None, Layout::Many);
    let (mut with_versions, mut is_shuffled) = (false, false);
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Value(value) if out.is_none() => out = Some(PathBuf::from(value)),
            lexopt::Arg::Value(value) if count.is_none() => {
                let text = value.to_string_lossy();
                count = Some(
                    text.parse()
                        .map_err(|_| format!("expected a number of resources, found `{text}`"))?,
                );
            }
            lexopt::Arg::Long("versions") => with_versions = true,
            lexopt::Arg::Long("shuffled") => is_shuffled = true,
            lexopt::Arg::Long("layout") => {
                layout = match args.value()?.to_str() {
                    Some("many") => Layout::Many,
                    Some("one") => Layout::One,
                    other => {
                        return Err(format!(
                            "--layout: expected `many` or `one`, found `{}`",
                            other.unwrap_or("?")
                        )
                        .into());
                    }
                }
            }
            _ => return Err(arg.unexpected().into()),
        }
    }
    let (Some(out), Some(count)) = (out, count) else {
        return Err("expected the arguments OUT and N".into());
    };
    if with_versions {
        for (name, written) in versions::NAMES.iter().zip(versions::write(&out, count)?) {
            println!("{name}: {} files, {} bytes", written.files.len(), written.bytes);
        }
        return Ok(());
    }
    let written = write(&out, count, layout)?;
    if is_shuffled {
        shuffle(&written.files)?;
    }
    println!(
        "{}: {count} resources, {} files, {} bytes",
        out.display(),
        written.files.len(),
        written.bytes
    );
    Ok(())
}

/// Writes the corpus to a new directory; files of an older corpus would be measured, too.
pub(crate) fn write(out: &Path, count: usize, layout: Layout) -> TaskResult<Written> {
    if out.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(format!("{} is not empty; use a new directory", out.display()).into());
    }
    fs::create_dir_all(out)?;
    match layout {
        Layout::Many => write_many(out, count),
        Layout::One => write_one(out, count),
    }
}

fn write_one(out: &Path, count: usize) -> TaskResult<Written> {
    let path = out.join("all.yaml");
    let mut file = BufWriter::new(fs::File::create(&path)?);
    let mut bytes = 0;
    for id in 0..count {
        let text = documents(id..id + 1, id == 0);
        bytes += text.len() as u64;
        file.write_all(text.as_bytes())?;
    }
    file.flush()?;
    Ok(Written { files: vec![path], bytes })
}

fn write_many(out: &Path, count: usize) -> TaskResult<Written> {
    let mut written = Written::default();
    let mut id = 0;
    while id < count {
        let (inside, size) = file_at(written.files.len());
        let end = count.min(id + size);
        let path = out.join(inside);
        fs::create_dir_all(path.parent().expect("a file has a parent directory"))?;
        let text = documents(id..end, true);
        fs::write(&path, &text)?;
        written.bytes += text.len() as u64;
        written.files.push(path);
        id = end;
    }
    Ok(written)
}

/// The path of a file, and the number of resources in it.
fn file_at(number: usize) -> (PathBuf, usize) {
    let size = usize::try_from(Random::new("file", number).between(1, 3)).expect("at most three");
    let (team, app) = (number / 200, number / 10 % 20);
    let path = format!("team-{team:02}/app-{app:02}/part-{number:05}.yaml");
    (PathBuf::from(path), size)
}

/// The resource with this number.
pub(crate) fn document(id: usize) -> String {
    documents(id..id + 1, true)
}

/// Documents with a `---` before each, except before the first of a file.
fn documents(ids: std::ops::Range<usize>, is_start_of_file: bool) -> String {
    let mut text = String::new();
    for (at, id) in ids.enumerate() {
        if at > 0 || !is_start_of_file {
            text.push_str("---\n");
        }
        resources::write(&mut text, id);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(text: &str, kind: &str) -> usize {
        text.matches(&format!("\nkind: {kind}\n")).count()
    }

    #[test]
    fn kinds_and_sizes_are_realistic() {
        let text = documents(0..5000, true);
        let percent = |kind| share(&text, kind) * 100 / 5000;
        assert!((38..=42).contains(&percent("Deployment")), "{}", percent("Deployment"));
        assert!((25..=29).contains(&percent("Service")), "{}", percent("Service"));
        assert!((26..=30).contains(&percent("ConfigMap")), "{}", percent("ConfigMap"));
        assert!((4..=6).contains(&percent("CustomResourceDefinition")));
        let average = text.len() / 5000;
        assert!((1800..=2200).contains(&average), "{average} bytes for each resource");
    }

    #[test]
    fn every_document_is_valid_yaml() {
        let text = documents(0..300, true);
        let events = granit_parser::Parser::new_from_str(&text);
        let starts = events.filter(|event| {
            let (event, _) = event.as_ref().expect("the corpus is valid YAML");
            matches!(event, granit_parser::Event::DocumentStart(..))
        });
        assert_eq!(starts.count(), 300);
    }

    #[test]
    fn both_layouts_contain_the_same_resources_every_time() {
        let directory = std::env::temp_dir().join(format!("krm-corpus-{}", std::process::id()));
        let one = write(&directory.join("one"), 50, Layout::One).expect("written");
        let many = write(&directory.join("many"), 50, Layout::Many).expect("written");
        let again = write(&directory.join("again"), 50, Layout::Many).expect("written");
        let read = |written: &Written| {
            let texts =
                written.files.iter().map(|path| fs::read_to_string(path).expect("just written"));
            texts.collect::<Vec<_>>().join("---\n")
        };
        assert_eq!(read(&one), read(&many));
        assert_eq!(read(&many), read(&again));
        assert!(
            write(&directory.join("one"), 1, Layout::One).is_err(),
            "an existing directory is rejected"
        );
        fs::remove_dir_all(&directory).expect("ours to remove");
    }
}
