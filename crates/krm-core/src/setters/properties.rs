//! The laws of setters as properties: generated packages, set, created, deleted and taken to the other dialect.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::Package;

/// Values that are easily taken for something else.
const VALUES: [&str; 22] = [
    "1",
    "web",
    "a: b",
    "it's",
    "\"q\"",
    "größe ✓",
    "",
    "yes",
    "-1",
    "1.50",
    " lead",
    "# x",
    "${b}",
    "A",
    "x:y",
    "null",
    "~",
    "- a",
    "{",
    "B",
    "0x1f",
    "a #b",
];

/// What references are made of.
const PARTS: [&str; 14] = [
    "{",
    "}",
    "\"$openapi\"",
    "\"$ref\"",
    "\"$kpt-set\"",
    ":",
    "\"x\"",
    "\"#/definitions/io.k8s.cli.setters.x\"",
    ",",
    " ",
    "kpt-set: ",
    "${x}",
    "\\",
    "\"$imagepolicy\"",
];

const NAMES: [&str; 3] = ["a", "b", "c"];

/// A field: which setter it follows, in which form, and how its value is written.
#[derive(Clone, Debug)]
struct Sketch {
    name: usize,
    form: usize,
    style: usize,
}

fn sketches() -> impl Strategy<Value = Vec<Sketch>> {
    let sketch = (0..NAMES.len(), 0..7_usize, 0..4_usize).prop_map(|(name, form, style)| Sketch {
        name,
        form,
        style,
    });
    prop::collection::vec(sketch, 1..12)
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(&VALUES[..]).prop_map(str::to_owned),
        "[a-zA-Z0-9:./_-]{1,12}".prop_map(|text| text),
        "\\PC{0,8}".prop_map(|text| text),
    ]
}

fn values() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(value(), NAMES.len())
}

fn quoted(text: &str, style: usize) -> String {
    match style {
        0 => format!("'{}'", text.replace('\'', "''")),
        _ => crate::print::json::write(&krm_yaml::Value::string(text.to_owned())),
    }
}

/// The field's line; the old value is one of many, as people edit by hand.
fn line(at: usize, it: &Sketch) -> String {
    let name = NAMES[it.name];
    let reference = match it.form {
        0 => format!("{{\"$openapi\":\"{name}\"}}"),
        1 => format!("{{\"$ref\":\"#/definitions/{SETTER_PREFIX}{name}\"}}"),
        2 => format!("{{ \"$kpt-set\" : \"{name}\" }}"),
        3 => format!("words {{\"$openapi\":\"{name}\"}} behind"),
        4 => "{\"$openapi\":\"all\"}".to_owned(),
        5 => "{\"$imagepolicy\": \"x:y\"}".to_owned(),
        _ => "only words".to_owned(),
    };
    let value = match it.style {
        0 => "'1'".to_owned(),
        1 => "\"old\"".to_owned(),
        2 => "7".to_owned(),
        _ => "word".to_owned(),
    };
    format!("  f{at}: {value} # {reference}\n")
}

fn krmfile(values: &[String]) -> String {
    let mut text = String::from("kind: Krmfile\nopenAPI:\n  definitions:\n");
    for (name, value) in NAMES.iter().zip(values) {
        let value = quoted(value, name.len() % 2);
        text += &format!(
            "    {SETTER_PREFIX}{name}:\n      x-k8s-cli:\n        setter:\n          name: {name}\n          value: {value}\n"
        );
    }
    text += &format!(
        "    {SUBSTITUTION_PREFIX}all:\n      x-k8s-cli:\n        substitution:\n          name: all\n          pattern: A-B\n          values:\n"
    );
    for (marker, name) in [("A", "a"), ("B", "b")] {
        text += &format!(
            "          - marker: {marker}\n            ref: '#/definitions/{SETTER_PREFIX}{name}'\n"
        );
    }
    text
}

fn package(values: &[String], fields: &[Sketch], crlf: bool) -> Package {
    let lines: String = fields.iter().enumerate().map(|(at, it)| line(at, it)).collect();
    let text = format!("apiVersion: v1\nkind: Config\nspec:\n{lines}");
    let ends = |text: String| if crlf { text.replace('\n', "\r\n") } else { text };
    of_texts(&[("Krmfile".to_owned(), ends(krmfile(values))), ("a.yaml".to_owned(), ends(text))])
}

fn of_texts(texts: &[(String, String)]) -> Package {
    let file =
        |(path, text): &(String, String)| PackageFile::from_text(path, text.clone()).unwrap();
    Package::new(texts.iter().map(file).collect())
}

/// The files of a package after changes.
fn after(package: &Package, changes: &Changes<'_>) -> Vec<(String, String)> {
    let new = changes.texts().unwrap();
    let text = |file: &PackageFile| {
        let changed =
            new.iter().find(|(name, _)| *name == file.display_path).map(|(_, text)| text.clone());
        (
            file.display_path.clone(),
            changed.unwrap_or_else(|| file.file().unwrap().text().to_owned()),
        )
    };
    package.files().iter().map(text).collect()
}

fn texts(package: &Package) -> Vec<(String, String)> {
    after(package, &Changes::default())
}

/// What a field of the sketch must hold.
fn expected(it: &Sketch, values: &[String]) -> Option<String> {
    match it.form {
        0..=3 => Some(values[it.name].clone()),
        4 => Some(format!("{}-{}", values[0], values[1])),
        _ => None,
    }
}

fn follows(it: &Sketch, name: usize) -> bool {
    match it.form {
        0..=3 => it.name == name,
        4 => name < 2,
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn set_twice_is_set_once(mut old in values(), fields in sketches(), name in 0..NAMES.len(), new in value(), crlf: bool) {
        let package = package(&old, &fields, crlf);
        let set = SetValues::new(NAMES[name]).to(new.clone());
        let done = set.compute(&Setters::read(&package)).unwrap();
        prop_assert_eq!(done.fields(), fields.iter().filter(|it| follows(it, name)).count());
        let once = of_texts(&after(&package, &done.changes));
        let setters = Setters::read(&once);
        let again = set.compute(&setters).unwrap();
        prop_assert_eq!(after(&once, &again.changes), texts(&once));
        // And every field holds what its setters say.
        old[name] = new;
        for (at, it) in fields.iter().enumerate().filter(|(_, it)| follows(it, name)) {
            let path = format!("spec.f{at}").parse().unwrap();
            let node = once.files()[1].file().unwrap().document(0).unwrap().find(&path).unwrap();
            let scalar = node.as_scalar().unwrap();
            prop_assert_eq!(Some(scalar.value().into_owned()), expected(it, &old), "f{}", at);
        }
    }

    #[test]
    fn untouched_stays(old in values(), fields in sketches(), name in 0..NAMES.len(), new in value(), crlf: bool) {
        let package = package(&old, &fields, crlf);
        let setters = Setters::read(&package);
        let listed = ListSetters { name: Some(NAMES[name].to_owned()), unused: false }.compute(&setters);
        let mut allowed: BTreeSet<(String, usize)> = listed.setters[0]
            .fields
            .iter()
            .map(|it| (it.file.display_path.clone(), it.node.position().line as usize))
            .collect();
        let home = listed.setters[0].setter.location.unwrap();
        // The value of a definition stands four lines below its key.
        allowed.insert((home.file.display_path.clone(), home.node.position().line as usize + 4));
        let done = SetValues::new(NAMES[name]).to(new).compute(&setters).unwrap();
        for ((path, before), (_, after)) in texts(&package).iter().zip(after(&package, &done.changes)) {
            let (before, after): (Vec<&str>, Vec<&str>) = (before.split('\n').collect(), after.split('\n').collect());
            prop_assert_eq!(before.len(), after.len(), "{:?}", after);
            for (at, (before, after)) in before.iter().zip(&after).enumerate() {
                if before != after {
                    prop_assert!(allowed.contains(&(path.clone(), at + 1)), "{path}:{}: {after}", at + 1);
                    let comment = |line: &str| line.rsplit_once(" # ").map(|(_, words)| words.to_owned());
                    prop_assert_eq!(comment(before), comment(after));
                }
            }
        }
    }

    #[test]
    fn created_and_deleted_is_as_before(old in values(), fields in sketches(), form in 0..2_usize, crlf: bool) {
        let package = package(&old, &fields, crlf);
        let form = [ReferenceSyntax::OpenApi, ReferenceSyntax::Ref][form];
        let create = CreateSetter {
            name: "new".to_owned(), value: Some("word".to_owned()), field: None, set_by: None,
            description: Some("what: it is".to_owned()), schema_type: Some("string".to_owned()), schema: None,
            required: true, form,
        };
        let created = create.compute(&Setters::read(&package)).unwrap();
        let there = of_texts(&after(&package, &created.changes));
        let setters = Setters::read(&there);
        prop_assert_eq!(setters.reached_by("new").len(), created.fields.len());
        let deleted = DeleteDefinition::setter("new").compute(&setters).unwrap();
        prop_assert_eq!(after(&there, &deleted.changes), texts(&package));
    }

    #[test]
    fn there_and_back_is_as_before(fields in sketches(), given in values()) {
        let lines: String = (0..fields.len()).map(|at| {
            let style = if at % 2 == 0 { 0 } else { 1 };
            format!("  f{at}: {}\n", quoted(&format!("v{at}"), style))
        }).collect();
        let text = format!("apiVersion: v1\nkind: Config\nspec:\n{lines}");
        let head = "apiVersion: kpt.dev/v1\nkind: Kptfile\n".to_owned();
        let mut package = of_texts(&[("Kptfile".to_owned(), head), ("a.yaml".to_owned(), text)]);
        for (at, value) in given.iter().enumerate() {
            let create = CreateSetter {
                name: NAMES[at].to_owned(), value: Some(format!("v{at}")), field: None, set_by: None,
                description: None, schema_type: None, schema: None, required: false, form: ReferenceSyntax::OpenApi,
            };
            let made = after(&package, &create.compute(&Setters::read(&package)).unwrap().changes);
            package = of_texts(&made);
            let set = SetValues::new(NAMES[at]).to(value.clone());
            package = of_texts(&after(&package, &set.compute(&Setters::read(&package)).unwrap().changes));
        }
        let go = |package: &Package, to| {
            let done = MigrateSetters { to }.compute(&Setters::read(package)).unwrap();
            prop_assert!(done.losses.is_empty(), "{:?}", done.losses);
            Ok(of_texts(&after(package, &done.changes)))
        };
        let there = go(&package, Dialect::KptSet)?;
        let back = go(&there, Dialect::OpenApi)?;
        prop_assert_eq!(texts(&back), texts(&package));
    }

    #[test]
    fn a_reference_reads_the_same_without_the_words_around_it(
        parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..14),
        rest in "\\PC{0,12}",
    ) {
        let comment = format!("# {}{rest}", parts.concat());
        if let ParsedComment::Reference(found) = parse_reference(&comment) {
            let ParsedComment::Reference(alone) = parse_reference(&comment[found.range.clone()]) else {
                return Err(TestCaseError::fail(format!("{comment:?} lost its reference")));
            };
            prop_assert_eq!((alone.form, alone.target), (found.form, found.target), "{:?}", comment);
        }
    }

    #[test]
    fn what_a_pattern_was_filled_with_is_read_back(
        text in "[a-c${}:-]{0,12}", values in prop::collection::vec("[a-c:-]{0,4}", 3),
    ) {
        if let Ok(pattern) = Pattern::with_names(&text) {
            let value = |name: &str| Some(values[name.len() % 3].clone());
            let filled = pattern.fill(value).unwrap();
            match pattern.derive(&filled, |_| None) {
                Ok(read) => {
                    let all = read.iter().all(|(name, read)| value(name).as_ref() == Some(read));
                    prop_assert!(all, "{:?} of {}", read, filled);
                }
                Err(DeriveError::NoMatch) => return Err(TestCaseError::fail("it was made from it")),
                Err(_) => {}
            }
        }
    }
}
