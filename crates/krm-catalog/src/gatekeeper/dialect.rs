//! Rewriting what the interpreter reads or evaluates differently from OPA. The number of lines does not change, so that locations
//! remain valid.

use super::imports::quoted_length;

/// Adapts a policy:
///
/// - The arguments of a negated call are evaluated outside of the negation, as OPA's compiler does: `not f(a.b)` is undefined if `a.b` is.
/// - A line that begins with `(` does not continue the line before.
/// - A set rule can have several bodies: `r[x] { … } { … }`.
pub(super) fn adapt(policy: &str) -> String {
    // A string of several lines hides what is code.
    if policy.lines().any(|line| line.matches('`').count() % 2 == 1) {
        return policy.to_owned();
    }
    let mut adapter = Adapter::default();
    policy.split_inclusive('\n').map(|line| adapter.line(line)).collect()
}

#[derive(Default)]
struct Adapter {
    open: Vec<char>,
    /// The last character of code before the current line.
    last: Option<char>,
    /// The head of the set rule around the current line.
    head: Option<String>,
    hoisted: usize,
}

impl Adapter {
    fn line(&mut self, line: &str) -> String {
        let code = code_of(line);
        let (Some(first), Some(last)) = (code.trim().chars().next(), code.trim().chars().last())
        else {
            return line.to_owned();
        };
        if self.open.is_empty() {
            self.head = set_head(line, &code);
        }
        let in_body = self.open.last() == Some(&'{');
        let text = match first {
            '}' if self.open.len() == 1 => self.repeat_head(line, &code),
            '(' if in_body && self.last.is_some_and(ends_expression) => {
                let at = code.find('(').unwrap_or(0);
                format!("{}true; {}", &line[..at], &line[at..])
            }
            _ if in_body && code.trim().starts_with("not ") => self.hoist(line, &code),
            _ => line.to_owned(),
        };
        for c in code.chars() {
            match c {
                '(' | '[' | '{' => self.open.push(c),
                ')' | ']' | '}' => _ = self.open.pop(),
                _ => {}
            }
        }
        self.last = Some(last);
        text
    }

    /// Begins another rule with the same head at `} {`.
    fn repeat_head(&self, line: &str, code: &str) -> String {
        let next = code.trim().strip_prefix('}').map(str::trim_start);
        match (&self.head, next.is_some_and(|it| it.starts_with('{')), code.find('{')) {
            (Some(head), true, Some(at)) => format!("{}{head} {}", &line[..at], &line[at..]),
            _ => line.to_owned(),
        }
    }

    /// Moves the references among the arguments of `not f(…)` before it.
    fn hoist(&mut self, line: &str, code: &str) -> String {
        let Some((start, arguments)) = negated_call(code) else { return line.to_owned() };
        let (mut before, mut call) = (String::new(), String::new());
        let mut at = start;
        for (begin, end) in arguments {
            let begin = begin + (line[begin..end].len() - line[begin..end].trim_start().len());
            let argument = line[begin..end].trim_end();
            if is_reference(argument) {
                self.hoisted += 1;
                let name = format!("krm_argument_{}", self.hoisted);
                before.push_str(&format!("{name} := {argument}; "));
                call.push_str(&line[at..begin]);
                call.push_str(&name);
                at = begin + argument.len();
            }
        }
        format!("{}{before}{call}{}", &line[..start], &line[at..])
    }
}

/// Whether an expression can end with this character.
fn ends_expression(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | ']' | ')' | '}' | '"')
}

/// A line of the same length, without strings and comments.
fn code_of(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '#' => rest.len(),
            '"' => quoted_length(rest),
            '`' => rest[1..].find('`').map_or(rest.len(), |at| at + 2),
            c => c.len_utf8(),
        };
        match first {
            '#' => out.push_str(&" ".repeat(length)),
            '"' | '`' => out.push_str(&"\"".repeat(length)),
            c if c.is_ascii() => out.push(c),
            _ => out.push_str(&"x".repeat(length)),
        }
        rest = &rest[length..];
    }
    out
}

/// The head of a set rule whose body begins on this line.
fn set_head(line: &str, code: &str) -> Option<String> {
    let name = code.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    let body = code.trim_end().strip_suffix('{')?.len();
    let is_set =
        name > 0 && code[name..].starts_with('[') && code[..body].trim_end().ends_with(']');
    is_set.then(|| line[..body].trim().to_owned())
}

/// The offset of `not` and the arguments of the call behind it, if the line has nothing else.
fn negated_call(code: &str) -> Option<(usize, Vec<(usize, usize)>)> {
    let start = code.find("not ")?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let name = start + 4 + (code[start + 4..].len() - code[start + 4..].trim_start().len());
    let open = name + code[name..].find(|c: char| !is_name(c)).filter(|length| *length > 0)?;
    if !code[open..].starts_with('(') {
        return None;
    }
    let (mut arguments, mut depth, mut begin) = (Vec::new(), 0_usize, open + 1);
    for (at, c) in code.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    arguments.push((begin, at));
                    return code[at + 1..].trim().is_empty().then_some((start, arguments));
                }
            }
            ',' if depth == 1 => {
                arguments.push((begin, at));
                begin = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// Whether an argument is a reference such as `input.review.object["kind"]`, without iteration.
fn is_reference(argument: &str) -> bool {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let end = argument.find(['.', '[']).unwrap_or(argument.len());
    let (head, mut rest) = argument.split_at(end);
    if !is_name(head) || head == "_" || rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        if let Some(field) = rest.strip_prefix('.') {
            let end = field.find(['.', '[']).unwrap_or(field.len());
            if !is_name(&field[..end]) {
                return false;
            }
            rest = &field[end..];
        } else {
            let Some((key, after)) = rest.strip_prefix('[').and_then(|it| it.split_once(']'))
            else {
                return false;
            };
            let is_string =
                key.len() > 1 && key.starts_with('"') && key[1..].find('"') == Some(key.len() - 2);
            let is_number = !key.is_empty() && key.bytes().all(|it| it.is_ascii_digit());
            if !(is_string || is_number || (is_name(key) && key != "_")) {
                return false;
            }
            rest = after;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_negated_calls_are_hoisted() {
        let adapted = |line: &str| {
            let policy = adapt(&format!("r {{\n{line}\n}}"));
            policy.lines().nth(1).unwrap().to_owned()
        };
        assert_eq!(
            adapted("  not f(a, b.c, \"x.y\", d[\"e\"][0]) # why"),
            "  krm_argument_1 := b.c; krm_argument_2 := d[\"e\"][0]; not f(a, krm_argument_1, \"x.y\", krm_argument_2) # why"
        );
        for line in [
            "not f(x)",
            "not f(a[_].b)",
            "not a.b",
            "not f(a.b) == 1",
            "not f(a.b) with input as x",
            "not f(g(a.b))",
            "x := not_a.b",
        ] {
            assert_eq!(adapted(line), line);
        }
    }

    #[test]
    fn parenthesis_begins_an_expression() {
        let policy = "r {\n  input.a\n  (b - 1) > 2\n  x := [1,\n  (2)]\n  y :=\n    (3)\n}\n";
        let expected =
            "r {\n  input.a\n  true; (b - 1) > 2\n  x := [1,\n  (2)]\n  y :=\n    (3)\n}\n";
        assert_eq!(adapt(policy), expected);
    }

    #[test]
    fn set_rules_can_have_several_bodies() {
        let policy = "r[{\"msg\": m}] {\n  m := \"} {\"\n} {\n  m := 2\n}\nf(x) = y {\n  y := 1\n} {\n  y := 2\n}\n";
        let expected = "r[{\"msg\": m}] {\n  m := \"} {\"\n} r[{\"msg\": m}] {\n  m := 2\n}\nf(x) = y {\n  y := 1\n} {\n  y := 2\n}\n";
        assert_eq!(adapt(policy), expected);
        assert_eq!(adapt("x := `a\n} {\n`\n"), "x := `a\n} {\n`\n");
    }
}
