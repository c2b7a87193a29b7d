//! One comparison: a generated ResourceList for a function.

use super::catalog::Function;
use super::{layout, resources};
use crate::corpus::random::Random;

/// The ResourceList with a few resources and a functionConfig.
pub(super) fn input(function: &Function, number: usize) -> String {
    let mut random = Random::new(function.name, number);
    let mut list = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n".to_owned();
    let mut texts = Vec::new();
    for resource in resources::package(&mut random) {
        texts.push(layout::write(&resource, function.layout, &mut random));
    }
    texts.extend((function.extra)(&mut random));
    list.push_str("items:\n");
    for text in texts {
        let dash = list.len();
        indented(&mut list, &text);
        list.replace_range(dash..=dash, "-");
    }
    let config = (function.config)(&mut random);
    if !config.is_empty() {
        list.push_str("functionConfig:\n");
        indented(&mut list, &config);
    }
    list
}

/// Appends lines, indented by two columns.
pub(super) fn indented(out: &mut String, text: &str) {
    for line in text.lines() {
        let indent = if line.is_empty() { "" } else { "  " };
        out.push_str(&format!("{indent}{line}\n"));
    }
}

#[cfg(test)]
mod tests {
    use krm_yaml::{File, Path};

    use super::super::catalog::FUNCTIONS;
    use super::*;

    #[test]
    fn cases_are_valid_varied_and_deterministic() {
        for function in FUNCTIONS {
            let mut seen = std::collections::BTreeSet::new();
            for number in 0..100 {
                let list = input(function, number);
                assert_eq!(list, input(function, number));
                let file = File::parse(list.clone()).expect("small");
                assert!(file.errors().next().is_none(), "{}:\n{list}", function.name);
                let items = file.document(0).and_then(|it| it.find(&Path::default().join("items")));
                let items = items.and_then(|it| it.as_sequence()).expect("a sequence");
                assert!(items.items().count() > 0, "{list}");
                seen.insert(list);
            }
            assert_eq!(seen.len(), 100, "{}", function.name);
        }
    }
}
