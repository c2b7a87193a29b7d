//! Running a function on text: its stdout, its stderr and whether it failed.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use krm_core::functions::resource_list::FunctionResult;
use krm_core::functions::resource_list::results::{FieldRef, FileRef, ResourceRef};
use krm_core::{Diagnostic, Severity};

use crate::kinds::FunctionKind;
use crate::stream::Stream;
use crate::{Error, Function, Resource, ResourceList};

/// What a function wrote and reported.
#[derive(Clone, Debug)]
pub struct FunctionOutput {
    /// The output; empty if the input could not be read.
    pub stdout: String,
    /// The results.
    pub results: Vec<FunctionResult>,
    /// Lines for stderr: the log, errors, and the results that the output cannot carry.
    pub stderr: Vec<String>,
    /// Whether the function returned an error or reported one as a result.
    pub failed: bool,
}

impl Function {
    /// Runs the function on a list. A panic becomes an error.
    pub fn apply(&self, list: &mut ResourceList) -> Result<(), Error> {
        let run = AssertUnwindSafe(|| (self.run)(list));
        catch_unwind(run).unwrap_or_else(|payload| Err(panicked(&panic_message(payload.as_ref()))))
    }

    /// Runs the function on text, as a process does with its stdin. `config` replaces the functionConfig of the input.
    ///
    /// ```
    /// use krm_sdk::{Error, Function, ResourceList};
    ///
    /// fn name_all(list: &mut ResourceList) -> Result<(), Error> {
    ///     list.items.iter_mut().try_for_each(|item| item.set("metadata.name", "x"))
    /// }
    ///
    /// let input = "apiVersion: v1\nkind: Pod # comment\n";
    /// let output = Function::new("name-all", name_all).process(input.to_owned(), None);
    /// assert_eq!(output.stdout, "apiVersion: v1\nkind: Pod # comment\nmetadata:\n  name: x\n");
    /// assert!(!output.failed);
    /// ```
    pub fn process(&self, input: String, config: Option<Resource>) -> FunctionOutput {
        let (stream, mut list) = match Stream::read(input) {
            Ok(read) => read,
            Err(error) => return FunctionOutput::unreadable_input(&error),
        };
        if config.is_some() {
            list.function_config = config;
        }
        let written = self.apply(&mut list).and_then(|()| stream.write(&list));
        let mut results = std::mem::take(&mut list.results);
        if let Err(error) = &written {
            results = with_error(error, results, &list);
        }
        let stdout = written.unwrap_or_else(|_| stream.write_failed(&results).unwrap_or_default());
        let failed = results.iter().any(|result| result.severity == Severity::Error);
        let goes_to_stderr = |result: &&FunctionResult| {
            !stream.can_carry_results() || result.severity == Severity::Error
        };
        let lines = results.iter().filter(goes_to_stderr).map(line);
        let stderr = std::mem::take(&mut list.log).into_iter().chain(lines).collect();
        FunctionOutput { stdout, results, stderr, failed }
    }
}

impl FunctionOutput {
    fn unreadable_input(error: &Error) -> Self {
        let stderr = error.diagnostics.iter().map(|diagnostic| line(&result(diagnostic))).collect();
        Self { stdout: String::new(), results: Vec::new(), stderr, failed: true }
    }
}

pub(crate) fn panicked(message: &str) -> Error {
    Diagnostic::error(FunctionKind::Panicked { message: message.to_owned() }).into()
}

/// The message of a panic that has none of its own.
pub(crate) const NO_PANIC_MESSAGE: &str = "without a message";

fn panic_message(payload: &dyn Any) -> String {
    let message = payload.downcast_ref::<&str>().map(|message| (*message).to_owned());
    let message = message.or_else(|| payload.downcast_ref::<String>().cloned());
    message.unwrap_or_else(|| NO_PANIC_MESSAGE.to_owned())
}

/// The results of a failed function: those it added, and the error unless one of them says the same.
pub(crate) fn with_error(
    error: &Error,
    added: Vec<FunctionResult>,
    list: &ResourceList,
) -> Vec<FunctionResult> {
    if error.is_reported() && !added.is_empty() {
        return error.results(added);
    }
    let mut results = added;
    for new in error_results(error, list) {
        let is_same = |it: &FunctionResult| {
            it.severity == Severity::Error
                && it.message == new.message
                && it.resource == new.resource
        };
        if !results.iter().any(is_same) {
            results.push(new);
        }
    }
    results
}

/// An error as results that refer to the resource, the field and the file of each diagnostic.
pub(crate) fn error_results(error: &Error, list: &ResourceList) -> Vec<FunctionResult> {
    let resources = || list.function_config.iter().chain(&list.items);
    let to_result = |diagnostic: &Diagnostic| {
        let mut result = result(diagnostic);
        let label = diagnostic.resource.as_deref();
        let resource = resources().find(|it| Some(it.view().label().as_str()) == label);
        if let Some(resource) = resource {
            result.resource = Some(Box::new(resource.reference()));
            result.field = diagnostic.field.as_deref().map(FieldRef::new);
        }
        result
    };
    error.diagnostics.iter().map(to_result).collect()
}

/// A diagnostic as a result. Results have no location or hints of their own, so the message includes them.
fn result(diagnostic: &Diagnostic) -> FunctionResult {
    let mut message = diagnostic.message().to_owned();
    if let Some(location) = &diagnostic.location {
        message = format!("{message} (line {}, column {})", location.line, location.column);
    }
    for hint in &diagnostic.hints {
        message = format!("{message}; {hint}");
    }
    let mut result = FunctionResult::new(diagnostic.severity, message);
    let file = diagnostic.file.as_deref();
    result.file = file.map(|path| FileRef { path: path.into(), index: 0 });
    result
}

/// A result on one line.
pub(crate) fn line(result: &FunctionResult) -> String {
    let mut line = format!("{}: {}", result.severity.name(), result.message);
    let resource = result.resource.as_deref().map(ResourceRef::label);
    let field = result.field.as_ref().map(|field| field.path.clone());
    let file = result.file.as_ref().map(|file| file.path.to_string());
    let references: Vec<String> = [file, resource, field].into_iter().flatten().collect();
    if !references.is_empty() {
        line = format!("{line} [{}]", references.join(", "));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n";

    fn run(run: fn(&mut ResourceList) -> Result<(), Error>, input: &str) -> FunctionOutput {
        Function::new("it", run).process(input.to_owned(), None)
    }

    #[test]
    fn failed_function_returns_its_input_with_the_error_as_result() {
        let output = run(
            |list| {
                list.items.clear();
                Err(Error::new("cannot"))
            },
            LIST,
        );
        assert_eq!(
            output.stdout,
            format!("{LIST}results:\n- message: cannot\n  severity: error\n")
        );
        assert!(output.failed && output.stderr == ["error: cannot"]);
    }

    #[test]
    fn log_lines_precede_results_on_stderr() {
        let function = |list: &mut ResourceList| {
            list.log.push("looking".to_owned());
            Err(Error::new("cannot"))
        };
        for input in [LIST, "apiVersion: v1\nkind: Pod\n"] {
            let output = run(function, input);
            assert_eq!(output.stderr, ["looking", "error: cannot"]);
            assert!(!output.stdout.contains("looking"));
        }
    }

    #[test]
    fn panics_become_results() {
        let output = run(|list| panic!("there are {} items", list.items.len()), LIST);
        assert!(output.stdout.contains("the function panicked: there are 1 items"));
        assert!(output.failed);
    }

    #[test]
    fn error_result_fails_and_warning_does_not() {
        for (severity, failed) in [(Severity::Error, true), (Severity::Warning, false)] {
            let function = Function::new("it", move |list: &mut ResourceList| {
                let result = list.items[0].result(severity, "look").field("metadata.name").into();
                list.results.push(result);
                list.items[0].set("metadata.name", "b")
            });
            let output = function.process(LIST.to_owned(), None);
            assert_eq!(output.failed, failed);
            assert!(output.stdout.contains("name: b\n"));
            assert_eq!(output.stderr.is_empty(), !failed);
            let list =
                LIST.replace("config.kubernetes.io/v1", "v1").replace("ResourceList", "List");
            let output = function.process(list, None);
            assert_eq!(
                output.stderr,
                [format!("{}: look [Pod a, metadata.name]", severity.name())]
            );
        }
    }

    #[test]
    fn function_config_errors_refer_to_the_function_config() {
        #[derive(serde::Deserialize)]
        struct Config {}
        let input = format!(
            "{LIST}functionConfig:\n  apiVersion: a/v1\n  kind: Set\n  metadata: {{name: c}}\n  x: 1\n"
        );
        let output = run(|list| list.config::<Config>().map(|Config {}| ()), &input);
        let result = &output.results[0];
        assert_eq!(result.message, "unknown field `x` in the functionConfig (line 4, column 1)");
        assert_eq!(result.resource.as_ref().map(|it| it.kind.as_str()), Some("Set"));
        assert_eq!(result.field.as_ref().map(|it| it.path.as_str()), Some("x"));
    }

    #[test]
    fn unreadable_input_has_no_output() {
        let output = run(|_| Ok(()), "a: [\n");
        assert!(output.stdout.is_empty() && output.failed);
        assert_eq!(output.stderr.len(), 1);
    }
}
