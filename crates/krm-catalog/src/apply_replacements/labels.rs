//! Kubernetes selectors for labels and annotations: `app=web,tier in (a, b),!old`.

use krm_sdk::Resource;
use krm_sdk::yaml::Segment;

/// Requirements, all of which must be met.
#[derive(Clone, Debug, Default)]
pub(super) struct LabelSelector(Vec<Requirement>);

#[derive(Clone, Debug)]
struct Requirement {
    key: String,
    /// The allowed values; any if none.
    values: Option<Vec<String>>,
    /// Whether the requirement is negated.
    negated: bool,
}

impl LabelSelector {
    /// Parses a selector; an empty one matches everything.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let parts = split(text)?;
        let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
        parts.map(requirement).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the entries of `metadata.labels`, or of another field of `metadata`, meet all requirements.
    pub(super) fn matches(&self, resource: &Resource, field: &str) -> bool {
        let entries = resource.get_in(["metadata", field]);
        self.0.iter().all(|it| {
            let value = entries.and_then(|node| node.step(&Segment::Key(it.key.clone())));
            let value = value.and_then(|node| Some(node.resolve().as_scalar()?.value()));
            let is_met = match (&it.values, value) {
                (None, value) => value.is_some(),
                (Some(values), Some(value)) => values.iter().any(|other| *other == value),
                (Some(_), None) => false,
            };
            is_met != it.negated
        })
    }
}

/// Splits the requirements. Commas inside parentheses separate values.
fn split(text: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_i32);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    if depth == 0 { Ok(parts) } else { Err("unbalanced parentheses".to_owned()) }
}

fn requirement(part: &str) -> Result<Requirement, String> {
    let build = |key: &str, values: Option<Vec<String>>, negated: bool| {
        let key = key.trim().to_owned();
        match key.is_empty() || key.contains([' ', '=', '!', '(']) {
            true => Err(format!("expected a=b, a!=b, a in (b, c), a or !a, found `{part}`")),
            false => Ok(Requirement { key, values, negated }),
        }
    };
    if let Some((key, rest)) = part.split_once('(') {
        let values = rest.trim_end().trim_end_matches(')').split(',');
        let values = Some(values.map(|value| value.trim().to_owned()).collect());
        let key = key.trim_end();
        return match (key.strip_suffix(" notin"), key.strip_suffix(" in")) {
            (Some(key), _) => build(key, values, true),
            (None, Some(key)) => build(key, values, false),
            _ => build(part, None, false),
        };
    }
    let one = |value: &str| Some(vec![value.trim().to_owned()]);
    if let Some((key, value)) = part.split_once("!=") {
        return build(key, one(value), true);
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return build(key, one(value), false);
    }
    match part.strip_prefix('!') {
        Some(key) => build(key, None, true),
        None => build(part, None, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_requirements_must_be_met() {
        let text = "apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {app: web, tier: a}\n";
        let pod = Resource::parse(text).unwrap();
        for (selector, expected) in [
            ("", true),
            ("app=web", true),
            ("app==web,tier!=b", true),
            ("app = web , tier in (b, a)", true),
            ("tier notin (b,c)", true),
            ("other notin (b)", true),
            ("app", true),
            ("!other", true),
            ("app!=web", false),
            ("other", false),
            ("app=web,tier=b", false),
            ("other!=x", true),
        ] {
            assert_eq!(
                LabelSelector::new(selector).unwrap().matches(&pod, "labels"),
                expected,
                "{selector}"
            );
        }
        for selector in ["a in (b", "=b", "a b", "a of (b)"] {
            assert!(LabelSelector::new(selector).is_err(), "{selector}");
        }
    }
}
