//! What goes out to a function: resources as the items of one list, each as it is written in its file.

/// A list of resources as text: its items and, where there is one, the function's own configuration.
///
/// Items are texts of their own, as [`crate::subtree::texts`] gives them. Their comments travel with them.
///
/// ```
/// use krm_core::wire::outgoing::list;
///
/// let items = ["# for the shop\napiVersion: v1\nkind: Pod\n"];
/// let text = list("config.kubernetes.io/v1", "ResourceList", &items, None);
/// let wanted = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n# for the shop\n- apiVersion: v1\n  kind: Pod\n";
/// assert_eq!(text, wanted);
/// ```
pub fn list<T: AsRef<str>>(
    api_version: &str,
    kind: &str,
    items: &[T],
    function_config: Option<&str>,
) -> String {
    let size: usize = items.iter().map(|item| item.as_ref().len() * 9 / 8 + 8).sum();
    let mut out = String::with_capacity(size + 128);
    out.push_str(&format!("apiVersion: {api_version}\nkind: {kind}\n"));
    if let Some(config) = function_config {
        out.push_str("functionConfig:\n");
        shift(config, "  ", &mut out);
    }
    out.push_str(if items.is_empty() { "items: []\n" } else { "items:\n" });
    for item in items {
        add(item.as_ref(), &mut out);
    }
    out
}

/// Adds one item: what stands above it stays above its dash.
fn add(item: &str, out: &mut String) {
    let is_above = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let above: usize = item.split_inclusive('\n').take_while(is_above).map(str::len).sum();
    out.push_str(&item[..above]);
    let (first, rest) = match item[above..].find('\n') {
        Some(end) => item[above..].split_at(end + 1),
        None => (&item[above..], ""),
    };
    out.push_str("- ");
    out.push_str(first);
    if !first.ends_with('\n') {
        out.push('\n');
    }
    shift(rest, "  ", out);
}

/// Moves a text to the right. An empty line has nothing to move, and blanks in a line may be text.
fn shift(text: &str, by: &str, out: &mut String) {
    for line in text.split_inclusive('\n') {
        if !matches!(line, "\n" | "\r\n") {
            out.push_str(by);
        }
        out.push_str(line);
    }
    if !text.is_empty() && !text.ends_with('\n') {
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use krm_yaml::{File, Value};

    /// What a text means, as JSON.
    fn meaning(text: &str) -> String {
        let file = File::parse(text.to_owned()).unwrap();
        assert_eq!(file.errors().count(), 0, "{text}");
        json::write(&Value::Node(file.document(0).and_then(|document| document.root()).unwrap()))
    }

    #[test]
    fn items_mean_what_they_meant_whatever_they_look_like() {
        for item in [
            "apiVersion: v1\nkind: A\n",
            "apiVersion: v1\nkind: A",
            "# above\n\n# and more\napiVersion: v1 # beside\nkind: A\n# below\n",
            "{\"apiVersion\": \"v1\",\n\"kind\": \"A\"}\n",
            "a: |\n\n  text\n     \n  more\n\n\nb: >-\n  x\n\n  y\n",
            "a: |2\n    x\n  y\n",
            "a: |+\n  x\n\n\n",
            "a: \"x\\\n  y\n\n  z\"\nb: 'q\n  r'\nc: plain\n  text\n",
            "a: &x {b: 1}\nc: *x\n",
            "a: 1\r\nb: |\r\n  x\r\n\r\n  y\r\n",
            "!!map\na: 1\n",
        ] {
            let wanted = meaning(item);
            let text = list("v1", "List", &[item, "b: 2\n"], Some(item));
            let whole = format!(
                "{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"functionConfig\":{wanted},\"items\":[{wanted},{{\"b\":2}}]}}"
            );
            assert_eq!(meaning(&text), whole, "{text}");
        }
    }

    #[test]
    fn a_list_without_items_says_so() {
        assert_eq!(
            list::<&str>("v1", "List", &[], None),
            "apiVersion: v1\nkind: List\nitems: []\n"
        );
    }
}
