//! Selectors by labels and annotations, as Kubernetes writes them: `app=web,tier in (a, b),!old`.

use krm_sdk::Resource;
use krm_sdk::yaml::Segment;

/// What labels must have, all of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels(Vec<Requirement>);

#[derive(Clone, Debug)]
struct Requirement {
    key: String,
    /// The values that are wanted; none: any.
    values: Option<Vec<String>>,
    /// Whether it must not be so.
    not: bool,
}

impl Labels {
    /// Reads a selector; an empty one fits everything.
    pub(super) fn new(text: &str) -> Result<Self, String> {
        let parts = split(text)?;
        let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
        parts.map(requirement).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the entries of `metadata.labels`, or of another mapping there, fit.
    pub(super) fn match_in(&self, resource: &Resource, field: &str) -> bool {
        let entries = resource.get(&format!("metadata.{field}"));
        self.0.iter().all(|it| {
            let value = entries.and_then(|node| node.step(&Segment::Key(it.key.clone())));
            let value = value.and_then(|node| Some(node.resolve().as_scalar()?.value()));
            let fits = match (&it.values, value) {
                (None, value) => value.is_some(),
                (Some(values), Some(value)) => values.iter().any(|other| *other == value),
                (Some(_), None) => false,
            };
            fits != it.not
        })
    }
}

/// The requirements: commas inside brackets part values.
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
    if depth == 0 { Ok(parts) } else { Err("the brackets do not match".to_owned()) }
}

fn requirement(part: &str) -> Result<Requirement, String> {
    let made = |key: &str, values: Option<Vec<String>>, not: bool| {
        let key = key.trim().to_owned();
        match key.is_empty() || key.contains([' ', '=', '!', '(']) {
            true => {
                Err(format!("`{part}` is no requirement: write a=b, a!=b, a in (b, c), a or !a"))
            }
            false => Ok(Requirement { key, values, not }),
        }
    };
    if let Some((key, rest)) = part.split_once('(') {
        let values = rest.trim_end().trim_end_matches(')').split(',');
        let values = Some(values.map(|value| value.trim().to_owned()).collect());
        let key = key.trim_end();
        return match (key.strip_suffix(" notin"), key.strip_suffix(" in")) {
            (Some(key), _) => made(key, values, true),
            (None, Some(key)) => made(key, values, false),
            _ => made(part, None, false),
        };
    }
    let one = |value: &str| Some(vec![value.trim().to_owned()]);
    if let Some((key, value)) = part.split_once("!=") {
        return made(key, one(value), true);
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return made(key, one(value), false);
    }
    match part.strip_prefix('!') {
        Some(key) => made(key, None, true),
        None => made(part, None, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_hold_together() {
        let text = "apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {app: web, tier: a}\n";
        let pod = Resource::parse(text).unwrap();
        for (selector, fits) in [
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
            assert_eq!(Labels::new(selector).unwrap().match_in(&pod, "labels"), fits, "{selector}");
        }
        for selector in ["a in (b", "=b", "a b", "a of (b)"] {
            assert!(Labels::new(selector).is_err(), "{selector}");
        }
    }
}
