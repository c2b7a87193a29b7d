//! Law `quick_is_thorough`: ordinary documents are read without the front end, and exactly as it reads them.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use krm_yaml::read_quickly;

use crate::laws::draw::Draw;
use crate::laws::{emit, mutate, reading};
use crate::runner::holds;

#[test]
fn generated_documents() {
    let (quick, all) = (Cell::new(0), Cell::new(0));
    holds(|bytes| {
        let text = emit::sample(&mut Draw::new(bytes)).text;
        let (some, of) = read_quickly(&text);
        quick.set(quick.get() + some);
        all.set(all.get() + of);
        reading::quick_is_thorough(&text)
    });
    println!("{} of {}", quick.get(), all.get());
}

#[test]
fn generated_documents_with_accidents() {
    holds(|bytes| {
        let text = emit::sample(&mut Draw::new(bytes)).text;
        let (tail, _) = bytes.split_at(bytes.len().min(64));
        reading::quick_is_thorough(&mutate::mutated(&mut Draw::new(tail), &text))
    });
}

/// The files of a folder and of those below it, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("the folder can be read").path();
            match (path.is_symlink(), path.is_dir()) {
                (true, _) => {}
                (_, true) => open.push(path),
                _ => found.push(path),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn corpora() {
    let Some(folder) = std::env::var_os("KRM_CORPORA") else {
        println!("skipped: KRM_CORPORA does not name a folder of packages");
        return;
    };
    let (mut quick, mut all) = (0, 0);
    for path in files(Path::new(&folder)) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if let Err(why) = reading::quick_is_thorough(&text) {
            panic!("{}: {why}", path.display());
        }
        let is_yaml =
            path.extension().is_some_and(|it| it == "yaml" || it == "yml" || it == "json");
        let is_suite = path.iter().any(|part| part == "yaml-test-suite");
        if is_yaml && !is_suite {
            let (some, of) = read_quickly(&text);
            quick += some;
            all += of;
            if some < of {
                println!("{} {some} {of}", path.display());
            }
        }
    }
    println!("{quick} of {all} documents were read quickly");
    assert!(quick * 100 >= all * 97, "only {quick} of {all} documents were read quickly");
}
