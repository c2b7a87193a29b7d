//! Reindenting: idempotent, and comments keep their owners.

use krm_yaml::{CommentPosition, DocumentRef, File, Indentation, SequenceIndent};

use super::draw::Draw;
use super::ensure;

/// Reindents every document of a text; `Ok(Some)` is the reason of a refusal.
pub(crate) fn change(draw: &mut Draw<'_>, text: &str) -> Result<Option<String>, String> {
    let how = Indentation {
        mapping: draw.pick(&[Some(2), Some(4), Some(3), None]),
        sequence: draw.pick(&[Some(SequenceIndent::Wide), Some(SequenceIndent::Compact), None]),
    };
    let file = File::parse(text.to_owned()).map_err(|error| format!("{error:?}"))?;
    let mut new = String::new();
    for document in file.documents() {
        match document.reindent(how) {
            Ok(text) => new.push_str(&text),
            Err(error) => {
                return Ok(Some(format!("{error}\n{how:?}\n{text}\n{text:?}")));
            }
        }
    }
    let report = format!("\n{how:?}\n--- from\n{text}\n--- to\n{new}\n---\n{text:?}");
    let after = File::parse(new.clone()).map_err(|error| format!("{error:?}{report}"))?;
    ensure!(file.documents().len() == after.documents().len(), "documents{report}");
    for (old, new) in file.documents().zip(after.documents()) {
        let [was, is] = [comments(old), comments(new)];
        let differs = was.iter().zip(&is).find(|(was, is)| was != is);
        ensure!(was.len() == is.len() && differs.is_none(), "comments {differs:?}{report}");
        let again = new.reindent(how).map_err(|error| format!("again {error}{report}"))?;
        ensure!(again == new.text(), "twice is not once{report}\n--- again\n{again}");
    }
    Ok(None)
}

/// The comments with their owners, if these do not depend on blank lines or indentation.
fn comments(document: DocumentRef<'_>) -> Vec<(&str, bool, Option<usize>)> {
    let all = document.comments();
    let one = |comment: &krm_yaml::Comment<'_>| {
        let is_sure = matches!(comment.position, CommentPosition::Head | CommentPosition::Line);
        comment.owner.filter(|_| is_sure).map(|owner| owner.index())
    };
    all.iter()
        .map(|comment| (comment.text, comment.position == CommentPosition::Head, one(comment)))
        .collect()
}
