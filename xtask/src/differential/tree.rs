//! Made-up resources as trees, changed at random: what the merges are given.

use crate::corpus::dice::Dice;

/// A value before it is written. Scalars are spelled as they are written.
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

/// A resource of one of several kinds, some of which have a schema.
pub(super) fn resource(dice: &mut Dice) -> Tree {
    let (version, kind, spec) = match dice.between(0, 3) {
        0 => ("apps/v1", "Deployment", deployment(dice)),
        1 => ("v1", "Service", service(dice)),
        2 => ("v1", "ConfigMap", map([("x", text("a")), ("y", text("'1'"))])),
        _ => ("example.com/v1", "Widget", widget(dice)),
    };
    let field = if kind == "ConfigMap" { "data" } else { "spec" };
    let labels = map([("app", text("web")), ("tier", text("front"))]);
    let mut metadata = vec![("name".to_owned(), text("web")), ("labels".to_owned(), labels)];
    if dice.chance(30) {
        metadata.push(("finalizers".to_owned(), scalars(dice)));
    }
    map([
        ("apiVersion", text(version)),
        ("kind", text(kind)),
        ("metadata", Map(metadata)),
        (field, spec),
    ])
}

fn deployment(dice: &mut Dice) -> Tree {
    let containers = some(dice, |name, dice| {
        let mut fields = vec![
            ("name".to_owned(), text(name)),
            ("image".to_owned(), text(format!("{name}:{}", dice.between(1, 3)))),
        ];
        if dice.chance(50) {
            fields.push(("args".to_owned(), scalars(dice)));
        }
        if dice.chance(50) {
            let env = some(dice, |name, dice| named(name, "value", dice));
            fields.push(("env".to_owned(), env));
        }
        if dice.chance(30) {
            let mounts = some(dice, |name, _| {
                map([("name", text("config")), ("mountPath", text(format!("/{name}")))])
            });
            fields.push(("volumeMounts".to_owned(), mounts));
        }
        if dice.chance(40) {
            fields.push(("ports".to_owned(), ports(dice, "containerPort")));
        }
        Map(fields)
    });
    let pod = map([("serviceAccountName", text("web")), ("containers", containers)]);
    map([
        ("replicas", text(dice.between(1, 5).to_string())),
        ("paused", text("false")),
        ("template", map([("spec", pod)])),
    ])
}

fn service(dice: &mut Dice) -> Tree {
    map([
        ("type", text("ClusterIP")),
        ("selector", map([("app", text("web"))])),
        ("ports", ports(dice, "port")),
    ])
}

/// Ports without protocols: kyaml loses elements where only some have one, which is known and would hide the rest.
fn ports(dice: &mut Dice, key: &str) -> Tree {
    let one =
        |number: u64| map([(key, text(number.to_string())), ("name", text(format!("p{number}")))]);
    List((0..dice.between(1, 3)).map(|number| one(80 + number)).collect())
}

/// A kind that nobody has a schema for.
fn widget(dice: &mut Dice) -> Tree {
    let key = dice.pick(&["type", "ip", "topologyKey", "id"]);
    let keyed = some(dice, |name, dice| {
        map([(key, text(name)), ("v", text(dice.between(1, 3).to_string()))])
    });
    map([
        ("size", text(dice.between(1, 9).to_string())),
        ("parts", some(dice, |name, dice| named(name, "v", dice))),
        ("keyed", keyed),
        ("words", scalars(dice)),
        ("deep", map([("a", map([("b", text("1"))])), ("c", text("x"))])),
    ])
}

fn named(name: &str, field: &str, dice: &mut Dice) -> Tree {
    map([("name", text(name)), (field, text(format!("v{}", dice.between(1, 3))))])
}

fn some(dice: &mut Dice, each: impl Fn(&str, &mut Dice) -> Tree) -> Tree {
    let count = dice.between(1, 3);
    let names = ["one", "two", "three"];
    List(
        names
            .iter()
            .take(usize::try_from(count).expect("small"))
            .map(|it| each(it, dice))
            .collect(),
    )
}

fn scalars(dice: &mut Dice) -> Tree {
    List((0..dice.between(1, 3)).map(|number| text(format!("w{number}"))).collect())
}

/// The tree with a few changes, none of them to what identifies it.
pub(super) fn changed(tree: &Tree, dice: &mut Dice) -> Tree {
    let mut tree = tree.clone();
    for _ in 0..dice.between(0, 4) {
        if let Map(entries) = &mut tree {
            let from = 2;
            let at =
                from + usize::try_from(dice.between(0, entries.len() as u64 - 3)).expect("small");
            let is_metadata = entries[at].0 == "metadata";
            change(&mut entries[at].1, dice, is_metadata, 0);
        }
    }
    tree
}

fn change(tree: &mut Tree, dice: &mut Dice, guarded: bool, depth: usize) {
    match tree {
        Scalar(_) => *tree = scalar(dice),
        List(items) => change_list(items, dice, depth),
        Map(entries) => {
            let open = |(key, _): &(String, Tree)| !(guarded && key == "name");
            let keys: Vec<usize> = (0..entries.len()).filter(|at| open(&entries[*at])).collect();
            if keys.is_empty() || (depth > 0 && dice.chance(15)) {
                let name = format!("n{}", dice.between(1, 3));
                if entries.iter().all(|(key, _)| *key != name) {
                    let value =
                        if dice.chance(30) { map([("k", text("v"))]) } else { scalar(dice) };
                    entries.push((name, value));
                }
                return;
            }
            let at = keys[usize::try_from(dice.between(0, keys.len() as u64 - 1)).expect("small")];
            let is_key = KEYS.contains(&entries[at].0.as_str());
            match dice.between(0, 9) {
                0 if !is_key => _ = entries.remove(at),
                1 if !is_key && dice.chance(30) => entries[at].1 = text("null"),
                2 if !is_key && dice.chance(20) => entries[at].1 = text(""),
                3 if !is_key && dice.chance(20) => entries[at].1 = map([("other", text("kind"))]),
                _ if is_key => {}
                _ => change(&mut entries[at].1, dice, false, depth + 1),
            }
        }
    }
}

const KEYS: [&str; 7] = ["name", "mountPath", "containerPort", "port", "type", "ip", "topologyKey"];

fn change_list(items: &mut Vec<Tree>, dice: &mut Dice, depth: usize) {
    let at = usize::try_from(dice.between(0, items.len().max(1) as u64 - 1)).expect("small");
    match dice.between(0, 9) {
        0 if !items.is_empty() => _ = items.remove(at),
        1 => items.reverse(),
        2 | 3 => items.extend(another(items, dice)),
        _ if !items.is_empty() => change(&mut items[at], dice, false, depth + 1),
        _ => {}
    }
}

/// One more element, like the last one but under another name.
fn another(items: &[Tree], dice: &mut Dice) -> Option<Tree> {
    let mut new = items.last()?.clone();
    let number = dice.between(4, 6);
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

fn scalar(dice: &mut Dice) -> Tree {
    text(dice.pick(&["1", "2", "'2'", "true", "new", "\"quoted\"", "2.5", "other"]))
}

/// A part of a tree, as somebody writes who wants to change just that.
pub(super) fn part(tree: &Tree, dice: &mut Dice, depth: usize) -> Tree {
    match tree {
        Map(entries) => {
            let identity = ["apiVersion", "kind", "metadata"];
            let kept = entries.iter().filter(|(key, _)| {
                let needed = (depth == 0 && identity.contains(&key.as_str()))
                    || KEYS.contains(&key.as_str());
                needed || dice.chance(60)
            });
            let kept: Vec<_> = kept.cloned().collect();
            Map(kept.into_iter().map(|(key, value)| (key, part(&value, dice, depth + 1))).collect())
        }
        List(items) => List(items.iter().map(|item| part(item, dice, depth + 1)).collect()),
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
    fn trees_are_valid_yaml_that_says_who_it_is() {
        for number in 0..500 {
            let mut dice = Dice::new("tree", number);
            let base = resource(&mut dice);
            let other = changed(&base, &mut dice);
            for tree in [part(&other, &mut dice, 0), base, other] {
                let file = krm_yaml::File::parse(write(&tree)).expect("small");
                assert!(file.errors().next().is_none(), "{}", write(&tree));
                let found = krm_core::model::resources(file.document(0).expect("one"));
                assert_eq!(found.len(), 1, "{}", write(&tree));
                assert_eq!(found[0].name(), "web", "{}", write(&tree));
            }
        }
    }
}
