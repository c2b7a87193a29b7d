//! Recursive functions of policies, found before the interpreter calls them without end.
//!
//! Compat: OPA rejects recursion when it compiles a policy. The interpreter does so only for rules.

use std::collections::{BTreeMap, BTreeSet};

use crate::script_location::ScriptPosition;

/// A function that calls itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recursion {
    /// The index of its script.
    pub(super) script: usize,
    /// Where it is defined.
    pub(super) at: ScriptPosition,
    /// The functions of the cycle, from itself to itself.
    pub(super) cycle: String,
}

/// A function by its full name: its definitions and the functions that they call.
#[derive(Debug, Default)]
struct Function {
    script: usize,
    at: ScriptPosition,
    calls: Vec<String>,
}

/// The first recursive function of a policy and its libraries.
pub(super) fn find_recursion(scripts: &[String]) -> Option<Recursion> {
    let mut functions = BTreeMap::new();
    for (at, script) in scripts.iter().enumerate() {
        collect(at, script, &mut functions);
    }
    let mut done = BTreeSet::new();
    functions.keys().find_map(|name| cycle_from(name, &functions, &mut done)).map(|cycle| {
        let first = &functions[cycle[0]];
        let short = |name: &&str| name.rsplit('.').next().unwrap_or_default().to_owned();
        let names: Vec<String> = cycle.iter().map(short).collect();
        Recursion { script: first.script, at: first.at, cycle: names.join(" -> ") }
    })
}

/// A cycle of calls that is reached from a function, found without recursion. `done` has the functions that reach none.
fn cycle_from<'f>(
    name: &'f str,
    functions: &'f BTreeMap<String, Function>,
    done: &mut BTreeSet<&'f str>,
) -> Option<Vec<&'f str>> {
    let mut path: Vec<(&str, usize)> = vec![(name, 0)];
    while let Some((name, next)) = path.last_mut() {
        let callee = functions.get(*name).and_then(|function| function.calls.get(*next));
        *next += 1;
        let Some(callee) = callee else {
            done.extend(path.pop().map(|(name, _)| name));
            continue;
        };
        if let Some(start) = path.iter().position(|(name, _)| name == callee) {
            let cycle = path[start..].iter().map(|(name, _)| *name);
            return Some(cycle.chain([path[start].0]).collect());
        }
        if functions.contains_key(callee) && !done.contains(callee.as_str()) {
            path.push((callee, 0));
        }
    }
    None
}

/// Adds the functions of a script. A definition begins a line at the indentation of `package`.
fn collect(script: usize, text: &str, functions: &mut BTreeMap<String, Function>) {
    let tokens = tokens(text);
    let keyword = tokens.iter().position(|token| token.text == "package");
    let Some((margin, package)) =
        keyword.and_then(|at| Some((tokens[at].at.column, tokens.get(at + 1)?.text)))
    else {
        return;
    };
    let full = |name: &str| match name.starts_with("data.") {
        true => name.to_owned(),
        false => format!("data.{package}.{name}"),
    };
    let mut current: Option<String> = None;
    for (at, token) in tokens.iter().enumerate() {
        let is_called = tokens.get(at + 1).is_some_and(|next| next.text == "(");
        let is_name = token.text.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if token.begins_line && token.depth == 0 && token.at.column == margin && is_name {
            let is_definition = is_called && defines(&tokens[at + 1..]);
            current = match (is_definition, token.text) {
                (true, name) => Some(full(name)),
                (false, "else") => current,
                (false, _) => None,
            };
            if let Some(name) = current.clone().filter(|_| is_definition) {
                let new = || Function { script, at: token.at, calls: Vec::new() };
                functions.entry(name).or_insert_with(new);
                continue;
            }
        }
        if let Some(function) = current.as_ref().filter(|_| is_called && is_name) {
            functions.entry(function.clone()).or_default().calls.push(full(token.text));
        }
    }
}

/// Whether the brackets at the beginning are the parameters of a definition.
fn defines(tokens: &[Token<'_>]) -> bool {
    let outer = tokens.first().map_or(0, |open| open.depth);
    let close = tokens.iter().position(|token| token.text == ")" && token.depth == outer);
    match close.and_then(|at| tokens.get(at + 1)) {
        Some(next) => next.begins_line || matches!(next.text, "=" | ":=" | "{" | "if"),
        None => close.is_some(),
    }
}

/// A name with its dots, a bracket or another character.
#[derive(Clone, Copy, Debug)]
struct Token<'a> {
    text: &'a str,
    at: ScriptPosition,
    begins_line: bool,
    /// The number of brackets around it.
    depth: usize,
}

/// The tokens outside of strings and comments.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut rest, mut depth, mut begins_line) = (text, 0_usize, true);
    let mut at = ScriptPosition::default();
    while let Some(first) = rest.chars().next() {
        let length = token_length(rest, first);
        let (token, after) = rest.split_at(length);
        if matches!(first, ')' | ']' | '}') {
            depth = depth.saturating_sub(1);
        }
        if !first.is_whitespace() && first != '#' {
            tokens.push(Token { text: token, at, begins_line, depth });
            begins_line = false;
        }
        if matches!(first, '(' | '[' | '{') {
            depth += 1;
        }
        for c in token.chars() {
            at.column += 1;
            if c == '\n' {
                at = ScriptPosition { line: at.line + 1, column: 0 };
                begins_line = true;
            }
        }
        rest = after;
    }
    tokens
}

fn token_length(rest: &str, first: char) -> usize {
    let until = |end: usize| end.min(rest.len());
    match first {
        '#' => rest.find('\n').unwrap_or(rest.len()),
        '`' => rest[1..].find('`').map_or(rest.len(), |at| at + 2),
        '"' => super::imports::quoted_length(rest),
        c if c.is_alphanumeric() || c == '_' => {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len())
        }
        ':' | '=' if rest[1..].starts_with('=') => until(2),
        c => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(scripts: &[&str]) -> Option<(usize, usize, String)> {
        let scripts: Vec<String> = scripts.iter().map(|it| (*it).to_owned()).collect();
        find_recursion(&scripts).map(|it| (it.script, it.at.line, it.cycle))
    }

    #[test]
    fn functions_that_call_themselves_are_found() {
        let found = |script: &str| cycle(&[script]).map(|(_, line, cycle)| (line, cycle));
        let direct = "package a\n\nf(x) = y {\n  y := f(x + 1)\n}\n";
        assert_eq!(found(direct), Some((2, "f -> f".to_owned())));
        let by_others = "package a\nf(x) = 1 { x == 1 } else = y {\n  y := g(x)\n}\ng(x) := h(x) if x\nh(x) if {\n  f(x)\n}\n";
        assert_eq!(found(by_others), Some((1, "f -> g -> h -> f".to_owned())));
        let later =
            "package a\na(x) { b(x) }\nb(x) = x { x }\nb(x) { c(x) }\nc(x) { data.a.b(x) }\n";
        assert_eq!(found(later), Some((2, "b -> c -> b".to_owned())));
        let library = "package lib.x\ng(x) { data.a.f(x) }\n";
        assert_eq!(
            cycle(&["package a\nf(x) { data.lib.x.g(x) }\n", library]),
            Some((0, 1, "f -> g -> f".to_owned()))
        );
    }

    #[test]
    fn other_calls_are_not_recursion() {
        for script in [
            "package a\nf(x) = y { y := count(x); g(x) }\ng(x) { \"f(x)\"; `f(x)` } # f(x)\n",
            "package a\nf(x) { x.f(1) }\nviolation[{\"msg\": f(1)}] { f(f(1)) }\n",
            "package a\nf(x) if\n  g(x) == h(x)\nh(x) := g(x) + 1\ng(x) := x\n",
            "package a\nf(1)\ndefault f(_) = 2\nr { f(1) }\n",
            "f(x) { f(x) }",
            "package",
            "package a\nf(",
            "package a\nf(\"é",
        ] {
            assert_eq!(cycle(&[script]), None, "{script}");
        }
    }
}
