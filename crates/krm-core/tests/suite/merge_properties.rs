//! Properties of merges, each checked with thousands of generated resources and changes.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use krm_core::merge::{MergeOptions, NewItems, OnConflict};
use proptest::prelude::any;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

use crate::merging::checks::{self, Checked, MergeOutcome};
use crate::merging::model::{self, Model};
use crate::merging::{change, emit, three_texts};
use crate::properties::draw::Draw;

/// How many cases a property is checked with, unless `PROPTEST_CASES` is set.
const CASES: u32 = 4_000;

/// Checks a property with many choices: of content, and of style.
pub(crate) fn holds(property: impl Fn(&mut Draw<'_>, &mut Draw<'_>) -> Checked) {
    holds_but_for(1, property);
}

/// The same, where up to this percentage of merges may be refused.
pub(crate) fn holds_but_for(
    percent: u32,
    property: impl Fn(&mut Draw<'_>, &mut Draw<'_>) -> Checked,
) {
    let mut config =
        Config { failure_persistence: None, max_shrink_iters: 4_000, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(0x6d65_7267);
    }
    let (tried, refused) = (Cell::new(0_u32), Cell::new(0_u32));
    let reasons: RefCell<BTreeMap<String, u32>> = RefCell::default();
    let choices = proptest::collection::vec(any::<u8>(), 0..400);
    let outcome = TestRunner::new(config).run(&choices, |bytes| {
        let (style, content) = bytes.split_at(bytes.len() / 4);
        tried.set(tried.get() + 1);
        match property(&mut Draw::new(content), &mut Draw::new(style)) {
            Ok(None) => Ok(()),
            Ok(Some(why)) => {
                *reasons.borrow_mut().entry(why).or_insert(0) += 1;
                refused.set(refused.get() + 1);
                Ok(())
            }
            Err(why) => Err(TestCaseError::fail(why)),
        }
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(why, bytes)) => panic!("{why}\nchoices: {bytes:?}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
    let few = refused.get() * 100 <= tried.get() * percent;
    assert!(few, "{} of {} refused: {:#?}", refused.get(), tried.get(), reasons.borrow());
}

/// Documents of all kinds, with anchors and unusual keys. Most merges of unrelated documents replace nearly everything.
#[test]
fn merge_identity_of_any_documents() {
    holds_but_for(8, |draw, style| {
        let (base, other) =
            (crate::properties::emit::sample(draw), crate::properties::emit::sample(style));
        let texts = [&base.text, &other.text];
        if !texts.iter().all(|text| checks::is_readable(text) && !checks::has_null(text)) {
            return Ok(None);
        }
        checks::merge_identity(texts[0], texts[1])
    });
}

#[test]
fn merge_is_stable_for_any_documents() {
    holds_but_for(8, |draw, style| {
        let (one, other) =
            (crate::properties::emit::sample(draw), crate::properties::emit::sample(style));
        let texts = [&one.text, &other.text];
        if !texts.iter().all(|text| checks::is_readable(text)) {
            return Ok(None);
        }
        checks::two_way_is_stable(texts[0], texts[1], &MergeOptions::default())
    });
}

/// The roots have different types, and head comments are added and removed.
#[test]
fn merge_is_stable_for_any_roots() {
    const ROOTS: [&str; 5] = ["x\n", "x # why\n", "- a\n", "[a]\n", "a: 1\nb: {c: null}\n"];
    const HEADS: [&str; 4] = ["", "# one\n", "# two\n# lines\n", "# apart\n\n"];
    holds(|draw, style| {
        let mut text = || {
            let root = match draw.below(ROOTS.len() + 1) {
                0 => emit::text(&model::resource(draw), style),
                at => ROOTS[at - 1].to_owned(),
            };
            format!("{}{root}", HEADS[draw.below(HEADS.len())])
        };
        let [base, local, upstream] = [text(), text(), text()];
        for on in [OnConflict::Upstream, OnConflict::Local, OnConflict::Mark] {
            if let Some(why) = checks::three_way_is_stable(&base, &local, &upstream, on)? {
                return Ok(Some(why));
            }
        }
        Ok(None)
    });
}

/// `$retainKeys` of a new mapping is not written, so the next merge is the first that applies it.
#[test]
fn merge_is_stable_for_retain_keys_without_a_field_that_the_source_sets() {
    let source = "spec:\n  $retainKeys: [a]\n  b: 1\n  c: 2\n";
    for destination in ["x: 1\n", "spec:\n  c: 2\n  b: 1\n", "spec:\n  a: 1\n  c: 3\n  d: 4\n"] {
        let options = MergeOptions::default();
        assert_eq!(checks::two_way_is_stable(source, destination, &options), Ok(None));
    }
}

/// What upstream renamed and local deleted is found by its position in base, even if local has something else there by now.
#[test]
fn merge_is_stable_if_an_added_document_takes_the_position_of_another() {
    let of = |name: &str| format!("apiVersion: v1\nkind: A\nmetadata: {{name: {name}}}\n");
    let (a, b, new) = (of("a"), of("b"), of("new"));
    let base = format!("{a}---\n{b}---\napiVersion: v2\nkind: A\nx: 1\n");
    let local = format!("{a}---\n{b}---\nmetadata: {{name: other}}\n");
    let upstream = format!("{new}---\n{b}---\n{}x: 3\n", of("changed"));
    let on = OnConflict::Upstream;
    assert_eq!(checks::three_way_is_stable(&base, &local, &upstream, on), Ok(None));
}

/// Documents pair by position where only one side has changed the identity. If the merge removes a document or an identity, the next one
/// pairs others.
#[test]
fn merge_is_stable_unless_documents_pair_by_other_positions() {
    let unnamed = "apiVersion-: v1\nkind: A\nn: a\n---\napiVersion: v1\nkind: A\nm: 1\nx: 1\n";
    let changed = "api: v1\nkind: A\nmetadata: 1\n---\napiVersion: v1\nkind: A\nm: 1\nx: 0\n";
    let named = "apiVersion: v1\nkind: A\nmetadata:\n  name: b\nx: 1\n";
    let upstream = OnConflict::Upstream;
    assert_eq!(checks::three_way_is_stable(unnamed, named, changed, upstream), Ok(None));
    let of = |name: &str| format!("apiVersion: v1\nkind: A\nmetadata: {{name: {name}}}\n---\n");
    let base = format!("{}{}apiVersion: v2\nkind: A\nx: 1\n", of("gone"), of("both"));
    let local = format!("{}{}apiVersion: v1\nkinds: A\nx: 2\n", of("gone"), of("both"));
    let new =
        format!("{}{}apiVersion: v1\nkind: A\nmetadata: {{name: c}}\n", of("new"), of("both"));
    assert_eq!(checks::three_way_is_stable(&base, &local, &new, upstream), Ok(None));
    // An added document moves one without a kind to the position that it had in base.
    let without_kind = "apiVersion: v1\nkinds: A\nmetadata: {name: c}\nx: 2\n";
    let base = format!("{}{}{}", of("a"), of("gone"), of("c"));
    let (local, new) = (format!("{}{without_kind}", of("a")), format!("{}{}", of("a"), of("new")));
    assert_eq!(checks::three_way_is_stable(&base, &local, &new, upstream), Ok(None));
}

/// A scalar with a comment above it is replaced by a collection whose first entry has one.
#[test]
fn merge_is_stable_for_comments_above_a_replaced_scalar() {
    let sources =
        ["list:\n# a\n- name: c3\n", "list:\n  # a\n  name: c3\n", "list: # k\n# a\n- x\n"];
    let destinations = [
        "list:\n# b\n z\n",
        "list:\n# b\n# c\n z # d\n",
        "list: # b\n# c\n z # d\n",
        "list: # b\n z # c\n",
        "list: !!str # b\n# c\n z\n",
        "list: &a !!str\n# b\n\n z\n",
    ];
    for (source, destination) in
        sources.iter().flat_map(|it| destinations.map(|other| (*it, other)))
    {
        let options = MergeOptions::default();
        assert_eq!(checks::two_way_is_stable(source, destination, &options), Ok(None));
        let Ok(MergeOutcome::Merged(merged)) = checks::merge2(source, destination, &options) else {
            panic!("refused");
        };
        checks::comments_survive(source, &merged.text).unwrap();
        if !source.contains("# k") {
            checks::comments_survive(destination, &merged.text).unwrap();
        }
    }
}

/// Such a comment is written behind the dash, where it belongs to the element.
#[test]
fn merge_is_stable_for_comments_above_the_first_entry_of_an_element() {
    let on = OnConflict::Upstream;
    let source = "l:\n- name: n\n  # c\n  b:\n  - y\n";
    for local in ["l:\n- b:\n  - x\n  name: n\n", "l:\n# d\n- b: [x]\n  name: n\n"] {
        let options = MergeOptions::default();
        assert_eq!(checks::two_way_is_stable(source, local, &options), Ok(None));
        for base in ["x: 1\n", "l: []\n", local, source] {
            assert_eq!(checks::three_way_is_stable(base, local, source, on), Ok(None));
        }
    }
}

/// A marker above the first entry of an element begins behind the dash. Another merge before it is resolved keeps all of its lines.
#[test]
fn markers_behind_a_dash_are_kept() {
    let base = "l:\n- name: n\n  a: [1]\n";
    let local = "l:\n- a: [2]\n  name: n\n";
    let upstream = "l:\n- name: n\n  # c\n  a: [3]\n";
    assert_eq!(checks::three_way_is_stable(base, local, upstream, OnConflict::Mark), Ok(None));
    let marked =
        "l:\n- # krm-conflict 1 local:\n  #   2\n  # krm-conflict 1 end\n  a: 3\n  name: n\n";
    let upstream = "l:\n- name: n\n  # c\n  a: 3\n";
    let options = MergeOptions { on_conflict: OnConflict::Mark, ..MergeOptions::default() };
    let merged = checks::merge3_with("l:\n- name: n\n  a: 1\n", marked, upstream, &options);
    let MergeOutcome::Merged(merged) = merged.unwrap() else { panic!("it is merged") };
    assert_eq!(merged.text, marked);
    assert_eq!(merged.warnings[0].id(), "merge-comment-omitted");
}

/// Only Kubernetes reads `---#` as a document marker, and krm does so in files that are not YAML 1.2.
#[test]
fn a_merge_that_joins_documents_is_refused() {
    let removed = "---\napiVersion: v1\nkind: A\nmetadata: {name: a}\nx: \"x\ny\"\n";
    for rest in ["c\n---# d\n", "c\n---# d\ne\n"] {
        let (base, new) = (format!("{rest}{removed}"), rest.replace("---#", "--- #"));
        let merged = checks::merge3(&base, &base, &new, OnConflict::Fail);
        let Ok(MergeOutcome::Refused(why)) = merged else { panic!("{rest:?}") };
        assert_eq!(why, "cannot add or remove documents without changing the others");
    }
}

/// A custom tag is a part of the value: it is added, replaced and removed with it.
#[test]
fn merge_identity_of_values_with_custom_tags() {
    let values = [
        "x",
        "y",
        "'y'",
        "!t x",
        "!t y",
        "!u x",
        "&a !t x",
        "!<tag:x> x",
        "!t\n - x",
        "[x]",
        "!t [x]",
        "!u [y]",
        "\n - y",
        "{b: x}",
        "!t {b: x}",
        "!u {b: y}",
        "\n b: y",
        "!t\n b: y",
        "!t # beside\n b: !u x",
        "|\n  x\n  y",
        "!t |\n  x\n  y",
        "!!str x",
    ];
    for (base, x) in values.iter().flat_map(|base| values.iter().map(move |x| (base, x))) {
        let line = |value: &str| value.replace('\n', "\n ");
        for [base, x] in [
            [format!("a: {base}\n"), format!("a: {x}\n")],
            [format!("- {}\n- z\n", line(base)), format!("- {}\n- z\n", line(x))],
            [format!("--- {base}\n"), format!("--- {x}\n")],
        ] {
            assert_eq!(checks::merge_identity(&base, &x), Ok(None), "{base}---\n{x}");
            let on = OnConflict::Upstream;
            for local in [&base, &x, "a: !v z\n"] {
                let stable = checks::three_way_is_stable(&base, local, &x, on);
                assert_eq!(stable, Ok(None), "{base}---\n{local}---\n{x}");
            }
        }
    }
}

/// In a two-way merge, which has no base, a scalar without a tag may come from a tool that writes none.
#[test]
fn a_two_way_merge_keeps_the_tag_of_a_scalar() {
    for (source, destination, expected) in [
        ("a: y1\n", "a: !t x # c\n", "a: !t y1 # c\n"),
        ("a: !u y1\n", "a: !t x # c\n", "a: !u y1 # c\n"),
        ("a: !t y1\n", "a: !t x # c\n", "a: !t y1 # c\n"),
        ("a: [y1]\n", "a: !t x # c\n", "a: [y1] # c\n"),
        ("a: y1\n", "a: !t [x] # c\n", "a: y1 # c\n"),
    ] {
        let merged = checks::merge2(source, destination, &MergeOptions::default());
        let Ok(MergeOutcome::Merged(merged)) = merged else { panic!("{source}") };
        assert_eq!(merged.text, expected);
    }
}

/// The comment above the first entry becomes the comment of the document.
#[test]
fn merge_is_stable_for_comments_above_the_first_entry_of_a_root() {
    for (source, destination) in [
        ("# a\n\n# b\n- x\n", "y: 1\n"),
        ("# a\n\n# b\n# c\nx: 1\n", "- y\n"),
        ("# a\n\n# b\nx: 1\n", "# b\nx: 2\n"),
        ("# a\n\n# b\n- x\n", "# c\ny: 1\n"),
        ("# a\n\n# b\n- x\n", "y # c\n"),
        ("# a\n\n# b\n- x\n", "# c\n\n# d\ny: 1\n"),
    ] {
        let options = MergeOptions::default();
        assert_eq!(checks::two_way_is_stable(source, destination, &options), Ok(None));
        for base in [source, destination, "z: 1\n"] {
            let on = OnConflict::Upstream;
            assert_eq!(checks::three_way_is_stable(base, destination, source, on), Ok(None));
        }
    }
}

#[test]
fn merge_identity() {
    holds(|draw, style| {
        let [base, local, _] = three_texts(draw, style);
        checks::merge_identity(&base, &local)
    });
}

#[test]
fn merge_identity_of_unrelated_documents() {
    holds(|draw, style| {
        let (base, other) = (model::resource(draw), model::resource(draw));
        checks::merge_identity(&emit::text(&base, style), &emit::text(&other, style))
    });
}

#[test]
fn merge_is_stable() {
    holds(|draw, style| {
        let [base, local, upstream] = three_texts(draw, style);
        for on in [OnConflict::Upstream, OnConflict::Local, OnConflict::Mark] {
            if let Some(why) = checks::three_way_is_stable(&base, &local, &upstream, on)? {
                return Ok(Some(why));
            }
        }
        for new_items in [NewItems::Last, NewItems::First, NewItems::SourceOrder] {
            let options = MergeOptions { new_items, ..MergeOptions::default() };
            if let Some(why) = checks::two_way_is_stable(&upstream, &local, &options)? {
                return Ok(Some(why));
            }
        }
        Ok(None)
    });
}

/// Without merge keys and with nulls as values, which is how the merge driver merges.
#[test]
fn merge_identity_of_the_merge_driver() {
    holds_but_for(8, |draw, style| {
        let [base, local, _] = three_texts(draw, style);
        let options = checks::driver_options(OnConflict::Upstream);
        if let Some(why) = checks::merge_identity_with(&base, &local, &options)? {
            return Ok(Some(why));
        }
        let (base, other) =
            (crate::properties::emit::sample(draw), crate::properties::emit::sample(style));
        let texts = [&base.text, &other.text];
        if !texts.iter().all(|it| checks::is_readable(it) && !checks::has_empty_document(it)) {
            return Ok(None);
        }
        checks::merge_identity_with(texts[0], texts[1], &options)
    });
}

#[test]
fn merge_is_stable_for_the_merge_driver() {
    holds(|draw, style| {
        let [base, local, upstream] = three_texts(draw, style);
        for on in [OnConflict::Upstream, OnConflict::Local, OnConflict::Mark] {
            let options = checks::driver_options(on);
            if let Some(why) = checks::three_way_is_stable_with(&base, &local, &upstream, &options)?
            {
                return Ok(Some(why));
            }
        }
        Ok(None)
    });
}

/// Lists of few different elements, so that both sides change the same ones.
#[test]
fn merge_is_stable_for_sequences() {
    const ELEMENTS: [&str; 7] =
        ["a", "b", "{k: a, x: 1}", "{k: a, x: 2}", "{k: b, x: 1, y: 1}", "null", "[a, b]"];
    holds(|draw, style| {
        let base: Vec<&str> = (0..draw.below(6)).map(|_| draw.pick(&ELEMENTS)).collect();
        let changed = |draw: &mut Draw<'_>| {
            let mut list = base.clone();
            for _ in 0..draw.below(4) {
                let at = draw.below(list.len() + 1);
                match draw.below(3) {
                    0 => list.insert(at, draw.pick(&ELEMENTS)),
                    1 if at < list.len() => drop(list.remove(at)),
                    _ if at < list.len() => list[at] = draw.pick(&ELEMENTS),
                    _ => {}
                }
            }
            list
        };
        let lists = [base.clone(), changed(draw), changed(draw)];
        let [base, local, upstream] = lists.map(|list| match style.below(2) {
            0 => format!("list: [{}]\n", list.join(", ")),
            _ if list.is_empty() => "list: []\n".to_owned(),
            _ => {
                format!("list:\n{}", list.iter().map(|it| format!("- {it}\n")).collect::<String>())
            }
        });
        for on in [OnConflict::Upstream, OnConflict::Local, OnConflict::Mark] {
            for options in [
                checks::driver_options(on),
                MergeOptions { on_conflict: on, ..MergeOptions::default() },
            ] {
                checks::merge_identity_with(&base, &local, &options)?;
                checks::three_way_is_stable_with(&base, &local, &upstream, &options)?;
            }
        }
        checks::two_way_is_stable(&upstream, &local, &MergeOptions::default())
    });
}

#[test]
fn conflicts_are_values() {
    holds(|draw, style| {
        let [base, local, upstream] = three_texts(draw, style);
        checks::all(&base, &local, &upstream)
    });
}

/// One field is added: only its lines change.
#[test]
fn untouched_stays() {
    holds(|draw, style| {
        let base = model::resource(draw);
        let local = change::some(&base, draw, 4);
        let mut upstream = base.clone();
        let Model::Map(entries) = &mut upstream else { return Ok(None) };
        let Model::Map(spec) = &mut entries[3].value else { return Ok(None) };
        let added = model::Entry {
            key: "added".to_owned(),
            value: Model::Number(draw.below(99) as i64),
            above: None,
            beside: None,
        };
        spec.insert(draw.below(spec.len() + 1), added);
        let [base, local, upstream] = [&base, &local, &upstream].map(|it| emit::text(it, style));
        match checks::merge3(&base, &local, &upstream, OnConflict::Upstream)? {
            MergeOutcome::Refused(why) => Ok(Some(why)),
            MergeOutcome::Merged(merged) => {
                // An empty spec in flow style becomes two lines.
                checks::untouched_stays(&local, &merged.text, 2)?;
                checks::comments_survive(&local, &merged.text)?;
                Ok(None)
            }
        }
    });
}

/// A two-way merge with a source that only adds a field keeps everything of the destination, comments included.
#[test]
fn unknown_survives() {
    holds(|draw, style| {
        let local = change::some(&model::resource(draw), draw, 4);
        let added = model::Entry {
            key: "added".to_owned(),
            value: model::value(draw, 2),
            above: Some("theirs".to_owned()),
            beside: None,
        };
        let named = |key: &str, value: Model| model::Entry {
            key: key.to_owned(),
            value,
            above: None,
            beside: None,
        };
        let source = Model::Map(vec![
            named("apiVersion", Model::Text("example.com/v1".to_owned())),
            named("kind", Model::Text("Thing".to_owned())),
            named("metadata", Model::Map(vec![named("name", Model::Text("web".to_owned()))])),
            named("spec", Model::Map(vec![added])),
        ]);
        let (source, destination) = (emit::text(&source, style), emit::text(&local, style));
        match checks::merge2(&source, &destination, &MergeOptions::default())? {
            MergeOutcome::Refused(why) => Ok(Some(why)),
            MergeOutcome::Merged(merged) => {
                checks::comments_survive(&destination, &merged.text)?;
                checks::comments_survive("# theirs\na: 1\n", &merged.text)?;
                // Removing the field again restores the value of the destination.
                let out = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: web}\nspec: {added: null}\n";
                match checks::merge2(out, &merged.text, &MergeOptions::default())? {
                    MergeOutcome::Refused(why) => Ok(Some(why)),
                    MergeOutcome::Merged(back)
                        if checks::same_documents(&back.text, &destination)? =>
                    {
                        Ok(None)
                    }
                    MergeOutcome::Merged(back) => Err(format!(
                        "not the same\n{destination}---\n{}---\n{}",
                        merged.text, back.text
                    )),
                }
            }
        }
    });
}

/// A hundred thousand elements: this ends only if each side is visited once.
#[test]
fn long_lists_are_merged_quickly() {
    let list = |name: &str, value: usize, count: usize| {
        let item = |at: usize| format!("- name: {name}{at}\n  value: {value} # of {at}\n");
        format!("list:\n{}", (0..count).map(item).collect::<String>())
    };
    let count = 100_000;
    let (base, other) = (list("a", 1, count), list("a", 2, count));
    let Ok(MergeOutcome::Merged(merged)) = checks::merge3(&base, &base, &other, OnConflict::Fail)
    else {
        panic!("refused")
    };
    assert_eq!(merged.text, other);
    let options = MergeOptions::default();
    let Ok(MergeOutcome::Merged(merged)) = checks::merge2(&list("b", 3, count), &base, &options)
    else {
        panic!("refused")
    };
    assert_eq!(merged.text, format!("{base}{}", list("b", 3, count).trim_start_matches("list:\n")));
}
