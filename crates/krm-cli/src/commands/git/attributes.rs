//! The lines of a `.gitattributes` file that assign krm to manifests; other lines stay as they are.

/// What manifests are called.
const PATTERNS: [&str; 4] = ["*.yaml", "*.yml", "Kptfile", "Krmfile"];

/// The attributes without and with diffs.
const MERGE: &str = "merge=krm";
const DIFF: &str = "diff=krm";

fn lines(with_diff: bool) -> [String; 4] {
    PATTERNS.map(|pattern| match with_diff {
        true => format!("{pattern} {MERGE} {DIFF}"),
        false => format!("{pattern} {MERGE}"),
    })
}

/// The text with the lines that it lacks at its end. Lines of another installation are removed.
pub(super) fn with_lines(text: &str, with_diff: bool) -> String {
    let wanted = lines(with_diff);
    let mut result = without(text, &lines(!with_diff));
    for line in wanted.iter().filter(|line| !text.lines().any(|it| it == **line)) {
        if !result.is_empty() && !result.ends_with('\n') {
            result.push('\n');
        }
        result.push_str(line);
        result.push('\n');
    }
    result
}

/// The text without the lines that [`with_lines`] adds; none if nothing is left.
pub(super) fn without_lines(text: &str) -> Option<String> {
    let text = without(&without(text, &lines(true)), &lines(false));
    Some(text).filter(|text| !text.trim().is_empty())
}

fn without(text: &str, removed: &[String]) -> String {
    let is_kept = |line: &&str| !removed.iter().any(|it| it == line.trim_end_matches(['\r', '\n']));
    text.split_inclusive('\n').filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &str = "*.yaml merge=krm diff=krm\n*.yml merge=krm diff=krm\nKptfile merge=krm diff=krm\nKrmfile merge=krm diff=krm\n";

    #[test]
    fn missing_lines_are_added_once() {
        assert_eq!(with_lines("", true), ALL);
        assert_eq!(with_lines(ALL, true), ALL);
        assert_eq!(with_lines("*.rs text", true), format!("*.rs text\n{ALL}"));
    }

    #[test]
    fn another_installation_is_replaced() {
        assert_eq!(with_lines(ALL, false), ALL.replace(" diff=krm", ""));
        assert_eq!(with_lines(&ALL.replace(" diff=krm", ""), true), ALL);
    }

    #[test]
    fn other_lines_stay() {
        let text = format!("# ours\n{ALL}*.png binary");
        assert_eq!(without_lines(&text).as_deref(), Some("# ours\n*.png binary"));
        assert_eq!(without_lines(ALL), None);
    }
}
