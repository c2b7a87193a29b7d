//! Emits block style.

use krm_yaml::{CollectionStyle, ScalarStyle};

use super::super::model::{Kind, Shape, Tag, Tree};
use super::scalar::{ScalarContext, spell};
use super::{Emitter, Tail};

/// The indicator before a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Indicator {
    /// `key:`
    Key,
    /// `-`, `?` or the `:` of a `?` key: a collection may start on the line.
    Compact,
    /// `---`
    Marker,
    /// None: the root of a bare document.
    Nothing,
}

impl Emitter<'_, '_> {
    pub(super) fn root(&mut self, tree: &mut Tree, marked: bool) {
        let behind = if marked { Indicator::Marker } else { Indicator::Nothing };
        // An empty bare document is not a document.
        if !marked && tree.as_text() == Some("") {
            *tree = Tree::text("text");
        }
        self.value(tree, -1, behind, true);
    }

    /// Writes a value including the end of its last line. `parent` is the column of the entry that contains it.
    pub(super) fn value(
        &mut self,
        tree: &mut Tree,
        parent: i32,
        behind: Indicator,
        may_share: bool,
    ) {
        if may_share && self.alias(tree) {
            self.gap(behind);
            let Shape::Alias(name) = &tree.shape else { return };
            let text = format!("*{name}");
            self.out.push_str(&text);
            self.beside();
            self.tail = Tail::Any;
            return;
        }
        let in_flow = !tree.is_filled() || self.draw.percent(self.style.flow);
        match &tree.shape {
            Shape::Scalar { .. } => self.scalar_value(tree, parent, behind),
            _ if in_flow => {
                self.gap_or_line(behind, parent);
                if self.properties(tree, true) {
                    self.out.push(' ');
                }
                self.flow(tree, parent, false);
                self.beside();
                self.tail = Tail::Any;
            }
            _ => self.collection(tree, parent, behind),
        }
        self.finish_anchor(tree);
    }

    /// Spaces between an indicator and its value.
    fn gap(&mut self, behind: Indicator) {
        match behind {
            Indicator::Nothing => {}
            _ if self.draw.percent(self.style.odd) => self.spaces(3),
            _ => self.out.push(' '),
        }
    }

    /// Spaces, or sometimes a line break, between an indicator and its value.
    fn gap_or_line(&mut self, behind: Indicator, parent: i32) {
        if behind != Indicator::Nothing && self.draw.percent(self.style.odd) {
            self.beside();
            let deeper = self.draw.below(3);
            self.spaces((parent + 1).max(0) as usize + deeper + usize::from(parent < 0));
        } else {
            self.gap(behind);
        }
    }

    fn scalar_value(&mut self, tree: &mut Tree, parent: i32, behind: Indicator) {
        let Shape::Scalar { text, kind, .. } = &tree.shape else { return };
        let (text, kind) = (text.clone(), *kind);
        if text.is_empty() && kind == Kind::Null {
            self.tail = Tail::Any;
            let has = behind != Indicator::Nothing && self.draw.percent(self.style.odd);
            if has {
                self.out.push(' ');
                self.properties(tree, false);
            }
            set_style(tree, ScalarStyle::Plain);
            self.beside();
            return;
        }
        self.gap_or_line(behind, parent);
        let context = ScalarContext { flow: false, key: false, block: true, parent };
        let spelled = spell(self.draw, &text, kind, context);
        set_style(tree, spelled.style);
        if self.properties(tree, spelled.style == ScalarStyle::Plain && kind == Kind::Text) {
            self.out.push(' ');
        }
        self.out.push_str(&spelled.head);
        if let Some((column, keep)) = spelled.content {
            self.beside();
            for line in &spelled.lines {
                self.line(line);
            }
            self.tail = Tail::Block { column, keep };
            return;
        }
        for line in &spelled.lines {
            self.end_line();
            self.out.push_str(line);
        }
        self.beside();
        self.tail = Tail::Any;
    }

    fn collection(&mut self, tree: &mut Tree, parent: i32, behind: Indicator) {
        let is_list = matches!(tree.shape, Shape::Sequence { .. });
        let mut column = match behind {
            Indicator::Nothing | Indicator::Marker => 0,
            Indicator::Key if is_list && self.style.compact => parent as usize,
            _ => (parent + 1) as usize + self.style.width - 1,
        };
        let odd = self.draw.percent(self.style.odd);
        if odd && !(is_list && self.style.compact) && behind != Indicator::Nothing {
            column += 1;
        }
        let has_properties = behind != Indicator::Nothing && {
            let length = self.out.len();
            self.out.push(' ');
            let wrote = self.properties(tree, true);
            if !wrote {
                self.out.truncate(length);
            }
            wrote
        };
        let mut on_line = behind == Indicator::Nothing
            && self.out.chars().next_back().is_none_or(|c| c == '\n' || c == '\u{feff}');
        if behind == Indicator::Compact && !has_properties && !odd {
            let gap = 1 + if self.draw.once_in(4) { self.style.width } else { 0 };
            self.spaces(gap);
            column = parent as usize + 1 + gap;
            on_line = true;
        } else if behind != Indicator::Nothing {
            self.beside();
        }
        self.tail = Tail::Any;
        match &mut tree.shape {
            Shape::Sequence { items, notation } => {
                *notation = Some(CollectionStyle::Block);
                self.items(items, column, on_line);
            }
            Shape::Mapping { entries, notation } => {
                *notation = Some(CollectionStyle::Block);
                self.merge_key(entries);
                self.entries(entries, column, on_line);
            }
            _ => {}
        }
    }

    fn items(&mut self, items: &mut [Tree], column: usize, on_line: bool) {
        for (at, item) in items.iter_mut().enumerate() {
            self.path.push(at);
            if at > 0 || !on_line {
                self.between(column);
                self.spaces(column);
            }
            self.out.push('-');
            self.value(item, column as i32, Indicator::Compact, true);
            self.path.pop();
        }
    }

    fn entries(&mut self, entries: &mut [(Tree, Tree)], column: usize, on_line: bool) {
        for (at, (key, value)) in entries.iter_mut().enumerate() {
            self.path.push(at * 2 + 1);
            if at > 0 || !on_line {
                self.between(column);
                self.spaces(column);
            }
            let is_merge = matches!(value.shape, Shape::Alias(_)) && key.as_text() == Some("<<");
            let simple = key.as_text().is_some_and(|text| text.len() < 200);
            if is_merge {
                self.out.push_str("<<:");
                set_style(key, ScalarStyle::Plain);
                let Shape::Alias(name) = &value.shape else { continue };
                let text = format!(" *{name}");
                self.out.push_str(&text);
                self.beside();
                self.tail = Tail::Any;
            } else if !simple || self.draw.percent(self.style.odd / 2) {
                self.out.push('?');
                // No path leads into the key, so its comments belong to the entry.
                self.path.push(usize::MAX);
                self.value(key, column as i32, Indicator::Compact, false);
                self.path.pop();
                self.spaces(column);
                self.out.push(':');
                self.value(value, column as i32, Indicator::Compact, true);
            } else {
                self.implicit_key(key, false);
                self.out.push(':');
                self.value(value, column as i32, Indicator::Key, true);
            }
            self.path.pop();
        }
    }

    /// A key on one line, up to its colon.
    pub(super) fn implicit_key(&mut self, key: &mut Tree, flow: bool) {
        let Shape::Scalar { text, kind, .. } = &key.shape else { return };
        let (text, kind) = (text.clone(), *kind);
        // An empty key is valid, too; here it is written as `null`.
        let text = if text.is_empty() && kind == Kind::Null { "~".to_owned() } else { text };
        let spelled = spell(
            self.draw,
            &text,
            kind,
            ScalarContext { flow, key: true, block: false, parent: 0 },
        );
        key.shape = Shape::Scalar { text, kind, style: Some(spelled.style) };
        if self.draw.percent(self.style.odd / 3) && self.properties(key, true) {
            self.out.push(' ');
        }
        self.out.push_str(&spelled.head);
        self.finish_anchor(key);
        if self.draw.percent(self.style.odd / 3) {
            self.out.push(' ');
        }
    }

    /// Sometimes writes an anchor and a tag; returns whether it did.
    pub(super) fn properties(&mut self, tree: &mut Tree, _full: bool) -> bool {
        if !self.draw.percent(self.style.odd) {
            return false;
        }
        let mut text: Vec<String> = Vec::new();
        if self.draw.once_in(2) {
            let name = format!(
                "{}{}",
                self.draw.pick(&["a", "base", "x-y", "é"]),
                self.comments.len() + self.out.len()
            );
            text.push(format!("&{name}"));
            tree.anchor = Some(name);
            self.has_anchors = true;
        }
        if self.draw.once_in(2) || text.is_empty() {
            let tag = self.tag(tree);
            tree.tag = Tag::Written(tag.to_owned());
            text.push(tag.to_owned());
        }
        if self.draw.once_in(3) {
            text.reverse();
        }
        self.out.push_str(&text.join(" "));
        true
    }

    /// A tag that does not change the type of the node.
    fn tag(&mut self, tree: &Tree) -> &'static str {
        let own = if self.handle { "!e!thing" } else { "!thing" };
        let core = match &tree.shape {
            Shape::Scalar { kind: Kind::Text, style, .. } if *style == Some(ScalarStyle::Plain) => {
                "!!str"
            }
            Shape::Scalar { kind: Kind::Text, .. } => {
                self.draw.pick(&["!!str", "!", "!!binary", "!<tag:yaml.org,2002:str>"])
            }
            Shape::Scalar { kind: Kind::Null, .. } => "!!null",
            Shape::Scalar { kind: Kind::Bool(_), .. } => "!!bool",
            Shape::Scalar { kind: Kind::Int(_), .. } => "!!int",
            Shape::Scalar { kind: Kind::Float(_), .. } => "!!float",
            Shape::Sequence { .. } => "!!seq",
            _ => "!!map",
        };
        // An unknown tag leaves the type of a plain scalar open; strings have no other.
        let unknown = !matches!(&tree.shape, Shape::Scalar { kind, .. } if *kind != Kind::Text);
        if unknown && self.draw.once_in(2) { own } else { core }
    }

    /// From here on aliases may refer to the node.
    pub(super) fn finish_anchor(&mut self, tree: &Tree) {
        if let Some(name) = &tree.anchor {
            self.anchors.push((name.clone(), matches!(tree.shape, Shape::Mapping { .. })));
        }
    }

    /// Sometimes replaces a node by an alias.
    pub(super) fn alias(&mut self, tree: &mut Tree) -> bool {
        if self.anchors.is_empty() || !self.draw.once_in(8) {
            return false;
        }
        let at = self.draw.below(self.anchors.len());
        *tree = Tree::of(Shape::Alias(self.anchors[at].0.clone()));
        true
    }

    fn merge_key(&mut self, entries: &mut Vec<(Tree, Tree)>) {
        let maps: Vec<String> = self
            .anchors
            .iter()
            .filter(|(_, is_map)| *is_map)
            .map(|(name, _)| name.clone())
            .collect();
        let taken = entries.iter().any(|(key, _)| key.as_text() == Some("<<"));
        if !maps.is_empty() && !taken && self.draw.once_in(3) {
            let name = &maps[self.draw.below(maps.len())];
            let at = self.draw.below(entries.len() + 1);
            entries.insert(at, (Tree::text("<<"), Tree::of(Shape::Alias(name.clone()))));
        }
    }
}

pub(super) fn set_style(tree: &mut Tree, to: ScalarStyle) {
    if let Shape::Scalar { style, .. } = &mut tree.shape {
        *style = Some(to);
    }
}
