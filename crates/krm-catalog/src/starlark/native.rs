//! The native functions behind the libraries. None of them does I/O.

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, Encoding, HEXLOWER};
use krm_core::print::json;
use krm_yaml::{File, NodeRef, Value};
use md5::{Digest, Md5};
use regex_lite::Regex;
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

use super::render;
use super::values::{from_starlark, to_starlark};

/// The error of a library function.
fn error(message: impl std::fmt::Display) -> anyhow::Error {
    anyhow::anyhow!("{message}")
}

/// The functions behind `lib/*.star`. Only those files see them.
#[starlark_module]
pub(super) fn natives(builder: &mut GlobalsBuilder) {
    /// Entries are sorted by key, so that the output is deterministic.
    fn _json_encode<'v>(value: StarlarkValue<'v>, heap: Heap<'v>) -> anyhow::Result<String> {
        let value = sorted(from_starlark(value, heap).map_err(error)?);
        json::write(&value).map_err(|error| anyhow::anyhow!("json.encode: {error}"))
    }

    fn _json_decode<'v>(text: &str, heap: Heap<'v>) -> anyhow::Result<StarlarkValue<'v>> {
        let first = text.trim_start().chars().next().unwrap_or_default();
        let is_json = matches!(first, '{' | '[' | '"' | '-' | '0'..='9' | 't' | 'f' | 'n');
        let text = is_json.then(|| text.to_owned());
        read(text.ok_or_else(|| error("json.decode: expected JSON"))?, heap)
    }

    fn _json_indent(
        text: &str,
        #[starlark(default = "")] prefix: &str,
        #[starlark(default = "\t")] indent: &str,
    ) -> anyhow::Result<String> {
        Ok(indented(text, prefix, indent))
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

    fn _re_findall<'v>(
        pattern: &str,
        text: &str,
        #[starlark(default = 0)] flags: i32,
        heap: Heap<'v>,
    ) -> anyhow::Result<StarlarkValue<'v>> {
        reject_flags(flags)?;
        let pattern = regex(pattern)?;
        Ok(heap.alloc(AllocTuple(pattern.find_iter(text).map(|it| it.as_str()))))
    }

    /// Every match with its groups.
    fn _re_match<'v>(
        pattern: &str,
        text: &str,
        #[starlark(default = 0)] flags: i32,
        heap: Heap<'v>,
    ) -> anyhow::Result<StarlarkValue<'v>> {
        reject_flags(flags)?;
        let pattern = regex(pattern)?;
        let groups = pattern.captures_iter(text).map(|found| {
            let texts = (0..found.len()).map(|at| found.get(at).map_or("", |it| it.as_str()));
            heap.alloc(AllocTuple(texts.map(str::to_owned).collect::<Vec<_>>()))
        });
        Ok(heap.alloc(AllocList(groups)))
    }

    fn _re_split<'v>(
        pattern: &str,
        text: &str,
        #[starlark(default = 0)] limit: i32,
        #[starlark(default = 0)] flags: i32,
        heap: Heap<'v>,
    ) -> anyhow::Result<StarlarkValue<'v>> {
        reject_flags(flags)?;
        let pattern = regex(pattern)?;
        let parts: Vec<&str> = match usize::try_from(limit) {
            Ok(limit) if limit > 0 => pattern.splitn(text, limit).collect(),
            _ => pattern.split(text).collect(),
        };
        Ok(heap.alloc(AllocTuple(parts)))
    }

    fn _re_sub(
        pattern: &str,
        with: &str,
        text: &str,
        #[starlark(default = 0)] count: i32,
        #[starlark(default = 0)] flags: i32,
    ) -> anyhow::Result<String> {
        reject_flags(flags)?;
        let limit = usize::try_from(count).unwrap_or(0);
        Ok(regex(pattern)?.replacen(text, limit, with).into_owned())
    }

    /// A mathematical function, by name.
    fn _math(
        name: &str,
        #[starlark(args)] numbers: UnpackTuple<UnpackFloat>,
    ) -> anyhow::Result<f64> {
        let numbers: Vec<f64> = numbers.items.iter().map(|it| it.0).collect();
        let wrong_count = || error(format!("math.{name}: wrong number of arguments"));
        calculate(name, &numbers).ok_or_else(wrong_count)
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

/// Flags are part of the pattern: `(?i)`.
fn reject_flags(flags: i32) -> anyhow::Result<()> {
    if flags == 0 { Ok(()) } else { Err(error("re: write flags in the pattern: `(?i)`")) }
}

/// Formats JSON with one entry per line.
fn indented(text: &str, prefix: &str, indent: &str) -> String {
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

fn calculate(name: &str, numbers: &[f64]) -> Option<f64> {
    Some(match (name, numbers) {
        ("ceil", [x]) => x.ceil(),
        ("fabs", [x]) => x.abs(),
        ("floor", [x]) => x.floor(),
        ("round", [x]) => x.round(),
        ("exp", [x]) => x.exp(),
        ("sqrt", [x]) => x.sqrt(),
        ("log", [x]) => x.ln(),
        ("log", [x, base]) => x.log(*base),
        ("pow", [x, y]) => x.powf(*y),
        ("mod", [x, y]) => x % y,
        ("acos", [x]) => x.acos(),
        ("asin", [x]) => x.asin(),
        ("atan", [x]) => x.atan(),
        ("atan2", [y, x]) => y.atan2(*x),
        ("cos", [x]) => x.cos(),
        ("hypot", [x, y]) => x.hypot(*y),
        ("sin", [x]) => x.sin(),
        ("tan", [x]) => x.tan(),
        ("degrees", [x]) => x.to_degrees(),
        ("radians", [x]) => x.to_radians(),
        ("acosh", [x]) => x.acosh(),
        ("asinh", [x]) => x.asinh(),
        ("atanh", [x]) => x.atanh(),
        ("cosh", [x]) => x.cosh(),
        ("sinh", [x]) => x.sinh(),
        ("tanh", [x]) => x.tanh(),
        _ => return None,
    })
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
    Regex::new(pattern).map_err(|cause| error(format!("re: `{pattern}`: {cause}")))
}

/// Sorts the entries of all mappings by key.
fn sorted(value: Value<'static>) -> Value<'static> {
    match value {
        Value::Sequence(items) => Value::Sequence(items.into_iter().map(sorted).collect()),
        Value::Mapping(entries) => {
            let entries = entries.into_iter().map(|(key, value)| (key, sorted(value)));
            let mut entries: Vec<_> = entries.collect();
            entries.sort_by_cached_key(|(key, _)| json::display(key));
            Value::Mapping(entries)
        }
        other => other,
    }
}
