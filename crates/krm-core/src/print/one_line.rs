//! A node on one line, in brackets: how trees show values and queries match them.

use krm_yaml::{NodeRef, ScalarStyle};

/// More than this of one value helps nobody, and aliases could make it endless.
const MOST_BYTES: usize = 64 * 1024;
/// An alias may stand inside what it names.
const MOST_DEPTH: usize = 300;

/// The node on one line; scalars stay as they are written where that is one line.
///
/// ```
/// let file = krm_yaml::File::parse("ports:\n- containerPort: 80 # http\n  name: \"web\"\n".to_owned())?;
/// let ports = file.document(0).and_then(|document| document.find(&"ports".parse().ok()?)).expect("it is there");
/// assert_eq!(krm_core::print::one_line(ports), "[{containerPort: 80, name: \"web\"}]");
/// # Ok::<(), krm_yaml::ReadError>(())
/// ```
pub fn one_line(node: NodeRef<'_>) -> String {
    let mut out = String::new();
    write(node, 0, &mut out);
    out
}

fn write(node: NodeRef<'_>, depth: usize, out: &mut String) {
    let node = node.resolve();
    if out.len() > MOST_BYTES || depth > MOST_DEPTH {
        out.push('…');
    } else if let Some(scalar) = node.as_scalar() {
        let is_block = matches!(scalar.style(), ScalarStyle::Literal | ScalarStyle::Folded);
        if is_block || scalar.raw().contains(['\n', '\r']) {
            out.push_str(&crate::print::json::write(&krm_yaml::Value::String(scalar.value())));
        } else {
            out.push_str(scalar.raw());
        }
    } else if let Some(mapping) = node.as_mapping() {
        out.push('{');
        for (at, entry) in mapping.entries().enumerate() {
            out.push_str(if at > 0 { ", " } else { "" });
            write(entry.key, depth + 1, out);
            out.push_str(": ");
            write(entry.value, depth + 1, out);
        }
        out.push('}');
    } else {
        out.push('[');
        for (at, item) in node.children().enumerate() {
            out.push_str(if at > 0 { ", " } else { "" });
            write(item, depth + 1, out);
        }
        out.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(source: &str) -> String {
        let file = krm_yaml::File::parse(source.to_owned()).unwrap();
        one_line(file.document(0).unwrap().root().unwrap())
    }

    #[test]
    fn a_text_of_several_lines_becomes_one() {
        assert_eq!(root("a: |\n  x\n  y\nb: []\n"), "{a: \"x\\ny\\n\", b: []}");
    }

    #[test]
    fn an_alias_inside_what_it_names_ends() {
        assert!(root("&a [*a, *a]\n").len() < 1_000_000);
    }
}
