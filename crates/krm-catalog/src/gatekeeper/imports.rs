//! Imported functions by their full names: the interpreter knows imported values, and not imported functions.

/// The policy with `data.lib.hosts.of(…)` where it says `hosts.of(…)` after `import data.lib.hosts`. Lines stay lines.
pub(super) fn written_out(policy: &str) -> String {
    let imports: Vec<(&str, &str)> = policy.lines().filter_map(import).collect();
    policy
        .split_inclusive('\n')
        .map(|line| match line.trim() {
            // It means nothing, and the interpreter would say so on stderr.
            "import input" => "\n".to_owned(),
            text if text.starts_with("import ") || imports.is_empty() => line.to_owned(),
            _ => expanded(line, &imports),
        })
        .collect()
}

/// The name and the path of an import.
fn import(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split('#').next()?.split_whitespace();
    let (word, path) = (words.next()?, words.next()?);
    if word != "import" || !path.starts_with("data.") {
        return None;
    }
    match (words.next(), words.next()) {
        (Some("as"), Some(name)) => Some((name, path)),
        _ => Some((path.rsplit('.').next()?, path)),
    }
}

/// A line with imported names written out where something is called or looked up by them.
fn expanded(line: &str, imports: &[(&str, &str)]) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '#' => rest.len(),
            '"' => quoted(rest),
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

/// How long the text in quotes is that begins here.
fn quoted(text: &str) -> usize {
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
    fn imported_names_are_written_out_where_they_are_used() {
        let policy = "package a\nimport input\nimport data.lib.hosts\nimport data.lib.exempt.is_exempt as free # x\n\nviolation[{\"msg\": \"hosts.of(\\\"free(\"}] {\n  not free(hosts.of(x)) # free(\n  y.hosts.free(`hosts.a`)\n  hosts := free\n}\n";
        let wanted = "package a\n\nimport data.lib.hosts\nimport data.lib.exempt.is_exempt as free # x\n\nviolation[{\"msg\": \"hosts.of(\\\"free(\"}] {\n  not data.lib.exempt.is_exempt(data.lib.hosts.of(x)) # free(\n  y.hosts.free(`hosts.a`)\n  hosts := free\n}\n";
        assert_eq!(written_out(policy), wanted);
        assert_eq!(written_out("package a\nx { hosts.of(y) }"), "package a\nx { hosts.of(y) }");
    }
}
