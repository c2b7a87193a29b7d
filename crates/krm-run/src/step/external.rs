//! Functions outside krm: they receive a ResourceList, and their answer is edited into the items.

use krm_core::functions::resource_list::{
    InputList, InputOptions, Item, OutputError, parse_results,
};
use krm_yaml::File;

use super::{Returned, Step};
use crate::{Execution, ExecutionEnd, Function, FunctionRun, Interrupt, Invocation, RunKind};

/// Runs the function and reads its answer. Everything but the items is stored in `run`.
pub(super) fn run(
    step: &Step,
    function: &dyn Function,
    sent: Vec<Item>,
    interrupt: &Interrupt,
    run: &mut FunctionRun,
) -> Option<Returned> {
    let options = InputOptions {
        version: step.version,
        directory: &step.package,
        function_config: step.config.as_ref(),
        without_ids: false,
    };
    let sending = match InputList::of_owned(sent, &options) {
        Ok(sending) => sending,
        Err(error) => {
            run.errors.push(error);
            return None;
        }
    };
    // The answer is parsed while the process exits, which hides most of the time that an engine needs to remove a container.
    // What was parsed is only used if nothing was written after it.
    let mut read_ahead = None;
    let mut observe = |so_far: &[u8]| {
        let text = std::str::from_utf8(so_far).ok().filter(|text| may_be_complete(text));
        read_ahead = text.map(|text| (text.to_owned(), sending.apply_output(text.to_owned())));
    };
    let mut is_echo = false;
    let mut execution = function.run(&mut Invocation {
        input: sending.text().as_bytes(),
        limits: step.limits,
        interrupt: interrupt.clone(),
        observer: Some(&mut observe),
        is_echo: Some(&mut is_echo),
    });
    run.record.stderr = execution.stderr.text();
    run.record.image = execution.image.as_ref().map(ToString::to_string);
    (run.duration, run.exit_code) = (execution.duration, execution.exit_code());
    let answer = if is_echo && execution.end == ExecutionEnd::Exited(0) {
        Ok(sending.unchanged())
    } else {
        if is_echo {
            execution.stdout = sending.text().as_bytes().to_vec();
        }
        let text = match execution.take_output() {
            Ok(text) => text,
            Err(error) => return failed(step, &sending, &execution, error, run),
        };
        match read_ahead.filter(|(so_far, _)| *so_far == text) {
            Some((_, answer)) => answer,
            None => sending.apply_output(text),
        }
    };
    match answer {
        Ok(answer) => {
            function.output_accepted();
            set_results(run, answer.results);
            run.warnings = answer.warnings;
            Some(Returned { items: answer.items, from: answer.sources })
        }
        Err(refused) => {
            refuse(*refused, run);
            None
        }
    }
}

fn set_results(
    run: &mut FunctionRun,
    results: Vec<krm_core::functions::resource_list::FunctionResult>,
) {
    run.reported_results = results.len();
    run.record.results = results;
}

/// Whether a text may be a complete answer. Parsing one that is not only costs time.
fn may_be_complete(text: &str) -> bool {
    text.ends_with(['\n', '}'])
}

/// An answer that is not valid.
fn refuse(refused: OutputError, run: &mut FunctionRun) {
    let OutputError { mut error, results, warnings } = refused;
    // A location without a file is one in the output.
    if error.location.is_some() && error.file.is_none() {
        error = error.in_file("(output)");
    }
    set_results(run, results);
    run.warnings = warnings;
    run.errors.push(error);
}

/// A function that failed may still have reported results. If its failure is deferred, its items are used as far as they
/// can be read.
fn failed(
    step: &Step,
    sending: &InputList<'_>,
    execution: &Execution,
    error: RunKind,
    run: &mut FunctionRun,
) -> Option<Returned> {
    let output = String::from_utf8_lossy(&execution.stdout);
    run.errors.push(execution.diagnose(error));
    let is_exit = matches!(execution.end, ExecutionEnd::Exited(code) if code != 0);
    if step.defers_failure
        && is_exit
        && let Ok(answer) = sending.apply_output(output.to_string())
    {
        set_results(run, answer.results);
        run.warnings = answer.warnings;
        return Some(Returned { items: answer.items, from: answer.sources });
    }
    let reported = File::parse(output.into_owned()).map(|file| parse_results(&file));
    let reported = reported.unwrap_or_default();
    set_results(run, reported.results);
    run.warnings = reported.warnings;
    None
}
