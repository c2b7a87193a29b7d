//! The laws of formatting on packages that people wrote.

use std::fs;
use std::path::{Path, PathBuf};

use krm_core::format::FormatOptions;
use krm_core::schema::Schema;
use krm_yaml::{File, Indentation, SequenceIndent};

use crate::formatting::Choice;

/// The YAML files of a folder and of those below it, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let is_yaml = path.extension().is_some_and(|it| it == "yaml" || it == "yml");
            match (path.is_symlink(), path.is_dir()) {
                (true, _) => {}
                (_, true) => open.push(path),
                (_, false) if is_yaml => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

#[test]
fn packages_keep_their_meaning_and_their_comments() {
    let Some(corpora) = std::env::var_os("KRM_CORPORA") else {
        println!("skipped: KRM_CORPORA does not name a folder of packages");
        return;
    };
    let deep = Indentation { mapping: Some(4), sequence: Some(SequenceIndent::Wide) };
    let flat = Indentation { mapping: Some(2), sequence: Some(SequenceIndent::Compact) };
    let schema = Schema::kubernetes();
    let (mut count, mut changed) = (0, 0);
    for path in files(Path::new(&corpora)) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let is_read = File::parse(text.clone()).is_ok_and(|file| file.errors().next().is_none());
        if !is_read {
            continue;
        }
        for indentation in [Indentation::default(), deep, flat] {
            let options = FormatOptions { indentation, ..FormatOptions::default() };
            let choice = Choice { text: text.clone(), options };
            let laws = [choice.twice_is_once(), choice.same_meaning(), choice.unknown_survives()];
            for law in laws {
                law.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
            }
            changed += usize::from(choice.changes());
        }
        let file = File::parse(text).unwrap();
        let quoted = FormatOptions { schema: Some(&schema), ..FormatOptions::default() };
        krm_core::format::format(&file, quoted)
            .unwrap_or_else(|why| panic!("{}: {why:?}", path.display()));
        count += 1;
    }
    println!("{count} files in three indentations, {changed} of them changed");
    assert!(count > 100, "only {count} files were found");
}
