//! Ignore files in the syntax of gitignore, whole: what a line means, and which line counts.

mod glob;

use glob::{Glob, Ground};

/// One line of an ignore file.
#[derive(Clone, Debug)]
struct Pattern {
    glob: Glob,
    /// `!`: what matches is taken in again.
    takes_in: bool,
    /// It ends with a slash: only folders match.
    only_folders: bool,
    /// It has no slash: the name alone is compared, at any depth.
    by_name: bool,
}

/// The lines of one ignore file, which speak about what is below its folder.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    patterns: Vec<Pattern>,
    never: Vec<(usize, String)>,
}

impl Patterns {
    /// Reads an ignore file. As in git no line is wrong, but some match nothing.
    ///
    /// ```
    /// use krm_core::model::ignore::Patterns;
    ///
    /// let patterns = Patterns::parse("*.tmp.yaml\n!keep.tmp.yaml\n/out/\n");
    /// assert_eq!(patterns.verdict("a/b.tmp.yaml", false), Some(true));
    /// assert_eq!(patterns.verdict("a/keep.tmp.yaml", false), Some(false));
    /// assert_eq!(patterns.verdict("out", true), Some(true));
    /// assert_eq!(patterns.verdict("a/out", true), None);
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
                patterns.never.push((at + 1, line.to_owned()));
            }
            patterns.patterns.push(pattern);
        }
        patterns
    }

    /// Whether a path below the folder of the file is left out; none where no line speaks about it. The last that does
    /// counts.
    pub fn verdict(&self, path: &str, is_folder: bool) -> Option<bool> {
        let last = self.patterns.iter().rev().find(|pattern| pattern.matches(path, is_folder));
        last.map(|pattern| !pattern.takes_in)
    }

    /// Lines that match nothing at all, because of a bracket or backslash: their numbers and texts.
    pub fn never(&self) -> &[(usize, String)] {
        &self.never
    }
}

impl Pattern {
    fn parse(line: &str) -> Self {
        let (takes_in, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let (only_folders, line) =
            line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
        let by_name = !line.contains('/');
        let ground = if by_name { Ground::Name } else { Ground::Path };
        let glob = Glob::new(line.strip_prefix('/').unwrap_or(line), ground);
        Self { glob, takes_in, only_folders, by_name }
    }

    fn matches(&self, path: &str, is_folder: bool) -> bool {
        let subject = match self.by_name {
            true => path.rsplit_once('/').map_or(path, |(_, name)| name),
            false => path,
        };
        (is_folder || !self.only_folders) && self.glob.matches(subject)
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
        Patterns::parse(text).verdict(path, false)
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
        let patterns = Patterns::parse("a\n[b\nc\\\n[[:digt:]]\n");
        let lines: Vec<usize> = patterns.never().iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [2, 3, 4]);
    }
}
