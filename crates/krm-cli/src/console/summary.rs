//! The closing line of a command that works on a package: what was done, and how long it took.

use std::time::{Duration, Instant};

use krm_core::{Action, Severity};

/// What a command did, counted while it runs.
#[derive(Debug)]
pub(crate) struct Summary {
    started: Instant,
    /// Whether the command has a closing line: it works on a package, or writes files.
    is_on: bool,
    is_preview: bool,
    files: Option<FileCounts>,
    resources: Option<usize>,
    functions: Option<usize>,
    /// Results of functions by severity, the most severe first.
    results: Vec<(Severity, usize)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct FileCounts {
    changed: usize,
    created: usize,
    removed: usize,
}

impl Summary {
    pub(super) fn new() -> Self {
        Self {
            started: Instant::now(),
            is_on: false,
            is_preview: false,
            files: None,
            resources: None,
            functions: None,
            results: Vec::new(),
        }
    }

    /// Declares that the command has a closing line, also without resources.
    pub(crate) fn enable(&mut self) {
        self.is_on = true;
    }

    /// Adds the resources that the command read, and declares that it has a closing line.
    pub(crate) fn add_resources(&mut self, count: usize) {
        self.is_on = true;
        *self.resources.get_or_insert(0) += count;
    }

    /// Adds functions that ran, and the results that they reported.
    pub(crate) fn add_functions(&mut self, count: usize, results: Vec<(Severity, usize)>) {
        *self.functions.get_or_insert(0) += count;
        for (severity, count) in results {
            match self.results.iter_mut().find(|(known, _)| *known == severity) {
                Some((_, known)) => *known += count,
                None => self.results.push((severity, count)),
            }
        }
    }

    /// Adds changes of files that were made, or would be made.
    pub(crate) fn add_files(&mut self, actions: impl Iterator<Item = Action>, is_preview: bool) {
        self.is_preview = is_preview;
        let files = self.files.get_or_insert_default();
        for action in actions {
            match action {
                Action::Create => files.created += 1,
                Action::Delete => files.removed += 1,
                Action::Update => files.changed += 1,
                Action::Unchanged => {}
            }
        }
    }

    /// The closing line; none for a command that only prints, or whose error says that it did nothing.
    pub(super) fn line(&self, has_failed: bool) -> Option<String> {
        let has_worked = !has_failed || self.functions.is_some() || self.files.is_some();
        let parts = if self.is_on && has_worked { self.parts(has_failed) } else { Vec::new() };
        (!parts.is_empty())
            .then(|| format!("{} in {}", parts.join(", "), time(self.started.elapsed())))
    }

    fn parts(&self, has_failed: bool) -> Vec<String> {
        let mut parts = match self.files {
            Some(files) => files.parts(self.is_preview),
            None if has_failed => vec!["no files changed".to_owned()],
            None => Vec::new(),
        };
        parts.extend(self.resources.map(|count| plural(count, "resource")));
        parts.extend(self.functions.map(|count| plural(count, "function")));
        let results = self.results.iter().filter(|(_, count)| *count > 0);
        parts.extend(results.map(|(severity, count)| plural(*count, severity.name())));
        parts
    }
}

impl FileCounts {
    /// As git counts them: the noun is in the first part only.
    fn parts(self, is_preview: bool) -> Vec<String> {
        let verbs = match is_preview {
            true => ["would change", "would be created", "would be removed"],
            false => ["changed", "created", "removed"],
        };
        let counts = [self.changed, self.created, self.removed].into_iter().zip(verbs);
        let mut parts: Vec<String> = Vec::new();
        for (count, verb) in counts.filter(|(count, _)| *count > 0) {
            let noun = if parts.is_empty() { plural(count, "file") } else { number(count) };
            parts.push(format!("{noun} {verb}"));
        }
        if parts.is_empty() {
            parts.push(format!("no files {}", verbs[0]));
        }
        parts
    }
}

fn time(elapsed: Duration) -> String {
    match elapsed.as_millis() {
        ms @ ..10_000 => format!("{ms} ms"),
        _ => format!("{:.1} s", elapsed.as_secs_f64()),
    }
}

/// A count with its noun: `1 file`, `5,000 resources`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", number(count), if count == 1 { "" } else { "s" })
}

/// A number with its digits in groups of three.
pub(crate) fn number(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        assert_eq!(
            [0, 12, 999, 1000, 6990, 1_234_567].map(number).join(" "),
            "0 12 999 1,000 6,990 1,234,567"
        );
    }

    #[test]
    fn parts_name_what_was_done() {
        let mut summary = Summary::new();
        assert_eq!(summary.line(false), None);
        summary.enable();
        assert_eq!(summary.line(false), None, "nothing was counted");
        summary.add_resources(5000);
        summary.add_functions(1, vec![(Severity::Error, 0), (Severity::Warning, 2)]);
        assert_eq!(summary.parts(false).join(", "), "5,000 resources, 1 function, 2 warnings");
        assert_eq!(summary.parts(true)[0], "no files changed");
        let actions = [Action::Update, Action::Create, Action::Create, Action::Unchanged];
        summary.add_files(actions.into_iter(), false);
        assert_eq!(summary.parts(false)[..2].join(", "), "1 file changed, 2 created");
        let created = FileCounts { created: 1, removed: 3, ..FileCounts::default() };
        assert_eq!(created.parts(true).join(", "), "1 file would be created, 3 would be removed");
        assert_eq!(FileCounts::default().parts(true), ["no files would change"]);
        assert_eq!(time(Duration::from_millis(12_340)), "12.3 s");
    }
}
