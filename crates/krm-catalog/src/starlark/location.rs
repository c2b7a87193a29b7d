//! Locating errors of a script in the file that contains it.

use krm_sdk::{Diagnostic, Resource};
use krm_yaml::{File, NodeRef, Span};

use super::exchange::{ScriptError, ScriptSpan};
use super::loops::RewrittenScript;
use crate::interpreter::{self, NestingPosition};
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
    pub(super) fn diagnostic(self, error: ScriptError, script: &RewrittenScript) -> Diagnostic {
        let (message, spans) = match error {
            ScriptError::NoItems { exists } => {
                let found = if exists { "another value" } else { "nothing" };
                return Diagnostic::error(CatalogKind::ScriptResult { found });
            }
            ScriptError::Failed { message, spans } => (message, spans),
        };
        let diagnostic = Diagnostic::error(CatalogKind::ScriptFailed { message: message.into() });
        let Some((begin, end)) = spans.first() else { return diagnostic };
        let original =
            |at: &ScriptPosition| ScriptPosition { line: script.original(at.line), ..*at };
        let mut diagnostic = self.locate(diagnostic, (original(begin), original(end)));
        let mut lines: Vec<usize> =
            spans.iter().map(|(begin, _)| original(begin).line + 1).collect();
        lines.dedup();
        for line in lines.iter().skip(1).take(MAX_CALLS) {
            diagnostic = diagnostic.hint(format!("called on line {line} of the script"));
        }
        diagnostic
    }

    /// The diagnostic for a script that is nested too deep.
    pub(super) fn too_deep(self, at: NestingPosition) -> Diagnostic {
        let begin = ScriptPosition { line: at.line, column: at.column };
        let end = ScriptPosition { column: at.column + 1, ..begin };
        self.locate(interpreter::too_deep(at), (begin, end))
    }

    fn locate(self, diagnostic: Diagnostic, (begin, end): ScriptSpan) -> Diagnostic {
        if let Some((resource, node)) = self.field {
            return script_location::locate(diagnostic, resource, node, (self.text, begin, end));
        }
        let diagnostic = diagnostic.in_file(self.name);
        let Ok(file) = File::parse(self.text.to_owned()) else { return diagnostic };
        let offset = |at: ScriptPosition| u32::try_from(at.offset(self.text)).unwrap_or(0);
        diagnostic.at(&file, Span { start: offset(begin), end: offset(end) })
    }
}
