//! Generated resources as trees, and random changes to them: the inputs of the compared merges.

use crate::corpus::random::Random;

/// A value; scalars contain their YAML source.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Scalar(String),
    Map(Vec<(String, Tree)>),
    List(Vec<Tree>),
}

use Tree::{List, Map, Scalar};

fn text(value: impl Into<String>) -> Tree {
    Scalar(value.into())
}

fn map<const N: usize>(entries: [(&str, Tree); N]) -> Tree {
    Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// A resource of a random kind; some kinds have a schema.
pub(super) fn resource(random: &mut Random) -> Tree {
    let (version, kind, spec) = match random.between(0, 3) {
        0 => ("apps/v1", "Deployment", deployment(random)),
        1 => ("v1", "Service", service(random)),
        2 => ("v1", "ConfigMap", map([("x", text("a")), ("y", text("'1'"))])),
        _ => ("example.com/v1", "Widget", widget(random)),
    };
    let field = if kind == "ConfigMap" { "data" } else { "spec" };
    let labels = map([("app", text("web")), ("tier", text("front"))]);
    let mut metadata = vec![("name".to_owned(), text("web")), ("labels".to_owned(), labels)];
    if random.chance(30) {
        metadata.push(("finalizers".to_owned(), scalars(random)));
    }
    map([
        ("apiVersion", text(version)),
        ("kind", text(kind)),
        ("metadata", Map(metadata)),
        (field, spec),
    ])
}

fn deployment(random: &mut Random) -> Tree {
    let containers = some(random, |name, random| {
        let mut fields = vec![
            ("name".to_owned(), text(name)),
            ("image".to_owned(), text(format!("{name}:{}", random.between(1, 3)))),
        ];
        if random.chance(50) {
            fields.push(("args".to_owned(), scalars(random)));
        }
        if random.chance(50) {
            let env = some(random, |name, random| named(name, "value", random));
            fields.push(("env".to_owned(), env));
        }
        if random.chance(30) {
            let mounts = some(random, |name, _| {
                map([("name", text("config")), ("mountPath", text(format!("/{name}")))])
            });
            fields.push(("volumeMounts".to_owned(), mounts));
        }
        if random.chance(40) {
            fields.push(("ports".to_owned(), ports(random, "containerPort")));
        }
        Map(fields)
    });
    let pod = map([("serviceAccountName", text("web")), ("containers", containers)]);
    map([
        ("replicas", text(random.between(1, 5).to_string())),
        ("paused", text("false")),
        ("template", map([("spec", pod)])),
    ])
}

fn service(random: &mut Random) -> Tree {
    map([
        ("type", text("ClusterIP")),
        ("selector", map([("app", text("web"))])),
        ("ports", ports(random, "port")),
    ])
}

/// Ports without protocols: kyaml loses elements if only some have one, which would hide other differences.
fn ports(random: &mut Random, key: &str) -> Tree {
    let one =
        |number: u64| map([(key, text(number.to_string())), ("name", text(format!("p{number}")))]);
    List((0..random.between(1, 3)).map(|number| one(80 + number)).collect())
}

/// A kind without a schema.
fn widget(random: &mut Random) -> Tree {
    let key = random.pick(&["type", "ip", "topologyKey", "id"]);
    let keyed = some(random, |name, random| {
        map([(key, text(name)), ("v", text(random.between(1, 3).to_string()))])
    });
    map([
        ("size", text(random.between(1, 9).to_string())),
        ("parts", some(random, |name, random| named(name, "v", random))),
        ("keyed", keyed),
        ("values", scalars(random)),
        ("deep", map([("a", map([("b", text("1"))])), ("c", text("x"))])),
    ])
}

fn named(name: &str, field: &str, random: &mut Random) -> Tree {
    map([("name", text(name)), (field, text(format!("v{}", random.between(1, 3))))])
}

fn some(random: &mut Random, each: impl Fn(&str, &mut Random) -> Tree) -> Tree {
    let count = random.between(1, 3);
    let names = ["one", "two", "three"];
    List(
        names
            .iter()
            .take(usize::try_from(count).expect("small"))
            .map(|it| each(it, random))
            .collect(),
    )
}

fn scalars(random: &mut Random) -> Tree {
    List((0..random.between(1, 3)).map(|number| text(format!("w{number}"))).collect())
}

/// The tree with a few random changes; its identity is kept.
pub(super) fn changed(tree: &Tree, random: &mut Random) -> Tree {
    let mut tree = tree.clone();
    for _ in 0..random.between(0, 4) {
        if let Map(entries) = &mut tree {
            let from = 2;
            let at =
                from + usize::try_from(random.between(0, entries.len() as u64 - 3)).expect("small");
            let is_metadata = entries[at].0 == "metadata";
            change(&mut entries[at].1, random, is_metadata, 0);
        }
    }
    tree
}

fn change(tree: &mut Tree, random: &mut Random, keep_name: bool, depth: usize) {
    match tree {
        Scalar(_) => *tree = scalar(random),
        List(items) => change_list(items, random, depth),
        Map(entries) => {
            let open = |(key, _): &(String, Tree)| !(keep_name && key == "name");
            let keys: Vec<usize> = (0..entries.len()).filter(|at| open(&entries[*at])).collect();
            if keys.is_empty() || (depth > 0 && random.chance(15)) {
                let name = format!("n{}", random.between(1, 3));
                if entries.iter().all(|(key, _)| *key != name) {
                    let value =
                        if random.chance(30) { map([("k", text("v"))]) } else { scalar(random) };
                    entries.push((name, value));
                }
                return;
            }
            let at =
                keys[usize::try_from(random.between(0, keys.len() as u64 - 1)).expect("small")];
            let is_key = KEYS.contains(&entries[at].0.as_str());
            match random.between(0, 9) {
                0 if !is_key => _ = entries.remove(at),
                1 if !is_key && random.chance(30) => entries[at].1 = text("null"),
                2 if !is_key && random.chance(20) => entries[at].1 = text(""),
                3 if !is_key && random.chance(20) => entries[at].1 = map([("other", text("kind"))]),
                _ if is_key => {}
                _ => change(&mut entries[at].1, random, false, depth + 1),
            }
        }
    }
}

const KEYS: [&str; 7] = ["name", "mountPath", "containerPort", "port", "type", "ip", "topologyKey"];

fn change_list(items: &mut Vec<Tree>, random: &mut Random, depth: usize) {
    let at = usize::try_from(random.between(0, items.len().max(1) as u64 - 1)).expect("small");
    match random.between(0, 9) {
        0 if !items.is_empty() => _ = items.remove(at),
        1 => items.reverse(),
        2 | 3 => items.extend(another(items, random)),
        _ if !items.is_empty() => change(&mut items[at], random, false, depth + 1),
        _ => {}
    }
}

/// A new element: a copy of the last one with a different merge key.
fn another(items: &[Tree], random: &mut Random) -> Option<Tree> {
    let mut new = items.last()?.clone();
    let number = random.between(4, 6);
    match &mut new {
        Map(entries) => {
            for (key, value) in entries.iter_mut().filter(|(key, _)| KEYS.contains(&key.as_str())) {
                let is_number = key == "containerPort" || key == "port";
                *value =
                    text(if is_number { (80 + number).to_string() } else { format!("x{number}") });
            }
        }
        other => *other = text(format!("w{number}")),
    }
    (!items.contains(&new)).then_some(new)
}

fn scalar(random: &mut Random) -> Tree {
    text(random.pick(&["1", "2", "'2'", "true", "new", "\"quoted\"", "2.5", "other"]))
}

/// A random part of a tree with its identity, as in a patch.
pub(super) fn part(tree: &Tree, random: &mut Random, depth: usize) -> Tree {
    match tree {
        Map(entries) => {
            let identity = ["apiVersion", "kind", "metadata"];
            let kept = entries.iter().filter(|(key, _)| {
                let needed = (depth == 0 && identity.contains(&key.as_str()))
                    || KEYS.contains(&key.as_str());
                needed || random.chance(60)
            });
            let kept: Vec<_> = kept.cloned().collect();
            Map(kept
                .into_iter()
                .map(|(key, value)| (key, part(&value, random, depth + 1)))
                .collect())
        }
        List(items) => List(items.iter().map(|item| part(item, random, depth + 1)).collect()),
        scalar => scalar.clone(),
    }
}

/// The tree as YAML.
pub(super) fn write(tree: &Tree) -> String {
    let mut out = String::new();
    write_block(tree, 0, &mut out);
    out
}

fn write_block(tree: &Tree, indent: usize, out: &mut String) {
    let pad = " ".repeat(indent);
    match tree {
        Scalar(value) => out.push_str(&format!("{pad}{value}\n")),
        Map(entries) => {
            for (key, value) in entries {
                out.push_str(&format!("{pad}{key}:"));
                write_value(value, indent, out);
            }
        }
        List(items) => {
            for item in items {
                let mut inner = String::new();
                match item {
                    Map(entries) if entries.is_empty() => inner.push_str("{}\n"),
                    List(items) if items.is_empty() => inner.push_str("[]\n"),
                    item => write_block(item, indent + 2, &mut inner),
                }
                out.push_str(&format!("{pad}- {}", inner.trim_start()));
            }
        }
    }
}

fn write_value(value: &Tree, indent: usize, out: &mut String) {
    match value {
        Scalar(text) if text.is_empty() => out.push('\n'),
        Scalar(text) => out.push_str(&format!(" {text}\n")),
        Map(entries) if entries.is_empty() => out.push_str(" {}\n"),
        List(items) if items.is_empty() => out.push_str(" []\n"),
        Map(_) => {
            out.push('\n');
            write_block(value, indent + 2, out);
        }
        List(_) => {
            out.push('\n');
            write_block(value, indent, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_trees_are_valid_yaml_with_an_identity() {
        for number in 0..500 {
            let mut random = Random::new("tree", number);
            let base = resource(&mut random);
            let other = changed(&base, &mut random);
            for tree in [part(&other, &mut random, 0), base, other] {
                let file = krm_yaml::File::parse(write(&tree)).expect("small");
                assert!(file.errors().next().is_none(), "{}", write(&tree));
                let found = krm_core::model::resources(file.document(0).expect("one"));
                assert_eq!(found.len(), 1, "{}", write(&tree));
                assert_eq!(found[0].name(), "web", "{}", write(&tree));
            }
        }
    }
}
