//! A function whose results are looked up before it runs, and stored after it succeeded.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::entry::CachedResult;
use super::{CacheKey, CacheMode, FunctionIdentity, ResultCache};
use crate::{Execution, ExecutionEnd, Function, Invocation, Limits, RunKind};

/// A function with a cache of its results.
pub(crate) struct CachedFunction<F> {
    function: F,
    cache: ResultCache,
    /// The result of the last run, until the caller has read it without an error.
    unconfirmed: Mutex<Option<(CacheKey, CachedResult)>>,
}

impl<F: Function> CachedFunction<F> {
    pub(crate) fn new(function: F, cache: ResultCache) -> Self {
        Self { function, cache, unconfirmed: Mutex::default() }
    }

    /// Runs the function, and keeps its result until it is confirmed.
    fn run_and_keep(&self, key: CacheKey, invocation: &mut Invocation<'_>) -> Execution {
        let execution = self.function.run(invocation);
        let limits = &invocation.limits;
        // What is mounted may have changed while the function ran. Then nobody knows which content it saw.
        let is_same = || {
            self.function.identity().is_some_and(|it| it.key_of(limits, invocation.input) == key)
        };
        let result = CachedResult::of(&execution).filter(|_| is_same());
        *self.unconfirmed() = result.map(|result| (key, result));
        execution
    }

    /// Runs a function again whose result is known, and compares.
    fn verify(
        &self,
        key: CacheKey,
        known: &CachedResult,
        invocation: &mut Invocation<'_>,
    ) -> Execution {
        let execution = self.function.run(invocation);
        match execution.end {
            ExecutionEnd::Exited(0) if execution.stdout != known.stdout => {
                self.cache.store.discard(&key);
                execution.stopped(RunKind::ImpureFunction)
            }
            _ => execution,
        }
    }

    fn unconfirmed(&self) -> std::sync::MutexGuard<'_, Option<(CacheKey, CachedResult)>> {
        self.unconfirmed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F: Function> Function for CachedFunction<F> {
    fn name(&self) -> &str {
        self.function.name()
    }

    fn start_ahead(&self, limits: &Limits) {
        // A function that is cached probably does not run at all, and stopping a container takes longer than starting it later.
        if self.cache.mode == CacheMode::Verify || self.function.identity().is_none() {
            self.function.start_ahead(limits);
        }
    }

    fn run(&self, invocation: &mut Invocation<'_>) -> Execution {
        let start = Instant::now();
        let Some(identity) = self.function.identity() else {
            return self.function.run(invocation);
        };
        if invocation.interrupt.is_interrupted() {
            return Execution::not_started(RunKind::Interrupted);
        }
        // What is stored and compared is the output itself.
        invocation.is_echo = None;
        let key = identity.key_of(&invocation.limits, invocation.input);
        match self.cache.look_up(&key) {
            Some(known) if self.cache.mode == CacheMode::Verify => {
                self.verify(key, &known, invocation)
            }
            Some(known) => known.into_execution(invocation.limits.stderr, start.elapsed()),
            None => self.run_and_keep(key, invocation),
        }
    }

    fn output_accepted(&self) {
        if let Some((key, result)) = self.unconfirmed().take() {
            self.cache.put(&key, &result);
        }
    }

    fn identity(&self) -> Option<FunctionIdentity> {
        self.function.identity()
    }
}
