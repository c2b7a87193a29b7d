//! The laws of merging as checks of any texts and any choices; property tests and the fuzz target call the same ones.

pub(crate) mod change;
pub(crate) mod checks;
pub(crate) mod emit;
pub(crate) mod model;

use crate::properties::draw::Draw;

/// What a law says of one case: it holds, or why it does not.
pub(crate) type Verdict = Result<(), String>;

/// Base, local and upstream of a made-up resource.
pub(crate) fn three_texts(draw: &mut Draw<'_>, style: &mut Draw<'_>) -> [String; 3] {
    let base = model::resource(draw);
    let local = change::some(&base, draw, 4);
    let upstream = change::some(&base, draw, 4);
    [&base, &local, &upstream].map(|model| emit::text(model, style))
}
