//! The number of loop iterations of an evaluation. Expressions have no other way to take long: there is no recursion, and a loop
//! visits the elements of a list or map once.

use std::cell::Cell;

use cel::ExecutionError;

/// The number of elements that the loops of one evaluation may visit; about a second of work.
pub const STEP_LIMIT: u64 = 10_000_000;

thread_local! {
    /// What is left. Functions of the interpreter are plain function pointers, so there is no other place for it.
    static LEFT: Cell<u64> = const { Cell::new(STEP_LIMIT) };
    static IS_EXCEEDED: Cell<bool> = const { Cell::new(false) };
}

/// Evaluates with a new budget, and says whether it was exceeded: `||` hides errors.
pub(super) fn run<T>(evaluate: impl FnOnce() -> T) -> (T, bool) {
    LEFT.set(STEP_LIMIT);
    IS_EXCEEDED.set(false);
    let value = evaluate();
    (value, IS_EXCEEDED.get())
}

/// Charges for a loop.
pub(super) fn charge(elements: usize) -> Result<(), ExecutionError> {
    // Once exceeded, no loop starts any more.
    let cost = u64::try_from(elements).unwrap_or(u64::MAX).saturating_add(1);
    match LEFT.get().checked_sub(cost).filter(|_| !IS_EXCEEDED.get()) {
        Some(left) => {
            LEFT.set(left);
            Ok(())
        }
        None => {
            IS_EXCEEDED.set(true);
            Err(ExecutionError::function_error("loop", "too many steps"))
        }
    }
}
