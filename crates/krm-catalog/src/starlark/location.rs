//! Locating errors of a script in the file that contains it.

use krm_sdk::{Diagnostic, Resource};
use krm_yaml::{File, NodeRef, Span};
use starlark::Error;
use starlark::codemap::{FileSpan, ResolvedPos};

use super::loops::RewrittenScript;
use crate::kinds::CatalogKind;
use crate::script_location::{self, ScriptPosition};

/// The maximal number of calls that are reported with an error.
const MAX_CALLS: usize = 3;

/// A script and the field that holds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Script<'a> {
    /// The name in error messages.
    pub(super) name: &'a str,
    /// The source.
    pub(super) text: &'a str,
    /// The field that holds the script; none if it is a file of its own.
    pub(super) field: Option<(&'a Resource, NodeRef<'a>)>,
}

impl Script<'_> {
    /// The diagnostic for an error of the script.
    pub(super) fn diagnostic(self, error: &Error, script: &RewrittenScript) -> Diagnostic {
        let message = error.without_diagnostic().to_string();
        let message = message.lines().next().unwrap_or_default().into();
        let diagnostic = Diagnostic::error(CatalogKind::ScriptFailed { message });
        let in_script = |span: &&FileSpan| span.filename() == self.name;
        // An error inside a library is located where the script called it.
        let calls = error.call_stack().frames.iter().rev().filter_map(|it| it.location.as_ref());
        let spans: Vec<&FileSpan> =
            error.span().into_iter().chain(calls).filter(in_script).collect();
        let Some(span) = spans.first() else { return diagnostic };
        let mut diagnostic = self.locate(diagnostic, span, script);
        let line = |span: &&FileSpan| script.original(span.resolve_span().begin.line) + 1;
        let mut lines: Vec<usize> = spans.iter().map(line).collect();
        lines.dedup();
        for line in lines.iter().skip(1).take(MAX_CALLS) {
            diagnostic = diagnostic.hint(format!("called on line {line} of the script"));
        }
        diagnostic
    }

    fn locate(
        self,
        diagnostic: Diagnostic,
        span: &FileSpan,
        script: &RewrittenScript,
    ) -> Diagnostic {
        let span = span.resolve_span();
        let position =
            |it: ResolvedPos| ScriptPosition { line: script.original(it.line), column: it.column };
        let (begin, end) = (position(span.begin), position(span.end));
        if let Some((resource, node)) = self.field {
            return script_location::locate(diagnostic, resource, node, (self.text, begin, end));
        }
        let diagnostic = diagnostic.in_file(self.name);
        let Ok(file) = File::parse(self.text.to_owned()) else { return diagnostic };
        let offset = |at: ScriptPosition| u32::try_from(at.offset(self.text)).unwrap_or(0);
        diagnostic.at(&file, Span { start: offset(begin), end: offset(end) })
    }
}
