//! The test-case format of this repository: inputs, actions and expected outcomes in one text file.
//!
//! ```text
//! One or more lines that describe the case.
//!
//! -- input.yaml --
//! a: 1 # one
//! -- set a 2 --
//! @@ 1
//! -a: 1 # one
//! +a: 2 # one
//! -- set a.b 2 --
//! error: 1:4 a scalar has no keys
//! -- noop --
//! ```
//!
//! - A section starts with a line `-- TITLE --` and ends at the next such line or at the end of the file.
//! - A title that is a file name (no spaces, contains a dot or a slash) starts an *input*. Flags in parentheses after
//!   the name describe bytes that an editor would hide: `crlf` (every line break is CRLF), `no-final-newline`, `bom`.
//!   Actions work on the first input; an action that needs another one names it.
//! - Any other title is an *action*, interpreted by the test that reads the file. Its body is the expected outcome: for
//!   an edit the [`diff()`] from the input, `error: …` for an error, and nothing if nothing changes.
//!
//! A test is one call of [`run_dir`]. With `UPDATE_CASES=1` in the environment it writes the actual outcomes into the
//! files instead of comparing them; review the result with `git diff`.
//!
//! [`run_example`] runs an example of the crate under test. [`KubernetesReader`] asks Kubernetes' own reader what a text means.

mod case;
mod diff;
mod example;
mod kubernetes_reader;
#[cfg(test)]
mod repository;
mod run;

pub use case::{Case, CaseError, Section};
pub use diff::{PatchError, diff, patch};
pub use example::run_example;
pub use kubernetes_reader::{KubernetesReader, Reading};
pub use run::{diff_from_input, run_dir};
