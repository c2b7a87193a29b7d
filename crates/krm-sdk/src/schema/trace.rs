//! Tracing a type: `Deserialize` is called on made-up input, pass by pass, until every field and variant was visited.
//!
//! Each pass selects one enum variant, or leaves out one field to find out whether it is required.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use serde::de::{DeserializeOwned, Error};

use super::json_schema::TracedTypes;
use super::tracer::Tracer;

/// The maximal number of passes. The schema of a larger type is incomplete.
const MAX_PASSES: usize = 2000;

/// Strings to try: types such as addresses and dates reject arbitrary ones.
pub(super) const SAMPLE_STRINGS: [&str; 11] = [
    "",
    "a",
    "0",
    "1",
    "a.b/c",
    "true",
    "10s",
    "1.0.0",
    "127.0.0.1",
    "http://a.b/",
    "2024-01-01T00:00:00Z",
];

/// What a pass selects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TracePass {
    pub(super) path: String,
    /// The field that is left out of the struct at the path.
    pub(super) without: Option<&'static str>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) types: TracedTypes,
    /// The number of values that were rejected, by path.
    pub(super) rejected: BTreeMap<String, usize>,
    pub(super) pass: Option<TracePass>,
    queue: VecDeque<TracePass>,
    /// The path of the field that was passed last.
    pub(super) last: String,
    queued: BTreeSet<TracePass>,
}

impl State {
    pub(super) fn enqueue(&mut self, pass: TracePass) {
        if self.queued.insert(pass.clone()) {
            self.queue.push_back(pass);
        }
    }
}

/// Traces a type.
pub(super) fn trace<T: DeserializeOwned>() -> TracedTypes {
    let state = RefCell::new(State::default());
    state.borrow_mut().enqueue(TracePass { path: String::new(), without: None });
    for _ in 0..MAX_PASSES {
        let next = state.borrow_mut().queue.pop_front();
        let Some(pass) = next else { break };
        state.borrow_mut().pass = Some(pass.clone());
        let failed = T::deserialize(Tracer { path: String::new(), state: &state, depth: 0 }).err();
        if failed.is_some_and(|error| state.borrow_mut().should_retry(&pass, error)) {
            state.borrow_mut().queue.push_front(pass);
        }
    }
    state.into_inner().types
}

impl State {
    /// Learns from a failed pass, and returns whether to repeat it with another value.
    fn should_retry(&mut self, pass: &TracePass, error: TraceError) -> bool {
        let path = error.path.unwrap_or_default();
        match error.problem {
            TraceProblem::Missing(name) => {
                if pass.path == path && pass.without == Some(name) {
                    self.types.required.insert(format!("{path}/{name}"));
                }
                false
            }
            TraceProblem::Duplicate => self.types.aliases.insert(path),
            TraceProblem::Value => {
                let rejected = self.rejected.entry(path).or_default();
                *rejected += 1;
                *rejected < SAMPLE_STRINGS.len()
            }
        }
    }
}

/// Why a type rejected the input.
#[derive(Debug)]
pub(super) struct TraceError {
    pub(super) problem: TraceProblem,
    path: Option<String>,
}

#[derive(Debug)]
pub(super) enum TraceProblem {
    Missing(&'static str),
    Duplicate,
    Value,
}

impl TraceError {
    pub(super) fn at(mut self, path: &str) -> Self {
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.problem)
    }
}

impl std::error::Error for TraceError {}

impl Error for TraceError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self { problem: TraceProblem::Value, path: None }
    }

    fn missing_field(name: &'static str) -> Self {
        Self { problem: TraceProblem::Missing(name), path: None }
    }

    fn duplicate_field(_: &'static str) -> Self {
        Self { problem: TraceProblem::Duplicate, path: None }
    }
}
