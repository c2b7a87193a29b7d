//! The one case format of this repository's tests: inputs, actions and their expected outcomes in one text file.
//!
//! ```text
//! One or more lines of prose: what this case is about.
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
//! - A section starts with a line `-- TITLE --`; its body goes to the next such line or to the end.
//! - A title that is a file name (no spaces, a dot in it) makes an *input*. Flags behind it in parentheses say what
//!   the real bytes have and an editor would hide: `crlf` (every line break is CRLF), `no-final-newline`, `bom`.
//!   The first input is the one that actions work on; others are named by the actions that need them.
//! - Any other title is an *action*, in the language of the test that reads the file, and its body is the outcome:
//!   for an edit the [`diff()`] to the input, `error: …` for a refusal, nothing where nothing changes.
//!
//! A test is one call of [`run_dir`]. With `UPDATE_CASES=1` in the environment it writes the outcomes into the files
//! instead of comparing them; what changed is then read in `git diff`.

mod case;
mod diff;
#[cfg(test)]
mod repository;
mod run;

pub use case::{Case, CaseError, Section};
pub use diff::{PatchError, diff, patch};
pub use run::{outcome, run_dir};
