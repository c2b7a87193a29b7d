//! What comes of running a function: its output, what people are told, and the exit code.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use krm_core::functions::resource_list::FunctionResult;
use krm_core::functions::resource_list::results::{FieldRef, FileRef, ResourceRef};
use krm_core::{Diagnostic, Severity};

use crate::stream::Stream;
use crate::{Error, Function, Resource, ResourceList};

/// What came of running a function on a text.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What goes to stdout; nothing where the input could not be read.
    pub output: String,
    /// What the function has to say.
    pub results: Vec<FunctionResult>,
    /// What the output has no room for, or people should see all the same.
    pub told: Vec<String>,
    /// Whether the function failed, or found errors.
    pub failed: bool,
}

impl Function {
    /// Does the work on a list. A panic becomes an error.
    pub fn apply(&self, list: &mut ResourceList) -> Result<(), Error> {
        let run = AssertUnwindSafe(|| (self.run)(list));
        catch_unwind(run).unwrap_or_else(|payload| Err(panicked(&words(payload.as_ref()))))
    }

    /// Does the work on a text: what a process does with its stdin. `config` stands in for the functionConfig.
    ///
    /// ```
    /// use krm_sdk::{Error, Function, ResourceList};
    ///
    /// fn name_all(list: &mut ResourceList) -> Result<(), Error> {
    ///     list.items.iter_mut().try_for_each(|it| it.set("metadata.name", "x"))
    /// }
    ///
    /// let outcome = Function::new("name-all", name_all).process("apiVersion: v1\nkind: Pod # it\n".to_owned(), None);
    /// assert_eq!(outcome.output, "apiVersion: v1\nkind: Pod # it\nmetadata:\n  name: x\n");
    /// assert!(!outcome.failed);
    /// ```
    pub fn process(&self, input: String, config: Option<Resource>) -> Outcome {
        let (stream, mut list) = match Stream::read(input) {
            Ok(read) => read,
            Err(error) => return Outcome::unread(&error),
        };
        if config.is_some() {
            list.function_config = config;
        }
        let done = self.apply(&mut list);
        let output = match &done {
            Ok(()) => stream.write(&list),
            Err(_) => Ok(String::new()),
        };
        let error = done.err().or_else(|| output.as_ref().err().cloned());
        let mut results = std::mem::take(&mut list.results);
        results.extend(error.iter().flat_map(|error| told(error, &list)));
        let output = match (&error, output) {
            (None, Ok(output)) => output,
            _ => stream.write_failed(&results).unwrap_or_default(),
        };
        let failed = results.iter().any(|result| result.severity == Severity::Error);
        let is_shown =
            |it: &&FunctionResult| !stream.has_room_for_results() || it.severity == Severity::Error;
        let told = results.iter().filter(is_shown).map(line);
        let told = std::mem::take(&mut list.log).into_iter().chain(told).collect();
        Outcome { output, results, told, failed }
    }
}

impl Outcome {
    fn unread(error: &Error) -> Self {
        let told = error.diagnostics.iter().map(|diagnostic| line(&result(diagnostic))).collect();
        Self { output: String::new(), results: Vec::new(), told, failed: true }
    }
}

/// An error of the function itself.
pub(crate) fn panicked(words: &str) -> Error {
    Diagnostic::untyped_error(format!("the function panicked: {words}"))
        .hint("this is a mistake in the function, not in its input")
        .into()
}

fn words(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a word".to_owned())
}

/// An error as results: of the resource and the file that it names.
pub(crate) fn told(error: &Error, list: &ResourceList) -> Vec<FunctionResult> {
    let known = || list.function_config.iter().chain(&list.items);
    let tell = |diagnostic: &Diagnostic| {
        let mut told = result(diagnostic);
        let label = diagnostic.resource.as_deref();
        let resource = known().find(|it| Some(it.view().label().as_str()) == label);
        if let Some(resource) = resource {
            told.resource = Some(ResourceRef {
                api_version: resource.api_version().into_owned(),
                kind: resource.kind().into_owned(),
                namespace: resource.namespace().into_owned(),
                name: resource.name().into_owned(),
            });
            let field = |path: &str| FieldRef {
                path: path.to_owned(),
                current: None,
                proposed: Vec::new(),
            };
            told.field = diagnostic.field.as_deref().map(field);
        }
        told
    };
    error.diagnostics.iter().map(tell).collect()
}

/// A diagnostic as a result; the place and the hints are words of its message.
fn result(diagnostic: &Diagnostic) -> FunctionResult {
    let mut message = diagnostic.message().to_owned();
    if let Some(place) = &diagnostic.location {
        message = format!("{message} (line {}, column {})", place.line, place.column);
    }
    for hint in &diagnostic.hints {
        message = format!("{message}; {hint}");
    }
    let mut told = FunctionResult::new(diagnostic.severity, message);
    let file = diagnostic.file.as_deref();
    told.file = file.map(|path| FileRef { path: path.to_owned(), index: 0 });
    told
}

/// A result on one line.
pub(crate) fn line(result: &FunctionResult) -> String {
    let mut line = format!("{}: {}", result.severity.name(), result.message);
    let resource = result.resource.as_ref().map(ResourceRef::label);
    let field = result.field.as_ref().map(|field| field.path.clone());
    let file = result.file.as_ref().map(|file| file.path.clone());
    let places: Vec<String> = [file, resource, field].into_iter().flatten().collect();
    if !places.is_empty() {
        line = format!("{line} [{}]", places.join(", "));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n";

    fn outcome(run: fn(&mut ResourceList) -> Result<(), Error>, input: &str) -> Outcome {
        Function::new("it", run).process(input.to_owned(), None)
    }

    #[test]
    fn errors_become_results_and_nothing_half_done_goes_out() {
        let outcome = outcome(
            |list| {
                list.items.clear();
                Err(Error::new("cannot"))
            },
            LIST,
        );
        assert_eq!(
            outcome.output,
            format!("{LIST}results:\n- message: cannot\n  severity: error\n")
        );
        assert!(outcome.failed && outcome.told == ["error: cannot"]);
    }

    #[test]
    fn what_a_function_prints_comes_before_its_results() {
        let run = |list: &mut ResourceList| {
            list.log.push("looking".to_owned());
            Err(Error::new("cannot"))
        };
        for input in [LIST, "apiVersion: v1\nkind: Pod\n"] {
            let outcome = outcome(run, input);
            assert_eq!(outcome.told, ["looking", "error: cannot"]);
            assert!(!outcome.output.contains("looking"));
        }
    }

    #[test]
    fn panics_become_results() {
        let outcome = outcome(|list| panic!("there are {} items", list.items.len()), LIST);
        assert!(outcome.output.contains("the function panicked: there are 1 items"));
        assert!(outcome.failed);
    }

    #[test]
    fn an_error_result_fails_and_a_warning_does_not() {
        for (severity, failed) in [(Severity::Error, true), (Severity::Warning, false)] {
            let function = Function::new("it", move |list: &mut ResourceList| {
                let result = list.items[0].result(severity, "look").field("metadata.name").into();
                list.results.push(result);
                list.items[0].set("metadata.name", "b")
            });
            let outcome = function.process(LIST.to_owned(), None);
            assert_eq!(outcome.failed, failed);
            assert!(outcome.output.contains("name: b\n"));
            assert_eq!(outcome.told.is_empty(), !failed);
            let list =
                LIST.replace("config.kubernetes.io/v1", "v1").replace("ResourceList", "List");
            let outcome = function.process(list, None);
            assert_eq!(outcome.told, [format!("{}: look [Pod a, metadata.name]", severity.name())]);
        }
    }

    #[test]
    fn mistakes_of_a_functionconfig_name_it() {
        #[derive(serde::Deserialize)]
        struct Config {}
        let input = format!(
            "{LIST}functionConfig:\n  apiVersion: a/v1\n  kind: Set\n  metadata: {{name: c}}\n  x: 1\n"
        );
        let outcome = outcome(|list| list.config::<Config>().map(|Config {}| ()), &input);
        let result = &outcome.results[0];
        assert_eq!(result.message, "`x` is no field of the functionConfig (line 4, column 1)");
        assert_eq!(result.resource.as_ref().map(|it| it.kind.as_str()), Some("Set"));
        assert_eq!(result.field.as_ref().map(|it| it.path.as_str()), Some("x"));
    }

    #[test]
    fn input_that_cannot_be_read_gives_no_output() {
        let outcome = outcome(|_| Ok(()), "a: [\n");
        assert!(outcome.output.is_empty() && outcome.failed);
        assert_eq!(outcome.told.len(), 1);
    }
}
