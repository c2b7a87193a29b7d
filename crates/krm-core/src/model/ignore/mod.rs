//! Ignore files in the complete syntax of gitignore.

mod glob;

use glob::{Glob, GlobSubject};

/// One line of an ignore file.
#[derive(Clone, Debug)]
struct Pattern {
    glob: Glob,
    /// `!`: what matches is included again.
    is_negated: bool,
    /// It ends with a slash: only directories match.
    directories_only: bool,
    /// It has no slash: only the name is compared, at any depth.
    by_name: bool,
}

/// The patterns of one ignore file, which apply to the files below its directory.
#[derive(Clone, Debug, Default)]
pub struct IgnorePatterns {
    patterns: Vec<Pattern>,
    unmatchable: Vec<(usize, String)>,
}

impl IgnorePatterns {
    /// Parses an ignore file. As in git, no line is an error, but some match nothing.
    ///
    /// ```
    /// use krm_core::model::IgnorePatterns;
    ///
    /// let patterns = IgnorePatterns::parse("*.tmp.yaml\n!keep.tmp.yaml\n/out/\n");
    /// assert_eq!(patterns.is_ignored("a/b.tmp.yaml", false), Some(true));
    /// assert_eq!(patterns.is_ignored("a/keep.tmp.yaml", false), Some(false));
    /// assert_eq!(patterns.is_ignored("out", true), Some(true));
    /// assert_eq!(patterns.is_ignored("a/out", true), None);
    /// ```
    pub fn parse(text: &str) -> Self {
        let mut patterns = Self::default();
        for (at, line) in text.trim_start_matches('\u{feff}').split('\n').enumerate() {
            let line = trim_trailing_spaces(line.strip_suffix('\r').unwrap_or(line));
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let pattern = Pattern::parse(line);
            if pattern.glob.matches_nothing() {
                patterns.unmatchable.push((at + 1, line.to_owned()));
            }
            patterns.patterns.push(pattern);
        }
        patterns
    }

    /// Whether a path relative to the directory of the ignore file is ignored; none if no pattern matches. The last match decides.
    pub fn is_ignored(&self, path: &str, is_directory: bool) -> Option<bool> {
        let last = self.patterns.iter().rev().find(|pattern| pattern.matches(path, is_directory));
        last.map(|pattern| !pattern.is_negated)
    }

    /// The lines that can match nothing, because of an unclosed bracket or a final backslash: their numbers and texts.
    pub fn unmatchable(&self) -> &[(usize, String)] {
        &self.unmatchable
    }
}

impl Pattern {
    fn parse(line: &str) -> Self {
        let (is_negated, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let (directories_only, line) =
            line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
        let by_name = !line.contains('/');
        let subject = if by_name { GlobSubject::Name } else { GlobSubject::Path };
        let glob = Glob::new(line.strip_prefix('/').unwrap_or(line), subject);
        Self { glob, is_negated, directories_only, by_name }
    }

    fn matches(&self, path: &str, is_directory: bool) -> bool {
        let subject = match self.by_name {
            true => path.rsplit_once('/').map_or(path, |(_, name)| name),
            false => path,
        };
        (is_directory || !self.directories_only) && self.glob.matches(subject)
    }
}

/// A line without trailing spaces, unless a backslash escapes them.
fn trim_trailing_spaces(line: &str) -> &str {
    let mut end = None;
    let mut characters = line.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            ' ' => end = end.or(Some(at)),
            '\\' if characters.next().is_none() => return line,
            _ => end = None,
        }
    }
    end.map_or(line, |end| &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_ignored(text: &str, path: &str) -> Option<bool> {
        IgnorePatterns::parse(text).is_ignored(path, false)
    }

    #[test]
    fn braces_are_literal() {
        assert_eq!(is_ignored("{a,b}.yaml", "a.yaml"), None);
        assert_eq!(is_ignored("{a,b}.yaml", "{a,b}.yaml"), Some(true));
    }

    #[test]
    fn comments_and_trailing_spaces_are_skipped() {
        assert_eq!(is_ignored("# a\r\n\r\na  \r\n", "a"), Some(true));
        assert_eq!(is_ignored("a\\ ", "a "), Some(true));
        assert_eq!(is_ignored("\\#a\n", "#a"), Some(true));
        assert_eq!(is_ignored("\\!a\n", "!a"), Some(true));
        assert_eq!(is_ignored("   \n", "a"), None);
    }

    #[test]
    fn last_matching_pattern_decides() {
        assert_eq!(is_ignored("*\n!a\n", "a"), Some(false));
        assert_eq!(is_ignored("!a\n*\n", "a"), Some(true));
    }

    #[test]
    fn patterns_that_can_match_nothing_are_listed() {
        let patterns = IgnorePatterns::parse("a\n[b\nc\\\n[[:digt:]]\n");
        let lines: Vec<usize> = patterns.unmatchable().iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 3, 4]);
    }
}
