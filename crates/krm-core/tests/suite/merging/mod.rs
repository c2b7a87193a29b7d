//! The laws of merging as checks of any texts and any choices; property tests and the fuzz target call the same ones.

pub(crate) mod change;
pub(crate) mod checks;
pub(crate) mod emit;
pub(crate) mod model;

/// What a law says of one case: it holds, or why it does not.
pub(crate) type Verdict = Result<(), String>;
