//! Writes trees as YAML in every style, and records what it wrote.
//!
//! It shares no code with the renderer of the library, so that a mistake there is not repeated here.

mod block;
mod flow;
mod scalar;

use super::draw::Draw;
use super::generate::{self, TreeOptions};
use super::model::Tree;

/// The position of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// Directly above an entry, at its column.
    Above,
    /// After a value.
    Beside,
    /// Between blank lines, without an owner.
    Free,
    /// In a flow collection, where the owner depends on the lines around it.
    Loose,
}

/// A comment; its text is unique in the file.
#[derive(Clone, Debug)]
pub(crate) struct WrittenComment {
    pub(crate) text: String,
    pub(crate) place: Written,
    pub(crate) document: usize,
    /// The path to the entry's value: indices of children, counting keys.
    pub(crate) owner: Vec<usize>,
}

/// A file and its meaning.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) text: String,
    pub(crate) documents: Vec<Tree>,
    pub(crate) comments: Vec<WrittenComment>,
    /// Whether the file is JSON.
    pub(crate) json: bool,
    /// Whether some node has an anchor.
    pub(crate) has_anchors: bool,
}

/// The style of one document.
#[derive(Clone, Copy, Debug)]
struct EmitStyle {
    /// Percentages.
    comments: usize,
    blanks: usize,
    flow: usize,
    odd: usize,
    /// The indentation.
    width: usize,
    /// Sequences at the column of their key.
    compact: bool,
}

/// What must not follow the last scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tail {
    Any,
    /// A block scalar with content at this column; `keep`: empty lines would count.
    Block {
        column: usize,
        keep: bool,
    },
}

struct Emitter<'d, 'b> {
    draw: &'d mut Draw<'b>,
    out: String,
    eol: &'static str,
    style: EmitStyle,
    tail: Tail,
    comments: Vec<WrittenComment>,
    /// Names of complete anchors, and whether they are mappings.
    anchors: Vec<(String, bool)>,
    has_anchors: bool,
    document: usize,
    path: Vec<usize>,
    /// Whether the document declares `%TAG !e!`.
    handle: bool,
}

/// Writes a JSON file from choices.
pub(crate) fn json(draw: &mut Draw<'_>) -> Sample {
    flow::json(draw)
}

/// Writes a file from choices.
pub(crate) fn sample(draw: &mut Draw<'_>) -> Sample {
    if draw.once_in(12) {
        return json(draw);
    }
    let mut emitter = Emitter {
        eol: if draw.once_in(5) { "\r\n" } else { "\n" },
        style: EmitStyle { comments: 0, blanks: 0, flow: 0, odd: 0, width: 2, compact: false },
        out: String::new(),
        tail: Tail::Any,
        comments: Vec::new(),
        anchors: Vec::new(),
        has_anchors: false,
        document: 0,
        path: Vec::new(),
        handle: false,
        draw,
    };
    if emitter.draw.once_in(16) {
        emitter.out.push('\u{feff}');
    }
    let count = if emitter.draw.once_in(4) { 2 + emitter.draw.below(3) } else { 1 };
    let mut documents = Vec::new();
    let mut open = true;
    for at in 0..count {
        emitter.document = at;
        let mut tree = generate::tree(emitter.draw, TreeOptions { json: false, nodes: 24 });
        open = emitter.document(&mut tree, at == 0, open);
        documents.push(tree);
    }
    let keeps_break = emitter.tail != Tail::Any;
    if !keeps_break && emitter.draw.once_in(5) && emitter.out.ends_with(emitter.eol) {
        let end = emitter.out.len() - emitter.eol.len();
        emitter.out.truncate(end);
    }
    Sample {
        text: emitter.out,
        documents,
        comments: emitter.comments,
        has_anchors: emitter.has_anchors,
        json: false,
    }
}

impl Emitter<'_, '_> {
    /// Writes a document. `closed`: the previous one ended with `...`, or there is none.
    /// Returns whether this one ends with `...`.
    fn document(&mut self, tree: &mut Tree, first: bool, closed: bool) -> bool {
        self.anchors.clear();
        self.path.clear();
        self.handle = false;
        self.style = EmitStyle {
            comments: self.draw.pick(&[0, 10, 30, 50]),
            blanks: self.draw.pick(&[0, 5, 20]),
            flow: self.draw.pick(&[0, 10, 30, 100]),
            odd: self.draw.pick(&[0, 0, 5, 15]),
            width: self.draw.pick(&[2, 2, 4, 1, 3, 6]),
            compact: self.draw.once_in(2),
        };
        if self.tail == Tail::Any && closed {
            self.free_lines(0);
        }
        let mut marked = !first && !closed;
        if closed && self.draw.once_in(12) {
            self.line("%YAML 1.2");
            marked = true;
        }
        if closed && self.draw.once_in(12) {
            self.line("%TAG !e! tag:example.com,2000:app/");
            self.handle = true;
            marked = true;
        }
        marked |= self.draw.once_in(4);
        if marked {
            self.out.push_str("---");
        }
        self.tail = Tail::Any;
        self.root(tree, marked);
        // After a scalar as root, nothing may follow that could be part of it.
        let is_text = tree.as_text().is_some();
        if self.tail == Tail::Any && !is_text {
            self.free_lines(0);
        }
        let ends = self.draw.once_in(8);
        if ends {
            self.tail = Tail::Any;
            self.line("...");
        }
        ends
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.end_line();
    }

    fn end_line(&mut self) {
        self.out.push_str(self.eol);
    }

    fn spaces(&mut self, count: usize) {
        self.out.extend(std::iter::repeat_n(' ', count));
    }

    /// A comment with a unique text.
    fn comment(&mut self, place: Written) {
        let number = self.comments.len();
        let lead = self.draw.pick(&["# ", "# ", "#", "#  ", "#\t", "## ", "# - ", "# a: "]);
        let end = self.draw.pick(&["", "", "", ": {x", " 'q", " é", " # b", " |", "  ", "\t"]);
        let text = format!("{lead}c{number}{end}");
        self.out.push_str(&text);
        self.comments.push(WrittenComment {
            text,
            place,
            document: self.document,
            owner: self.path.clone(),
        });
    }

    /// Ends the line of a value, sometimes with a comment or spaces.
    fn beside(&mut self) {
        if self.draw.percent(self.style.comments) {
            let gap = 1 + self.draw.below(3);
            self.spaces(gap);
            self.comment(Written::Beside);
        } else if self.draw.percent(self.style.odd) {
            self.spaces(2);
        }
        self.end_line();
    }

    fn blank_line(&mut self) {
        if self.tail == Tail::Any && self.draw.percent(self.style.odd) {
            self.spaces(3);
        }
        self.end_line();
    }

    /// Blank lines and comments without an owner at a column.
    fn free_lines(&mut self, column: usize) {
        let fits = |tail: Tail| match tail {
            Tail::Any => true,
            Tail::Block { column: content, keep } => column < content && !keep,
        };
        if self.draw.percent(self.style.blanks) && fits(self.tail) {
            self.blank_line();
        }
        if self.draw.percent(self.style.comments / 3) && fits(self.tail) {
            self.blank_line();
            let count = 1 + self.draw.below(2);
            for _ in 0..count {
                self.spaces(column);
                self.comment(Written::Free);
                self.end_line();
                self.tail = Tail::Any;
            }
            self.blank_line();
        }
    }

    /// Lines between the entries of a block collection.
    fn between(&mut self, column: usize) {
        self.free_lines(column);
        let fits = match self.tail {
            Tail::Any => true,
            Tail::Block { column: content, .. } => column < content,
        };
        if fits && self.draw.percent(self.style.comments) {
            let count = 1 + usize::from(self.draw.once_in(4));
            for _ in 0..count {
                self.spaces(column);
                self.comment(Written::Above);
                self.end_line();
            }
            self.tail = Tail::Any;
        }
    }
}
