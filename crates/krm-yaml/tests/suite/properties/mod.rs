//! The properties of the library, as checks of any text and any choices. Property tests and fuzz targets share them.

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
pub(crate) mod kubernetes;
pub(crate) mod lenient_text;
pub(crate) mod model;
pub(crate) mod mutate;
pub(crate) mod reading;
#[cfg(test)]
mod self_test;

/// The result of a check: it holds, or the reason why it does not.
pub(crate) type Verdict = Result<(), String>;

/// Fails a check with a reason unless a condition holds.
macro_rules! ensure {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err(format!($($why)+));
        }
    };
}
pub(crate) use ensure;
