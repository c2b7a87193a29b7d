//! Which function answers a request, and what its end means for the client.

use std::sync::Arc;

use krm_core::functions::resource_list::parse_results;
use krm_core::model::ImageName;
use krm_core::print::visible_line;
use krm_core::{Diagnostic, Severity};
use krm_grpc::{Address, Answer, Evaluate, GrpcKind, Refusal, Request};
use krm_run::{
    DeclaredBy, Environment, Execution, ExecutionEnd, Function, Interrupt, Invocation, Limits,
    Permissions, Resolution, Resolved, RunKind, Runner, RuntimeFactory, RuntimeRequest,
    SchemaSettings,
};
use krm_yaml::File;

use super::Args;
use crate::commands::function::{interpreter, remote};
use crate::{Failure, package_source};

/// What a request can be answered with.
#[derive(Debug)]
pub(super) struct Evaluator {
    factory: RuntimeFactory,
    limits: Limits,
    /// Prefixes of images that may run.
    allowed: Vec<String>,
    /// Scripts and modules, by image.
    functions: Vec<(String, NamedFunction)>,
}

/// A script or module of the user.
#[derive(Clone)]
struct NamedFunction {
    runtime: &'static str,
    function: Arc<dyn Function>,
}

impl std::fmt::Debug for NamedFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.function.name())
    }
}

impl Evaluator {
    pub(super) fn new(args: &Args, limits: Limits) -> Result<Self, Failure> {
        let variable = std::env::var(remote::RUNTIME_VARIABLE).ok();
        let runtime = args.runtime.as_deref().or(variable.as_deref());
        if let Some(runtime) = runtime.filter(|it| Address::parse(it).is_some()) {
            let reason = "a server cannot use other servers";
            let kind = GrpcKind::InvalidAddress { address: runtime.to_owned(), reason };
            return Err(Failure::usage(Diagnostic::error(kind)));
        }
        let factory = RuntimeFactory {
            resolution: Resolution { strict_tags: args.strict_tags, ..Resolution::default() },
            permissions: Permissions::default(),
            pull: args.image_pull_policy,
            engine: args.runtime.clone(),
            sandbox: package_source::sandbox(interpreter::program()),
            working_directory: std::env::current_dir()?,
            environment: std::env::vars_os().collect::<Environment>(),
            interpreter: interpreter::program(),
            schemas: SchemaSettings::default(),
            cache: None,
            remote: None,
        };
        let functions = args.function.iter().map(|(image, file)| {
            let request =
                RuntimeRequest { declared_by: DeclaredBy::User, ..RuntimeRequest::default() };
            let (runtime, runner) = match file.ends_with(".wasm") {
                true => ("wasm", factory.wasm(file, &request)),
                false => ("starlark", factory.starlark(file, file, &request)),
            };
            let function = runner.map_err(Failure::input)?.into_function().into();
            Ok((image.clone(), NamedFunction { runtime, function }))
        });
        let functions = functions.collect::<Result<Vec<_>, Failure>>()?;
        Ok(Self { factory, limits, allowed: args.allow_image.clone(), functions })
    }

    /// The function for an image.
    fn function(&self, image: &str, tag: &str) -> Result<NamedFunction, Refusal> {
        let tag = Some(tag).filter(|tag| !tag.is_empty());
        let resolution = &self.factory.resolution;
        if let Some((_, named)) =
            self.functions.iter().find(|(name, _)| is_same(name, image, resolution))
        {
            return Ok(named.clone());
        }
        let not_found = |error: Diagnostic| Refusal::NotFound { message: with_hints(&error) };
        let stopped = |error: Diagnostic| Refusal::Stopped { message: with_hints(&error) };
        let runtime = match resolution.resolve(image, tag).map_err(not_found)? {
            Resolved::Builtin(_) => "builtin",
            Resolved::Container(name) if self.is_allowed(&name) => "image",
            Resolved::Container(name) => {
                let message =
                    format!("`{name}` is neither built in nor an image that this server runs");
                return Err(Refusal::NotFound { message });
            }
        };
        let runner = self.factory.image(image, tag, &RuntimeRequest::default());
        let function = runner.map(Runner::into_function).map_err(stopped)?.into();
        Ok(NamedFunction { runtime, function })
    }

    fn is_allowed(&self, image: &str) -> bool {
        self.allowed.iter().any(|prefix| begins_with(image, prefix))
    }
}

/// Whether a name is the prefix of an image: as a whole, or up to a `/`, a tag or a digest. `ghcr.io/example` does not allow
/// `ghcr.io/example-2`, and `ghcr.io` no other port: `ghcr.io:5000/example`.
fn begins_with(image: &str, prefix: &str) -> bool {
    let is_end = |rest: &str| {
        let is_tag = rest.strip_prefix(':').is_some_and(|tag| !tag.contains('/'));
        rest.is_empty() || rest.starts_with(['/', '@']) || is_tag
    };
    let rest = image.strip_prefix(prefix);
    !prefix.is_empty() && rest.is_some_and(|rest| prefix.ends_with('/') || is_end(rest))
}

/// Whether a request is for a function of the user: a name without a tag stands for all tags.
fn is_same(name: &str, image: &str, resolution: &Resolution) -> bool {
    let (name, image) = (resolution.with_prefix(name), resolution.with_prefix(image));
    let (Ok(name), Ok(image)) = (ImageName::parse(&name), ImageName::parse(&image)) else {
        return false;
    };
    name.repository == image.repository
        && (name.tag.is_none() || name.tag == image.tag)
        && (name.digest.is_none() || name.digest == image.digest)
}

impl Evaluate for Evaluator {
    fn evaluate(&self, request: &Request) -> Answer {
        let NamedFunction { runtime, function } = match self.function(&request.image, &request.tag)
        {
            Ok(function) => function,
            Err(refusal) => {
                return Answer { runtime: "none", log: Vec::new(), output: Err(refusal) };
            }
        };
        let mut execution = function.run(&mut Invocation {
            limits: Limits { time: request.time_left().min(self.limits.time), ..self.limits },
            interrupt: Interrupt::from(request.cancelled()),
            ..Invocation::new(&request.input)
        });
        let log = execution.stderr.text().into_bytes();
        Answer { runtime, log, output: output(&mut execution, &request.image) }
    }
}

fn output(execution: &mut Execution, image: &str) -> Result<Vec<u8>, Refusal> {
    let error = match execution.output() {
        Ok(_) => return Ok(std::mem::take(&mut execution.stdout)),
        Err(error) => error,
    };
    let label = visible_line(image).into_owned();
    let exit_code = match execution.end {
        ExecutionEnd::Exited(0) => None,
        ExecutionEnd::Exited(code) => Some(code),
        // As a shell reports it.
        ExecutionEnd::Signaled(number) => Some(128 + number),
        ExecutionEnd::Stopped(_) => None,
    };
    match (exit_code, &error) {
        (_, RunKind::Timeout { .. }) => Err(Refusal::TooLate),
        (_, RunKind::Interrupted) => Err(Refusal::Cancelled),
        (Some(exit_code), _) => {
            let output = std::mem::take(&mut execution.stdout);
            let message = failure(&label, &error, &output, &execution.stderr.text());
            Err(Refusal::Failed { exit_code, output, message })
        }
        (None, _) => {
            let diagnostic = execution.diagnose(error);
            Err(Refusal::Stopped {
                message: format!("function `{label}`: {}", with_hints(&diagnostic)),
            })
        }
    }
}

/// Everything about a failure in one text, for clients that read nothing else: its results and its standard error.
fn failure(label: &str, error: &RunKind, output: &[u8], stderr: &str) -> String {
    let mut text = format!("function `{label}` {}", Diagnostic::error(error.clone()).message());
    let list = File::parse(String::from_utf8_lossy(output).into_owned());
    let results = list.map(|file| parse_results(&file).results).unwrap_or_default();
    // The worst come first: the text may be shortened.
    for severity in [Severity::Error, Severity::Warning, Severity::Info] {
        for result in results.iter().filter(|it| it.severity == severity) {
            let found = result.to_diagnostic();
            text += &format!("\n[{}]", severity.name());
            for place in [&found.resource, &found.field, &found.file].into_iter().flatten() {
                text += &format!(" {place}");
            }
            text += &format!(": {}", found.message());
        }
    }
    if !stderr.trim().is_empty() {
        text += &format!("\nstderr: {}", stderr.trim());
    }
    text
}

/// A diagnostic as one line.
fn with_hints(error: &Diagnostic) -> String {
    let mut text = error.message().to_owned();
    for more in error.notes().iter().chain(&error.hints) {
        text += &format!("; {more}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_end_at_a_separator() {
        for (image, prefix, expected) in [
            ("ghcr.io/example/fn:v1", "ghcr.io/example", true),
            ("ghcr.io/example/fn:v1", "ghcr.io/example/", true),
            ("ghcr.io/example/fn:v1", "ghcr.io/example/fn", true),
            ("ghcr.io/example/fn@sha256:0", "ghcr.io/example/fn", true),
            ("ghcr.io/example-2/fn:v1", "ghcr.io/example", false),
            ("ghcr.io/example/fn-2:v1", "ghcr.io/example/fn", false),
            ("ghcr.io/example/fn:v1", "ghcr.io/example/fn:v1", true),
            ("ghcr.io:5000/example/fn:v1", "ghcr.io", false),
            ("fn:5000/example", "fn", false),
            ("ghcr.io/example/fn:v1", "", false),
        ] {
            assert_eq!(begins_with(image, prefix), expected, "{image} {prefix}");
        }
    }

    #[test]
    fn name_without_a_tag_stands_for_all_tags() {
        let resolution = Resolution::default();
        for (name, image, expected) in [
            ("a.io/fn", "a.io/fn:v1", true),
            ("a.io/fn:v1", "a.io/fn:v1", true),
            ("a.io/fn:v1", "a.io/fn:v2", false),
            ("a.io/fn:v1", "a.io/fn", false),
            ("fn", "ghcr.io/kptdev/krm-functions-catalog/fn:v1", true),
            ("a.io/fn", "a.io/fn-2", false),
        ] {
            assert_eq!(is_same(name, image, &resolution), expected, "{name} {image}");
        }
    }
}
