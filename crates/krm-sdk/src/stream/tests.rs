//! Outputs of changed streams.

use super::*;
use crate::{FunctionResult, Resource, ResourceList, Severity};

const HEAD: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n";
const ITEMS: &str = "items:\n# first\n- apiVersion: v1 # one\n  kind: Pod\n  metadata:\n    name: a\n    annotations:\n      internal.config.kubernetes.io/path: 'a.yaml'\n      internal.config.kubernetes.io/index: '0'\n      internal.config.kubernetes.io/id: '1'\n  # tail\n\n- apiVersion:   v1\n  kind: Job\n  metadata: {name: b}\n";

fn edited(text: &str, edit: impl FnOnce(&mut ResourceList)) -> String {
    let (stream, mut list) = Stream::read(text.to_owned()).unwrap();
    edit(&mut list);
    stream.write(&list).unwrap()
}

fn new(name: &str) -> Resource {
    Resource::parse(format!("# new\napiVersion: v1\nkind: New\nmetadata:\n  name: {name} # it\n"))
        .unwrap()
}

#[test]
fn unchanged_items_keep_their_bytes() {
    for text in [
        format!("{HEAD}{ITEMS}functionConfig: {{kind: X}} # c\n"),
        "{\"apiVersion\": \"v1\",\n \"kind\":\"List\",\"items\":[ {\"apiVersion\":\"v1\",\"kind\":\"Pod\"} ]}".to_owned(),
        "# a\napiVersion: v1\nkind: Pod\n---\n\n# b\n---\napiVersion: v1\nkind: Pod\n...\n".to_owned(),
        "apiVersion: v1\nkind: PodList\nitems:\n  - apiVersion: v1\n    kind: Pod\n".to_owned(),
        "[{apiVersion: v1, kind: Pod}]\n".to_owned(),
        "apiVersion: v1\nkind: List\nitems: []\n".to_owned(),
        HEAD.to_owned(),
        String::new(),
    ] {
        assert_eq!(edited(&text, |_| {}), text);
        assert_eq!(edited(&text, |list| list.items = list.items.clone()), text);
    }
}

/// Compat: kpt writes the comments of an item behind its dash.
#[test]
fn comments_behind_the_dash_stay_there() {
    let text = format!(
        "{HEAD}items:\n# above\n- # licence\n  # of it\n  apiVersion: v1\n  kind: A\n-   # deep\n    apiVersion: v1\n    kind: B\n-\n  apiVersion: v1\n  kind: C\n  # foot\n- # d\n  {{apiVersion: v1, kind: D}}\n"
    );
    assert_eq!(edited(&text, |list| list.items = list.items.clone()), text);
    let heads: Vec<String> = (0..4)
        .map(|at| {
            let (_, list) = Stream::read(text.clone()).unwrap();
            let lines = list.items[at].text().lines().map(str::to_owned);
            lines.take_while(|line| line.starts_with('#')).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(heads, ["# above # licence # of it", "# deep", "", "# d"]);
    let out = edited(&text, |list| {
        list.items.iter_mut().for_each(|item| item.set("x", 1).unwrap());
        list.items.push(new("n"));
    });
    let expected = format!(
        "{HEAD}items:\n# above\n- # licence\n  # of it\n  apiVersion: v1\n  kind: A\n  x: 1\n- # deep\n    apiVersion: v1\n    kind: B\n    x: 1\n- apiVersion: v1\n  kind: C\n  x: 1\n  # foot\n- # d\n  {{apiVersion: v1, kind: D, x: 1}}\n# new\n- apiVersion: v1\n  kind: New\n  metadata:\n    name: n # it\n"
    );
    assert_eq!(out, expected);
}

#[test]
fn transport_annotations_are_hidden_from_the_function_and_restored() {
    let text = format!("{HEAD}{ITEMS}");
    let out = edited(&text, |list| {
        assert_eq!(list.items[0].annotations(), []);
        assert_eq!(list.items[0].path().map(|it| it.as_str()), Some("a.yaml"));
        list.items[0].set("spec.x", 1).unwrap();
    });
    let expected = text
        .replace("path: 'a.yaml'", "path: a.yaml")
        .replace("index: '0'", "index: \"0\"")
        .replace("id: '1'\n", "id: \"1\"\n  spec:\n    x: 1\n");
    assert_eq!(out, expected);
}

#[test]
fn items_are_inserted_removed_and_reordered() {
    let text = format!("{HEAD}{ITEMS}functionConfig: {{kind: X}}\n");
    let out = edited(&text, |list| list.items.insert(1, new("n")));
    assert_eq!(
        out,
        text.replace(
            "  # tail\n\n",
            "  # tail\n# new\n- apiVersion: v1\n  kind: New\n  metadata:\n    name: n # it\n"
        )
    );
    let out = edited(&text, |list| list.items.clear());
    assert_eq!(out, format!("{HEAD}items: []\nfunctionConfig: {{kind: X}}\n"));
    let out = edited(&text, |list| drop(list.items.remove(0)));
    assert!(out.starts_with(&format!("{HEAD}items:\n- apiVersion:   v1\n  kind: Job\n")), "{out}");
    let out = edited(&text, |list| list.items.reverse());
    let (job, pod) = (out.find("Job").unwrap(), out.find("# first").unwrap());
    assert!(job < pod && out.contains("id: '1'"), "{out}");
}

#[test]
fn items_are_added_to_empty_lists() {
    for (text, expected) in [
        (HEAD.to_owned(), format!("{HEAD}items:\n# new\n- apiVersion: v1\n  kind: New\n  metadata:\n    name: n # it\n")),
        (format!("{HEAD}items: []\n"), format!("{HEAD}items:\n# new\n- apiVersion: v1\n  kind: New\n  metadata:\n    name: n # it\n")),
        (
            "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": []}".to_owned(),
            "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [{\"apiVersion\":\"v1\",\"kind\":\"New\",\"metadata\":{\"name\":\"n\"}}]}".to_owned(),
        ),
        (String::new(), "# new\napiVersion: v1\nkind: New\nmetadata:\n  name: n # it\n".to_owned()),
    ] {
        assert_eq!(edited(&text, |list| list.items.push(new("n"))), expected, "{text}");
    }
}

#[test]
fn json_keeps_its_formatting() {
    let text = "{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"List\",\n  \"items\": [\n    {\n      \"apiVersion\": \"v1\",\n      \"kind\": \"A\",\n      \"x\": [1,  2]\n    },\n    {\"apiVersion\": \"v1\", \"kind\": \"B\"}\n  ]\n}\n";
    let out = edited(text, |list| list.items[0].set("x", 3).unwrap());
    assert_eq!(out, text.replace("[1,  2]", "3"));
    let out = edited(text, |list| list.items[0].set("metadata.name", "yes").unwrap());
    let added = ",\n      \"metadata\": {\n        \"name\": \"yes\"\n      }\n    },";
    assert_eq!(out, text.replacen("\n    },", added, 1));
    let out = edited(text, |list| drop(list.items.remove(0)));
    assert!(
        out.contains("\"items\": [\n    {\"apiVersion\": \"v1\", \"kind\": \"B\"}\n  ]"),
        "{out}"
    );
    let out = edited(text, |list| list.items.push(new("n")));
    assert!(out.contains("\"B\"},\n    {\"apiVersion\":\"v1\",\"kind\":\"New\""), "{out}");
    let out = edited(text, |list| list.items.clear());
    assert!(out.contains("\"items\": []\n"), "{out}");
}

#[test]
fn documents_are_inserted_removed_and_changed() {
    let text =
        "# a\napiVersion: v1\nkind: A\n--- # second\napiVersion: v1\nkind: B\n---\nnot: one\n";
    let out = edited(text, |list| list.items[1].set("x", 1).unwrap());
    assert_eq!(out, text.replace("kind: B\n", "kind: B\nx: 1\n"));
    assert_eq!(edited(text, |list| drop(list.items.remove(0))), &text[text.find("---").unwrap()..]);
    let out = edited(text, |list| list.items.push(new("n")));
    assert_eq!(
        out,
        format!("{text}---\n# new\napiVersion: v1\nkind: New\nmetadata:\n  name: n # it\n")
    );
    let out = edited(text, |list| list.items.reverse());
    assert!(out.find("kind: B") < out.find("kind: A"), "{out}");
    assert_eq!(Stream::read(out).unwrap().1.items.len(), 2);
}

#[test]
fn results_are_written_by_version_and_only_to_resource_lists() {
    let add_result = |list: &mut ResourceList| {
        let mut result = FunctionResult::new(Severity::Warning, "x");
        result.field = Some(crate::results::FieldRef {
            path: "a".to_owned(),
            current: None,
            proposed: vec![1.into(), 2.into()],
        });
        list.results.push(result);
    };
    let text = format!("{HEAD}items: []\n");
    let out = edited(&text, add_result);
    assert_eq!(
        out,
        format!(
            "{text}results:\n- message: x\n  severity: warning\n  field:\n    path: a\n    proposedValue: 1\n"
        )
    );
    let twice = edited(&out, add_result);
    assert_eq!(twice.matches("- message: x").count(), 2);
    let out = edited(&text.replace("/v1", "/v2alpha1"), add_result);
    assert!(out.contains("proposedValues:\n"), "{out}");
    let list = "apiVersion: v1\nkind: List\nitems: []\n";
    assert_eq!(edited(list, add_result), list);
}

#[test]
fn copy_with_the_same_identity_is_the_update() {
    let text = format!("{HEAD}{ITEMS}");
    let out = edited(&text, |list| {
        let mut copy = list.items[0].clone();
        copy.set("metadata.name", "copy").unwrap();
        list.items.insert(0, copy);
    });
    let (_, list) = Stream::read(out.clone()).unwrap();
    let ids: Vec<bool> = out.split("\n- ").map(|it| it.contains("/id: ")).collect();
    assert_eq!(ids, [false, false, true, false], "{out}");
    assert_eq!(list.items[0].item().index, Some(0));
}

#[test]
fn unreadable_input_is_an_error() {
    for (text, message) in [
        ("kind: List\nitems: 5\n", "expected a sequence in `items`, found an integer"),
        ("kind: List\nitems: [5]\n", "expected a resource in item 0, found an integer"),
        ("kind: List\nitems: [{kind: Pod}]\n", "missing field `apiVersion` in item 0"),
        (
            "kind: ResourceList\nfunctionConfig: 5\n",
            "expected a resource in `functionConfig`, found an integer",
        ),
        ("kind: List\n---\nkind: Pod\n", "found a list among other documents"),
    ] {
        assert_eq!(Stream::read(text.to_owned()).unwrap_err().to_string(), message);
    }
}
