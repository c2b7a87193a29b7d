//! What is reported as a change of values, of comments and of formatting.

use super::*;
use krm_yaml::File;

/// The changes as lines: `+ path`, `- path`, `~ path`, `% path` for an order, `# path`, and the kind of formatting.
fn lines(old: &str, new: &str) -> Vec<String> {
    let files = [old, new].map(|text| File::parse(text.to_owned()).unwrap());
    let [old, new] = [&files[0], &files[1]].map(|file| file.document(0).unwrap().root().unwrap());
    let found = Differ::default().compare(old, new);
    let sign = |kind| match kind {
        ChangeKind::Added => '+',
        ChangeKind::Removed => '-',
        ChangeKind::Changed => '~',
        ChangeKind::Reordered => '%',
    };
    let fields = found.fields.iter().map(|it| format!("{} {}", sign(it.kind), it.path));
    let comments = found.comments.iter().map(|it| format!("# {} {:?}", it.path, it.new));
    let formats = found.formatting.iter().map(|it| format!("{:?} {}", it.kind, it.path));
    fields.chain(comments).chain(formats).collect()
}

fn assert_no_diff(old: &str, new: &str) {
    assert_eq!(lines(old, new), Vec::<String>::new());
}

#[test]
fn changed_fields_are_reported_by_path() {
    assert_eq!(
        lines("a: {b: 1, c: 2}\nd: x\n", "a: {b: 1, e: 2}\nd: [x]\n"),
        ["- a.c", "+ a.e", "~ d"]
    );
}

#[test]
fn types_are_compared_and_spelling_is_formatting() {
    assert_eq!(lines("a: 1\n", "a: \"1\"\n"), ["~ a"]);
    assert_eq!(lines("a: 0x10\nb: 'x'\n", "a: 16\nb: x\n"), ["ScalarStyle a", "ScalarStyle b"]);
    assert_eq!(lines("a: yes\n", "a: \"yes\"\n"), ["~ a"], "YAML 1.1 reads a boolean");
    assert_eq!(lines("a: null\n", "b: 1\n"), ["- a", "+ b"]);
}

#[test]
fn elements_pair_by_key() {
    let old = "l:\n- {name: a, v: 1}\n- {name: b, v: 1}\n- {name: c, v: 1}\n";
    let new = "l:\n- {name: c, v: 1}\n- {name: d, v: 1}\n- {name: a, v: 2}\n";
    assert_eq!(lines(old, new), ["~ l[name=a].v", "- l[name=b]", "+ l[name=d]", "% l"]);
}

#[test]
fn elements_without_a_key_pair_by_content_then_by_position() {
    let list = |items: &str| format!("l: [{items}]\n");
    assert_eq!(lines(&list("a, b, c, d"), &list("a, x, c, d, e")), ["~ l[1]", "+ l[4]"]);
    assert_eq!(lines(&list("a, b, c"), &list("b, c")), ["- l[0]"]);
    assert_eq!(lines(&list("{x: 1, y: 1}, b"), &list("{x: 1, y: 2}, b")), ["~ l[0].y"]);
    assert_eq!(lines(&list("a, a, a"), &list("a, a")), ["- l[2]"]);
}

#[test]
fn comments_and_formatting_are_reported_separately() {
    let old = "# head\na: 1 # one\nb: {x: 1}\nc: |\n  t\n";
    let new = "# top\nb:\n  x: 1\na: 1\nc: \"t\\n\"\n";
    assert_eq!(
        lines(old, new),
        ["# a []", "#  [\"# top\"]", "CollectionStyle b", "ScalarStyle c", "KeyOrder "]
    );
    assert_eq!(lines("a:   1\n", "a: 1\n"), ["Layout "]);
    assert_no_diff("a: 1 # x\n", "a: 1 # x\n");
}

#[test]
fn aliases_and_merge_keys_are_compared_expanded() {
    assert_eq!(lines("x: &x {a: 1}\ny: *x\n", "x: &x {a: 1}\ny: {a: 1}\n"), ["Alias y"]);
    let merged = "x: &x {a: 1, b: 2}\ny:\n  <<: *x\n  b: 3\n";
    assert_eq!(lines(merged, "x: &x {a: 1, b: 2}\ny:\n  b: 3\n  a: 1\n"), ["Alias y"]);
    assert_eq!(lines(merged, "x: &x {a: 1, b: 2}\ny:\n  b: 3\n  a: 5\n"), ["~ y.a", "Alias y"]);
    assert_eq!(lines("a: 1\na: 2\n", "a: 2\n"), ["Layout "], "the last is in effect");
}

#[test]
fn alias_bombs_and_cycles_end() {
    let bomb = |leaf: &str| {
        let levels: String =
            (1..30).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1)).collect();
        format!("a0: &a0 [{leaf}]\n{levels}")
    };
    assert!(!lines(&bomb("x"), &bomb("y")).is_empty());
    assert_no_diff("&a [*a, {b: *a}]\n", "&a [*a, {b: *a}]\n");
    assert!(!lines("&a [*a, {b: *a}]\n", "&a [*a, {c: *a}]\n").is_empty());
}

#[test]
fn differences_with_endless_paths_end_with_one_of_the_whole() {
    let cycle = |more: &str| format!("d: &d\n  a: *d\n  b: [*d, *d]\n{more}");
    let found = lines(&cycle(""), &cycle("  c: 1\n"));
    assert_eq!(found.last().map(String::as_str), Some("~ "));
    assert!(found.iter().map(String::len).sum::<usize>() < 20_000, "{}", found.len());
}

#[test]
fn long_lists_are_compared_quickly() {
    let scalars = |skip: usize| -> String {
        (0..100_000).filter(|n| n % 1000 != skip).map(|n| format!("- v{}\n", n % 7000)).collect()
    };
    assert_eq!(lines(&scalars(1), &scalars(1)).len(), 0);
    assert!(!lines(&scalars(1), &scalars(2)).is_empty());
    let keyed = |value: usize| -> String {
        (0..100_000).map(|n| format!("- name: n{n}\n  v: {}\n", n / value)).collect()
    };
    assert!(lines(&keyed(1), &keyed(2)).len() > 90_000);
}

#[test]
fn differences_behind_aliases_are_reported_at_each_path() {
    let text = |leaf: &str| format!("x: &x {{a: [{leaf}]}}\ny: *x\nz: [*x, *x]\n");
    assert_eq!(
        lines(&text("1"), &text("2")),
        ["~ x.a[0]", "~ y.a[0]", "~ z[0].a[0]", "~ z[1].a[0]"]
    );
    let moved = "x: &x {a: [1]}\ny: *x\nz: [*x, {a: [1]}]\n";
    assert_eq!(lines(&text("1"), moved), ["Alias z[1]"]);
    assert_eq!(lines("x: &x 'a'\ny: *x\n", "x: &x a\ny: *x\n"), ["ScalarStyle x", "ScalarStyle y"]);
}
