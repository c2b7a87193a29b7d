//! The text of values, as the interpreter of the kpt function writes it: Go's notation of floats, and letters of all languages.

use starlark::values::dict::DictRef;
use starlark::values::float::StarlarkFloat;
use starlark::values::list::ListRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{Heap, UnpackValue, Value};

use crate::go_float::{self, SHORTEST_THRESHOLD};
use crate::go_text;

/// The maximal nesting of a value that is written.
const MAX_DEPTH: usize = 1000;

/// `str(value)`: a string as it is, anything else as [`repr`].
pub(super) fn str<'v>(value: Value<'v>, heap: Heap<'v>) -> anyhow::Result<String> {
    match value.unpack_str() {
        Some(text) => Ok(text.to_owned()),
        None => repr(value, heap),
    }
}

/// `repr(value)`
pub(super) fn repr<'v>(value: Value<'v>, heap: Heap<'v>) -> anyhow::Result<String> {
    let mut writer = Writer { out: String::new(), heap, path: Vec::new() };
    writer.value(value)?;
    Ok(writer.out)
}

struct Writer<'v> {
    out: String,
    heap: Heap<'v>,
    /// The values around the current one, which may contain themselves.
    path: Vec<Value<'v>>,
}

impl<'v> Writer<'v> {
    fn value(&mut self, value: Value<'v>) -> anyhow::Result<()> {
        if let Some(text) = value.unpack_str() {
            self.out.push_str(&go_text::quote(text));
            return Ok(());
        }
        if let Some(number) = unpack_float(value) {
            self.out.push_str(&float(number));
            return Ok(());
        }
        let is_nested = self.path.iter().any(|it| it.ptr_eq(value));
        if self.path.len() >= MAX_DEPTH {
            anyhow::bail!("a value has more than {MAX_DEPTH} levels");
        }
        self.path.push(value);
        if let Some(list) = ListRef::from_value(value) {
            self.sequence("[", list.iter(), "]", is_nested)?;
        } else if let Some(tuple) = TupleRef::from_value(value) {
            let end = if tuple.content().len() == 1 { ",)" } else { ")" };
            self.sequence("(", tuple.iter(), end, is_nested)?;
        } else if let Some(dict) = DictRef::from_value(value) {
            self.dict(&dict, is_nested)?;
        } else if value.get_type() == "set" {
            let items: Vec<Value<'v>> = match value.iterate(self.heap) {
                Ok(items) => items.collect(),
                Err(error) => anyhow::bail!("{error}"),
            };
            self.sequence("set([", items.into_iter(), "])", is_nested)?;
        } else {
            self.out.push_str(&value.to_repr());
        }
        self.path.pop();
        Ok(())
    }

    fn sequence(
        &mut self,
        begin: &str,
        items: impl Iterator<Item = Value<'v>>,
        end: &str,
        is_nested: bool,
    ) -> anyhow::Result<()> {
        self.out.push_str(begin);
        if is_nested {
            self.out.push_str("...");
        } else {
            for (at, item) in items.enumerate() {
                self.out.push_str(if at > 0 { ", " } else { "" });
                self.value(item)?;
            }
        }
        self.out.push_str(end);
        Ok(())
    }

    fn dict(&mut self, dict: &DictRef<'v>, is_nested: bool) -> anyhow::Result<()> {
        self.out.push('{');
        if is_nested {
            self.out.push_str("...");
        } else {
            for (at, (key, value)) in dict.iter().enumerate() {
                self.out.push_str(if at > 0 { ", " } else { "" });
                self.value(key)?;
                self.out.push_str(": ");
                self.value(value)?;
            }
        }
        self.out.push('}');
        Ok(())
    }
}

/// A float, but not an integer.
pub(super) fn unpack_float(value: Value<'_>) -> Option<f64> {
    match value.get_type() {
        "float" => StarlarkFloat::unpack_value_opt(value).map(|it| it.0),
        _ => None,
    }
}

/// A float, with a point or an exponent.
pub(super) fn float(number: f64) -> String {
    if !number.is_finite() {
        return non_finite(number).to_owned();
    }
    let text = go_float::general(number, SHORTEST_THRESHOLD);
    if text.contains(['.', 'e']) { text } else { text + ".0" }
}

/// Infinity, or not a number.
pub(super) fn non_finite(number: f64) -> &'static str {
    if number.is_nan() {
        "nan"
    } else if number > 0.0 {
        "+inf"
    } else {
        "-inf"
    }
}
