//! The meaning of a document, independent of the library: what a generator wrote, or what an edit should produce.

use std::fmt;

use krm_yaml::{CollectionStyle, NodeKind, NodeRef, ScalarStyle, ScalarType, Value};

/// A node with its properties.
#[derive(Clone, PartialEq)]
pub(crate) struct Tree {
    pub(crate) anchor: Option<String>,
    /// As written; `Tag::Any` if an edit may keep or remove it.
    pub(crate) tag: Tag,
    pub(crate) shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) enum Tag {
    #[default]
    None,
    Written(String),
    Any,
}

/// The kind of a node. A style of `None` matches any.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Scalar { text: String, kind: Kind, style: Option<ScalarStyle> },
    Sequence { items: Vec<Tree>, notation: Option<CollectionStyle> },
    Mapping { entries: Vec<(Tree, Tree)>, notation: Option<CollectionStyle> },
    Alias(String),
}

/// The type of a scalar, with the value of booleans and numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Int(Option<i128>),
    Float(f64),
    Text,
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) | (Self::Text, Self::Text) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a == b || a.is_nan() && b.is_nan(),
            _ => false,
        }
    }
}

impl Tree {
    pub(crate) fn of(shape: Shape) -> Self {
        Self { anchor: None, tag: Tag::None, shape }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::of(Shape::Scalar { text: text.to_owned(), kind: Kind::Text, style: None })
    }

    pub(crate) fn plain(text: &str) -> Self {
        Self::of(Shape::Scalar { text: text.to_owned(), kind: kind_of_plain(text), style: None })
    }

    pub(crate) fn sequence(items: Vec<Tree>) -> Self {
        Self::of(Shape::Sequence { items, notation: None })
    }

    pub(crate) fn mapping(entries: Vec<(Tree, Tree)>) -> Self {
        Self::of(Shape::Mapping { entries, notation: None })
    }

    pub(crate) fn is_filled(&self) -> bool {
        match &self.shape {
            Shape::Sequence { items, .. } => !items.is_empty(),
            Shape::Mapping { entries, .. } => !entries.is_empty(),
            _ => false,
        }
    }

    /// The text of a scalar.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.shape {
            Shape::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The tree as input of an edit.
    pub(crate) fn to_value(&self) -> Value<'static> {
        match &self.shape {
            Shape::Scalar { text, kind, .. } => match kind {
                Kind::Null => Value::Null,
                Kind::Bool(value) => Value::Bool(*value),
                Kind::Int(_) | Kind::Float(_) => Value::Number(text.clone().into()),
                Kind::Text => Value::String(text.clone().into()),
            },
            Shape::Sequence { items, .. } => {
                Value::Sequence(items.iter().map(Self::to_value).collect())
            }
            Shape::Mapping { entries, .. } => Value::Mapping(
                entries.iter().map(|(key, value)| (key.to_value(), value.to_value())).collect(),
            ),
            Shape::Alias(_) => Value::Null,
        }
    }

    /// The tree of a node, read through the public API.
    pub(crate) fn read(node: NodeRef<'_>) -> Self {
        let shape = match node.kind() {
            NodeKind::Alias => Shape::Alias(node.text().trim_start_matches('*').to_owned()),
            NodeKind::Scalar(style) => {
                let scalar = node.as_scalar().expect("a scalar is one");
                let kind = match scalar.resolve() {
                    ScalarType::Null => Kind::Null,
                    ScalarType::Bool(value) => Kind::Bool(value),
                    ScalarType::Int(value) => Kind::Int(value),
                    ScalarType::Float(value) => Kind::Float(value),
                    ScalarType::String => Kind::Text,
                };
                Shape::Scalar { text: scalar.value().into_owned(), kind, style: Some(style) }
            }
            NodeKind::Sequence => Shape::Sequence {
                items: node.children().map(Self::read).collect(),
                notation: Some(node.collection_style()),
            },
            NodeKind::Mapping => {
                let mapping = node.as_mapping().expect("a mapping is one");
                let entries =
                    mapping.entries().map(|entry| (Self::read(entry.key), Self::read(entry.value)));
                Shape::Mapping {
                    entries: entries.collect(),
                    notation: Some(node.collection_style()),
                }
            }
        };
        let tag = node.tag().map_or(Tag::None, |tag| Tag::Written(tag.to_owned()));
        Self { anchor: node.anchor().map(str::to_owned), tag, shape }
    }

    /// The first difference to another tree, with its path.
    pub(crate) fn difference(&self, found: &Tree) -> Option<String> {
        self.differs(found).map(|(what, way)| format!("{what} at `{way}`"))
    }

    fn differs(&self, found: &Tree) -> Option<(String, String)> {
        let wrong = |what: &str| {
            let report =
                format!("{what} differs: wanted {}, found {}", self.brief(), found.brief());
            Some((report, String::new()))
        };
        let below = |step: String, inner: Option<(String, String)>| {
            inner.map(|(what, way)| (what, format!("{step}{way}")))
        };
        if self.anchor != found.anchor {
            return wrong("anchor");
        }
        if self.tag != Tag::Any && self.tag != found.tag {
            return wrong("tag");
        }
        match (&self.shape, &found.shape) {
            (
                Shape::Scalar { text, kind, style },
                Shape::Scalar { text: other, kind: found_kind, style: found_style },
            ) => {
                // `~` and `null`, `true` and `TRUE`, `-0` and `0` are equal where an edit may choose the spelling.
                let free = style.is_none()
                    && matches!(kind, Kind::Null | Kind::Bool(_) | Kind::Int(Some(0)));
                if kind != found_kind || text != other && !free {
                    return wrong("value");
                }
                if style.is_some() && style != found_style { wrong("style") } else { None }
            }
            (
                Shape::Sequence { items, notation },
                Shape::Sequence { items: others, notation: found_notation },
            ) => {
                if items.len() != others.len() || notation.is_some() && notation != found_notation {
                    return wrong("list");
                }
                let mut pairs = items.iter().zip(others).enumerate();
                pairs.find_map(|(at, (item, other))| below(format!("[{at}]"), item.differs(other)))
            }
            (
                Shape::Mapping { entries, notation },
                Shape::Mapping { entries: others, notation: found_notation },
            ) => {
                if entries.len() != others.len() || notation.is_some() && notation != found_notation
                {
                    return wrong("mapping");
                }
                let mut pairs = entries.iter().zip(others);
                pairs.find_map(|((key, value), (other_key, other_value))| {
                    let name = key.as_text().unwrap_or("?");
                    let at_key = below(format!(".{name} (key)"), key.differs(other_key));
                    at_key.or_else(|| below(format!(".{name}"), value.differs(other_value)))
                })
            }
            (Shape::Alias(name), Shape::Alias(other)) if name == other => None,
            _ => wrong("kind"),
        }
    }

    fn brief(&self) -> String {
        format!("{self:?}").chars().take(400).collect()
    }
}

/// Like flow style, each node followed by its style if that is known.
impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(anchor) = &self.anchor {
            write!(f, "&{anchor} ")?;
        }
        if let Tag::Written(tag) = &self.tag {
            write!(f, "{tag} ")?;
        }
        match &self.shape {
            Shape::Scalar { text, kind, style } => {
                match kind {
                    Kind::Text => write!(f, "{text:?}")?,
                    kind => write!(f, "{kind:?}<{text}>")?,
                }
                style.map_or(Ok(()), |style| write!(f, "^{style:?}"))
            }
            Shape::Sequence { items, notation } => {
                f.debug_list().entries(items).finish()?;
                notation.map_or(Ok(()), |notation| write!(f, "^{notation:?}"))
            }
            Shape::Mapping { entries, notation } => {
                f.debug_map().entries(entries.iter().map(|(key, value)| (key, value))).finish()?;
                notation.map_or(Ok(()), |notation| write!(f, "^{notation:?}"))
            }
            Shape::Alias(name) => write!(f, "*{name}"),
        }
    }
}

/// The type of a plain scalar in the core schema of YAML 1.2, written from the table of the specification (10.3.2).
pub(crate) fn kind_of_plain(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Kind::Null,
        "true" | "True" | "TRUE" => return Kind::Bool(true),
        "false" | "False" | "FALSE" => return Kind::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Kind::Float(f64::NAN),
        _ => {}
    }
    let radix = |digits: &str, radix: u32| {
        let fits = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        fits.then(|| Kind::Int(i128::from_str_radix(digits, radix).ok()))
    };
    if let Some(octal) = text.strip_prefix("0o") {
        return radix(octal, 8).unwrap_or(Kind::Text);
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return radix(hex, 16).unwrap_or(Kind::Text);
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let negative = text.starts_with('-');
    if !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit()) {
        let value = unsigned.parse::<i128>().ok();
        return Kind::Int(value.map(|value| if negative { -value } else { value }));
    }
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Kind::Float(if negative { f64::NEG_INFINITY } else { f64::INFINITY });
    }
    if is_float(unsigned) {
        let value = unsigned.parse::<f64>().unwrap_or(f64::NAN);
        return Kind::Float(if negative { -value } else { value });
    }
    Kind::Text
}

/// `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    let mut rest = &text[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let count = digits(fraction);
        if whole == 0 && count == 0 {
            return false;
        }
        rest = &fraction[count..];
    } else if whole == 0 {
        return false;
    }
    match rest.strip_prefix(['e', 'E']) {
        None => rest.is_empty(),
        Some(exponent) => {
            let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
            !exponent.is_empty() && digits(exponent) == exponent.len()
        }
    }
}
