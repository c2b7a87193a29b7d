//! A function whose results are looked up before it runs, and stored after it succeeded.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::entry::CachedResult;
use super::key::CallIdentity;
use super::shared::Sharing;
use super::{CacheMode, FunctionIdentity, Known, ResultCache};
use crate::{Execution, Function, Invocation, Limits, RunKind};

/// A function with a cache of its results.
pub(crate) struct CachedFunction<F> {
    function: F,
    cache: ResultCache,
    /// The result of the last run, until the caller has read it without an error.
    unconfirmed: Mutex<Option<Unconfirmed>>,
}

/// A result that nobody has read yet.
struct Unconfirmed {
    call: CallIdentity,
    result: CachedResult,
    sharing: Sharing,
}

impl<F: Function> CachedFunction<F> {
    pub(crate) fn new(function: F, cache: ResultCache) -> Self {
        Self { function, cache, unconfirmed: Mutex::default() }
    }

    /// Runs the function, and keeps its result until it is confirmed.
    ///
    /// Results that are known are compared: none differs without `verify`, because there are none.
    fn run_and_keep(
        &self,
        (identity, call): (&FunctionIdentity, CallIdentity),
        known: &Known,
        invocation: &mut Invocation<'_>,
    ) -> Execution {
        let execution = self.function.run(invocation);
        let Some(result) = CachedResult::of(&execution, invocation.input) else { return execution };
        let differs = |known: &Option<CachedResult>| {
            known.as_ref().is_some_and(|it| it.stdout != result.stdout)
        };
        if differs(&known.local) {
            self.cache.store.discard(&call.key());
            return execution.stopped(RunKind::ImpureFunction);
        }
        if differs(&known.shared) {
            return execution.stopped(RunKind::SharedResultDiffers);
        }
        // What is mounted may have changed while the function ran. Then nobody knows which content it saw.
        if self.function.identity().is_some_and(|now| now.key() == identity.key()) {
            let sharing = match known.shared {
                Some(_) => Sharing::Nothing,
                None => self.cache.sharing(&execution.stdout),
            };
            *self.unconfirmed() = Some(Unconfirmed { call, result, sharing });
        }
        execution
    }

    fn unconfirmed(&self) -> MutexGuard<'_, Option<Unconfirmed>> {
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
        // Of an earlier run whose output was not accepted.
        *self.unconfirmed() = None;
        let Some(identity) = self.function.identity() else {
            return self.function.run(invocation);
        };
        if invocation.interrupt.is_interrupted() {
            return Execution::not_started(RunKind::Interrupted);
        }
        // The output of a run is compared with the input and with what is known, so it is always kept.
        let is_echo = invocation.is_echo.take();
        let call = identity.call(&invocation.limits, invocation.input);
        let known = self.cache.look_up(&call);
        if self.cache.mode == CacheMode::Verify {
            return self.run_and_keep((&identity, call), &known, invocation);
        }
        match known {
            Known { local: Some(result), .. } => {
                result.into_execution(invocation, is_echo, start.elapsed())
            }
            // It is kept on this machine when the caller has read it.
            Known { shared: Some(result), .. } => {
                let sharing = Sharing::Nothing;
                *self.unconfirmed() = Some(Unconfirmed { call, result: result.clone(), sharing });
                result.into_execution(invocation, is_echo, start.elapsed())
            }
            known => self.run_and_keep((&identity, call), &known, invocation),
        }
    }

    fn output_accepted(&self) {
        if let Some(Unconfirmed { call, result, sharing }) = self.unconfirmed().take() {
            self.cache.add(&call, &result, sharing);
        }
    }

    fn identity(&self) -> Option<FunctionIdentity> {
        self.function.identity()
    }
}
