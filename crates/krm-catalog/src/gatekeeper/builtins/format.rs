//! `sprintf`: Go's `fmt.Sprintf` for integers, floats and strings. OPA passes all other values as strings.

use anyhow::bail;
use regorus::Value;

use super::BuiltinResult;
use crate::go_float::{self, FMT_THRESHOLD};
use crate::go_text::{push_escaped, quote};

/// An argument, by its type in Go.
enum Argument {
    Int(i128),
    Float(f64),
    Text(String),
}

impl Argument {
    fn of(value: &Value) -> anyhow::Result<Self> {
        Ok(match value {
            Value::String(text) => Self::Text(text.to_string()),
            Value::Number(number) => match (number.as_i128(), number.as_f64()) {
                (Some(integer), _) => Self::Int(integer),
                (None, Some(float)) => Self::Float(float),
                (None, None) => bail!("sprintf: the number {value} is out of range"),
            },
            other => Self::Text(display(other)),
        })
    }

    fn type_name(&self) -> &'static str {
        match self {
            // Compat: OPA passes integers of more than 64 bits as big integers.
            Self::Int(number) if i64::try_from(*number).is_err() => "*big.Int",
            Self::Int(_) => "int",
            Self::Float(_) => "float64",
            Self::Text(_) => "string",
        }
    }

    /// `%v`
    fn plain(&self) -> String {
        match self {
            Self::Int(number) => number.to_string(),
            Self::Float(number) => go_float::general(*number, FMT_THRESHOLD),
            Self::Text(text) => text.clone(),
        }
    }
}

/// A composite value, a boolean or null as OPA prints it.
fn display(value: &Value) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        Value::String(text) => quote(text),
        Value::Array(items) => format!("[{}]", list(items.iter().map(display).collect())),
        Value::Set(items) if items.is_empty() => "set()".to_owned(),
        Value::Set(items) => format!("{{{}}}", list(items.iter().map(display).collect())),
        Value::Object(entries) => {
            let entry =
                |(key, value): (&Value, &Value)| format!("{}: {}", display(key), display(value));
            format!("{{{}}}", list(entries.iter_sorted().map(entry).collect()))
        }
        other => other.to_string(),
    }
}

/// The flags, width and precision between `%` and the verb.
#[derive(Clone, Copy, Debug, Default)]
struct Directive {
    plus: bool,
    minus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
    width: Option<usize>,
    precision: Option<usize>,
}

/// Wider output is an error: the width comes from the policy.
const MAX_WIDTH: usize = 10_000;

pub(super) fn sprintf(args: &[Value]) -> BuiltinResult {
    let (Ok(format), Ok(values)) = (args[0].as_string(), args[1].as_array()) else {
        return Ok(Value::Undefined);
    };
    let arguments: Vec<Argument> =
        values.iter().map(Argument::of).collect::<anyhow::Result<_>>()?;
    Ok(Value::from(format_all(format, &arguments)?))
}

fn format_all(format: &str, arguments: &[Argument]) -> anyhow::Result<String> {
    let (mut out, mut next, mut is_reordered) = (String::new(), 0, false);
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let directive = read_directive(&mut chars)?;
        if chars.next_if_eq(&'[').is_some() {
            let digits: String =
                std::iter::from_fn(|| chars.next_if(char::is_ascii_digit)).collect();
            if chars.next() != Some(']') {
                bail!("sprintf: the argument index in `{format}` is not supported");
            }
            next = digits.parse::<usize>().unwrap_or(0).wrapping_sub(1);
            is_reordered = true;
        }
        match chars.next() {
            None => out.push_str("%!(NOVERB)"),
            Some('%') => out.push('%'),
            Some(verb) => match arguments.get(next) {
                Some(argument) => {
                    out.push_str(&format_one(verb, argument, directive)?);
                    next += 1;
                }
                None if is_reordered => out.push_str(&format!("%!{verb}(BADINDEX)")),
                None => out.push_str(&format!("%!{verb}(MISSING)")),
            },
        }
    }
    if !is_reordered && next < arguments.len() {
        let describe = |it: &Argument| format!("{}={}", it.type_name(), it.plain());
        let extra: Vec<String> = arguments[next..].iter().map(describe).collect();
        out.push_str(&format!("%!(EXTRA {})", extra.join(", ")));
    }
    Ok(out)
}

fn read_directive(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
) -> anyhow::Result<Directive> {
    let mut directive = Directive::default();
    while let Some(flag) = chars.next_if(|c| "+-# 0".contains(*c)) {
        match flag {
            '+' => directive.plus = true,
            '-' => directive.minus = true,
            '#' => directive.sharp = true,
            ' ' => directive.space = true,
            _ => directive.zero = true,
        }
    }
    let number = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>| {
        let digits: String = std::iter::from_fn(|| chars.next_if(char::is_ascii_digit)).collect();
        match digits.parse::<usize>() {
            Ok(number) if number > MAX_WIDTH => bail!("sprintf: the width {number} is too large"),
            Ok(number) => Ok(Some(number)),
            Err(_) => Ok(None),
        }
    };
    directive.width = number(chars)?;
    if chars.next_if_eq(&'.').is_some() {
        directive.precision = Some(number(chars)?.unwrap_or(0));
    }
    if chars.peek() == Some(&'*') {
        bail!("sprintf: a width from the arguments (`*`) is not supported");
    }
    Ok(directive)
}

fn format_one(verb: char, argument: &Argument, directive: Directive) -> anyhow::Result<String> {
    let bad_verb = || format!("%!{verb}({}={})", argument.type_name(), argument.plain());
    Ok(match (verb, argument) {
        ('T', _) => pad(argument.type_name().to_owned(), directive),
        ('v' | 's', Argument::Text(text)) => pad(truncate(text, directive), directive),
        ('q', Argument::Text(text)) => pad(quote(&truncate(text, directive)), directive),
        ('x' | 'X', Argument::Text(text)) => {
            let hex: String =
                truncate(text, directive).bytes().map(|it| format!("{it:02x}")).collect();
            pad(if verb == 'X' { hex.to_uppercase() } else { hex }, directive)
        }
        ('v' | 'd', Argument::Int(number)) => integer(*number, 10, "", directive),
        ('b', Argument::Int(number)) => {
            integer(*number, 2, if directive.sharp { "0b" } else { "" }, directive)
        }
        ('o', Argument::Int(number)) => {
            integer(*number, 8, if directive.sharp { "0" } else { "" }, directive)
        }
        ('O', Argument::Int(number)) => integer(*number, 8, "0o", directive),
        ('x', Argument::Int(number)) => {
            integer(*number, 16, if directive.sharp { "0x" } else { "" }, directive)
        }
        ('X', Argument::Int(number)) => {
            let prefix = if directive.sharp { "0X" } else { "" };
            integer(*number, 16, prefix, directive).to_uppercase()
        }
        ('s', Argument::Int(number)) if argument.type_name() == "*big.Int" => {
            integer(*number, 10, "", directive)
        }
        ('c' | 'q' | 'U', Argument::Int(number)) => character(verb, *number, directive),
        ('v' | 'g' | 'G' | 'e' | 'E' | 'f' | 'F', Argument::Float(number)) => {
            float(verb, *number, directive)
        }
        ('x' | 'X' | 'b', Argument::Float(_)) => {
            bail!("sprintf: `%{verb}` of a float is not supported")
        }
        _ => bad_verb(),
    })
}

fn truncate(text: &str, directive: Directive) -> String {
    match directive.precision {
        Some(precision) => text.chars().take(precision).collect(),
        None => text.to_owned(),
    }
}

fn pad(text: String, directive: Directive) -> String {
    let missing = directive.width.unwrap_or(0).saturating_sub(text.chars().count());
    match (directive.minus, directive.zero) {
        (true, _) => text + &" ".repeat(missing),
        (false, true) => "0".repeat(missing) + &text,
        (false, false) => " ".repeat(missing) + &text,
    }
}

/// The sign, and the digits padded with zeros behind it.
fn signed(is_negative: bool, digits: &str, directive: Directive) -> String {
    let sign = match (is_negative, directive.plus, directive.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        _ => "",
    };
    if directive.zero && !directive.minus {
        let missing = directive.width.unwrap_or(0).saturating_sub(sign.len() + digits.len());
        return format!("{sign}{}{digits}", "0".repeat(missing));
    }
    pad(format!("{sign}{digits}"), Directive { zero: false, ..directive })
}

fn integer(number: i128, base: u32, prefix: &str, directive: Directive) -> String {
    let absolute = number.unsigned_abs();
    let digits = match base {
        2 => format!("{absolute:b}"),
        8 => format!("{absolute:o}"),
        16 => format!("{absolute:x}"),
        _ => absolute.to_string(),
    };
    // A precision is the number of digits, and leaves no padding with zeros.
    let (digits, zero) = match directive.precision {
        Some(0) if number == 0 => (String::new(), false),
        Some(precision) => ("0".repeat(precision.saturating_sub(digits.len())) + &digits, false),
        None => (digits, directive.zero),
    };
    signed(number < 0, &format!("{prefix}{digits}"), Directive { zero, ..directive })
}

fn character(verb: char, number: i128, directive: Directive) -> String {
    let c =
        u32::try_from(number).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
    match verb {
        'c' => pad(c.to_string(), directive),
        'U' => pad(format!("U+{number:04X}"), directive),
        _ => {
            let mut quoted = String::from('\'');
            match c {
                '\'' => quoted.push_str("\\'"),
                c => push_escaped(c, &mut quoted),
            }
            quoted.push('\'');
            pad(quoted, directive)
        }
    }
}

fn float(verb: char, number: f64, directive: Directive) -> String {
    let absolute = number.abs();
    let digits = match (verb.to_ascii_lowercase(), directive.precision) {
        ('e', precision) => go_float::scientific(absolute, Some(precision.unwrap_or(6))),
        ('f', precision) => go_float::decimal(absolute, precision.unwrap_or(6)),
        (_, Some(precision)) => go_float::general_with(absolute, precision),
        (_, None) => go_float::general(absolute, FMT_THRESHOLD),
    };
    let digits = if matches!(verb, 'E' | 'G') { digits.to_uppercase() } else { digits };
    signed(number.is_sign_negative(), &digits, directive)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(format: &str, json: &str) -> String {
        let arguments = Value::from_json_str(json).unwrap();
        sprintf(&[format.into(), arguments]).unwrap().as_string().unwrap().to_string()
    }

    #[test]
    fn verbs_are_those_of_go() {
        for (format, arguments, expected) in [
            ("%v %v %v", r#"["a", 1, 1.5]"#, "a 1 1.5"),
            ("%v", r#"[["a", {"b": [null, true]}]]"#, r#"["a", {"b": [null, true]}]"#),
            ("%s", r#"["a"]"#, "a"),
            ("%s", "[5]", "%!s(int=5)"),
            ("%d", r#"["a"]"#, "%!d(string=a)"),
            ("%q %q", r#"["a\"b\n", 65]"#, r#""a\"b\n" 'A'"#),
            ("%T %T %T %T", r#"[1, 1.5, "a", [1]]"#, "int float64 string string"),
            ("%x %X %#x %o %O %b", "[255, 255, 255, 8, 8, 5]", "ff FF 0xff 10 0o10 101"),
            ("%x", r#"["hi"]"#, "6869"),
            ("%5d|%-5d|%05d|%+d|% d", "[42, 42, -42, 42, 42]", "   42|42   |-0042|+42| 42"),
            (
                "%.2f|%8.3f|%e|%g",
                "[3.14159, 2.5, 1234.5, 1e-7]",
                "3.14|   2.500|1.234500e+03|1e-07",
            ),
            ("%.2f", "[3]", "%!f(int=3)"),
            ("%5s|%-5s|%.2s", r#"["ab", "ab", "abc"]"#, "   ab|ab   |ab"),
            ("%c %U", "[9731, 9731]", "☃ U+2603"),
            ("%t", "[true]", "%!t(string=true)"),
            ("100%% %d", "[]", "100% %!d(MISSING)"),
            ("%d", "[1, \"x\"]", "1%!(EXTRA string=x)"),
            ("%", "[]", "%!(NOVERB)"),
            ("%[2]v %[1]v", "[1, 2]", "2 1"),
            ("%z", "[1]", "%!z(int=1)"),
            ("%v", "[1e20]", "100000000000000000000"),
        ] {
            assert_eq!(formatted(format, arguments), expected, "{format} {arguments}");
        }
    }

    #[test]
    fn sets_are_printed_as_in_rego() {
        assert_eq!(display(&Value::new_set()), "set()");
        let set =
            Value::from(std::collections::BTreeSet::from([Value::from("b"), Value::from("a")]));
        assert_eq!(display(&set), r#"{"a", "b"}"#);
    }

    #[test]
    fn huge_width_is_an_error() {
        let error =
            sprintf(&["%999999d".into(), Value::from_json_str("[1]").unwrap()]).unwrap_err();
        assert_eq!(error.to_string(), "sprintf: the width 999999 is too large");
    }
}
