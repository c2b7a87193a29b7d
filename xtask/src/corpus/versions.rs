//! Three versions of one package: as it was, as upstream made it, and as somebody changed it at home.

use std::fs;
use std::path::Path;

use super::dice::Dice;
use super::{Written, file_at, resources};
use crate::Outcome;

/// The names of the folders, in the order of [`write()`]'s result.
pub(crate) const NAMES: [&str; 3] = ["base", "upstream", "local"];

/// In a hundred resources, how many are gone on a side and how many are new.
const GONE: u64 = 3;
const NEW: usize = 3;

/// Writes `base`, `upstream` and `local` under `out`.
pub(crate) fn write(out: &Path, count: usize) -> Outcome<[Written; 3]> {
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
    // What is new stands in a file of its own on each side.
    for (side, name) in NAMES.iter().enumerate().skip(1) {
        let first = count * (side + 1) * 10;
        let texts: Vec<String> = (first..first + count * NEW / 100).map(original).collect();
        put(&out.join(name).join(format!("new-{name}.yaml")), &texts, &mut all[side])?;
    }
    Ok(all)
}

fn put(path: &Path, texts: &[String], written: &mut Written) -> Outcome {
    if texts.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(path.parent().expect("a file has a folder"))?;
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

/// A resource as a version has it; none where it is gone.
fn version(name: &str, id: usize) -> Option<String> {
    let text = original(id);
    let mut dice = Dice::new(name, id);
    match name {
        "upstream" => (!dice.chance(GONE)).then(|| upstream(text, &mut dice)),
        "local" => (!dice.chance(GONE)).then(|| local(text, &mut dice)),
        _ => Some(text),
    }
}

/// A release: new images, other settings, one more variable.
fn upstream(text: String, dice: &mut Dice) -> String {
    let mut edits: Vec<(&str, String)> = Vec::new();
    if dice.chance(60) {
        edits.push((":v1.4.1", ":v1.5.0".to_owned()));
    }
    if dice.chance(30) {
        edits.push(("targetPort: 9090", "targetPort: 9091".to_owned()));
    }
    if dice.chance(30) {
        edits.push(("data:\n", format!("data:\n  RELEASE: r{}\n", dice.between(1, 99))));
    }
    if dice.chance(10) {
        edits.push(("periodSeconds: 10", "periodSeconds: 15 # slower disks".to_owned()));
    }
    edited(text, &edits)
}

/// What people do to a package that they fetched: replicas, labels, comments, log levels.
fn local(text: String, dice: &mut Dice) -> String {
    let mut edits: Vec<(&str, String)> = Vec::new();
    if dice.chance(30) {
        edits.push(("revisionHistoryLimit: 3", "revisionHistoryLimit: 5".to_owned()));
    }
    if dice.chance(20) {
        edits.push(("LOG_LEVEL: info", "LOG_LEVEL: debug # until it is found".to_owned()));
    }
    if dice.chance(20) {
        let team = dice.between(1, 9);
        edits.push((
            "  namespace: default\n",
            format!("  namespace: default\n  generation: {team}\n"),
        ));
    }
    if dice.chance(5) {
        edits.push((":v1.4.1", ":v1.4.1-hotfix".to_owned()));
    }
    edited(text, &edits)
}

/// Each edit once, at the first place where it fits.
fn edited(text: String, edits: &[(&str, String)]) -> String {
    edits.iter().fold(text, |text, (from, to)| text.replacen(from, to, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_versions_differ_and_share_most() {
        let folder = std::env::temp_dir().join(format!("krm-versions-{}", std::process::id()));
        let written = write(&folder, 200).expect("written");
        let read = |side: usize| {
            let texts = written[side].files.iter().map(fs::read_to_string);
            texts.map(|text| text.expect("just written")).collect::<Vec<_>>().join("---\n")
        };
        let [base, upstream, local] = [0, 1, 2].map(read);
        fs::remove_dir_all(&folder).expect("ours to remove");
        assert!(base != upstream && base != local && upstream != local);
        let kinds = |text: &str| text.matches("\nkind: ").count();
        assert_eq!(kinds(&base), 200);
        for other in [&upstream, &local] {
            assert!((190..=206).contains(&kinds(other)), "{}", kinds(other));
        }
        assert!(local.contains("v1.4.1-hotfix") && upstream.contains("v1.5.0"));
    }
}
