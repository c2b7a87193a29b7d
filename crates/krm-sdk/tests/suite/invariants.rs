//! Invariants of streams, tested with random lists and random changes.

use krm_core::print::json;
use krm_sdk::stream::Stream;
use krm_sdk::{Resource, ResourceList};
use krm_yaml::Value;
use proptest::prelude::*;

/// Resources in many styles.
const ITEMS: [&str; 9] = [
    "apiVersion: v1\nkind: A\nmetadata:\n  name: a # comment\n",
    "# above\napiVersion: v1 # beside\nkind: B\nspec:\n    wide:\n    - x\n\n    # inside\n    - y\n# below\n",
    "apiVersion: v1\nkind: C\ndata:\n  text: |\n    one\n\n      two\n  # after\n  other: >-\n    folded\n    text\n",
    "{apiVersion: v1, kind: D, x: [1,  2]}\n",
    "{\"apiVersion\": \"v1\",\n  \"kind\": \"E\",\n  \"x\": {\"y\": null}}\n",
    "apiVersion: v1\nkind: F\na: &a {b: c}\nd: *a\n",
    "apiVersion: 'v1'\nkind: \"G\"\nlast: |+\n  keeps\n\n",
    "apiVersion: v1\nkind: H\nmetadata:\n  annotations:\n    internal.config.kubernetes.io/path: a.yaml\n    internal.config.kubernetes.io/index: '3'\n    mine: 'yes' # c\n",
    "apiVersion: v1\nkind: I\n\n\nx: \"two\n  lines\"\n",
];

#[derive(Clone, Debug)]
enum Form {
    Block(usize),
    Flow,
    Documents,
}

#[derive(Clone, Debug)]
enum Change {
    Set(usize),
    Remove(usize),
    Insert(usize, usize),
    Swap(usize, usize),
}

fn text(form: &Form, items: &[usize]) -> String {
    let head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n";
    match form {
        Form::Documents => items.iter().map(|at| ITEMS[*at]).collect::<Vec<_>>().join("---\n"),
        Form::Flow => {
            let each = |at: &usize| {
                json::display(&Value::Node(Resource::parse(ITEMS[*at]).unwrap().root()))
            };
            let items: Vec<String> = items.iter().filter(|at| **at != 7).map(each).collect();
            format!(
                "{{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n  {}\n]}}\n",
                items.join(",\n  ")
            )
        }
        Form::Block(indent) => {
            let lead = " ".repeat(*indent);
            let mut out = format!("{head}items:{}\n", if items.is_empty() { " []" } else { "" });
            for at in items {
                let mut is_first = true;
                for line in ITEMS[*at].lines() {
                    let mark = match (is_first && !line.starts_with('#'), is_first) {
                        (true, _) => "- ",
                        (_, true) => "",
                        _ => "  ",
                    };
                    is_first = is_first && line.starts_with('#');
                    match line {
                        "" => out.push('\n'),
                        line => out.push_str(&format!("{lead}{mark}{line}\n")),
                    }
                }
            }
            out + "functionConfig: {kind: X} # end\n"
        }
    }
}

fn apply(list: &mut ResourceList, changes: &[Change]) {
    for change in changes {
        let count = list.items.len();
        match *change {
            Change::Set(at) if at < count => list.items[at].set("spec.set", 1).unwrap(),
            Change::Remove(at) if at < count => drop(list.items.remove(at)),
            Change::Insert(at, what) if at <= count => {
                list.items.insert(at, Resource::parse(ITEMS[what].replace("krm-id", "x")).unwrap());
            }
            Change::Swap(a, b) if a < count && b < count => list.items.swap(a, b),
            _ => {}
        }
    }
}

fn meanings(list: &ResourceList) -> Vec<String> {
    list.items.iter().map(|it| json::display(&Value::Node(it.root()))).collect()
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0..6_usize).prop_map(Change::Set),
        (0..6_usize).prop_map(Change::Remove),
        (0..6_usize, 0..ITEMS.len()).prop_map(|(at, what)| Change::Insert(at, what)),
        (0..6_usize, 0..6_usize).prop_map(|(a, b)| Change::Swap(a, b)),
    ]
}

fn form() -> impl Strategy<Value = Form> {
    prop_oneof![(0..5_usize).prop_map(Form::Block), Just(Form::Flow), Just(Form::Documents),]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn round_trip(form in form(), items in prop::collection::vec(0..ITEMS.len(), 0..6)) {
        let text = text(&form, &items);
        let (stream, list) = Stream::read(text.clone()).unwrap();
        prop_assert_eq!(stream.write(&list).unwrap(), text);
    }

    #[test]
    fn written_output_is_read_back(
        form in form(),
        items in prop::collection::vec(0..ITEMS.len(), 0..6),
        changes in prop::collection::vec(change(), 0..5),
    ) {
        let text = text(&form, &items);
        let (stream, mut list) = Stream::read(text.clone()).unwrap();
        apply(&mut list, &changes);
        let out = stream.write(&list).unwrap();
        let (again, read) = Stream::read(out.clone()).unwrap();
        // An empty output has no format, so only the resources are compared.
        prop_assert_eq!(meanings(&read), meanings(&list), "{:?}\n{}\n=>\n{}", changes, text, out);
        prop_assert_eq!(again.write(&read).unwrap(), out);
    }
}
