//! Properties of merges as checks of any texts. Property tests and the fuzz target call the same checks.

pub(crate) mod change;
pub(crate) mod checks;
pub(crate) mod emit;
pub(crate) mod model;

use crate::properties::draw::Draw;

/// Whether a property holds for a case, or why it does not.
pub(crate) type Verdict = Result<(), String>;

/// Base, local and upstream of a generated resource.
pub(crate) fn three_texts(draw: &mut Draw<'_>, style: &mut Draw<'_>) -> [String; 3] {
    let base = model::resource(draw);
    let local = change::some(&base, draw, 4);
    let upstream = change::some(&base, draw, 4);
    [&base, &local, &upstream].map(|model| emit::text(model, style))
}
