//! Built-in functions and scripts from bytes to bytes, as processes are: for a server whose clients send and receive a ResourceList.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use krm_catalog::BuiltinRelease;
use krm_catalog::interpreter::panic_message;
use krm_core::{Diagnostic, Severity};
use krm_sdk::stream::Stream;
use krm_sdk::{Error, ResourceList};

use crate::{
    Execution, ExecutionEnd, Function, Interpreted, Interrupt, Invocation, Limits, RunKind, Runner,
    Tail, is_crash, resolution,
};

/// The exit codes of `krm fn call`.
const FINDINGS: i32 = 1;
const INPUT: i32 = 3;
const FAILED: i32 = 4;
const BUG: i32 = 70;

/// A function in this process. What it writes is what `krm fn call` writes.
struct Standalone {
    kind: Kind,
}

enum Kind {
    /// It runs on the thread of the caller and cannot be stopped.
    Builtin(BuiltinRelease),
    Interpreted(Interpreted),
}

impl Runner {
    /// The function from bytes to bytes. A built-in function has no files: neither schemas nor charts nor documents of a package.
    ///
    /// A built-in function in Rust does not stop at the limit of time or an interrupt: a server that gave it up would have a thread
    /// that nobody counts.
    pub fn into_function(self) -> Box<dyn Function> {
        let kind = match self {
            Self::External(function) => return function,
            Self::Builtin(builtin)
            | Self::Validator(builtin, _)
            | Self::Charts(builtin, _)
            | Self::Documents(builtin, _) => Kind::Builtin(builtin),
            Self::Interpreted(function) => Kind::Interpreted(function),
        };
        Box::new(Standalone { kind })
    }
}

impl Function for Standalone {
    fn name(&self) -> &str {
        match &self.kind {
            Kind::Builtin(builtin) => builtin.function.name,
            Kind::Interpreted(function) => function.name(),
        }
    }

    fn run(&self, invocation: &mut Invocation<'_>) -> Execution {
        let start = Instant::now();
        let mut stderr = Tail::new(invocation.limits.stderr);
        let (stdout, end) = match self.evaluate(invocation, &mut stderr) {
            Ok((text, _)) if text.len() > invocation.limits.output => {
                let limit = invocation.limits.output;
                (String::new(), ExecutionEnd::Stopped(RunKind::OutputTooLarge { limit }))
            }
            Ok(output) => output,
            Err(error) => {
                // The input cannot be read or the output not be written, so there is no list for results.
                error.diagnostics.iter().for_each(|it| log(it, &mut stderr));
                (String::new(), ExecutionEnd::Exited(INPUT))
            }
        };
        let (stdout, duration) = (stdout.into_bytes(), start.elapsed());
        Execution { stdout, stderr, duration, image: None, end }
    }
}

impl Standalone {
    fn evaluate(
        &self,
        invocation: &Invocation<'_>,
        stderr: &mut Tail,
    ) -> Result<(String, ExecutionEnd), Error> {
        let text = match std::str::from_utf8(invocation.input) {
            Ok(text) => text.to_owned(),
            Err(error) => return Err(Error::new(format!("the input is not UTF-8: {error}"))),
        };
        let (stream, list) = Stream::read(text)?;
        stream.check_documents()?;
        if let Some(warning) = self.unknown_tag() {
            log(&warning, stderr);
        }
        let (result, list) = self.call(list, &invocation.limits, &invocation.interrupt);
        for line in &list.log {
            stderr.push(format!("{line}\n").as_bytes());
        }
        let error = match result {
            Ok(Ok(())) => {
                let has_errors = list.results.iter().any(|it| it.severity == Severity::Error);
                let code = if has_errors { FINDINGS } else { 0 };
                return Ok((stream.write(&list)?, ExecutionEnd::Exited(code)));
            }
            Ok(Err(error)) => error,
            Err(panic) => {
                let message = panic_message(&*panic).to_owned();
                log(&Diagnostic::error(RunKind::Panicked { message }), stderr);
                return Ok((String::new(), ExecutionEnd::Exited(BUG)));
            }
        };
        if !stream.can_carry_results() {
            error.diagnostics.iter().for_each(|it| log(it, stderr));
        }
        let stopped = error.diagnostics.iter().find_map(|it| it.kind::<RunKind>().cloned());
        let code = if error.diagnostics.iter().any(is_crash) { BUG } else { FAILED };
        let end = stopped.map_or(ExecutionEnd::Exited(code), ExecutionEnd::Stopped);
        Ok((stream.write_failed(&error.results(list.results))?, end))
    }

    fn call(
        &self,
        mut list: ResourceList,
        limits: &Limits,
        interrupt: &Interrupt,
    ) -> crate::step::CallOutput {
        match &self.kind {
            Kind::Builtin(builtin) => {
                let result = catch_unwind(AssertUnwindSafe(|| builtin.call(&mut list)));
                (result, list)
            }
            Kind::Interpreted(function) => function.call(list, limits, interrupt),
        }
    }

    fn unknown_tag(&self) -> Option<Diagnostic> {
        let release = match &self.kind {
            Kind::Builtin(builtin) => Some(builtin),
            Kind::Interpreted(function) => function.builtin_release(),
        };
        let release = release.filter(|it| it.is_assumed)?;
        Some(resolution::unknown_tag(Severity::Warning, release))
    }
}

fn log(diagnostic: &Diagnostic, stderr: &mut Tail) {
    let (severity, message) = (diagnostic.severity.name(), diagnostic.message());
    stderr.push(format!("{severity}: {message}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, input: &str) -> Execution {
        let builtin = krm_catalog::find(name).unwrap().into();
        Runner::Builtin(builtin).into_function().run(&mut Invocation::new(input.as_bytes()))
    }

    const LIST: &str = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n- apiVersion: v1 # first\n  kind: Pod\n  metadata: {name: a}\nfunctionConfig:\n  apiVersion: v1\n  kind: ConfigMap\n  data: {namespace: x}\n";

    #[test]
    fn only_the_changed_field_changes() {
        let execution = run("set-namespace", LIST);
        let expected = LIST.replace("{name: a}", "{name: a, namespace: x}");
        // Results follow.
        assert!(execution.output().is_ok_and(|it| it.starts_with(&expected)), "{execution:?}");
    }

    #[test]
    fn failures_are_results_of_the_returned_list() {
        let execution = run("set-namespace", &LIST.replace("namespace: x", "other: x"));
        assert_eq!(execution.exit_code(), Some(FAILED));
        let output = String::from_utf8(execution.stdout).unwrap();
        assert!(output.contains("\nresults:\n"), "{output}");
        assert_eq!(execution.stderr.text(), "");
    }

    #[test]
    fn input_that_is_not_a_list_fails_with_a_message() {
        let execution = run("no-op", "a: [");
        assert_eq!((execution.exit_code(), execution.stdout.len()), (Some(INPUT), 0));
        assert!(execution.stderr.text().starts_with("error: "), "{}", execution.stderr.text());
        let invalid = Runner::Builtin(krm_catalog::find("no-op").unwrap().into()).into_function();
        let execution = invalid.run(&mut Invocation::new(b"\xff"));
        assert_eq!(execution.exit_code(), Some(INPUT));
    }
}
