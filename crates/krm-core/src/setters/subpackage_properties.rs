//! Property tests of setters that reach subpackages, of free markers, and of schema files.

use proptest::prelude::*;

use super::*;
use crate::Package;

const NAMES: [&str; 3] = ["a", "b", "c"];
const ROOTS: [&str; 3] = ["", "sub/", "sub/deep/"];

/// Words of schemas: keywords, types, and what is neither.
const WORDS: [&str; 12] = [
    "type",
    "items",
    "maximum",
    "int",
    "integer",
    "array",
    "allOf",
    "x-k8s-cli",
    "x-note",
    "5",
    "enum",
    "typo",
];

/// Which packages have a value for which setter, and the fields of each package as lists of markers.
#[derive(Clone, Debug)]
struct Tree {
    values: [[bool; NAMES.len()]; ROOTS.len()],
    fields: Vec<(usize, Vec<usize>)>,
}

fn trees() -> impl Strategy<Value = Tree> {
    let values = prop::array::uniform3(prop::array::uniform3(any::<bool>()));
    let field = (0..ROOTS.len(), prop::collection::vec(0..NAMES.len(), 1..3));
    (values, prop::collection::vec(field, 1..8))
        .prop_map(|(values, fields)| Tree { values, fields })
}

/// A tree of kpt packages in which every setter is called like its value.
fn package(tree: &Tree) -> Package {
    let mut files = Vec::new();
    for (at, root) in ROOTS.iter().enumerate() {
        let mut kptfile =
            String::from("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\n");
        let own: Vec<&str> = NAMES
            .iter()
            .enumerate()
            .filter(|(name, _)| tree.values[at][*name])
            .map(|(_, it)| *it)
            .collect();
        if !own.is_empty() {
            kptfile += "pipeline:\n  mutators:\n  - image: apply-setters:v0.2\n    configMap:\n";
            own.iter().for_each(|name| kptfile += &format!("      {name}: {name}\n"));
        }
        let mut text = String::from("apiVersion: v1\nkind: Config\nmetadata:\n  name: c\nspec:\n");
        for (number, (_, markers)) in tree.fields.iter().enumerate().filter(|(_, it)| it.0 == at) {
            let names: Vec<&str> = markers.iter().map(|name| NAMES[*name]).collect();
            let pattern: Vec<String> = names.iter().map(|name| format!("${{{name}}}")).collect();
            text += &format!("  f{number}: {} # kpt-set: {}\n", names.join("-"), pattern.join("-"));
        }
        files.push((format!("{root}Kptfile"), kptfile));
        files.push((format!("{root}f.yaml"), text));
    }
    of_texts(&files)
}

fn of_texts(texts: &[(String, String)]) -> Package {
    let file =
        |(path, text): &(String, String)| PackageFile::from_text(path, text.clone()).unwrap();
    Package::new(texts.iter().map(file).collect())
}

fn after(package: &Package, changes: &Changes<'_>) -> Vec<(String, String)> {
    let new = changes.texts().unwrap();
    let text = |file: &PackageFile| {
        let changed = new.iter().find(|(name, _)| *name == file.display_path);
        let old = || file.file().unwrap().text().to_owned();
        (file.display_path.clone(), changed.map_or_else(old, |(_, text)| text.clone()))
    };
    package.files().iter().map(text).collect()
}

/// The texts after the pipeline of one package, which sees the files of the packages inside it.
fn render(texts: &[(String, String)], root: &str) -> Vec<(String, String)> {
    let package = of_texts(texts);
    let kptfile = package.files().iter().find(|it| it.display_path == format!("{root}Kptfile"));
    let document = kptfile.unwrap().file().unwrap().document(0).unwrap();
    let data = document.find(&"pipeline.mutators[0].configMap".parse().unwrap());
    let Some(data) = data else { return texts.to_vec() };
    let apply = ApplySetters::new(kptfile.unwrap(), data).unwrap();
    let text = |file: &PackageFile| {
        let is_seen = file.display_path.starts_with(root) && file.path.name() != "Kptfile";
        let new = is_seen.then(|| apply.compute(file).unwrap().changes.text(file).unwrap());
        let old = || file.file().unwrap().text().to_owned();
        (file.display_path.clone(), new.flatten().unwrap_or_else(old))
    };
    package.files().iter().map(text).collect()
}

/// The fields that name a setter, in the packages that its value in the root package reaches.
fn naming(tree: &Tree, name: usize) -> usize {
    let names = |it: &&(usize, Vec<usize>)| it.1.contains(&name);
    let is_known = tree.values[0][name] || tree.fields.iter().filter(names).any(|it| it.0 == 0);
    let has_function = tree.values[0].contains(&true);
    let is_reached =
        |it: &&(usize, Vec<usize>)| names(it) && (it.0 == 0 || is_known && has_function);
    tree.fields.iter().filter(is_reached).count()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn setters_of_a_pipeline_reach_all_fields_below(tree in trees(), name in 0..NAMES.len()) {
        let package = package(&tree);
        let setters = Setters::read(&package);
        if let Ok(done) = SetValues::new(NAMES[name]).to("new").compute(&setters) {
            prop_assert_eq!(done.fields(), naming(&tree, name));
            prop_assert_eq!(setters.fields_of(NAMES[name]).len(), naming(&tree, name));
            let once = of_texts(&after(&package, &done.changes));
            let again = SetValues::new(NAMES[name]).to("new").compute(&Setters::read(&once)).unwrap();
            prop_assert_eq!(after(&once, &again.changes), after(&once, &Changes::default()));
        }
    }

    #[test]
    fn rendering_after_set_changes_nothing(tree in trees(), name in 0..NAMES.len()) {
        let package = package(&tree);
        let done = SetValues::new(NAMES[name]).to("new").compute(&Setters::read(&package));
        if let (Ok(done), true) = (done, tree.values[0][name]) {
            let set = after(&package, &done.changes);
            // Subpackages run before their parents.
            let rendered = ROOTS.iter().rev().fold(set.clone(), |texts, root| render(&texts, root));
            prop_assert_eq!(rendered, set);
        }
    }

    #[test]
    fn renaming_there_and_back_restores_the_package(tree in trees(), name in 0..NAMES.len()) {
        let package = package(&tree);
        let (from, to) = (NAMES[name].to_owned(), "other".to_owned());
        let rename = RenameSetter { from: from.clone(), to: to.clone() };
        if let Ok(renamed) = rename.compute(&Setters::read(&package)) {
            prop_assert_eq!(renamed.fields.len(), naming(&tree, name));
            let there = of_texts(&after(&package, &renamed.changes));
            let back = RenameSetter { from: to, to: from }.compute(&Setters::read(&there)).unwrap();
            prop_assert_eq!(after(&there, &back.changes), after(&package, &Changes::default()));
        }
    }

    #[test]
    fn renamed_markers_fill_like_the_free_ones(text in "[A-Ca-c_:${}-]{0,16}") {
        if let Ok(pattern) = Pattern::with_capitals(&text) {
            let named = pattern.renamed(str::to_lowercase);
            let value = |name: &str| Some(format!("<{}>", name.to_lowercase()));
            prop_assert_eq!(pattern.fill(value), named.fill(value));
        }
    }

    #[test]
    fn accepted_schema_is_written_and_read_again(words in prop::collection::vec((prop::sample::select(&WORDS[..]), prop::sample::select(&WORDS[..]), 0..3_usize), 0..5)) {
        let line = |(key, value, style): &(&str, &str, usize)| match style {
            0 => format!("{key}: {value}\n"),
            1 => format!("{key}: {{{value}: {key}}}\n"),
            _ => format!("{key}: [{value}]\n"),
        };
        let text: String = words.iter().map(line).collect();
        let schema = PackageFile::from_text("schema.yaml", text).unwrap();
        let krmfile = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\n".to_owned();
        let package = of_texts(&[("Krmfile".to_owned(), krmfile)]);
        let create = CreateSetter {
            name: "new".to_owned(), value: Some("5".to_owned()), field: None, set_by: None, description: None,
            schema_type: None, schema: Some(&schema), required: false, syntax: None,
        };
        if schema.errors().is_empty() && let Ok(created) = create.compute(&Setters::read(&package)) {
            let made = of_texts(&after(&package, &created.changes));
            let setters = Setters::read(&made);
            prop_assert!(setters.errors().is_empty(), "{:?}", setters.errors());
            prop_assert!(setters.definitions().setter("new").is_some());
            prop_assert!(made.files()[0].errors().is_empty());
        }
    }
}
