//! Nodes that are copied into another document keep their meaning and comments, and do not affect other comments.

use std::collections::BTreeMap;

use krm_yaml::{DocumentRef, Edit, File, KeyPosition, NodeKind, NodeRef, Value};

use crate::properties::draw::Draw;
use crate::properties::{Verdict, emit, ensure};
use crate::refusals::Refusals;
use crate::runner::{holds, is_survey};

#[test]
fn copied_node_keeps_its_comments() {
    let refusals = Refusals::default();
    holds(|bytes| {
        let (choices, rest) = bytes.split_at(bytes.len().min(8));
        let (ours, theirs) = rest.split_at(rest.len() / 2);
        let (target, source) =
            (emit::sample(&mut Draw::new(ours)), emit::sample(&mut Draw::new(theirs)));
        // An alias is only valid in the document of its anchor.
        if target.has_anchors || source.has_anchors || target.json {
            return Ok(());
        }
        // Comments of both files must be distinguishable.
        let source = parse(&source.text.replace("# c", "# s"))?;
        let target = parse(&target.text)?;
        let root = target.document(0).and_then(DocumentRef::root);
        if root.is_some_and(|root| !root.is_block() && root.text().contains('"')) {
            // The target may be JSON, which has no comments.
            return Ok(());
        }
        graft(&mut Draw::new(choices), &target, &source, &refusals)
    });
    let (report, share) = refusals.report();
    assert!(share < 0.02, "too many grafts were refused: {:.2} %\n{report}", share * 100.0);
}

fn parse(text: &str) -> Result<File, String> {
    File::parse(text.to_owned()).map_err(|error| error.to_string())
}

fn graft(draw: &mut Draw<'_>, target: &File, source: &File, refusals: &Refusals) -> Verdict {
    let Some(node) = pick(draw, source, |node| node.parent().is_none_or(|p| !is_key(p, node)))
    else {
        return Ok(());
    };
    let is_collection = |node: NodeRef<'_>| node.is_collection();
    let Some(place) = pick(draw, target, is_collection) else { return Ok(()) };
    let mut edit = Edit::new(target);
    let value = Value::Node(node);
    let asked = match place.kind() {
        NodeKind::Mapping => edit.insert_key(
            place,
            "grafted",
            value,
            draw.pick(&[KeyPosition::First, KeyPosition::Last]),
        ),
        _ => edit.insert_element(place, draw.below(place.children().count() + 1), value),
    };
    let report = format!("{node:?}\ninto {place:?}\nof {:?}", target.text());
    match asked.and_then(|()| edit.apply()) {
        Err(error) => {
            let report = format!("refused: {error}\n{report}");
            if is_survey() {
                return Err(report);
            }
            refusals.count(Some((&error.to_string(), report)));
            Ok(())
        }
        Ok(text) => {
            refusals.count(None);
            let after = comments(&parse(&text)?);
            for (comment, count) in comments(target).into_iter().chain(inside(node)) {
                let found = after.get(&comment).copied().unwrap_or(0);
                ensure!(found >= count, "lost {comment:?} of\n{report}\n--- new\n{text}");
            }
            Ok(())
        }
    }
}

fn is_key(parent: NodeRef<'_>, node: NodeRef<'_>) -> bool {
    parent.as_mapping().is_some_and(|mapping| mapping.entries().any(|entry| entry.key == node))
}

/// A random node of the first document that fits.
fn pick<'a>(
    draw: &mut Draw<'_>,
    file: &'a File,
    fits: impl Fn(NodeRef<'a>) -> bool,
) -> Option<NodeRef<'a>> {
    let mut all = Vec::new();
    let mut waiting: Vec<NodeRef<'a>> =
        file.document(0).and_then(DocumentRef::root).into_iter().collect();
    while let Some(node) = waiting.pop() {
        waiting.extend(node.children());
        all.extend(fits(node).then_some(node));
    }
    (!all.is_empty()).then(|| all[draw.below(all.len())])
}

/// The number of occurrences of each comment in a file.
fn comments(file: &File) -> BTreeMap<String, usize> {
    let mut count = BTreeMap::new();
    for comment in file.documents().flat_map(DocumentRef::comments) {
        *count.entry(comment.text.trim_end().to_owned()).or_insert(0) += 1;
    }
    count
}

/// The comments inside a node.
fn inside(node: NodeRef<'_>) -> BTreeMap<String, usize> {
    let span = node.span();
    let all = node.document().comments().into_iter();
    let own = all.filter(|comment| span.contains(comment.span));
    own.map(|comment| (comment.text.trim_end().to_owned(), 1)).collect()
}
