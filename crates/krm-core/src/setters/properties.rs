//! Property tests of setters: generated packages whose setters are set, created, deleted and migrated.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::reference::{SETTER_PREFIX, SUBSTITUTION_PREFIX};
use super::*;
use crate::Package;

/// Values that could be mistaken for other types or for syntax.
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

/// Parts of references.
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

/// A generated field: the setter it follows, the syntax of its reference, and the style of its value.
#[derive(Clone, Debug)]
struct FieldSpec {
    name: usize,
    syntax: usize,
    style: usize,
}

fn field_specs() -> impl Strategy<Value = Vec<FieldSpec>> {
    let spec = (0..NAMES.len(), 0..7_usize, 0..4_usize)
        .prop_map(|(name, syntax, style)| FieldSpec { name, syntax, style });
    prop::collection::vec(spec, 1..12)
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
        _ => crate::print::json::string(text),
    }
}

/// The line of a field. Its old value need not be that of the setter, because people edit fields by hand.
fn line(at: usize, it: &FieldSpec) -> String {
    let name = NAMES[it.name];
    let reference = match it.syntax {
        0 => format!("{{\"$openapi\":\"{name}\"}}"),
        1 => format!("{{\"$ref\":\"#/definitions/{SETTER_PREFIX}{name}\"}}"),
        2 => format!("{{ \"$kpt-set\" : \"{name}\" }}"),
        3 => format!("text {{\"$openapi\":\"{name}\"}} more text"),
        4 => "{\"$openapi\":\"all\"}".to_owned(),
        5 => "{\"$imagepolicy\": \"x:y\"}".to_owned(),
        _ => "only text".to_owned(),
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
            "    {SETTER_PREFIX}{name}:\n      x-k8s-cli:\n        setter:\n          name: {name}\n          value: {value}\n          isSet: true\n"
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

fn package(values: &[String], fields: &[FieldSpec], crlf: bool) -> Package {
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

/// The texts of a package after changes.
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

/// The value that a field must have.
fn expected(it: &FieldSpec, values: &[String]) -> Option<String> {
    match it.syntax {
        0..=3 => Some(values[it.name].clone()),
        4 => Some(format!("{}-{}", values[0], values[1])),
        _ => None,
    }
}

fn follows(it: &FieldSpec, name: usize) -> bool {
    match it.syntax {
        0..=3 => it.name == name,
        4 => name < 2,
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn set_twice_is_set_once(mut old in values(), fields in field_specs(), name in 0..NAMES.len(), new in value(), crlf: bool) {
        let package = package(&old, &fields, crlf);
        let set = SetValues::new(NAMES[name]).to(new.clone());
        let done = set.compute(&Setters::read(&package)).unwrap();
        prop_assert_eq!(done.fields(), fields.iter().filter(|it| follows(it, name)).count());
        let once = of_texts(&after(&package, &done.changes));
        let setters = Setters::read(&once);
        let again = set.compute(&setters).unwrap();
        prop_assert_eq!(after(&once, &again.changes), texts(&once));
        // Every field has the value of its setters.
        old[name] = new;
        for (at, it) in fields.iter().enumerate().filter(|(_, it)| follows(it, name)) {
            let path = format!("spec.f{at}").parse().unwrap();
            let node = once.files()[1].file().unwrap().document(0).unwrap().find(&path).unwrap();
            let scalar = node.as_scalar().unwrap();
            prop_assert_eq!(Some(scalar.value().into_owned()), expected(it, &old), "f{}", at);
        }
    }

    #[test]
    fn untouched_stays(old in values(), fields in field_specs(), name in 0..NAMES.len(), new in value(), crlf: bool) {
        let package = package(&old, &fields, crlf);
        let setters = Setters::read(&package);
        let listed = ListSetters { name: Some(NAMES[name].to_owned()), unused: false }.compute(&setters);
        let mut allowed: BTreeSet<(String, usize)> = listed.setters[0]
            .fields
            .iter()
            .map(|it| (it.file.display_path.clone(), it.node.position().line as usize))
            .collect();
        let location = listed.setters[0].setter.location.unwrap();
        // The value of a definition is four lines below its key.
        allowed.insert((location.file.display_path.clone(), location.node.position().line as usize + 4));
        let done = SetValues::new(NAMES[name]).to(new).compute(&setters).unwrap();
        for ((path, before), (_, after)) in texts(&package).iter().zip(after(&package, &done.changes)) {
            let (before, after): (Vec<&str>, Vec<&str>) = (before.split('\n').collect(), after.split('\n').collect());
            prop_assert_eq!(before.len(), after.len(), "{:?}", after);
            for (at, (before, after)) in before.iter().zip(&after).enumerate() {
                if before != after {
                    prop_assert!(allowed.contains(&(path.clone(), at + 1)), "{path}:{}: {after}", at + 1);
                    let comment = |line: &str| line.rsplit_once(" # ").map(|(_, comment)| comment.to_owned());
                    prop_assert_eq!(comment(before), comment(after));
                }
            }
        }
    }

    #[test]
    fn deleting_a_created_setter_restores_the_package(old in values(), fields in field_specs(), syntax in 0..2_usize, crlf: bool) {
        let package = package(&old, &fields, crlf);
        let syntax = [ReferenceSyntax::OpenApi, ReferenceSyntax::Ref][syntax];
        let create = CreateSetter {
            name: "new".to_owned(), value: Some("word".to_owned()), field: None, set_by: None,
            description: Some("a: b".to_owned()), schema_type: Some("string".to_owned()), schema: None,
            required: true, syntax: Some(syntax),
        };
        let created = create.compute(&Setters::read(&package)).unwrap();
        let created_package = of_texts(&after(&package, &created.changes));
        let setters = Setters::read(&created_package);
        prop_assert_eq!(setters.fields_of("new").len(), created.fields.len());
        let deleted = DeleteDefinition::setter("new").compute(&setters).unwrap();
        prop_assert_eq!(after(&created_package, &deleted.changes), texts(&package));
    }

    #[test]
    fn migrating_there_and_back_restores_the_package(fields in field_specs(), given in values()) {
        let lines: String = (0..fields.len()).map(|at| {
            let style = if at % 2 == 0 { 0 } else { 1 };
            format!("  f{at}: {}\n", quoted(&format!("v{at}"), style))
        }).collect();
        let text = format!("apiVersion: v1\nkind: Config\nspec:\n{lines}");
        let head = "apiVersion: kpt.dev/v1\nkind: Kptfile\n".to_owned();
        let krmfile = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n".to_owned();
        let files = [("Kptfile", head), ("Krmfile", krmfile), ("a.yaml", text)];
        let mut package = of_texts(&files.map(|(path, text)| (path.to_owned(), text)));
        for (at, value) in given.iter().enumerate() {
            let create = CreateSetter {
                name: NAMES[at].to_owned(), value: Some(format!("v{at}")), field: None, set_by: None,
                description: None, schema_type: None, schema: None, required: false, syntax: Some(ReferenceSyntax::OpenApi),
            };
            let made = after(&package, &create.compute(&Setters::read(&package)).unwrap().changes);
            package = of_texts(&made);
            let set = SetValues::new(NAMES[at]).to(value.clone());
            package = of_texts(&after(&package, &set.compute(&Setters::read(&package)).unwrap().changes));
        }
        let migrate = |package: &Package, to| {
            let done = MigrateSetters { to }.compute(&Setters::read(package)).unwrap();
            prop_assert!(done.losses.is_empty(), "{:?}", done.losses);
            Ok(of_texts(&after(package, &done.changes)))
        };
        let migrated = migrate(&package, Dialect::KptSet)?;
        let back = migrate(&migrated, Dialect::OpenApi)?;
        // kpt-set has no `isSet`: a value is there, or it is not.
        let without_is_set = |package: &Package| {
            let text = |(path, text): (String, String)| (path, text.replace("          isSet: true\n", ""));
            texts(package).into_iter().map(text).collect::<Vec<_>>()
        };
        prop_assert_eq!(texts(&back), without_is_set(&package));
    }

    #[test]
    fn text_around_a_reference_does_not_change_it(
        parts in prop::collection::vec(prop::sample::select(&PARTS[..]), 0..14),
        rest in "\\PC{0,12}",
    ) {
        let comment = format!("# {}{rest}", parts.concat());
        if let ParsedComment::Reference(found) = parse_reference(&comment) {
            let ParsedComment::Reference(alone) = parse_reference(&comment[found.range.clone()]) else {
                return Err(TestCaseError::fail(format!("{comment:?} lost its reference")));
            };
            prop_assert_eq!((alone.syntax, alone.target), (found.syntax, found.target), "{:?}", comment);
        }
    }

    #[test]
    fn derive_returns_the_values_that_filled_the_pattern(
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
                Err(DeriveError::NoMatch) => return Err(TestCaseError::fail("the filled pattern must match")),
                Err(_) => {}
            }
        }
    }
}
