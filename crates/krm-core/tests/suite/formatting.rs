//! Generated resources and the properties of formatting them, shared by the property tests and the fuzz target.

use std::collections::BTreeMap;

use krm_core::format::{FormatOptions, Formatted, format};
use krm_yaml::{
    CommentPosition, DocumentRef, Edit, File, Indentation, KeyPosition, NodeKind, NodeRef,
    SequenceIndent,
};

use crate::properties::draw::Draw;
use crate::properties::model::{Shape, Tree};
use crate::properties::{Verdict, emit, ensure};

/// A file with format options.
pub(crate) struct Choice {
    pub(crate) text: String,
    pub(crate) options: FormatOptions<'static>,
}

/// A generated file whose mappings are resources, with format options.
pub(crate) fn choose(draw: &mut Draw<'_>) -> Option<Choice> {
    let indentation = Indentation {
        mapping: draw.pick(&[None, None, None, Some(2), Some(4)]),
        sequence: draw.pick(&[
            None,
            None,
            None,
            Some(SequenceIndent::Wide),
            Some(SequenceIndent::Compact),
        ]),
    };
    let options =
        FormatOptions { sort_lists: draw.once_in(4), indentation, ..FormatOptions::default() };
    let at_end = draw.once_in(2);
    let sample = emit::sample(draw);
    let text = as_resources(sample.text, at_end, sample.json)?;
    Some(Choice { text, options: FormatOptions { json: sample.json, ..options } })
}

/// An unmodified text with default options.
pub(crate) fn unmodified(text: &str) -> Choice {
    Choice { text: text.to_owned(), options: FormatOptions::default() }
}

/// The file with `apiVersion` and `kind` in every document that is a mapping.
fn as_resources(text: String, at_end: bool, json: bool) -> Option<String> {
    let file = File::parse(text).ok()?;
    let mut edit = Edit::new(&file).json(json).allow_shared(true);
    for root in file.documents().filter_map(|document| document.root()) {
        if root.kind() == NodeKind::Mapping {
            let place = if at_end { KeyPosition::Last } else { KeyPosition::First };
            edit.insert_key(root, "kind", "Deployment", place).ok()?;
            edit.insert_key(root, "apiVersion", "apps/v1", KeyPosition::Last).ok()?;
        }
    }
    edit.apply().ok()
}

impl Choice {
    fn file(&self) -> Result<File, String> {
        File::parse(self.text.clone()).map_err(|error| format!("{error:?}"))
    }

    fn formatted(&self) -> Result<Formatted, String> {
        format(&self.file()?, self.options)
            .map_err(|errors| format!("{errors:?}{}", self.describe("")))
    }

    fn new_text(&self) -> Result<String, String> {
        Ok(self.formatted()?.text.unwrap_or_else(|| self.text.clone()))
    }

    fn describe(&self, new: &str) -> String {
        format!(
            "\n{:?}\n--- from\n{}\n--- to\n{new}\n---\n{:?}",
            self.options, self.text, self.text
        )
    }

    /// Whether formatting changes the file.
    #[allow(dead_code, reason = "the fuzz target does not ask")]
    pub(crate) fn changes(&self) -> bool {
        self.formatted().is_ok_and(|formatted| formatted.text.is_some())
    }

    /// Formatting is idempotent.
    pub(crate) fn twice_is_once(&self) -> Verdict {
        let once = self.new_text()?;
        let again = Self { text: once.clone(), options: self.options }.new_text()?;
        ensure!(once == again, "not idempotent{}\n--- again\n{again}", self.describe(&once));
        Ok(())
    }

    /// Formatting is deterministic, including its diagnostics.
    pub(crate) fn same_input_same_bytes(&self) -> Verdict {
        let [first, second] = [self.formatted()?, self.formatted()?];
        ensure!(
            first == second,
            "two runs differ{}",
            self.describe(first.text.as_deref().unwrap_or(""))
        );
        Ok(())
    }

    /// The meaning is kept, except for the order of keys.
    pub(crate) fn same_meaning(&self) -> Verdict {
        let new = self.new_text()?;
        let (old, file) = (self.file()?, File::parse(new.clone()).map_err(|e| format!("{e:?}"))?);
        ensure!(
            old.documents().len() == file.documents().len(),
            "documents{}",
            self.describe(&new)
        );
        for (before, after) in old.documents().zip(file.documents()) {
            let (Some(before), Some(after)) = (before.root(), after.root()) else { continue };
            let (mut before, mut after) = (Tree::read(before), Tree::read(after));
            sort(&mut before, self.options.sort_lists);
            sort(&mut after, self.options.sort_lists);
            let difference = before.difference(&after);
            ensure!(
                difference.is_none(),
                "{}{}",
                difference.unwrap_or_default(),
                self.describe(&new)
            );
        }
        Ok(())
    }

    /// Every comment is there, with its owner, and so is every line of space and every directive.
    pub(crate) fn unknown_survives(&self) -> Verdict {
        let new = self.new_text()?;
        let (old, file) = (self.file()?, File::parse(new.clone()).map_err(|e| format!("{e:?}"))?);
        // A text at the end of a file without a final line break may need one, or a `-`, elsewhere.
        let moves = self.options.indentation != Indentation::default();
        let bytes = |text: &str| {
            let mut bytes = text.as_bytes().to_vec();
            let may_change = |byte: &u8| *byte == b' ' || moves && byte.is_ascii_digit();
            bytes.retain(|byte| !matches!(byte, b'\n' | b'\r' | b'-') && !may_change(byte));
            bytes.sort_unstable();
            bytes
        };
        ensure!(bytes(&self.text) == bytes(&new), "bytes came or went{}", self.describe(&new));
        // An empty value of a flow mapping that moves gets a space before the comma or bracket, because Kubernetes takes the colon of
        // `a:,` for a part of the key. Nothing else gets or loses a space.
        let spaces = |text: &str| text.bytes().filter(|byte| *byte == b' ').count();
        let nodes = old.documents().filter_map(|it| it.root()).flat_map(|root| root.descendants());
        let is_empty_in_flow = |node: &NodeRef<'_>| {
            node.text().is_empty() && node.parent().is_some_and(|parent| !parent.is_block())
        };
        let added =
            spaces(&self.text)..=spaces(&self.text) + nodes.filter(is_empty_in_flow).count();
        let is_same_space = moves || added.contains(&spaces(&new));
        ensure!(is_same_space, "spaces came or went{}", self.describe(&new));
        for (before, after) in old.documents().zip(file.documents()) {
            let now = owners(after);
            for (text, was) in owners(before) {
                let is = now.get(text).cloned().unwrap_or_default();
                let same = was.len() == is.len()
                    && was.iter().zip(&is).all(|(was, is)| is_same(*was, *is));
                ensure!(same, "{text:?} was {was:?} and is {is:?}{}", self.describe(&new));
            }
        }
        Ok(())
    }
}

/// Whether two nodes are one, seen before and after. What comes to stand at the head of a document is the document's
/// then, and what comes behind a dash the item's.
fn is_same(was: Option<NodeRef<'_>>, is: Option<NodeRef<'_>>) -> bool {
    let begins_with = |node: NodeRef<'_>, first: NodeRef<'_>| {
        let mut firsts = std::iter::successors(Some(node), |node| node.children().next());
        firsts.any(|node| node.path() == first.path())
    };
    match (was, is) {
        (None, None) => true,
        (Some(was), None) => was.parent().is_some_and(|parent| parent.parent().is_none()),
        (None, Some(_)) => false,
        (Some(was), Some(is)) => begins_with(is, was) || begins_with(was, is),
    }
}

/// The comments with their owners, if the owner does not depend on blank lines.
fn owners(document: DocumentRef<'_>) -> BTreeMap<&str, Vec<Option<NodeRef<'_>>>> {
    let mut all: BTreeMap<&str, Vec<Option<NodeRef<'_>>>> = BTreeMap::new();
    for comment in document.comments() {
        let is_sure = matches!(comment.position, CommentPosition::Head | CommentPosition::Line);
        all.entry(comment.text).or_default().push(comment.owner.filter(|_| is_sure));
    }
    let path = |owner: &Option<NodeRef<'_>>| owner.map(|owner| owner.path().to_string());
    all.values_mut().for_each(|owners| owners.sort_by_cached_key(path));
    all
}

/// Sorts the keys of every mapping.
fn sort(tree: &mut Tree, lists: bool) {
    match &mut tree.shape {
        Shape::Mapping { entries, .. } => {
            entries.iter_mut().for_each(|(key, value)| {
                sort(key, lists);
                sort(value, lists);
            });
            entries.sort_by_cached_key(|(key, _)| format!("{key:?}"));
        }
        Shape::Sequence { items, .. } => {
            items.iter_mut().for_each(|item| sort(item, lists));
            if lists {
                items.sort_by_cached_key(|item| format!("{item:?}"));
            }
        }
        _ => {}
    }
}
