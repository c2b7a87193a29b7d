//! Compat: kpt's `-v N` and `--v=N`, a verbosity with a level, under `krm fn`.

use std::ffi::OsString;

/// Replaces `-v N`, `-v=N`, `-vN`, `--v N` and `--v=N` by `-v`, or by nothing if the level is zero. Other commands than those of kpt
/// have `-v` without a level, which may precede a file that is named like a number.
pub(super) fn without_level(arguments: Vec<OsString>) -> Vec<OsString> {
    let is_kpt_command = arguments.get(1).is_some_and(|it| it == "fn")
        && arguments.get(2).is_some_and(|it| {
            ["eval", "render", "source", "sink", "doc"].iter().any(|name| it == name)
        });
    if !is_kpt_command {
        return arguments;
    }
    let mut replaced = Vec::with_capacity(arguments.len());
    let mut rest = arguments.into_iter().peekable();
    while let Some(argument) = rest.next() {
        if argument == "--" {
            replaced.push(argument);
            break;
        }
        let text = argument.to_str().unwrap_or_default();
        let level = match text {
            "-v" | "--v" => {
                let next = rest.peek().and_then(|it| number(it.to_str()?));
                next.inspect(|_| drop(rest.next()))
            }
            _ => {
                let value = text.strip_prefix("--v=").or_else(|| {
                    let value = text.strip_prefix("-v")?;
                    Some(value.strip_prefix('=').unwrap_or(value))
                });
                value.and_then(number)
            }
        };
        match level {
            Some(0) => {}
            Some(_) => replaced.push("-v".into()),
            None => replaced.push(argument),
        }
    }
    replaced.extend(rest);
    replaced
}

fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_kpt_become_a_flag() {
        let replaced = |line: &str| {
            let arguments = line.split(' ').map(OsString::from).collect();
            let replaced = without_level(arguments).into_iter();
            replaced.map(|it| it.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        for (line, expected) in [
            ("krm fn eval p -v 4 -i x", "krm fn eval p -v -i x"),
            ("krm fn render --v=2 p", "krm fn render -v p"),
            ("krm fn render -v=0 p", "krm fn render p"),
            ("krm fn render -v3 p", "krm fn render -v p"),
            ("krm fn render --v 0 p", "krm fn render p"),
            ("krm fn render -v p", "krm fn render -v p"),
            ("krm fn render -vq", "krm fn render -vq"),
            ("krm fn render p -v", "krm fn render p -v"),
            ("krm fn eval -i x -- -v 4", "krm fn eval -i x -- -v 4"),
            ("krm cfg tree -v 4", "krm cfg tree -v 4"),
            ("krm fn list -v 4", "krm fn list -v 4"),
        ] {
            assert_eq!(replaced(line), expected, "{line}");
        }
    }
}
