//! The library `json`: strict on input, and on output the notation of Go.

use anyhow::{anyhow, bail};
use num_bigint::BigInt;
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::list::AllocList;
use starlark::values::{Heap, Value};

use super::display;

/// The maximal nesting of a document or value.
const MAX_DEPTH: usize = 1000;

/// `json.encode(value)`: keys are sorted.
pub(super) fn encode<'v>(value: Value<'v>, heap: Heap<'v>) -> anyhow::Result<String> {
    let mut out = String::new();
    write(value, heap, MAX_DEPTH, &mut out)?;
    Ok(out)
}

fn write<'v>(
    value: Value<'v>,
    heap: Heap<'v>,
    depth: usize,
    out: &mut String,
) -> anyhow::Result<()> {
    let Some(depth) = depth.checked_sub(1) else {
        bail!("json.encode: a value contains itself, or has more than {MAX_DEPTH} levels");
    };
    if value.is_none() {
        out.push_str("null");
    } else if let Some(value) = value.unpack_bool() {
        out.push_str(if value { "true" } else { "false" });
    } else if let Some(text) = value.unpack_str() {
        quote(text, out);
    } else if let Some(number) = display::unpack_float(value) {
        if !number.is_finite() {
            bail!("json.encode: cannot encode non-finite float {}", display::non_finite(number));
        }
        out.push_str(&display::float(number));
    } else if let Some(dict) = DictRef::from_value(value) {
        let mut entries = Vec::new();
        for (key, value) in dict.iter() {
            let wrong = || anyhow!("json.encode: dict has {} key, want string", key.get_type());
            entries.push((key.unpack_str().ok_or_else(wrong)?, value));
        }
        entries.sort_by_key(|(key, _)| *key);
        out.push('{');
        for (at, (key, value)) in entries.into_iter().enumerate() {
            out.push_str(if at > 0 { "," } else { "" });
            quote(key, out);
            out.push(':');
            write(value, heap, depth, out)?;
        }
        out.push('}');
    } else {
        match value.get_type() {
            "int" => out.push_str(&value.to_str()),
            "list" | "tuple" | "set" | "range" => {
                let items = value.iterate(heap).map_err(|error| anyhow!("json.encode: {error}"))?;
                out.push('[');
                for (at, item) in items.enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    write(item, heap, depth, out)?;
                }
                out.push(']');
            }
            other => bail!("json.encode: cannot encode {other} as JSON"),
        }
    }
    Ok(())
}

/// Compat: characters of HTML are escaped in strings with characters outside of ASCII, and only there.
fn quote(text: &str, out: &mut String) {
    let is_printable = text.bytes().all(|it| (0x20..0x80).contains(&it));
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' if !is_printable => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c if c < ' ' || matches!(c, '\u{2028}' | '\u{2029}') => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// `json.decode(text)`
pub(super) fn decode<'v>(text: &str, heap: Heap<'v>) -> anyhow::Result<Value<'v>> {
    let mut reader = Reader { text, at: 0, heap };
    let value = reader.value(MAX_DEPTH)?;
    match reader.next_character() {
        None => Ok(value),
        Some(c) => {
            bail!("json.decode: at offset {}, unexpected character '{c}' after value", reader.at)
        }
    }
}

struct Reader<'t, 'v> {
    text: &'t str,
    at: usize,
    heap: Heap<'v>,
}

impl<'v> Reader<'_, 'v> {
    /// The next character that is not a space; it stays.
    fn next_character(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.text[self.at..].chars().next()
    }

    fn fail(&self, message: &str) -> anyhow::Error {
        anyhow!("json.decode: at offset {}, {message}", self.at)
    }

    fn unexpected(&self, c: Option<char>) -> anyhow::Error {
        match c {
            Some(c) => self.fail(&format!("unexpected character '{c}'")),
            None => self.fail("unexpected end of file"),
        }
    }

    fn value(&mut self, depth: usize) -> anyhow::Result<Value<'v>> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.fail(&format!("nested more than {MAX_DEPTH} levels deep")));
        };
        for (word, value) in [
            ("null", Value::new_none()),
            ("true", Value::new_bool(true)),
            ("false", Value::new_bool(false)),
        ] {
            self.next_character();
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        match self.next_character() {
            Some('"') => Ok(self.heap.alloc(self.string()?)),
            Some('-' | '0'..='9') => self.number(),
            Some('[') => self.array(depth),
            Some('{') => self.object(depth),
            other => Err(self.unexpected(other)),
        }
    }

    fn array(&mut self, depth: usize) -> anyhow::Result<Value<'v>> {
        self.at += 1;
        let mut items = Vec::new();
        if self.next_character() == Some(']') {
            self.at += 1;
            return Ok(self.heap.alloc(AllocList(items)));
        }
        loop {
            items.push(self.value(depth)?);
            if self.is_last(']')? {
                return Ok(self.heap.alloc(AllocList(items)));
            }
        }
    }

    fn object(&mut self, depth: usize) -> anyhow::Result<Value<'v>> {
        self.at += 1;
        // Of two equal keys the last is used, in the place of the first.
        let mut entries: Vec<(String, Value<'v>)> = Vec::new();
        let mut places = std::collections::BTreeMap::new();
        let is_empty = self.next_character() == Some('}');
        self.at += usize::from(is_empty);
        let mut is_done = is_empty;
        while !is_done {
            match self.next_character() {
                Some('"') => {}
                other => return Err(self.unexpected(other)),
            }
            let key = self.string()?;
            if self.next_character() != Some(':') {
                return Err(self.fail("expected ':' after an object key"));
            }
            self.at += 1;
            let value = self.value(depth)?;
            match places.get(&key) {
                Some(at) => entries[*at] = (key, value),
                None => {
                    places.insert(key.clone(), entries.len());
                    entries.push((key, value));
                }
            }
            is_done = self.is_last('}')?;
        }
        Ok(self.heap.alloc(AllocDict(entries)))
    }

    /// Reads what follows an element.
    fn is_last(&mut self, end: char) -> anyhow::Result<bool> {
        match self.next_character() {
            Some(c) if c == end || c == ',' => {
                self.at += 1;
                Ok(c == end)
            }
            Some(c) => Err(self.fail(&format!("got '{c}', want ',' or '{end}'"))),
            None => Err(self.unexpected(None)),
        }
    }

    fn number(&mut self) -> anyhow::Result<Value<'v>> {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        let text = &rest[..end.unwrap_or(rest.len())];
        self.at += text.len();
        let invalid = || self.fail(&format!("invalid number: {text}"));
        let digits = text.strip_prefix('-').unwrap_or(text);
        let has_leading_zero =
            digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
        if has_leading_zero || !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(invalid());
        }
        if text.contains(['.', 'e', 'E']) {
            let number: f64 = text.parse().map_err(|_| invalid())?;
            return if number.is_finite() { Ok(self.heap.alloc(number)) } else { Err(invalid()) };
        }
        let number: BigInt = text.parse().map_err(|_| invalid())?;
        Ok(self.heap.alloc(number))
    }

    fn string(&mut self) -> anyhow::Result<String> {
        let start = self.at;
        self.at += 1;
        let mut out = String::new();
        let mut high = None;
        loop {
            let Some(c) = self.text[self.at..].chars().next() else {
                self.at = start;
                return Err(self.fail("unclosed string literal"));
            };
            self.at += c.len_utf8();
            if c == '\\' {
                let Some(escape) = self.text[self.at..].chars().next() else { continue };
                self.at += escape.len_utf8();
                if escape == 'u' {
                    self.push_unit(&mut high, &mut out)?;
                    continue;
                }
                push_unpaired(&mut high, &mut out);
                out.push(match escape {
                    '"' | '\\' | '/' => escape,
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    other => {
                        return Err(self
                            .fail(&format!("invalid character '{other}' in string escape code")));
                    }
                });
                continue;
            }
            push_unpaired(&mut high, &mut out);
            if c == '"' {
                return Ok(out);
            }
            out.push(c);
        }
    }

    /// Reads the digits of `\u`; two of them may form one character.
    fn push_unit(&mut self, high: &mut Option<u32>, out: &mut String) -> anyhow::Result<()> {
        let digits = self
            .text
            .get(self.at..self.at + 4)
            .filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()));
        let unit = digits.and_then(|it| u32::from_str_radix(it, 16).ok());
        let unit = unit.ok_or_else(|| self.fail("invalid \\u hexadecimal character escape"))?;
        self.at += 4;
        match (high.take(), unit) {
            (Some(first), 0xdc00..=0xdfff) => {
                let code = 0x10000 + ((first - 0xd800) << 10) + (unit - 0xdc00);
                out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            (first, unit) => {
                if first.is_some() {
                    out.push(char::REPLACEMENT_CHARACTER);
                }
                match unit {
                    0xd800..=0xdbff => *high = Some(unit),
                    unit => out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)),
                }
            }
        }
        Ok(())
    }
}

/// The first half of a character without its second half.
fn push_unpaired(high: &mut Option<u32>, out: &mut String) {
    if high.take().is_some() {
        out.push(char::REPLACEMENT_CHARACTER);
    }
}

/// `json.indent(text)`: JSON with one entry per line. The text is valid JSON.
pub(super) fn indent(text: &str, prefix: &str, indent: &str) -> String {
    let (mut out, mut depth, mut in_string, mut is_escaped) =
        (String::new(), 0_usize, false, false);
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(prefix);
        out.push_str(&indent.repeat(depth));
    };
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if in_string {
            in_string = c != '"' || is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            out.push(c);
            continue;
        }
        match c {
            '{' | '[' => {
                while rest.next_if(|c| c.is_whitespace()).is_some() {}
                out.push(c);
                match rest.next_if(|c| matches!(c, '}' | ']')) {
                    Some(close) => out.push(close),
                    None => {
                        depth += 1;
                        line(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_whitespace() => {}
            c => {
                in_string = c == '"';
                out.push(c);
            }
        }
    }
    out
}
