//! Where a script's errors are: the line of the script is told as the line of the file that it stands in.

use krm_sdk::{Diagnostic, Resource};
use krm_yaml::{File, NodeRef, Span};
use starlark::Error;
use starlark::codemap::{FileSpan, ResolvedPos};

use super::loops::Plain;
use crate::script_place::{self, At};

/// How many calls on the way to an error are told.
const MOST_CALLS: usize = 3;

/// A script, and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    /// What it is called.
    pub(super) name: &'a str,
    /// Its text.
    pub(super) text: &'a str,
    /// The field that holds it; none where it is a file of its own.
    pub(super) field: Option<(&'a Resource, NodeRef<'a>)>,
}

impl Source<'_> {
    /// What went wrong, with its place.
    pub(super) fn explain(self, error: &Error, script: &Plain) -> Diagnostic {
        let message = error.without_diagnostic().to_string();
        let mut told = Diagnostic::untyped_error(message.lines().next().unwrap_or_default());
        let ours = |span: &&FileSpan| span.filename() == self.name;
        // An error inside a library is told where the script called it.
        let calls = error.call_stack().frames.iter().rev().filter_map(|it| it.location.as_ref());
        let places: Vec<&FileSpan> = error.span().into_iter().chain(calls).filter(ours).collect();
        let Some(place) = places.first() else { return told };
        told = self.at(told, place, script);
        let line = |span: &&FileSpan| script.original(span.resolve_span().begin.line) + 1;
        let mut lines: Vec<usize> = places.iter().map(line).collect();
        lines.dedup();
        for line in lines.iter().skip(1).take(MOST_CALLS) {
            told = told.hint(format!("called on line {line} of the script"));
        }
        told
    }

    /// Names the place in the file.
    fn at(self, told: Diagnostic, place: &FileSpan, script: &Plain) -> Diagnostic {
        let span = place.resolve_span();
        let at = |it: ResolvedPos| At { line: script.original(it.line), column: it.column };
        let (begin, end) = (at(span.begin), at(span.end));
        if let Some((resource, node)) = self.field {
            return script_place::tell(told, resource, node, (self.text, begin, end));
        }
        let told = told.in_file(self.name);
        let Ok(file) = File::parse(self.text.to_owned()) else { return told };
        let offset = |at: At| u32::try_from(at.offset(self.text)).unwrap_or(0);
        told.at(&file, Span { start: offset(begin), end: offset(end) })
    }
}
