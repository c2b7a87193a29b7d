//! Ignore files in the syntax of gitignore, whole: what a line means, and which line counts.

mod glob;

use glob::{Glob, GlobSubject};

/// One line of an ignore file.
#[derive(Clone, Debug)]
struct Pattern {
    glob: Glob,
    /// `!`: what matches is taken in again.
    is_negated: bool,
    /// It ends with a slash: only folders match.
    directories_only: bool,
    /// It has no slash: the name alone is compared, at any depth.
    by_name: bool,
}

/// The lines of one ignore file, which speak about what is below its folder.
#[derive(Clone, Debug, Default)]
pub struct IgnorePatterns {
    patterns: Vec<Pattern>,
    unmatchable: Vec<(usize, String)>,
}

impl IgnorePatterns {
    /// Reads an ignore file. As in git no line is wrong, but some match nothing.
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
            let line = without_end(line.strip_suffix('\r').unwrap_or(line));
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

    /// Whether a path below the folder of the file is left out; none where no line speaks about it. The last that does
    /// counts.
    pub fn is_ignored(&self, path: &str, is_directory: bool) -> Option<bool> {
        let last = self.patterns.iter().rev().find(|pattern| pattern.matches(path, is_directory));
        last.map(|pattern| !pattern.is_negated)
    }

    /// Lines that match nothing at all, because of a bracket or backslash: their numbers and texts.
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

/// A line without the spaces at its end, unless a backslash keeps them.
fn without_end(line: &str) -> &str {
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

    fn left_out(text: &str, path: &str) -> Option<bool> {
        IgnorePatterns::parse(text).is_ignored(path, false)
    }

    #[test]
    fn braces_are_letters() {
        assert_eq!(left_out("{a,b}.yaml", "a.yaml"), None);
        assert_eq!(left_out("{a,b}.yaml", "{a,b}.yaml"), Some(true));
    }

    #[test]
    fn comments_spaces_and_line_ends_mean_nothing() {
        assert_eq!(left_out("# a\r\n\r\na  \r\n", "a"), Some(true));
        assert_eq!(left_out("a\\ ", "a "), Some(true));
        assert_eq!(left_out("\\#a\n", "#a"), Some(true));
        assert_eq!(left_out("\\!a\n", "!a"), Some(true));
        assert_eq!(left_out("   \n", "a"), None);
    }

    #[test]
    fn the_last_line_that_matches_counts() {
        assert_eq!(left_out("*\n!a\n", "a"), Some(false));
        assert_eq!(left_out("!a\n*\n", "a"), Some(true));
    }

    #[test]
    fn a_line_that_matches_nothing_is_told() {
        let patterns = IgnorePatterns::parse("a\n[b\nc\\\n[[:digt:]]\n");
        let lines: Vec<usize> = patterns.unmatchable().iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 3, 4]);
    }
}
