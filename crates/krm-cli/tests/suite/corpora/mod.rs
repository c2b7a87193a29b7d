//! Corpora of other projects: `krm fn render` and `krm fn eval` on packages with expected output in `.expected/`, as kpt and its
//! catalog have them.

mod case;
mod compare;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use case::Case;

/// Cases that are known to fail, with reasons.
const KNOWN: &str = "known.txt";

/// Cases whose functions are not idempotent.
const NOT_IDEMPOTENT: &str = "not-idempotent.txt";

/// The minimum number of cases of each corpus that pass.
const MINIMUM_PASSED: [(&str, usize); 2] = [("kpt-e2e", 68), ("catalog", 52)];

/// Reads a list of names with reasons; lines that start with `#` are comments.
fn read_list(file: &str) -> BTreeMap<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let pairs = lines.map(|line| line.split_once(": ").expect("NAME: REASON"));
    pairs.map(|(name, reason)| (name.to_owned(), reason.to_owned())).collect()
}

fn corpora() -> Option<PathBuf> {
    let directory = std::env::var_os("KRM_CORPORA").map(PathBuf::from);
    if directory.is_none() {
        println!("skipped: KRM_CORPORA does not name a directory of packages");
    }
    directory
}

/// The differences of a case, and those of a second run.
struct CaseResult {
    name: String,
    differences: Vec<String>,
    rerun: Vec<String>,
}

/// The results of all cases, which run once for all tests.
fn results(corpora: &Path) -> &'static [CaseResult] {
    static ALL: OnceLock<Vec<CaseResult>> = OnceLock::new();
    ALL.get_or_init(|| run_all(corpora))
}

fn run_all(corpora: &Path) -> Vec<CaseResult> {
    let cases: Vec<Case> =
        case::all(corpora).into_iter().filter(|it| is_selected(&it.name)).collect();
    let krm = PathBuf::from(env!("CARGO_BIN_EXE_krm"));
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = run_case(case, &krm);
            found.lock().unwrap().push(result);
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

fn run_case(case: &Case, krm: &Path) -> CaseResult {
    let ran = case.run(krm);
    let mut differences = compare::differences(case, &ran);
    if !differences.is_empty() {
        differences.push(format!("output:\n{}", ran.output));
    }
    let rerun = if ran.exit == 0 { compare::differences_after_rerun(&ran) } else { Vec::new() };
    CaseResult { name: case.name.clone(), differences, rerun }
}

/// Whether the name contains `KRM_CASE`, which selects cases during development.
fn is_selected(name: &str) -> bool {
    std::env::var("KRM_CASE").map_or(true, |part| name.contains(&part))
}

/// Compares failures with the list of known failures, which may only shrink.
fn check_known(list: &str, results: &[CaseResult], failures: impl Fn(&CaseResult) -> &[String]) {
    let known = read_list(list);
    let mut errors = Vec::new();
    for case in results {
        let (name, failures) = (&case.name, failures(case));
        match (failures, known.get(name.as_str())) {
            ([], Some(_)) => errors.push(format!("{name} passes: remove it from the list")),
            ([_, ..], None) => errors.push(format!("{name}:\n  {}", failures.join("\n  "))),
            _ => {}
        }
    }
    let is_case = |name: &&String| results.iter().any(|case| case.name == **name);
    for name in known.keys().filter(|name| !is_case(name)) {
        println!("in the list, but not among the cases: {name}");
    }
    assert!(errors.is_empty(), "{}\n{} unexpected", errors.join("\n"), errors.len());
}

#[test]
fn corpus_packages_match_their_expected_output() {
    let Some(corpora) = corpora() else { return };
    let results = results(&corpora);
    let mut regressions = Vec::new();
    for (corpus, minimum) in MINIMUM_PASSED {
        let own = || results.iter().filter(|case| case.name.starts_with(corpus));
        let (all, passed) =
            (own().count(), own().filter(|case| case.differences.is_empty()).count());
        println!("{corpus}: {passed} of {all} cases pass");
        // With `KRM_CASE` only a few cases run, and the minimum does not apply.
        if all > minimum && passed < minimum {
            regressions.push(format!("{corpus}: expected {minimum} to pass, found {passed}"));
        }
    }
    check_known(KNOWN, results, |case| &case.differences);
    assert!(regressions.is_empty(), "{}", regressions.join("\n"));
}

#[test]
fn render_twice_is_once() {
    let Some(corpora) = corpora() else { return };
    check_known(NOT_IDEMPOTENT, results(&corpora), |case| &case.rerun);
}
