//! The laws as properties: each holds for thousands of generated documents and edits.

use proptest::prelude::any;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

use crate::laws::draw::Draw;
use crate::laws::emit::{self, Sample};
use crate::laws::{Verdict, mutate, reading};

/// How many cases a law is tried with; `PROPTEST_CASES` may say otherwise.
const CASES: u32 = 10_000;

/// Tries a law with many choices, and shrinks those that break it.
///
/// The seed is fixed so that a red CI means a changed engine; `PROPTEST_RNG_SEED` gives other cases.
fn holds(law: impl Fn(&[u8]) -> Verdict) {
    let mut config = Config { failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(0x6b72_6d00);
    }
    let choices = proptest::collection::vec(any::<u8>(), 0..400);
    let mut runner = TestRunner::new(config);
    match runner.run(&choices, |bytes| law(&bytes).map_err(TestCaseError::fail)) {
        Ok(()) => {}
        Err(TestError::Fail(why, bytes)) => panic!("{why}\nchoices: {bytes:?}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

fn sample(bytes: &[u8]) -> Sample {
    emit::sample(&mut Draw::new(bytes))
}

#[test]
fn round_trip() {
    holds(|bytes| {
        let mut draw = Draw::new(bytes);
        let text = emit::sample(&mut draw).text;
        reading::round_trip(&text)?;
        reading::round_trip(&mutate::mutated(&mut Draw::new(bytes), &text))?;
        reading::round_trip(&String::from_utf8_lossy(bytes))
    });
}

#[test]
fn same_meaning() {
    holds(|bytes| {
        let sample = sample(bytes);
        reading::known_meaning(&sample)?;
        reading::as_the_front_end(&sample.text)
    });
}

#[test]
fn same_meaning_of_broken_text() {
    holds(|bytes| {
        let sample = sample(bytes);
        let (tail, _) = bytes.split_at(bytes.len().min(64));
        reading::as_the_front_end(&mutate::mutated(&mut Draw::new(tail), &sample.text))
    });
}
