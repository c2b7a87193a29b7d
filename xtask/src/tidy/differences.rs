//! Rule `differences_are_documented`: the differences that `cargo xtask differential --functions` accepts are those on the pages of the functions.

use super::{Finding, TextFile};
use crate::differential;

const PAGES: &str = "crates/krm-catalog/doc/";
const SECTION: &str = "## Differences from the original";

pub(super) fn differences_are_documented(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for page in files.iter().filter(|file| file.path.starts_with(PAGES)) {
        let function = page.path[PAGES.len()..].trim_end_matches(".md");
        let known: Vec<&str> = differential::documented_ids(function).collect();
        findings.extend(compare(page, &known));
    }
    findings
}

fn compare(page: &TextFile, known: &[&str]) -> Vec<Finding> {
    let written = ids(&page.text);
    let mut findings = Vec::new();
    for (line, id) in &written {
        if !known.contains(id) {
            let message = format!(
                "the difference `{id}` is not in the table of `cargo xtask differential --functions`"
            );
            findings.push(Finding::new(page, *line, message));
        }
        if written.iter().any(|(other, it)| it == id && other < line) {
            findings.push(Finding::new(
                page,
                *line,
                format!("the difference `{id}` is described twice"),
            ));
        }
    }
    for id in known.iter().filter(|id| !written.iter().any(|(_, it)| it == *id)) {
        let message =
            format!("add the difference `{id}` to the section `{SECTION}`, as \"- `{id}`: …\"");
        findings.push(Finding::new(page, 1, message));
    }
    findings
}

/// The ids of a page with their lines: the list items of the section that begin with a word in backquotes and a colon.
fn ids(text: &str) -> Vec<(usize, &str)> {
    let lines = text.lines().enumerate();
    let section = lines.skip_while(|(_, line)| *line != SECTION).skip(1);
    let section = section.take_while(|(_, line)| !line.starts_with("## "));
    let id = |(at, line): (usize, &'_ str)| -> Option<(usize, usize, usize)> {
        let rest = line.strip_prefix("- `")?;
        let end = rest.find("`: ")?;
        Some((at, 3, 3 + end))
    };
    let lines: Vec<&str> = text.lines().collect();
    section.filter_map(id).map(|(at, from, to)| (at + 1, &lines[at][from..to])).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    #[test]
    fn ids_of_table_and_page_must_agree() {
        let text = "# f\n\n- `x`: no\n\n## Differences from the original\n\n- `a`: one\n  more\n- `b`: two\n- `c` is three\n- other\n\n## More\n\n- `d`: no\n";
        let page = file("crates/krm-catalog/doc/f.md", text);
        assert_eq!(ids(text), [(7, "a"), (9, "b")]);
        assert_eq!(compare(&page, &["a", "b"]), []);
        let lines =
            |known: &[&str]| compare(&page, known).iter().map(|it| it.line).collect::<Vec<_>>();
        assert_eq!(lines(&["a"]), [9]);
        assert_eq!(lines(&["a", "b", "c"]), [1]);
        let twice = file(
            "crates/krm-catalog/doc/f.md",
            "## Differences from the original\n- `a`: x\n- `a`: y\n",
        );
        assert_eq!(compare(&twice, &["a"]).len(), 1);
    }
}
