//! Packages that other people wrote, with what should come of them: `krm fn render` and `krm fn eval` on folders with
//! `.expected/`, as kpt and its catalog have them.

mod case;
mod compare;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use case::Case;

/// Cases that do not pass, and why.
const KNOWN: &str = "known.txt";

/// Cases whose functions do something new each time.
const NOT_IDEMPOTENT: &str = "not-idempotent.txt";

/// At least so many of each corpus pass.
const WANTED: [(&str, usize); 2] = [("kpt-e2e", 68), ("catalog", 52)];

/// Names with their reasons; a line that begins with `#` is for people.
fn listed(file: &str) -> BTreeMap<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let pairs = lines.map(|line| line.split_once(": ").expect("NAME: REASON"));
    pairs.map(|(name, reason)| (name.to_owned(), reason.to_owned())).collect()
}

fn corpora() -> Option<PathBuf> {
    let folder = std::env::var_os("KRM_CORPORA").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: KRM_CORPORA does not name a folder of packages");
    }
    folder
}

/// What is wrong with a case, and what is wrong with it the second time.
struct Judged {
    name: String,
    why: Vec<String>,
    again: Vec<String>,
}

/// All cases, run once for all tests.
fn judged(corpora: &Path) -> &'static [Judged] {
    static ALL: OnceLock<Vec<Judged>> = OnceLock::new();
    ALL.get_or_init(|| run_all(corpora))
}

fn run_all(corpora: &Path) -> Vec<Judged> {
    let cases: Vec<Case> = case::all(corpora).into_iter().filter(|it| is_meant(&it.name)).collect();
    let krm = PathBuf::from(env!("CARGO_BIN_EXE_krm"));
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let judged = one(case, &krm);
            found.lock().unwrap().push(judged);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn one(case: &Case, krm: &Path) -> Judged {
    let ran = case.run(krm);
    let mut why = compare::judge(case, &ran);
    if !why.is_empty() {
        why.push(format!("it said:\n{}", ran.output));
    }
    let again = if ran.exit == 0 { compare::judge_again(&ran) } else { Vec::new() };
    Judged { name: case.name.clone(), why, again }
}

/// Only cases with `KRM_CASE` in their names, for people who work on one.
fn is_meant(name: &str) -> bool {
    std::env::var("KRM_CASE").map_or(true, |wanted| name.contains(&wanted))
}

/// Holds what is wrong against the list of what is known to be wrong, which may only shrink.
fn hold_against(list: &str, judged: &[Judged], wrong: impl Fn(&Judged) -> &[String]) {
    let known = listed(list);
    let mut told = Vec::new();
    for case in judged {
        let (name, why) = (&case.name, wrong(case));
        match (why, known.get(name.as_str())) {
            ([], Some(_)) => told.push(format!("{name} is as it should be: take it off the list")),
            ([_, ..], None) => told.push(format!("{name}:\n  {}", why.join("\n  "))),
            _ => {}
        }
    }
    let is_case = |name: &&String| judged.iter().any(|case| case.name == **name);
    for name in known.keys().filter(|name| !is_case(name)) {
        println!("listed, and not among the cases here: {name}");
    }
    assert!(told.is_empty(), "{}\n{} are not as listed", told.join("\n"), told.len());
}

#[test]
fn corpus_packages_match_their_expected_output() {
    let Some(corpora) = corpora() else { return };
    let judged = judged(&corpora);
    let mut short = Vec::new();
    for (corpus, least) in WANTED {
        let own = || judged.iter().filter(|case| case.name.starts_with(corpus));
        let (all, passed) = (own().count(), own().filter(|case| case.why.is_empty()).count());
        println!("{corpus}: {passed} of {all} cases pass");
        // Somebody who works on a few cases has no use for the number.
        if all > least && passed < least {
            short.push(format!("{corpus}: {passed} pass, and {least} should"));
        }
    }
    hold_against(KNOWN, judged, |case| &case.why);
    assert!(short.is_empty(), "{}", short.join("\n"));
}

#[test]
fn render_twice_is_once() {
    let Some(corpora) = corpora() else { return };
    hold_against(NOT_IDEMPOTENT, judged(&corpora), |case| &case.again);
}
