//! Whether two nodes mean the same, however they are written.

use std::collections::HashSet;

use krm_yaml::{NodeKind, NodeRef, Scalar, ScalarStyle, ScalarType};

use super::fields::Fields;
use crate::model::resource;

/// How deep is looked: no text nests deeper, and aliases lead to each pair of nodes once.
const DEEPEST: usize = 1000;

/// Pairs of nodes that aliases led to. One that comes again is the same as long as nothing else differs: so cycles end,
/// and so do small texts whose aliases stand for endless ones.
type Met = HashSet<(usize, usize)>;

/// Whether two nodes mean the same: types and values, with aliases followed and the order of keys left aside.
///
/// ```
/// use krm_core::merge::node::same_in_yaml_1_2;
/// use krm_yaml::File;
///
/// let roots = |text: &str| File::parse(text.to_owned());
/// let (a, b) = (roots("{a: 1, b: x}")?, roots("b: 'x'\na: 0x1 # one\n")?);
/// let root = |file| File::document(file, 0).and_then(|document| document.root()).unwrap();
/// assert!(same_in_yaml_1_2(root(&a), root(&b)));
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn same_in_yaml_1_2(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    look(a, b, &mut Look { met: Met::new(), is_strict: false }, DEEPEST)
}

/// The same to readers of YAML 1.2 and of 1.1: what merges go by.
pub(super) fn same(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    look(a, b, &mut Look { met: Met::new(), is_strict: true }, DEEPEST)
}

/// A look at two nodes.
struct Look {
    met: Met,
    /// Whether readers of YAML 1.1 count, too.
    is_strict: bool,
}

/// The same for what may be missing.
pub(super) fn same_slot(a: Option<NodeRef<'_>>, b: Option<NodeRef<'_>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => same(a, b),
        (None, None) => true,
        _ => false,
    }
}

fn look(a: NodeRef<'_>, b: NodeRef<'_>, state: &mut Look, depth: usize) -> bool {
    let has_alias = a.kind() == NodeKind::Alias || b.kind() == NodeKind::Alias;
    let (a, b) = (a.resolve(), b.resolve());
    if a == b || has_alias && !state.met.insert((a.index(), b.index())) {
        return true;
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    if own_tag(a) != own_tag(b) {
        return false;
    }
    match (a.kind(), b.kind()) {
        (NodeKind::Mapping, NodeKind::Mapping) => {
            let (a, b) = (Fields::of(a, true), Fields::of(b, true));
            a.len() == b.len()
                && a.iter().all(|(name, field)| {
                    let other = b.get(name);
                    other.is_some_and(|other| look(field.value, other.value, state, depth))
                })
        }
        (NodeKind::Sequence, NodeKind::Sequence) => {
            let (mut a, mut b) = (a.children(), b.children());
            loop {
                match (a.next(), b.next()) {
                    (None, None) => break true,
                    (Some(a), Some(b)) if look(a, b, state, depth) => {}
                    _ => break false,
                }
            }
        }
        _ => match (a.as_scalar(), b.as_scalar()) {
            (Some(a), Some(b)) => same_scalar(a, b) && (!state.is_strict || same_in_yaml_1_1(a, b)),
            _ => false,
        },
    }
}

/// A tag that is not one of YAML's own, which say no more than the value's type.
pub(crate) fn own_tag(node: NodeRef<'_>) -> Option<&str> {
    node.tag().filter(|tag| !tag.starts_with("!!") && *tag != "!")
}

fn same_scalar(a: Scalar<'_>, b: Scalar<'_>) -> bool {
    match (a.resolve(), b.resolve()) {
        (ScalarType::String, ScalarType::String)
        | (ScalarType::Int(None), ScalarType::Int(None)) => a.value() == b.value(),
        (a, b) => a == b,
    }
}

/// To readers of YAML 1.1 `yes` is a boolean and `"yes"` is none. Numbers are those of YAML 1.2: JSON has one way to spell them.
fn same_in_yaml_1_1(a: Scalar<'_>, b: Scalar<'_>) -> bool {
    let is_text = a.resolve() == ScalarType::String;
    !is_text || a.resolve_1_1() == b.resolve_1_1() || is_json_text(a) || is_json_text(b)
}

/// Whether a text stands in JSON, which has quotes around all of them and no words such as `yes`.
fn is_json_text(scalar: Scalar<'_>) -> bool {
    let node = scalar.node();
    let around = || std::iter::successors(node.parent(), |node| node.parent());
    let is_quoted = |key: NodeRef<'_>| key.kind() == NodeKind::Scalar(ScalarStyle::DoubleQuoted);
    // Numbers come into JSON as keys of their own kind.
    let is_json = |key: NodeRef<'_>| is_quoted(key) || key.as_str().is_none();
    let mut mappings = around().filter_map(NodeRef::as_mapping).peekable();
    let in_none = mappings.peek().is_none();
    is_quoted(node)
        && around().all(|it| !it.is_block())
        && (in_none || mappings.any(|it| it.entries().all(|entry| is_json(entry.key))))
}

/// Whether a node is null, or nothing at all.
pub(super) fn is_null(node: NodeRef<'_>) -> bool {
    resource::is_null(node.resolve())
}

#[cfg(test)]
mod tests {
    use super::*;
    use krm_yaml::File;

    fn are_same(a: &str, b: &str) -> bool {
        let [a, b] = [a, b].map(|text| File::parse(text.to_owned()).unwrap());
        let root = |file| File::document(file, 0).and_then(|document| document.root()).unwrap();
        same(root(&a), root(&b))
    }

    #[test]
    fn types_count_and_spelling_does_not() {
        assert!(!are_same("1", "'1'"));
        assert!(!are_same("1", "1.0"));
        for odd in ["yes", "on", "1_000", "0o7", "010", "1:30"] {
            assert!(are_same(odd, odd) && !are_same(odd, &format!("'{odd}'")), "{odd}");
        }
        assert!(are_same("{\"a\": \"yes\"}", "a: yes") && !are_same("{a: \"yes\"}", "a: yes"));
        assert!(are_same("0o7", "7") && are_same("0x1F", "31"), "JSON has one way to spell them");
        assert!(are_same("~", "null"));
        assert!(are_same("!!str 1", "'1'"));
        assert!(!are_same("!mine 1", "1"));
        assert!(!are_same("[a, b]", "[b, a]"));
        assert!(!are_same("{a: 1}", "[a]"));
        assert!(are_same("x: &a [1]\ny: *a\n", "{x: [1], y: [1]}"));
        assert!(!are_same(&"9".repeat(50), &format!("{}8", "9".repeat(49))));
    }

    #[test]
    fn an_alias_bomb_ends() {
        let mut text = String::from("a0: &a0 [x]\n");
        for n in 1..40 {
            text.push_str(&format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1));
        }
        assert!(!are_same(&text, &text.replace("[x]", "[y]")));
        assert!(are_same(&text, &text.replace("[x]", "['x']")));
        assert!(are_same("a: &a [*a, 1]\n", "a: &b [*b, 1]\n"));
        assert!(!are_same("a: &a [*a, 1]\n", "a: &a [*a, 2]\n"));
    }
}
