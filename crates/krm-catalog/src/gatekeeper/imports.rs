//! Expanding imported functions to their full names: the interpreter supports imported values, but not imported functions.

/// Replaces `hosts.of(…)` by `data.lib.hosts.of(…)` after `import data.lib.hosts`. The number of lines does not change, so that
/// locations remain valid.
pub(super) fn expand_imports(policy: &str) -> String {
    let imports: Vec<(&str, &str)> = policy.lines().filter_map(import).collect();
    policy
        .split_inclusive('\n')
        .map(|line| match line.trim() {
            // It has no effect, and the interpreter would warn about it on stderr.
            "import input" => "\n".to_owned(),
            text if text.starts_with("import ") || imports.is_empty() => line.to_owned(),
            _ => expand_line(line, &imports),
        })
        .collect()
}

/// The name and the path of an import.
fn import(line: &str) -> Option<(&str, &str)> {
    let mut tokens = line.split('#').next()?.split_whitespace();
    let (keyword, path) = (tokens.next()?, tokens.next()?);
    if keyword != "import" || !path.starts_with("data.") {
        return None;
    }
    match (tokens.next(), tokens.next()) {
        (Some("as"), Some(name)) => Some((name, path)),
        _ => Some((path.rsplit('.').next()?, path)),
    }
}

/// Expands imported names that are followed by a call or a reference.
fn expand_line(line: &str, imports: &[(&str, &str)]) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '#' => rest.len(),
            '"' => quoted_length(rest),
            '`' => rest[1..].find('`').map_or(rest.len(), |at| at + 2),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        let is_used = after.starts_with(['(', '.']) && !out.ends_with('.');
        let full = imports.iter().find(|(name, _)| is_used && *name == word);
        out.push_str(full.map_or(word, |(_, path)| path));
        rest = after;
    }
    out
}

/// The length of the quoted string at the beginning of the text.
pub(super) fn quoted_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text[1..].find(|c: char| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |at| at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_names_are_expanded_where_they_are_used() {
        let policy = "package a\nimport input\nimport data.lib.hosts\nimport data.lib.exempt.is_exempt as free # x\n\nviolation[{\"msg\": \"hosts.of(\\\"free(\"}] {\n  not free(hosts.of(x)) # free(\n  y.hosts.free(`hosts.a`)\n  hosts := free\n}\n";
        let expected = "package a\n\nimport data.lib.hosts\nimport data.lib.exempt.is_exempt as free # x\n\nviolation[{\"msg\": \"hosts.of(\\\"free(\"}] {\n  not data.lib.exempt.is_exempt(data.lib.hosts.of(x)) # free(\n  y.hosts.free(`hosts.a`)\n  hosts := free\n}\n";
        assert_eq!(expand_imports(policy), expected);
        assert_eq!(expand_imports("package a\nx { hosts.of(y) }"), "package a\nx { hosts.of(y) }");
    }
}
