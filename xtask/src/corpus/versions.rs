//! Three versions of one package: base, upstream and local.

use std::fs;
use std::path::Path;

use super::random::Random;
use super::{Written, file_at, resources};
use crate::TaskResult;

/// The directory names, in the order of the result of [`write()`].
pub(crate) const NAMES: [&str; 3] = ["base", "upstream", "local"];

/// The percentages of resources that each side removes and adds.
const REMOVED: u64 = 3;
const ADDED: usize = 3;

/// Writes `base`, `upstream` and `local` under `out`.
pub(crate) fn write(out: &Path, count: usize) -> TaskResult<[Written; 3]> {
    let mut all = [Written::default(), Written::default(), Written::default()];
    let mut id = 0;
    let mut number = 0;
    while id < count {
        let (path, size) = file_at(number);
        let ids = id..count.min(id + size);
        for (name, written) in NAMES.iter().zip(&mut all) {
            let texts: Vec<String> = ids.clone().filter_map(|id| version(name, id)).collect();
            put(&out.join(name).join(&path), &texts, written)?;
        }
        (id, number) = (ids.end, number + 1);
    }
    // Each side adds its resources in one new file.
    for (side, name) in NAMES.iter().enumerate().skip(1) {
        let first = count * (side + 1) * 10;
        let texts: Vec<String> = (first..first + count * ADDED / 100).map(original).collect();
        put(&out.join(name).join(format!("new-{name}.yaml")), &texts, &mut all[side])?;
    }
    Ok(all)
}

fn put(path: &Path, texts: &[String], written: &mut Written) -> TaskResult {
    if texts.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(path.parent().expect("a file has a parent directory"))?;
    let text = texts.join("---\n");
    fs::write(path, &text)?;
    written.bytes += text.len() as u64;
    written.files.push(path.to_owned());
    Ok(())
}

fn original(id: usize) -> String {
    let mut text = String::new();
    resources::write(&mut text, id);
    text
}

/// A resource in one version; `None` if that version removed it.
fn version(name: &str, id: usize) -> Option<String> {
    let text = original(id);
    let mut random = Random::new(name, id);
    match name {
        "upstream" => (!random.chance(REMOVED)).then(|| upstream(text, &mut random)),
        "local" => (!random.chance(REMOVED)).then(|| local(text, &mut random)),
        _ => Some(text),
    }
}

/// Changes of a release: new images, changed settings, a new variable.
fn upstream(text: String, random: &mut Random) -> String {
    let mut edits: Vec<(&str, String)> = Vec::new();
    if random.chance(60) {
        edits.push((":v1.4.1", ":v1.5.0".to_owned()));
    }
    if random.chance(30) {
        edits.push(("targetPort: 9090", "targetPort: 9091".to_owned()));
    }
    if random.chance(30) {
        edits.push(("data:\n", format!("data:\n  RELEASE: r{}\n", random.between(1, 99))));
    }
    if random.chance(10) {
        edits.push(("periodSeconds: 10", "periodSeconds: 15 # slower disks".to_owned()));
    }
    edited(text, &edits)
}

/// Local changes: replicas, labels, comments, log levels.
fn local(text: String, random: &mut Random) -> String {
    let mut edits: Vec<(&str, String)> = Vec::new();
    if random.chance(30) {
        edits.push(("revisionHistoryLimit: 3", "revisionHistoryLimit: 5".to_owned()));
    }
    if random.chance(20) {
        edits.push(("LOG_LEVEL: info", "LOG_LEVEL: debug # until it is found".to_owned()));
    }
    if random.chance(20) {
        let team = random.between(1, 9);
        edits.push((
            "  namespace: default\n",
            format!("  namespace: default\n  generation: {team}\n"),
        ));
    }
    if random.chance(5) {
        edits.push((":v1.4.1", ":v1.4.1-hotfix".to_owned()));
    }
    edited(text, &edits)
}

/// Applies each edit to its first match.
fn edited(text: String, edits: &[(&str, String)]) -> String {
    edits.iter().fold(text, |text, (from, to)| text.replacen(from, to, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_differ_in_a_few_resources() {
        let directory = std::env::temp_dir().join(format!("krm-versions-{}", std::process::id()));
        let written = write(&directory, 200).expect("written");
        let read = |side: usize| {
            let texts = written[side].files.iter().map(fs::read_to_string);
            texts.map(|text| text.expect("just written")).collect::<Vec<_>>().join("---\n")
        };
        let [base, upstream, local] = [0, 1, 2].map(read);
        fs::remove_dir_all(&directory).expect("ours to remove");
        assert!(base != upstream && base != local && upstream != local);
        let kinds = |text: &str| text.matches("\nkind: ").count();
        assert_eq!(kinds(&base), 200);
        for other in [&upstream, &local] {
            assert!((190..=206).contains(&kinds(other)), "{}", kinds(other));
        }
        assert!(local.contains("v1.4.1-hotfix") && upstream.contains("v1.5.0"));
    }
}
