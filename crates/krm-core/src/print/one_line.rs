//! A node on one line in flow style, as trees show values and queries match them.

use krm_yaml::{NodeRef, ScalarStyle};

/// The maximum length of a value, because aliases can expand without limit.
const MAX_BYTES: usize = 64 * 1024;
/// The maximum depth, because an alias can refer to a node that contains it.
const MAX_DEPTH: usize = 300;

/// The node on one line in flow style. Scalars on one line are copied as they are written.
///
/// ```
/// let file = krm_yaml::File::parse("ports:\n- containerPort: 80 # http\n  name: \"web\"\n".to_owned())?;
/// let ports = file.document(0).and_then(|document| document.find(&"ports".parse().ok()?)).expect("ports exist");
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
    if out.len() > MAX_BYTES || depth > MAX_DEPTH {
        out.push('…');
    } else if let Some(scalar) = node.as_scalar() {
        let is_block = matches!(scalar.style(), ScalarStyle::Literal | ScalarStyle::Folded);
        if is_block || scalar.raw().contains(['\n', '\r']) {
            out.push_str(&crate::print::json::string(&scalar.value()));
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
    fn block_scalar_becomes_a_quoted_string() {
        assert_eq!(root("a: |\n  x\n  y\nb: []\n"), "{a: \"x\\ny\\n\", b: []}");
    }

    #[test]
    fn recursive_alias_terminates() {
        assert!(root("&a [*a, *a]\n").len() < 1_000_000);
    }
}
