//! Runs checks with thousands of random inputs, shrinks failures, and prints them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use proptest::prelude::any;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

use crate::properties::Verdict;

/// The number of cases per property; `PROPTEST_CASES` overrides it.
const CASES: u32 = 20_000;

/// The maximum number of choices per case.
const CHOICES: usize = 800;

thread_local! {
    /// Where the panic of a case happened. A panic is a failure, and not printed for every step of the shrinking.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
    static TRYING: RefCell<bool> = const { RefCell::new(false) };
}

/// Runs a check with many inputs.
///
/// The seed is fixed, so that a failure in CI means that the code changed; `PROPTEST_RNG_SEED` gives other cases.
/// With `LAWS_SURVEY`, it continues after a failure and prints the smallest case of every kind.
pub(crate) fn holds(check: impl Fn(&[u8]) -> Verdict) {
    let mut config =
        Config { failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(0x6b72_6d00);
    }
    let choices = proptest::collection::vec(any::<u8>(), 0..CHOICES);
    let cases = config.cases;
    let mut runner = TestRunner::new(config);
    if is_survey() {
        survey(&check, &choices, &mut runner, cases);
        return;
    }
    match runner.run(&choices, |bytes| run_check(&check, &bytes).map_err(TestCaseError::fail)) {
        Ok(()) => {}
        Err(TestError::Fail(why, bytes)) => panic!("{why}\nchoices: {bytes:?}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

/// Whether to print all kinds of failures, including refused edits.
pub(crate) fn is_survey() -> bool {
    std::env::var_os("LAWS_SURVEY").is_some()
}

/// The result of a check; a panic is a failure.
fn run_check(check: impl Fn(&[u8]) -> Verdict, bytes: &[u8]) -> Verdict {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if TRYING.with_borrow(|trying| *trying) {
                PANIC.set(Some(info.to_string()));
            } else {
                before(info);
            }
        }));
    });
    TRYING.set(true);
    let verdict = catch_unwind(AssertUnwindSafe(|| check(bytes)));
    TRYING.set(false);
    verdict.unwrap_or_else(|_| Err(PANIC.take().unwrap_or_else(|| "a panic".to_owned())))
}

#[expect(clippy::print_stdout, reason = "a survey is there to be read")]
/// The smallest failure of every kind; two are of the same kind if their reasons start with the same text, except for numbers and quotes.
fn survey(
    check: &impl Fn(&[u8]) -> Verdict,
    choices: &impl Strategy<Value = Vec<u8>>,
    runner: &mut TestRunner,
    cases: u32,
) {
    let mut kinds: BTreeMap<String, (usize, Vec<u8>, String)> = BTreeMap::new();
    for _ in 0..cases {
        let tree = choices.new_tree(runner).expect("bytes can be made");
        let bytes = tree.current();
        let Err(why) = run_check(check, &bytes) else { continue };
        let kind = kind_of(&why);
        let entry = kinds.entry(kind).or_insert_with(|| (0, bytes.clone(), why.clone()));
        entry.0 += 1;
        if why.len() < entry.2.len() {
            (entry.1, entry.2) = (bytes, why);
        }
    }
    for (kind, (count, bytes, _)) in &kinds {
        let (bytes, why) = shrunk(check, bytes.clone(), kind);
        println!("=== {count} of {cases}: {kind}\n{why}\nchoices: {bytes:?}\n");
    }
    println!("{} kinds of broken cases", kinds.len());
}

fn kind_of(why: &str) -> String {
    let line = why.lines().next().unwrap_or_default();
    let line = line.split(": wanted").next().unwrap_or_default();
    let line = line.split(" in \"").next().unwrap_or_default();
    // Quoted text differs from case to case.
    let quoted = line.find(['`', '"', '[']).zip(line.rfind(['`', '"', ']']));
    let (head, tail) = quoted
        .filter(|(from, to)| from < to)
        .map_or((line, ""), |(from, to)| (&line[..from], &line[to..]));
    format!("{head}{tail}").chars().filter(|c| !c.is_ascii_digit()).take(90).collect()
}

/// Fewer and smaller bytes that fail in the same way.
fn shrunk(check: &impl Fn(&[u8]) -> Verdict, mut bytes: Vec<u8>, kind: &str) -> (Vec<u8>, String) {
    let breaks = |bytes: &[u8]| run_check(check, bytes).err().filter(|why| kind_of(why) == kind);
    let mut why = breaks(&bytes).unwrap_or_default();
    let mut step = bytes.len().max(1);
    while step > 0 {
        let mut at = 0;
        while at < bytes.len() {
            let mut fewer = bytes.clone();
            fewer.drain(at..(at + step).min(bytes.len()));
            match breaks(&fewer) {
                Some(reason) => (bytes, why) = (fewer, reason),
                None => at += step,
            }
        }
        step /= 2;
    }
    for at in 0..bytes.len() {
        for smaller in [0, 1, 2, bytes[at] / 2, bytes[at].saturating_sub(1)] {
            let mut less = bytes.clone();
            less[at] = smaller;
            if let Some(reason) = breaks(&less).filter(|_| smaller < bytes[at]) {
                (bytes, why) = (less, reason);
                break;
            }
        }
    }
    (bytes, why)
}
