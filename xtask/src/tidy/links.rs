//! Rules about links in Markdown files: targets and headings exist, the book is complete, and its pages link to nothing outside of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::{Finding, TextFile};

/// The directory of the book, and its table of contents.
const BOOK: &str = "docs/";
const SUMMARY: &str = "docs/SUMMARY.md";

/// The addresses of files and directories of this repository, for links from the book to the outside of `docs`.
const REPOSITORY: &[&str] = &[
    "https://github.com/krm-toolkit/krm/blob/main/",
    "https://github.com/krm-toolkit/krm/tree/main/",
];

/// Links to files and headings of the repository have targets. Other addresses are not checked: that needs a network.
pub(super) fn links_have_targets(files: &[TextFile]) -> Vec<Finding> {
    let index = Index::new(files);
    // Explanations are checked on the page that is made of them.
    let pages =
        files.iter().filter(|file| file.path.ends_with(".md") && !file.path.contains("/explain/"));
    pages.flat_map(|file| index.check(file)).collect()
}

/// The table of contents of the book lists every page once.
pub(super) fn book_lists_every_page(files: &[TextFile]) -> Vec<Finding> {
    let Some(summary) = files.iter().find(|file| file.path == SUMMARY) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut listed = BTreeSet::new();
    for link in links(&summary.text) {
        if !listed.insert(format!("{BOOK}{}", link.target)) {
            let message = format!("`{}` is listed twice", link.target);
            findings.push(Finding::new(summary, link.line, message));
        }
    }
    let pages = files.iter().filter(|it| it.path.starts_with(BOOK) && it.path.ends_with(".md"));
    for page in pages.filter(|page| page.path != SUMMARY && !listed.contains(&page.path)) {
        findings.push(Finding::new(page, 1, format!("add the page to {SUMMARY}")));
    }
    findings
}

/// What links can point to.
struct Index<'a> {
    paths: BTreeSet<&'a str>,
    /// The identifiers of the headings of each page.
    headings: BTreeMap<&'a str, BTreeSet<String>>,
}

impl<'a> Index<'a> {
    fn new(files: &'a [TextFile]) -> Self {
        let pages = files.iter().filter(|file| file.path.ends_with(".md"));
        Self {
            paths: files.iter().map(|file| file.path.as_str()).collect(),
            headings: pages.map(|file| (file.path.as_str(), headings(&file.text))).collect(),
        }
    }

    fn check(&self, file: &TextFile) -> Vec<Finding> {
        let problems =
            links(&file.text).into_iter().map(|link| (link.line, self.problem(file, &link)));
        let problems = problems.filter_map(|(line, problem)| Some((line, problem?)));
        problems.map(|(line, problem)| Finding::new(file, line, problem)).collect()
    }

    /// Why a link is wrong.
    fn problem(&self, file: &TextFile, link: &Link<'_>) -> Option<String> {
        let target = link.target;
        if let Some(path) = REPOSITORY.iter().find_map(|prefix| target.strip_prefix(prefix)) {
            return (!self.exists(path)).then(|| format!("`{path}` does not exist"));
        }
        if target.contains("://") || target.starts_with("mailto:") {
            return None;
        }
        let (path, heading) = target.split_once('#').unwrap_or((target, ""));
        let path = match path {
            "" => file.path.clone(),
            _ => resolve(&file.path, path)?,
        };
        if !self.exists(&path) {
            return Some(format!("`{path}` does not exist"));
        }
        if file.path.starts_with(BOOK) && !path.starts_with(BOOK) {
            return Some(format!("`{path}` is not part of the book; use {}{path}", REPOSITORY[0]));
        }
        let headings = self.headings.get(path.as_str())?;
        let is_missing = !heading.is_empty() && !headings.contains(heading);
        is_missing.then(|| format!("`{path}` has no heading `#{heading}`"))
    }

    /// Whether a file or directory exists.
    fn exists(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let directory = format!("{path}/");
        self.paths.contains(path) || self.paths.iter().any(|it| it.starts_with(&directory))
    }
}

struct Link<'a> {
    target: &'a str,
    line: usize,
}

/// The links and images of a page, without those in code.
fn links(text: &str) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    for (line, text) in prose(text) {
        let mut rest = text;
        while let Some(at) = rest.find(['`', '(', '"']) {
            let (before, after) = rest.split_at(at);
            rest = match after.as_bytes()[0] {
                b'`' => without_code(after),
                b'(' if before.ends_with(']') => {
                    let (target, after) = after[1..].split_once(')').unwrap_or((&after[1..], ""));
                    let target = target.split_whitespace().next().unwrap_or_default();
                    links.push(Link { target, line });
                    after
                }
                // Images with a width are written in HTML.
                b'"' if before.ends_with("src=") || before.ends_with("srcset=") => {
                    let (target, after) = after[1..].split_once('"').unwrap_or((&after[1..], ""));
                    links.push(Link { target, line });
                    after
                }
                _ => &after[1..],
            };
        }
    }
    links
}

/// What follows the inline code at the start of the text.
fn without_code(text: &str) -> &str {
    let length = text.len() - text.trim_start_matches('`').len();
    let (fence, rest) = text.split_at(length);
    rest.split_once(fence).map_or(rest, |(_, after)| after)
}

/// The lines outside of code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence = None;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let start = line.trim_start();
        let length = start.len() - start.trim_start_matches('`').len();
        match fence {
            None if length >= 3 => fence = Some(length),
            None => return Some((number + 1, line)),
            Some(open) if length >= open && start.trim_end().len() == length => fence = None,
            Some(_) => {}
        }
        None
    })
}

/// The identifiers of headings, as GitHub and mdBook make them.
fn headings(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let id = identifier(title.trim());
        let mut unique = id.clone();
        let mut count = 0;
        while !found.insert(unique.clone()) {
            count += 1;
            unique = format!("{id}-{count}");
        }
    }
    found
}

fn identifier(title: &str) -> String {
    let kept = title.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

/// The path of a link target, relative to the root of the checkout; none if it is above.
fn resolve(file: &str, target: &str) -> Option<String> {
    let mut path = PathBuf::from(file);
    path.pop();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir if path.pop() => {}
            Component::ParentDir => return None,
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path.to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    fn messages(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn missing_files_and_headings_are_found() {
        let page = "# One\n\n[a](b.md) [c](../x.md)\n[d](b.md#two) ![e](no.svg) [f](#one) [g](#none)\n<img src=\"gone.svg\">\n";
        let files =
            [file("docs/a.md", page), file("docs/b.md", "# B\n\n## Two\n"), file("x.md", "")];
        assert_eq!(
            messages(&links_have_targets(&files)),
            [
                "docs/a.md:3: `x.md` is not part of the book; use https://github.com/krm-toolkit/krm/blob/main/x.md",
                "docs/a.md:4: `docs/no.svg` does not exist",
                "docs/a.md:4: `docs/a.md` has no heading `#none`",
                "docs/a.md:5: `docs/gone.svg` does not exist",
            ]
        );
    }

    #[test]
    fn code_and_other_addresses_are_not_checked() {
        let page = "`[a](b)` [x](https://example.com/y)\n```sh\n[a](b)\n```\n````text\n```\n[a](b)\n````\n";
        assert_eq!(links_have_targets(&[file("a.md", page)]), []);
    }

    #[test]
    fn addresses_of_this_repository_are_checked() {
        let page = format!("[a]({}a.md) [b]({}gone)\n", REPOSITORY[0], REPOSITORY[1]);
        assert_eq!(
            messages(&links_have_targets(&[file("a.md", &page)])),
            ["a.md:1: `gone` does not exist"]
        );
    }

    #[test]
    fn pages_that_the_book_does_not_list_are_found() {
        let summary = file("docs/SUMMARY.md", "# Summary\n\n- [A](a.md)\n- [A](a.md)\n");
        let files = [summary, file("docs/a.md", ""), file("docs/b/c.md", ""), file("d.md", "")];
        assert_eq!(
            messages(&book_lists_every_page(&files)),
            [
                "docs/SUMMARY.md:4: `a.md` is listed twice",
                "docs/b/c.md:1: add the page to docs/SUMMARY.md"
            ]
        );
    }

    #[test]
    fn identifiers_of_headings_are_those_of_the_book() {
        assert_eq!(
            identifier("What `krm fn render` does, and why"),
            "what-krm-fn-render-does-and-why"
        );
        let ids = headings("# A b\n## A b\n#no\n");
        assert_eq!(ids.into_iter().collect::<Vec<_>>(), ["a-b", "a-b-1"]);
    }
}
