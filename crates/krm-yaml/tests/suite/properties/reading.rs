//! Properties of parsing: the bytes are kept, and the tree means what the text means.

use granit_parser::{Event, Parser, ScalarStyle as Style, StructureStyle};
use krm_yaml::{CollectionStyle, File, NodeKind, NodeRef, ReadOptions, ScalarStyle};

use super::emit::Sample;
use super::model::Tree;
use super::{Verdict, ensure};

/// Property `round_trip`: the text is returned unchanged, and the documents cover it.
pub(crate) fn round_trip(text: &str) -> Verdict {
    let file = File::parse(text.to_owned()).map_err(|error| format!("not read: {error}"))?;
    let mut at = 0;
    for document in file.documents() {
        let span = document.span();
        ensure!(
            span.start == at,
            "document {} begins at {} and not at {at} in {text:?}",
            document.index(),
            span.start
        );
        at = span.end;
        for comment in document.comments() {
            ensure!(
                comment.text.starts_with('#'),
                "{:?} is not a comment in {text:?}",
                comment.text
            );
        }
    }
    let is_covered = file.documents().len() == 0 || at as usize == text.len();
    ensure!(is_covered, "the documents end at {at} of {} in {text:?}", text.len());
    ensure!(file.into_text() == text, "the text changed: {text:?}");
    Ok(())
}

/// Property `same_meaning` for a text with a known meaning.
pub(crate) fn known_meaning(sample: &Sample) -> Verdict {
    let text = &sample.text;
    let file = File::parse(text.clone()).map_err(|error| format!("not read: {error}"))?;
    if let Some(error) = file.errors().next() {
        return Err(format!("refused: {error} in\n{text}\n{text:?}"));
    }
    let count = file.documents().len();
    ensure!(
        count == sample.documents.len(),
        "{count} documents, {} written in\n{text}\n{text:?}",
        sample.documents.len()
    );
    for (document, wanted) in file.documents().zip(&sample.documents) {
        let root = document.root().ok_or_else(|| format!("no root in {text:?}"))?;
        let difference = wanted.difference(&Tree::read(root));
        ensure!(difference.is_none(), "{} in\n{text}\n{text:?}", difference.unwrap_or_default());
    }
    let found: Vec<&str> = file
        .documents()
        .flat_map(|document| document.comments())
        .map(|comment| comment.text)
        .collect();
    let written: Vec<&str> = sample.comments.iter().map(|remark| remark.text.as_str()).collect();
    ensure!(found == written, "comments {found:?}, written {written:?} in\n{text}\n{text:?}");
    Ok(())
}

/// Property `same_meaning` for any text: the library accepts what the parser accepts, with the same events. By default it accepts more; the
/// properties with Kubernetes' reader check that.
pub(crate) fn same_as_parser(text: &str) -> Verdict {
    let file = File::parse(text.to_owned()).map_err(|error| format!("not read: {error}"))?;
    let error = file.errors().next().map(|error| error.to_string());
    match (parser_events(text), error) {
        (Err(_), Some(_)) => Ok(()),
        (Err(theirs), None) => {
            let strict = ReadOptions { strict: true, ..ReadOptions::default() };
            let file = File::parse_with(text.to_owned(), strict).map_err(|why| why.to_string())?;
            ensure!(file.errors().next().is_some(), "accepted, but: {theirs} in {text:?}");
            Ok(())
        }
        (Ok(_), Some(ours)) => Err(format!("the parser accepts it, but: {ours} in {text:?}")),
        (Ok(theirs), None) => {
            let mut ours = Vec::new();
            for document in file.documents() {
                if let Some(root) = document.root() {
                    walk(root, &mut ours);
                }
            }
            for (at, (own, their)) in ours.iter().zip(&theirs).enumerate() {
                let same = own == their || is_last_line_without_break(text, own, their);
                ensure!(same, "event {at}: {own:?}, the parser says {their:?} in {text:?}");
            }
            ensure!(
                ours.len() == theirs.len(),
                "{} events, the parser has {} in {text:?}",
                ours.len(),
                theirs.len()
            );
            Ok(())
        }
    }
}

/// Property `quick_is_thorough`: the result of the fast parser is exactly that of the complete parser.
pub(crate) fn quick_is_thorough(text: &str) -> Verdict {
    let read = |thorough| {
        let options = ReadOptions { thorough, ..ReadOptions::default() };
        File::parse_with(text.to_owned(), options).map_err(|error| format!("not read: {error}"))
    };
    let (quick, thorough) = (read(false)?, read(true)?);
    ensure!(
        quick == thorough,
        "read quickly as {}\nthoroughly as {}\nin {text:?}",
        tables(&quick),
        tables(&thorough)
    );
    Ok(())
}

/// Property `document_as_file_equals_its_parsed_text`: a document that is taken out of its file equals the result of parsing its text.
pub(crate) fn document_as_file_equals_its_parsed_text(text: &str) -> Verdict {
    let file = File::parse(text.to_owned()).map_err(|error| format!("not read: {error}"))?;
    for document in file.documents() {
        let content = document.content_span();
        let (first, last) = (content.start as usize, content.end as usize);
        let lines = first..last.min(first + 40);
        let starts = lines.filter(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n');
        for start in starts.take(2).chain([first]) {
            let rest = &text[start..last];
            let trimmed = rest.trim_end().len();
            for end in [rest.len(), trimmed, (trimmed + 1).min(rest.len())] {
                let Some(part) = rest.get(..end) else { continue };
                let alone = document.to_file(start as u32, part.to_owned());
                let again = File::parse(part.to_owned());
                ensure!(alone == again, "{part:?} at {start} is not the same alone in {text:?}");
            }
        }
    }
    Ok(())
}

fn tables(file: &File) -> String {
    let report = format!("{file:#?}");
    // The rows of the table as lines.
    report.split_whitespace().collect::<Vec<_>>().join(" ").replace("Node {", "\nNode {")
}

/// Spec: a last line of a block scalar that ends the file without a line break has none to keep
/// (8.1.1.2), and Kubernetes readers agree; the parser library adds one.
fn is_last_line_without_break(text: &str, own: &PlainEvent, their: &PlainEvent) -> bool {
    let (PlainEvent::Scalar(own, style), PlainEvent::Scalar(their, their_style)) = (own, their)
    else {
        return false;
    };
    let is_open = style.is_block() && style == their_style && !text.ends_with(['\n', '\r']);
    is_open && their.strip_suffix('\n') == Some(own)
}

/// An event without its position.
#[derive(Debug, PartialEq)]
enum PlainEvent {
    Scalar(String, ScalarStyle),
    Alias,
    Mapping { flow: bool },
    Sequence { flow: bool },
    End,
}

fn walk(node: NodeRef<'_>, out: &mut Vec<PlainEvent>) {
    let flow = node.collection_style() != CollectionStyle::Block;
    match node.kind() {
        NodeKind::Scalar(style) => {
            let value = node.as_scalar().map(|scalar| scalar.value().into_owned());
            out.push(PlainEvent::Scalar(value.unwrap_or_default(), style));
            return;
        }
        NodeKind::Alias => {
            out.push(PlainEvent::Alias);
            return;
        }
        NodeKind::Mapping => out.push(PlainEvent::Mapping { flow }),
        NodeKind::Sequence => out.push(PlainEvent::Sequence { flow }),
    }
    for child in node.children() {
        walk(child, out);
    }
    out.push(PlainEvent::End);
}

fn parser_events(text: &str) -> Result<Vec<PlainEvent>, String> {
    let depth = usize::from(ReadOptions::default().max_depth);
    let options = granit_parser::options! {
        strict_indentation: false,
        emit_comments: false,
        flow_nesting_limit: depth,
        block_nesting_limit: depth,
    };
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut out = Vec::new();
    while let Some(next) = parser.next_event() {
        let (event, span) = next.map_err(|error| error.to_string())?;
        match event {
            Event::Scalar(value, style, ..) => {
                // Nothing at all is report as `~`.
                let is_nothing =
                    span.start.byte_offset() == span.end.byte_offset() && style == Style::Plain;
                let value = if is_nothing { String::new() } else { value.into_owned() };
                out.push(PlainEvent::Scalar(value, style_of(style)));
            }
            Event::Alias(_) => out.push(PlainEvent::Alias),
            Event::MappingStart(style, ..) => {
                out.push(PlainEvent::Mapping { flow: style == StructureStyle::Flow });
            }
            Event::SequenceStart(style, ..) => {
                out.push(PlainEvent::Sequence { flow: style == StructureStyle::Flow });
            }
            Event::MappingEnd | Event::SequenceEnd => out.push(PlainEvent::End),
            _ => {}
        }
    }
    Ok(out)
}

fn style_of(style: Style) -> ScalarStyle {
    match style {
        Style::Plain => ScalarStyle::Plain,
        Style::SingleQuoted => ScalarStyle::SingleQuoted,
        Style::DoubleQuoted => ScalarStyle::DoubleQuoted,
        Style::Literal => ScalarStyle::Literal,
        Style::Folded => ScalarStyle::Folded,
    }
}
