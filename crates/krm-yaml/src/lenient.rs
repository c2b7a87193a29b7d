//! Parses what Kubernetes' own reader accepts although YAML 1.2 forbids it.
//!
//! The parser library refuses these texts. Instead of a second grammar, it gets a copy of the text in which the offending bytes are
//! replaced by harmless ones: of the same length, so all spans are those of the original. The node table refers to the original, and
//! values are decoded from there. This happens only for files with a syntax error, so valid files do not pay for it. If an error
//! remains, the file is reported as the strict parser sees it.
//!
//! | accepted | replaced in the copy |
//! |---|---|
//! | continuation lines of a quoted scalar that are indented too little, or with a tab | the line break and the indentation by spaces |
//! | a tab in the indentation inside a flow collection | the tab by a space |
//! | a comment without a space before it, also after `---` | the comment by spaces |
//! | `\'` in a double-quoted scalar | both bytes by letters |
//! | `-` as an element of a flow collection | the dash by a letter |

use crate::document::{Document, ParsedBy};
use crate::node::NodeKind;
use crate::parser::{ErrorKind, Parser, ParserError, ReadOptions};
use crate::scalar::is_printable;
use crate::span::{is_blank, is_break};
use crate::table_builder::Builder;

/// The number of parsed bytes after which a text with many violations is refused: each of them needs another pass.
const BUDGET: usize = 1 << 24;

/// The documents of a text that the parser refuses but Kubernetes accepts; `None` if Kubernetes would refuse it, too.
pub(crate) fn read_leniently(text: &str, options: ReadOptions) -> Option<Vec<Document>> {
    let mut copy = text.as_bytes().to_vec();
    let mut budget = BUDGET + 8 * text.len();
    let mut is_changed = blank_marker_comments(&mut copy);
    loop {
        let text_copy = std::str::from_utf8(&copy).ok()?;
        let (builder, error) = parse(text, text_copy, options);
        let Some(error) = error else {
            let mut documents = builder.finish();
            for document in &mut documents {
                document.parsed_by = ParsedBy::Leniently;
            }
            return (is_changed && !has_joined_key(text, &copy, &documents)).then_some(documents);
        };
        budget = budget.checked_sub(error.at as usize + 1)?;
        if !replace(&mut copy, &error, builder.is_in_flow_collection()) {
            return None;
        }
        is_changed = true;
    }
}

/// Parses the copy into the table of the text, up to the first error.
fn parse<'t>(
    text: &'t str,
    copy: &str,
    options: ReadOptions,
) -> (Builder<'t>, Option<ParserError>) {
    let mut builder = Builder::new(text, options);
    let mut parser = Parser::new(copy, options);
    while let Some(next) = parser.next() {
        match next {
            Ok(event) => builder.take(event),
            Err(error) => return (builder, Some(error)),
        }
    }
    (builder, None)
}

/// Replaces the bytes that caused the error. False if Kubernetes does not accept them, or if there is nothing to replace.
fn replace(copy: &mut [u8], error: &ParserError, is_in_flow: bool) -> bool {
    let at = error.at as usize;
    match error.kind {
        ErrorKind::InvalidQuotedScalarIndent | ErrorKind::TabInIndentation => join_lines(copy, at),
        ErrorKind::TabInBlockIndentation if is_in_flow || follows_bracket(copy, at) => {
            blank_indentation(copy, at)
        }
        ErrorKind::CommentNotSeparated => blank_comment(copy, at),
        ErrorKind::UnknownQuotedScalarEscape => replace_escaped_quotes(copy, at),
        ErrorKind::PlainScalarStartsWithDashFlowIndicator => set(copy, at, b'-', b'x'),
        _ => false,
    }
}

fn set(copy: &mut [u8], at: usize, old: u8, new: u8) -> bool {
    let found = copy.get_mut(at).filter(|byte| **byte == old);
    found.map(|byte| *byte = new).is_some()
}

/// Joins the line at `at` with the one above, inside a quoted scalar.
fn join_lines(copy: &mut [u8], at: usize) -> bool {
    let is_space = |byte: &u8| is_blank(*byte) || is_break(*byte);
    let end = at + copy[at..].iter().take_while(|byte| is_space(byte)).count();
    let start = at - copy[..at].iter().rev().take_while(|byte| is_space(byte)).count();
    // After an escaped line break, a space would be escaped instead.
    let is_escaped = copy[..start].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
    let joins = !is_escaped && copy[start..end].iter().any(|byte| *byte != b' ');
    if joins {
        copy[start..end].fill(b' ');
    }
    joins
}

/// Whether a bracket or comma is the last character above. The parser reports a bracket only together with what follows it.
fn follows_bracket(copy: &[u8], at: usize) -> bool {
    let above = copy[..at].iter().rfind(|byte| !is_blank(**byte) && !is_break(**byte));
    above.is_some_and(|byte| b"[{,".contains(byte))
}

/// Replaces the tabs before the content of a line.
fn blank_indentation(copy: &mut [u8], at: usize) -> bool {
    let start = at - copy[..at].iter().rev().take_while(|byte| is_blank(**byte)).count();
    let has_tab = copy[start..at].contains(&b'\t');
    copy[start..at].fill(b' ');
    has_tab
}

fn blank_comment(copy: &mut [u8], at: usize) -> bool {
    let line = copy[..at].iter().rposition(|byte| is_break(*byte)).map_or(0, |end| end + 1);
    if copy.get(at) != Some(&b'#') || copy[line] == b'%' {
        return false;
    }
    let length = copy[at..].iter().take_while(|byte| !is_break(**byte)).count();
    let comment = &mut copy[at..at + length];
    // A control character is an error in every comment, so it must not be hidden.
    let is_allowed = |it: char| it == '\t' || is_printable(it);
    let is_valid = std::str::from_utf8(comment).is_ok_and(|text| text.chars().all(is_allowed));
    if is_valid {
        comment.fill(b' ');
    }
    is_valid
}

/// Compat: Kubernetes splits a file at lines that start with `---#`, too. In valid YAML 1.2 they continue a plain or block scalar, which is
/// why an edit that makes a file valid must verify that it still has the same documents (`edit/other_documents.rs`).
fn blank_marker_comments(copy: &mut [u8]) -> bool {
    let mut found = false;
    let mut line = 0;
    while line < copy.len() {
        if copy[line..].starts_with(b"---#") {
            found |= blank_comment(copy, line + 3);
        }
        line +=
            copy[line..].iter().position(|byte| is_break(*byte)).map_or(copy.len(), |at| at + 1);
    }
    found
}

/// Replaces every `\'` of the double-quoted scalar at `start`.
fn replace_escaped_quotes(copy: &mut [u8], start: usize) -> bool {
    let mut at = start + 1;
    let mut found = false;
    while let Some(&byte) = copy.get(at).filter(|byte| **byte != b'"') {
        if byte == b'\\' && copy.get(at + 1) == Some(&b'\'') {
            copy[at..at + 2].fill(b'x');
            found = true;
        }
        at += if byte == b'\\' { 2 } else { 1 };
    }
    found
}

/// Joined lines could be a key. Compat: Kubernetes refuses implicit keys of several lines, as YAML 1.2 does.
fn has_joined_key(text: &str, copy: &[u8], documents: &[Document]) -> bool {
    documents.iter().flat_map(|document| &document.nodes).any(|node| {
        let is_quoted = matches!(node.kind(), NodeKind::Scalar(style) if style.is_quoted());
        node.is_key() && is_quoted && {
            let span = node.leaf_span();
            let (old, new) = (span.of(text), &copy[span.start as usize..span.end as usize]);
            let is_explicit = text[..span.start as usize].trim_end().ends_with('?');
            old.as_bytes() != new && old.bytes().any(is_break) && !is_explicit
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edit, File, events};

    /// The events of a text, which the strict parser refuses.
    fn accepted(text: &str) -> String {
        let strict = ReadOptions { strict: true, ..ReadOptions::default() };
        let refused = File::parse_with(text.to_owned(), strict).unwrap();
        assert!(refused.errors().next().is_some(), "{text:?}");
        let file = File::parse(text.to_owned()).unwrap();
        assert_eq!(file.errors().next(), None, "{text:?}");
        let lines: Vec<String> = events(&file).lines().map(str::to_owned).collect();
        lines[1..lines.len() - 1].join(" ")
    }

    #[test]
    fn what_kubernetes_accepts_is_read() {
        let cases = [
            ("a: \"x\n  y\nz\"\n", "+DOC +MAP =VAL :a =VAL \"x y z -MAP -DOC"),
            (
                "a:\n  b: 'x\n\n y'\nc: 1\n",
                "+DOC +MAP =VAL :a +MAP =VAL :b =VAL 'x\\ny -MAP =VAL :c =VAL :1 -MAP -DOC",
            ),
            ("a: \"x\n\ty\"\n", "+DOC +MAP =VAL :a =VAL \"x y -MAP -DOC"),
            ("a: [\n\t1,\n\t2\n]\n", "+DOC +MAP =VAL :a +SEQ [] =VAL :1 =VAL :2 -SEQ -MAP -DOC"),
            (
                "a: \"x\"#c\nb: [1]#c\n",
                "+DOC +MAP =VAL :a =VAL \"x =VAL :b +SEQ [] =VAL :1 -SEQ -MAP -DOC",
            ),
            ("a: |#c\n  x\n", "+DOC +MAP =VAL :a =VAL |x\\n -MAP -DOC"),
            ("a: \"it\\'s\"\n", "+DOC +MAP =VAL :a =VAL \"it's -MAP -DOC"),
            ("[-, a]\n", "+DOC +SEQ [] =VAL :- =VAL :a -SEQ -DOC"),
            (
                "a: 1\n---# b\nc: 2\n",
                "+DOC +MAP =VAL :a =VAL :1 -MAP -DOC +DOC --- +MAP =VAL :c =VAL :2 -MAP -DOC",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(accepted(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_kubernetes_refuses_is_an_error() {
        let texts = [
            "\"a\nb\": c\n",
            "x:\n  \"a\nb\": c\n",
            "a: \"x\nb: \"y\"\n",
            "a:\n\tb: 1\n",
            "a: \"\\y\"\n",
            "%YAML 1.2#c\n---\na: 1\n",
            "a: \"x\ny\"\nb\n",
            "a: \"x\"#c\0\n",
            "a: 1\n---# \u{1}\nb: 2\n",
        ];
        for text in texts {
            let file = File::parse(text.to_owned()).unwrap();
            assert!(file.errors().next().is_some(), "{text:?}");
        }
    }

    #[test]
    fn positions_are_those_of_the_text_and_edits_keep_its_bytes() {
        let text = "é: \"x\ny\" #c\nb: 1#d\n---# e\nf: [-]#g\n";
        let file = File::parse(text.to_owned()).unwrap();
        assert_eq!(file.errors().next(), None);
        assert_eq!(file.get("b").unwrap().position().line, 3);
        let comments: Vec<&str> =
            file.documents().flat_map(|document| document.comments()).map(|it| it.text).collect();
        assert_eq!(comments, ["#c", "# e", "#g"]);
        let mut edit = Edit::new(&file);
        edit.set_at(file.document(0).unwrap(), &"b".parse().unwrap(), 2).unwrap();
        edit.set_at(file.document(1).unwrap(), &"h".parse().unwrap(), true).unwrap();
        let expected = text.replace("1#d", "2").replace("#g\n", "#g\nh: true\n");
        assert_eq!(edit.apply().unwrap(), expected);
    }

    #[test]
    fn a_comment_without_a_space_belongs_to_its_entry() {
        let file = File::parse("b: 0\na: []#c\n".to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        let mut edit = Edit::new(&file);
        edit.reorder(root, vec![1, 0]).unwrap();
        assert_eq!(edit.apply().unwrap(), "a: []#c\nb: 0\n");
        let mut edit = Edit::new(&file);
        edit.set(file.get("a").unwrap(), 5).unwrap();
        assert_eq!(edit.apply().unwrap(), "b: 0\na: 5 #c\n");
        let mut edit = Edit::new(&file);
        edit.remove(file.get("a").unwrap(), crate::EmptyParents::Keep).unwrap();
        assert_eq!(edit.apply().unwrap(), "b: 0\n");
        let file = File::parse("[\n  {x: 1},#c\n  {y: 2}#d\n]\n".to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        let mut edit = Edit::new(&file);
        edit.reorder(root, vec![1, 0]).unwrap();
        assert_eq!(edit.apply().unwrap(), "[\n  {y: 2},#d\n  {x: 1}#c\n]\n");
    }

    #[test]
    fn an_error_is_reported_as_the_strict_parser_sees_it() {
        let text = "a: \"x\ny\"\nb: [\n";
        let read = |strict| {
            let options = ReadOptions { strict, ..ReadOptions::default() };
            let file = File::parse_with(text.to_owned(), options).unwrap();
            file.errors().next().map(ToString::to_string)
        };
        assert_eq!(read(false), read(true));
    }

    #[test]
    fn many_violations_are_read_within_the_budget() {
        let text = "- \"x\ny\"\n".repeat(300);
        let file = File::parse(text).unwrap();
        assert_eq!(file.errors().next(), None);
    }
}
