//! The request and the response of a script, which may cross a process boundary.

use krm_sdk::Error;
use starlark::codemap::{FileSpan, ResolvedPos};

use super::answer;
use super::engine::{self, ScriptRun};
use crate::interpreter::{Interpreter, Language, Message, MessageReader, invalid_response};
use crate::script_location::ScriptPosition;

/// The Starlark interpreter.
pub const LANGUAGE: Language = Language { name: "starlark", evaluate };

/// A script to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    /// The name of the script in error messages.
    pub(super) name: &'a str,
    pub(super) source: &'a str,
    /// The ResourceList.
    pub(super) list: &'a str,
}

/// What became of a script.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) outcome: Result<String, ScriptError>,
    /// The printed lines.
    pub(super) printed: Vec<String>,
}

/// Why there is no list of resources after the script.
#[derive(Debug)]
pub(super) enum ScriptError {
    /// `ctx.resource_list["items"]` does not exist, or is not a list.
    NoItems { exists: bool },
    /// The script failed.
    Failed { message: String, spans: Vec<ScriptSpan> },
}

/// A range in a script.
pub(super) type ScriptSpan = (ScriptPosition, ScriptPosition);

impl Request<'_> {
    /// Runs the script.
    pub(super) fn send(self, interpreter: &dyn Interpreter) -> Result<Response, Error> {
        let mut message = Message::default();
        message.text(self.name).text(self.source).text(self.list);
        let response = interpreter.evaluate(&LANGUAGE, message.as_str())?;
        Response::read(&mut MessageReader::new(&response)).ok_or_else(invalid_response)
    }
}

impl Response {
    fn read(reader: &mut MessageReader<'_>) -> Option<Self> {
        let outcome = match reader.text()? {
            "items" => Ok(reader.text()?.to_owned()),
            "no-items" => Err(ScriptError::NoItems { exists: reader.number()? == 1 }),
            _ => {
                let message = reader.text()?.to_owned();
                let spans = (0..reader.number()?).map(|_| read_span(reader)).collect::<Option<_>>();
                Err(ScriptError::Failed { message, spans: spans? })
            }
        };
        let printed = reader.list()?.into_iter().map(str::to_owned).collect();
        Some(Self { outcome, printed })
    }

    fn write(&self) -> String {
        let mut message = Message::default();
        match &self.outcome {
            Ok(items) => _ = message.text("items").text(items),
            Err(ScriptError::NoItems { exists }) => {
                message.text("no-items").number((*exists).into());
            }
            Err(ScriptError::Failed { message: text, spans }) => {
                message.text("failed").text(text).number(spans.len());
                for (begin, end) in spans {
                    message.number(begin.line).number(begin.column);
                    message.number(end.line).number(end.column);
                }
            }
        }
        message.list(&self.printed);
        message.into_string()
    }
}

fn read_span(reader: &mut MessageReader<'_>) -> Option<ScriptSpan> {
    let mut position = || Some(ScriptPosition { line: reader.number()?, column: reader.number()? });
    Some((position()?, position()?))
}

/// Evaluates a request.
fn evaluate(request: &str) -> String {
    let mut reader = MessageReader::new(request);
    let mut text = || reader.text().unwrap_or_default();
    let request = Request { name: text(), source: text(), list: text() };
    let failed = |message: String| Err(ScriptError::Failed { message, spans: Vec::new() });
    let response = match answer::list_of(request.list) {
        Ok(list) => {
            let run = engine::execute(request.name, request.source, &list, engine::LIMITS);
            respond(request.name, run)
        }
        Err(error) => Response { outcome: failed(error.to_string()), printed: Vec::new() },
    };
    response.write()
}

fn respond(name: &str, run: ScriptRun) -> Response {
    let outcome = match run.list {
        Ok(list) => answer::items_of(list)
            .map_err(|exists| ScriptError::NoItems { exists })
            .and_then(|items| {
                let failed = |message| ScriptError::Failed { message, spans: Vec::new() };
                answer::text_of(&items).map_err(|error| failed(error.to_string()))
            }),
        Err(error) => Err(failure(name, &error)),
    };
    Response { outcome, printed: run.printed }
}

/// The first line of an error, and its positions in the script: its own, and those of the calls that led to it. An error inside a
/// library has only those of calls.
fn failure(name: &str, error: &starlark::Error) -> ScriptError {
    let message = error.without_diagnostic().to_string();
    let message = message.lines().next().unwrap_or_default().to_owned();
    let calls = error.call_stack().frames.iter().rev().filter_map(|it| it.location.as_ref());
    let spans = error.span().into_iter().chain(calls).filter(|span| span.filename() == name);
    ScriptError::Failed { message, spans: spans.map(resolve).collect() }
}

fn resolve(span: &FileSpan) -> ScriptSpan {
    let span = span.resolve_span();
    let position = |it: ResolvedPos| ScriptPosition { line: it.line, column: it.column };
    (position(span.begin), position(span.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_read_as_they_were_written() {
        let at = |line, column| ScriptPosition { line, column };
        let failed = ScriptError::Failed {
            message: "a: 1".to_owned(),
            spans: vec![(at(1, 2), at(3, 4)), (at(5, 6), at(7, 8))],
        };
        for outcome in [Ok("x".to_owned()), Err(ScriptError::NoItems { exists: true }), Err(failed)]
        {
            let response = Response { outcome, printed: vec![String::new(), "a\nb".to_owned()] };
            let text = response.write();
            let read = Response::read(&mut MessageReader::new(&text)).unwrap();
            assert_eq!(format!("{read:?}"), format!("{response:?}"));
            assert!(Response::read(&mut MessageReader::new(&text[..text.len() - 1])).is_none());
        }
    }
}
