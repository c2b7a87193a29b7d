//! The laws of the engine as checks of any text and any choices; property tests and fuzz targets call the same ones.

pub(crate) mod allowed_ranges;
pub(crate) mod change;
pub(crate) mod common_lines;
pub(crate) mod draw;
pub(crate) mod editing;
pub(crate) mod emit;
pub(crate) mod expected;
pub(crate) mod generate;
pub(crate) mod indentation;
pub(crate) mod json_scalars;
pub(crate) mod model;
pub(crate) mod mutate;
pub(crate) mod reading;
#[cfg(test)]
mod self_test;

/// What a law says of one case: it holds, or why it does not.
pub(crate) type Verdict = Result<(), String>;

/// Ends a check with the reason where a condition does not hold.
macro_rules! ensure {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err(format!($($why)+));
        }
    };
}
pub(crate) use ensure;
