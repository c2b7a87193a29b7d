//! Small inputs that grow a thousandfold are errors: aliases, setters, values in many fields, and paths deeper than any document.

use std::sync::Arc;

use krm_core::PackageFile;
use krm_core::diff::{diff_resource, field_lines};
use krm_core::merge::{MergeOptions, NamedFile, merge_files};
use krm_core::print::json;
use krm_core::setters::ApplySetters;
use krm_yaml::{Edit, EditErrorKind, ExpansionError, File, Path, Segment, Value};

/// A document of 120 KB whose aliases have 100 MB together. Escapes make every copy of the value own its text.
fn aliases() -> String {
    let long = "x\\t".repeat(50_000);
    let items: String = (0..1_000).map(|at| format!("k{at}: *a\n")).collect();
    format!("a: &a \"{long}\"\n{items}")
}

#[test]
fn aliases_expand_to_a_limited_number_of_bytes() {
    let file = File::parse(aliases()).unwrap();
    let root = file.document(0).unwrap().root().unwrap();
    assert!(matches!(root.to_value(), Err(ExpansionError::Bytes(_))));
    assert_eq!(json::of_node(root).unwrap_err().id(), "alias-expansion-too-large");
    assert!(krm_core::kubernetes_reader::read(root).is_err());
}

#[test]
fn merge_expands_a_limited_number_of_bytes() {
    let file = |text: &str| Arc::new(File::parse(text.to_owned()).unwrap());
    // The destination has an anchor of the same name, so that every alias is expanded.
    let (source, destination) = (file(&aliases()), file("b: &a 1\n"));
    let named = |name, file| NamedFile { name, file };
    let merged = merge_files(
        named("source", &source),
        named("destination", &destination),
        &MergeOptions::default(),
    );
    assert_eq!(merged.unwrap_err().id(), "merge-alias-expansion");
}

#[test]
fn setters_write_a_limited_number_of_bytes() {
    let long = "x".repeat(100_000);
    let config = PackageFile::from_text("config.yaml", format!("data:\n  v: {long}\n")).unwrap();
    let data = config.file().unwrap().get("data").unwrap();
    let apply = ApplySetters::new(&config, data).unwrap();
    let fields: String = (0..400).map(|at| format!("k{at}: v # kpt-set: ${{v}}\n")).collect();
    let file = PackageFile::from_text("a.yaml", fields).unwrap();
    assert!(apply.compute(&file).is_ok());
    // The limit is for all files of a package.
    let errors = apply.compute(&file).unwrap_err();
    assert_eq!(errors.iter().map(|it| it.id()).collect::<Vec<_>>(), ["setter-values-too-large"]);
}

#[test]
fn edit_adds_a_limited_number_of_bytes() {
    let fields: String = (0..2_000).map(|at| format!("k{at}: v\n")).collect();
    let file = File::parse(fields).unwrap();
    let root = file.document(0).unwrap().root().unwrap();
    let mut edit = Edit::new(&file);
    let long = "x".repeat(100_000);
    let error = root
        .as_mapping()
        .unwrap()
        .entries()
        .find_map(|entry| edit.set(entry.value, Value::from(long.as_str())).err());
    assert!(matches!(error.unwrap().kind, EditErrorKind::TooMuchAdded { .. }));
}

#[test]
fn path_deeper_than_any_document_is_rejected() {
    let text = vec!["a"; 10_000].join(".");
    assert_eq!(
        text.parse::<Path>().unwrap_err().kind.to_string().split(',').next(),
        Some("path has more than 512 segments")
    );
    let mut path = Path::default();
    (0..10_000).for_each(|_| path.push(Segment::Key("a".to_owned())));
    let file = File::parse("b: 1\n".to_owned()).unwrap();
    let mut edit = Edit::new(&file);
    let error = edit.set_at(file.document(0).unwrap(), &path, 1).unwrap_err();
    assert!(matches!(error.kind, EditErrorKind::PathTooDeep { limit: 512 }));
    // The longest path that is accepted does not overflow the stack, either.
    let longest: Path = vec!["a"; Path::MAX_SEGMENTS].join(".").parse().unwrap();
    let mut edit = Edit::new(&file);
    edit.set_at(file.document(0).unwrap(), &longest, 1).unwrap();
    assert!(edit.apply().is_err(), "no document has so many levels in block style");
}

/// Without a memory of what was compared, this takes minutes: each alias would be decoded twice, and shown.
#[test]
fn long_values_behind_aliases_are_compared_once() {
    let text = |last: char| {
        let long = "x\\t".repeat(50_000);
        let items: String = (0..20_000).map(|at| format!("k{at}: *a\n")).collect();
        let list: String = (0..2_000).map(|at| format!("l{at}: *l\n")).collect();
        format!(
            "apiVersion: v1\nkind: A\na: &a \"{long}{last}\"\nl: &l [{}]\n{items}{list}b: {last}\n",
            "y, ".repeat(1_000)
        )
    };
    let files = [text('1'), text('2')].map(|text| PackageFile::from_text("a.yaml", text).unwrap());
    let change = diff_resource(Some(&files[0]), Some(&files[1]));
    assert_eq!(change.nodes.fields.len(), 20_002);
    let lines = field_lines(&change, false);
    assert!(lines[20_000].starts_with("~ k19999: \"x\\tx\\t"), "{}", lines[20_000]);
    assert_eq!(lines[20_001], "~ b: 1 → 2");
}
