//! Emits scalars in every style that can represent them.

use krm_yaml::ScalarStyle;

use super::super::draw::Draw;
use super::super::model::{Kind, kind_of_plain};

/// The context of a scalar.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalarContext {
    /// In a flow collection.
    pub(crate) flow: bool,
    /// An implicit key, which has one line.
    pub(crate) key: bool,
    /// A block style may be used.
    pub(crate) block: bool,
    /// The column of the parent's entries; less than zero at the root.
    pub(crate) parent: i32,
}

/// A scalar in its style.
#[derive(Debug)]
pub(crate) struct ScalarText {
    pub(crate) style: ScalarStyle,
    /// The text on the first line.
    pub(crate) head: String,
    /// The following lines with their indentation.
    pub(crate) lines: Vec<String>,
    /// Block scalars: the column of the content, and whether line breaks after it count.
    pub(crate) content: Option<(usize, bool)>,
}

fn is_printable(c: char) -> bool {
    matches!(c, '\t' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
        && c != '\u{feff}'
}

/// Whether a string of one line can be written plain.
fn plain(text: &str, context: ScalarContext) -> bool {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return false };
    let second = chars.next();
    let flow_mark = |c: char| context.flow && ",[]{}".contains(c);
    let safe_first = match first {
        '-' | '?' | ':' => second.is_some_and(|c| !c.is_whitespace() && !flow_mark(c)),
        c => !",[]{}#&*!|>'\"%@`".contains(c),
    };
    safe_first
        && text.trim() == text
        && text.chars().all(|c| is_printable(c) && c != '\t' && !flow_mark(c))
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !text.starts_with("---")
        && !text.starts_with("...")
        && kind_of_plain(text) == Kind::Text
        && !(context.key && text == "<<")
}

/// Whether a string can be folded over several lines: no spaces at its line breaks.
fn foldable(text: &str) -> bool {
    let blank = |c: char| c == ' ' || c == '\t';
    let inner = text.split('\n').collect::<Vec<_>>();
    let last = inner.len() - 1;
    inner.iter().enumerate().all(|(at, line)| {
        (at == 0 || !line.starts_with(blank)) && (at == last || !line.ends_with(blank))
    })
}

/// Chooses a style that can represent the string, and writes it.
pub(crate) fn spell(
    draw: &mut Draw<'_>,
    text: &str,
    kind: Kind,
    context: ScalarContext,
) -> ScalarText {
    if kind != Kind::Text {
        return one_line(ScalarStyle::Plain, text.to_owned());
    }
    let printable = text.chars().all(|c| c == '\n' || is_printable(c));
    let many = !context.key;
    let mut ways: Vec<ScalarStyle> = Vec::new();
    if plain(text, context)
        || many && !text.contains('\t') && text.contains('\n') && plain_lines(text, context)
    {
        ways.extend([ScalarStyle::Plain; 4]);
    }
    ways.push(ScalarStyle::DoubleQuoted);
    if printable && (!text.contains('\n') || many && foldable(text)) {
        ways.push(ScalarStyle::SingleQuoted);
    }
    if context.block && printable {
        let many = text.contains('\n');
        ways.extend([ScalarStyle::Literal].repeat(if many { 6 } else { 1 }));
        let deep = text.split('\n').any(|line| line.starts_with([' ', '\t']));
        if !deep && !text.starts_with('\n') {
            ways.extend([ScalarStyle::Folded].repeat(if many { 3 } else { 1 }));
        }
    }
    let indent = " ".repeat(
        (context.parent + 1).max(0) as usize + draw.below(3) + usize::from(context.parent < 0),
    );
    match draw.pick(&ways) {
        ScalarStyle::Plain => folded_lines(
            draw,
            ScalarStyle::Plain,
            text,
            "",
            &indent,
            many && spot_allows_fold(text, context),
        ),
        ScalarStyle::SingleQuoted => {
            let escaped = text.replace('\'', "''");
            folded_lines(draw, ScalarStyle::SingleQuoted, &escaped, "'", &indent, many)
        }
        ScalarStyle::DoubleQuoted => double_quoted(draw, text, &indent, many),
        ScalarStyle::Literal => block(draw, text, context, false),
        ScalarStyle::Folded => block(draw, text, context, true),
    }
}

/// A plain scalar is folded only where no line would start with an indicator.
fn spot_allows_fold(text: &str, context: ScalarContext) -> bool {
    text.split([' ', '\n']).filter(|word| !word.is_empty()).all(|word| plain_word(word, context))
}

fn plain_word(word: &str, context: ScalarContext) -> bool {
    let marks = if context.flow { ",[]{}#:" } else { "#:" };
    word.chars().all(is_printable)
        && !word.contains(|c| marks.contains(c))
        && !word.starts_with(['-', '?', '.', '%'])
}

fn plain_lines(text: &str, context: ScalarContext) -> bool {
    foldable(text)
        && !text.starts_with('\n')
        && !text.ends_with('\n')
        && spot_allows_fold(text, context)
        && plain(
            text.split('\n').next().unwrap_or_default(),
            ScalarContext { key: true, ..context },
        )
        && text.trim() == text
}

fn one_line(style: ScalarStyle, head: String) -> ScalarText {
    ScalarText { style, head, lines: Vec::new(), content: None }
}

/// Plain and single-quoted: a line break of the string is an empty line, a space may become a line break.
fn folded_lines(
    draw: &mut Draw<'_>,
    style: ScalarStyle,
    text: &str,
    quote: &str,
    indent: &str,
    fold: bool,
) -> ScalarText {
    let mut lines = vec![quote.to_owned()];
    let chars: Vec<char> = text.chars().collect();
    for (at, &c) in chars.iter().enumerate() {
        let neighbour = |at: Option<usize>| at.and_then(|at| chars.get(at)).copied();
        let lone = [at.checked_sub(1), Some(at + 1)]
            .map(neighbour)
            .iter()
            .all(|c| c.is_some_and(|c| !c.is_whitespace()));
        if c == '\n' {
            if neighbour(at.checked_sub(1)) != Some('\n') {
                lines.push(String::new());
            }
            lines.push(indent.to_owned());
        } else if c == ' ' && fold && lone && draw.once_in(6) {
            lines.push(indent.to_owned());
        } else {
            lines.last_mut().expect("there is a line").push(c);
        }
    }
    lines.last_mut().expect("there is a line").push_str(quote);
    let count = lines.len();
    for line in &mut lines[1..count.max(2) - 1] {
        if line.trim().is_empty() {
            line.clear();
        }
    }
    let head = lines.remove(0);
    ScalarText { style, head, lines, content: None }
}

fn double_quoted(draw: &mut Draw<'_>, text: &str, indent: &str, many: bool) -> ScalarText {
    let mut lines = vec!["\"".to_owned()];
    for c in text.chars() {
        let line = lines.last_mut().expect("there is a line");
        match c {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str(draw.pick(&["\\n", "\\x0a", "\\u000A"])),
            '\r' => line.push_str("\\r"),
            '\t' => line.push_str("\\t"),
            '\0' => line.push_str("\\0"),
            '\u{7}' => line.push_str("\\a"),
            '\u{1b}' => line.push_str("\\e"),
            '\u{85}' => line.push_str("\\N"),
            '\u{a0}' => line.push_str(draw.pick(&["\\_", "\u{a0}"])),
            '\u{2028}' => line.push_str("\\L"),
            '/' if draw.once_in(8) => line.push_str("\\/"),
            c if is_printable(c) && !draw.once_in(24) => line.push(c),
            c => line.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
        if many && draw.once_in(24) {
            lines.last_mut().expect("there is a line").push('\\');
            lines.push(indent.to_owned());
        }
    }
    // A line that starts with a space of the string would lose it.
    for line in &mut lines[1..] {
        let blank = line[indent.len()..].starts_with([' ', '\t']);
        if blank {
            line.insert(indent.len(), '\\');
        }
    }
    lines.last_mut().expect("there is a line").push('"');
    let head = lines.remove(0);
    ScalarText { style: ScalarStyle::DoubleQuoted, head, lines, content: None }
}

/// Block scalars with the indicators that the string needs, and sometimes with others.
fn block(draw: &mut Draw<'_>, text: &str, context: ScalarContext, fold: bool) -> ScalarText {
    let body = text.trim_end_matches('\n');
    let breaks = text.len() - body.len();
    let chomp = match (body.is_empty(), breaks) {
        (true, 0) => draw.pick(&["-", ""]),
        (false, 0) => "-",
        (false, 1) => draw.pick(&["", "", "", "+"]),
        _ => "+",
    };
    let first = text.split('\n').find(|line| !line.is_empty()).unwrap_or_default();
    let needed = first.starts_with([' ', '\t'])
        || text.split('\n').next().is_some_and(|line| line.trim().is_empty() && !line.is_empty());
    let width = 1 + draw.below(4);
    let parent = context.parent.max(0) as usize;
    let column = if context.parent < 0 { width } else { parent + width };
    let digit = if needed || draw.once_in(8) { width.to_string() } else { String::new() };
    let mut head = String::from(if fold { ">" } else { "|" });
    if draw.once_in(2) {
        head.push_str(&digit);
        head.push_str(chomp);
    } else {
        head.push_str(chomp);
        head.push_str(&digit);
    }
    let indent = " ".repeat(column);
    let mut lines = Vec::new();
    if !body.is_empty() {
        let mut empty = 0;
        for (at, line) in body.split('\n').enumerate() {
            if line.is_empty() {
                empty += 1;
                continue;
            }
            let between = if fold && at > 0 { empty + 1 } else { empty };
            lines.extend(std::iter::repeat_n(String::new(), between));
            empty = 0;
            if fold {
                fold_line(draw, line, &indent, &mut lines);
            } else {
                lines.push(format!("{indent}{line}"));
            }
        }
        lines.extend(std::iter::repeat_n(String::new(), breaks.saturating_sub(1)));
    } else {
        lines.extend(std::iter::repeat_n(String::new(), breaks));
    }
    // An empty line may have spaces, up to the column of the content.
    for line in lines.iter_mut().filter(|line| line.is_empty()) {
        if draw.once_in(12) {
            *line = " ".repeat(draw.below(column + 1));
        }
    }
    let style = if fold { ScalarStyle::Folded } else { ScalarStyle::Literal };
    ScalarText { style, head, lines, content: Some((column, chomp == "+")) }
}

/// One line of a folded scalar, over several lines where single spaces allow it.
fn fold_line(draw: &mut Draw<'_>, line: &str, indent: &str, lines: &mut Vec<String>) {
    let chars: Vec<char> = line.chars().collect();
    let mut current = indent.to_owned();
    for (at, &c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| chars[at]);
        let lone = [before, chars.get(at + 1).copied()]
            .iter()
            .all(|c| c.is_some_and(|c| c != ' ' && c != '\t'));
        if c == ' ' && lone && draw.once_in(4) {
            lines.push(std::mem::replace(&mut current, indent.to_owned()));
        } else {
            current.push(c);
        }
    }
    lines.push(current);
}
