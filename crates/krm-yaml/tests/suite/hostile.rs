//! Hostile input: no panic, no stack overflow, no more than linear time.
//!
//! Nothing is timed: what takes more than linear time on these sizes does not terminate.

use krm_yaml::{Edit, EmptyParents, File, KeyPosition, Path};

/// Parses a text, visits everything in it, and tries to edit it.
fn survives(text: impl Into<String>) {
    let text = text.into();
    let file = File::parse(text.clone()).expect("the text is small enough");
    for document in file.documents() {
        let comments = document.comments().len();
        let Some(root) = document.root() else {
            assert!(document.error().is_some(), "no root and no reason");
            continue;
        };
        let _ = (
            comments,
            root.end(),
            root.text().len(),
            root.path().to_string(),
            document.directives().len(),
        );
        let _ = root.to_value();
        // Every edit writes the whole file, so one edit in the first document and one in the last are enough.
        if (1..file.documents().len() - 1).contains(&document.index()) {
            continue;
        }
        let mut edit = Edit::new(&file);
        let asked = match root.as_mapping() {
            Some(_) => edit.insert_key(root, "new key", "new", KeyPosition::Last),
            None => edit.append(root, "new").or_else(|_| edit.set(root, "new")),
        };
        if asked.is_ok() {
            let _ = edit.apply();
        }
    }
    let _ = krm_yaml::events(&file).len();
    assert_eq!(file.into_text(), text);
}

#[test]
fn deep_nesting_is_refused_without_recursion() {
    for (open, close) in
        [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", ""), ("[{a: ", "}]"), ("!t &a [", "]")]
    {
        survives(open.repeat(100_000));
        survives(format!("{}x{}", open.repeat(100_000), close.repeat(100_000)));
    }
    let stairs: String = (0..2_000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    survives(stairs);
    for mark in [
        "]", "}", ":", ": ", "\"", "'", "&", "*", "!", "|", ">", "%", "---\n", "...\n", "?", ",",
        "\\", "\t", "\u{feff}", "#", "\r", "\u{85}",
    ] {
        survives(mark.repeat(100_000));
        survives(format!("a: {}", mark.repeat(100_000)));
    }
}

#[test]
fn maximum_depth_is_accepted() {
    survives(format!("{}x{}\n", "[".repeat(200), "]".repeat(200)));
    survives(format!("{}x\n", "- ".repeat(200)));
    let stairs: String = (0..200).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    survives(stairs);
}

/// Ten aliases of ten aliases, and so on: a few lines that expand to a billion nodes.
fn bomb(levels: usize) -> String {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..levels {
        let below = format!("*a{}", level - 1);
        text.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            [below.as_str()].repeat(10).join(", ")
        ));
    }
    text
}

#[test]
fn alias_bomb_is_an_error() {
    let file = File::parse(bomb(30)).unwrap();
    let root = file.document(0).unwrap().root().unwrap();
    assert!(root.to_value().is_err(), "thirty levels of ten are too many nodes");
    survives(bomb(30));
    let merges: String =
        (1..2_000).map(|at| format!("m{at}: &m{at}\n  <<: [*m{0}, *m{0}]\n", at - 1)).collect();
    let merges = format!("m0: &m0 {{k: v}}\n{merges}");
    let file = File::parse(merges.clone()).unwrap();
    let document = file.document(0).unwrap();
    let _ = document.find(&"m1999.absent".parse::<Path>().unwrap());
    let _ = document.find(&"m40.absent".parse::<Path>().unwrap());
    survives(merges);
}

#[test]
fn alias_inside_its_own_anchor_terminates() {
    for text in
        ["&a [*a]\n", "&a {k: *a}\n", "a: &a\n  b: *a\n", "&a {<<: *a, k: v}\n", "&a {*a : b}\n"]
    {
        let file = File::parse(text.to_owned()).unwrap();
        if let Some(document) = file.document(0) {
            let _ = document.find(&"a.b.b.b".parse::<Path>().unwrap());
            let _ = document.find(&"absent".parse::<Path>().unwrap());
        }
        survives(text.to_owned());
    }
}

#[test]
fn large_scalars_take_linear_time() {
    let long = "x".repeat(1_000_000);
    survives(format!("a: {long}\n"));
    survives(format!("a: \"{long}\"\n"));
    survives(format!("{long}: a\n"));
    survives(format!("a: |\n  {long}\n"));
    survives(format!("a: >\n{}", "  word\n".repeat(200_000)));
    survives(format!("a: \"{}\"\n", "\\n".repeat(500_000)));
    survives(format!("a: word\n{}", "  word\n".repeat(200_000)));
    survives(format!("a: |+\n  x\n{}", "\n".repeat(500_000)));
    survives(format!("a: '{}'\n", "\n".repeat(500_000)));
    survives(format!("a: {}\n", "9".repeat(1_000_000)));
}

#[test]
fn many_entries_take_linear_time() {
    let keys: String = (0..100_000).map(|at| format!("k{at}: v\n")).collect();
    survives(keys);
    let items: String = (0..100_000).map(|at| format!("- {at} # c\n")).collect();
    survives(items);
    let flow: Vec<String> = (0..100_000).map(|at| at.to_string()).collect();
    survives(format!("[{}]\n", flow.join(", ")));
    survives(format!("{{{}}}\n", flow.join(": x, ")));
    let twins = "k: v\n".repeat(100_000);
    survives(twins);
    let documents = "---\na: b\n".repeat(50_000);
    survives(documents);
    let empty = "---\n".repeat(100_000);
    survives(empty);
    survives("a:\n".repeat(100_000));
}

#[test]
fn many_comments_and_blank_lines_take_linear_time() {
    survives("# comment\n".repeat(200_000));
    survives(format!("a: b\n{}", "# comment\n".repeat(200_000)));
    survives(format!("{}a: b\n", "# comment\n\n".repeat(100_000)));
    survives(format!("a:\n{}  b: c\n", "  # comment\n".repeat(200_000)));
    survives(format!("[\n{}]\n", "# comment\n".repeat(200_000)));
    survives(format!("[\n{}x]\n", "x, # comment\n".repeat(100_000)));
    survives(format!("a: b{}\n", " ".repeat(1_000_000)));
    survives(format!("a: b\n{}c: d\n", "\n".repeat(1_000_000)));
    survives(format!("a: b\n{}c: d\n", "   \n".repeat(300_000)));
    survives(format!("a: b # {}\n", "c".repeat(1_000_000)));
}

#[test]
fn many_edits_take_linear_time() {
    let text: String = (0..20_000).map(|at| format!("k{at}: v # c{at}\n")).collect();
    let file = File::parse(text).unwrap();
    let root = file.document(0).unwrap().root().unwrap();
    let mut edit = Edit::new(&file);
    for (at, entry) in root.as_mapping().unwrap().entries().enumerate() {
        match at % 4 {
            0 => edit.set(entry.value, "other").unwrap(),
            1 => edit.remove(entry.value, EmptyParents::Keep).unwrap(),
            _ => {}
        }
    }
    edit.reorder(root, (0..20_000).rev().collect()).unwrap();
    let new = edit.apply().unwrap();
    assert_eq!(new.lines().count(), 15_000);
    assert!(
        new.starts_with("k19999: v # c19999\nk19998: v # c19998\nk19996: other # c19996\n"),
        "{}",
        &new[..100]
    );
}

#[test]
fn many_inserted_keys_take_linear_time() {
    let file = File::parse("a: b\n".to_owned()).unwrap();
    let root = file.document(0).unwrap().root().unwrap();
    let mut edit = Edit::new(&file);
    for at in 0..5_000 {
        edit.insert_key(root, &format!("k{at}"), "v", KeyPosition::Last).unwrap();
    }
    assert_eq!(edit.apply().unwrap().lines().count(), 5_001);
}
