//! The native functions behind the libraries. None of them does I/O.

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, Encoding, HEXLOWER};
use krm_core::print::json::display as key_text;
use krm_yaml::{File, NodeRef, Value};
use md5::{Digest, Md5};
use num_bigint::BigInt;
use regex::Regex;
use sha1::Sha1;
use sha2::Sha256;
use starlark::environment::GlobalsBuilder;
use starlark::starlark_module;
use starlark::values::dict::DictRef;
use starlark::values::float::UnpackFloat;
use starlark::values::list::AllocList;
use starlark::values::none::NoneType;
use starlark::values::tuple::{AllocTuple, UnpackTuple};
use starlark::values::{Heap, Value as StarlarkValue};

use super::values::{from_starlark, to_starlark};
use super::{display, json, math, render};
use crate::go_regex;

/// The error of a library function.
fn error(message: impl std::fmt::Display) -> anyhow::Error {
    anyhow::anyhow!("{message}")
}

/// The functions behind `lib/*.star`. Only those files see them.
#[starlark_module]
pub(super) fn natives(builder: &mut GlobalsBuilder) {
    fn _json_encode<'v>(value: StarlarkValue<'v>, heap: Heap<'v>) -> anyhow::Result<String> {
        json::encode(value, heap)
    }

    fn _json_decode<'v>(
        #[starlark(require = pos)] x: &str,
        default: Option<StarlarkValue<'v>>,
        heap: Heap<'v>,
    ) -> anyhow::Result<StarlarkValue<'v>> {
        match (json::decode(x, heap), default) {
            (Err(_), Some(default)) => Ok(default),
            (decoded, _) => decoded,
        }
    }

    fn _json_indent<'v>(
        text: &str,
        #[starlark(default = "")] prefix: &str,
        #[starlark(default = "\t")] indent: &str,
        heap: Heap<'v>,
    ) -> anyhow::Result<String> {
        json::decode(text, heap).map_err(|_| error("json.indent: invalid JSON"))?;
        Ok(json::indent(text, prefix, indent))
    }

    fn _yaml_loads<'v>(text: &str, heap: Heap<'v>) -> anyhow::Result<StarlarkValue<'v>> {
        read(text.to_owned(), heap)
    }

    fn _yaml_dumps<'v>(value: StarlarkValue<'v>, heap: Heap<'v>) -> anyhow::Result<String> {
        let value = sorted(from_starlark(value, heap).map_err(error)?);
        render::block(&value).map_err(error)
    }

    fn _base64_encode(
        data: &str,
        #[starlark(default = "standard")] encoding: &str,
    ) -> anyhow::Result<String> {
        Ok(base64(encoding)?.encode(data.as_bytes()))
    }

    fn _base64_decode(
        data: &str,
        #[starlark(default = "standard")] encoding: &str,
    ) -> anyhow::Result<String> {
        let bytes = base64(encoding)?.decode(data.as_bytes());
        let bytes = bytes.map_err(|cause| error(format!("base64.decode: {cause}")))?;
        String::from_utf8(bytes).map_err(|_| error("base64.decode: the data is not UTF-8"))
    }

    fn _hash(name: &str, text: &str) -> anyhow::Result<String> {
        Ok(match name {
            "md5" => HEXLOWER.encode(&Md5::digest(text)),
            "sha1" => HEXLOWER.encode(&Sha1::digest(text)),
            _ => HEXLOWER.encode(&Sha256::digest(text)),
        })
    }

    /// Compat: flags and counts of the functions below are accepted and ignored, as the kpt function does. Flags are part of the
    /// pattern: `(?i)`.
    fn _re_findall<'v>(
        pattern: &str,
        string: &str,
        #[starlark(default = 0)] flags: i32,
        heap: Heap<'v>,
    ) -> anyhow::Result<StarlarkValue<'v>> {
        let _ = flags;
        let pattern = regex(pattern)?;
        Ok(heap.alloc(AllocTuple(pattern.find_iter(string).map(|it| it.as_str()))))
    }

    /// Every match with its groups.
    fn _re_match<'v>(
        pattern: &str,
        string: &str,
        #[starlark(default = 0)] flags: i32,
        heap: Heap<'v>,
    ) -> anyhow::Result<StarlarkValue<'v>> {
        let _ = flags;
        let pattern = regex(pattern)?;
        let groups = pattern.captures_iter(string).map(|found| {
            let texts = (0..found.len()).map(|at| found.get(at).map_or("", |it| it.as_str()));
            heap.alloc(AllocTuple(texts.map(str::to_owned).collect::<Vec<_>>()))
        });
        Ok(heap.alloc(AllocList(groups)))
    }

    /// The offsets of the first match in bytes.
    fn _re_search<'v>(
        pattern: &str,
        string: &str,
        #[starlark(default = 0)] flags: i32,
        heap: Heap<'v>,
    ) -> anyhow::Result<StarlarkValue<'v>> {
        let _ = flags;
        let pattern = regex(pattern)?;
        Ok(match pattern.find(string) {
            Some(found) => heap.alloc(AllocList([found.start(), found.end()].map(BigInt::from))),
            None => StarlarkValue::new_none(),
        })
    }

    fn _re_split<'v>(
        pattern: &str,
        string: &str,
        #[starlark(default = 0)] maxsplit: i32,
        #[starlark(default = 0)] flags: i32,
        heap: Heap<'v>,
    ) -> anyhow::Result<StarlarkValue<'v>> {
        let _ = flags;
        let limit = if maxsplit == 0 { -1 } else { i64::from(maxsplit) };
        let parts = go_regex::split(&regex(pattern)?, string, limit);
        Ok(heap.alloc(AllocTuple(parts)))
    }

    fn _re_sub(
        pattern: &str,
        repl: &str,
        string: &str,
        #[starlark(default = 0)] count: i32,
        #[starlark(default = 0)] flags: i32,
    ) -> anyhow::Result<String> {
        let _ = (count, flags);
        Ok(regex(pattern)?.replace_all(string, repl).into_owned())
    }

    /// A mathematical function, by name.
    fn _math(
        name: &str,
        #[starlark(args)] numbers: UnpackTuple<UnpackFloat>,
    ) -> anyhow::Result<f64> {
        let numbers: Vec<f64> = numbers.items.iter().map(|it| it.0).collect();
        if name == "log" && numbers.get(1) == Some(&1.0) {
            return Err(error("math.log: division by zero"));
        }
        let wrong_count = || error(format!("math.{name}: wrong number of arguments"));
        math::calculate(name, &numbers).ok_or_else(wrong_count)
    }

    /// `ceil` and `floor`, whose value is an integer.
    fn _math_integer<'v>(
        name: &str,
        x: StarlarkValue<'v>,
        heap: Heap<'v>,
    ) -> anyhow::Result<StarlarkValue<'v>> {
        let number = match (x.get_type(), display::unpack_float(x)) {
            ("int", _) => return Ok(x),
            (_, Some(number)) if number.is_finite() => number,
            (_, Some(number)) => {
                let text = display::non_finite(number);
                return Err(error(format!("math.{name}: cannot convert float {text} to integer")));
            }
            (other, None) => {
                return Err(error(format!("math.{name}: got {other}, want float or int")));
            }
        };
        let whole = if name == "ceil" { number.ceil() } else { number.floor() };
        // All digits, without an exponent.
        let integer: BigInt = format!("{whole:.0}").parse().map_err(error)?;
        Ok(heap.alloc(integer))
    }

    fn _match_gvk(resource: DictRef<'_>, api_version: &str, kind: &str) -> anyhow::Result<bool> {
        let is =
            |name, text| resource.get_str(name).and_then(StarlarkValue::unpack_str) == Some(text);
        Ok(is("apiVersion", api_version) && is("kind", kind))
    }

    fn _match_name(resource: DictRef<'_>, name: &str) -> anyhow::Result<bool> {
        Ok(metadata(&resource, "name") == name)
    }

    fn _match_namespace(resource: DictRef<'_>, namespace: &str) -> anyhow::Result<bool> {
        Ok(metadata(&resource, "namespace") == namespace)
    }

    /// Functions of libraries that can be loaded, but are not supported.
    fn _unsupported(
        name: &str,
        reason: &str,
        #[starlark(args)] _args: StarlarkValue<'_>,
        #[starlark(kwargs)] _kwargs: StarlarkValue<'_>,
    ) -> anyhow::Result<NoneType> {
        Err(error(format!("{name}: {reason}; use `--no-builtin` to run the image")))
    }
}

fn metadata<'v>(resource: &DictRef<'v>, name: &str) -> &'v str {
    let metadata = resource.get_str("metadata").and_then(DictRef::from_value);
    metadata.and_then(|it| it.get_str(name)?.unpack_str()).unwrap_or_default()
}

/// Parses YAML or JSON.
fn read<'v>(text: String, heap: Heap<'v>) -> anyhow::Result<StarlarkValue<'v>> {
    let file = File::parse(text).map_err(error)?;
    if let Some(cause) = file.errors().next() {
        return Err(error(cause));
    }
    let root = file.documents().find_map(|document| document.root());
    let value = root.map_or(Ok(Value::Null), NodeRef::to_value).map_err(error)?;
    Ok(to_starlark(&value, heap))
}

fn base64(name: &str) -> anyhow::Result<Encoding> {
    Ok(match name {
        "standard" | "" => BASE64,
        "standard_raw" => BASE64_NOPAD,
        "url" => BASE64URL,
        "url_raw" => BASE64URL_NOPAD,
        other => {
            return Err(error(format!(
                "base64: unknown encoding `{other}`: expected standard, standard_raw, url or url_raw"
            )));
        }
    })
}

fn regex(pattern: &str) -> anyhow::Result<Regex> {
    go_regex::compile(pattern).map_err(|cause| error(format!("re: {cause}")))
}

/// Sorts the entries of all mappings by key.
fn sorted(value: Value<'static>) -> Value<'static> {
    match value {
        Value::Sequence(items) => Value::Sequence(items.into_iter().map(sorted).collect()),
        Value::Mapping(entries) => {
            let entries = entries.into_iter().map(|(key, value)| (key, sorted(value)));
            let mut entries: Vec<_> = entries.collect();
            entries.sort_by_cached_key(|(key, _)| key_text(key));
            Value::Mapping(entries)
        }
        other => other,
    }
}
