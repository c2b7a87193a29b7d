//! A function outside of krm: it gets a text, and what it gives is edited into the items.

use krm_core::Severity;
use krm_core::functions::resource_list::{InputList, InputOptions, Item, Refused, parse_results};
use krm_yaml::File;

use super::{Made, Step, StepFailure};
use crate::{Failure, Function, Interrupt, Outcome, Reason};

pub(super) fn run(
    step: &Step,
    function: &dyn Function,
    sent: &[&Item],
    interrupt: &Interrupt,
) -> Result<Made, Box<StepFailure>> {
    let options = InputOptions {
        version: step.version,
        folder: &step.folder,
        function_config: step.config.as_ref(),
        without_ids: false,
    };
    let sending = InputList::of(sent.iter().copied(), &options)
        .map_err(|error| Box::new(StepFailure::new(vec![error])))?;
    let mut read_ahead = None;
    let mut read = |so_far: &[u8]| {
        let text = std::str::from_utf8(so_far).ok().filter(|text| may_be_whole(text));
        read_ahead = text.map(|text| (text.to_owned(), sending.answer(text.to_owned())));
    };
    let input = sending.text().as_bytes();
    match function.run_heard(input, &step.limits, interrupt, &mut read) {
        Ok(Outcome { stdout, stderr, time, image }) => {
            let answer = match read_ahead.filter(|(text, _)| *text == stdout) {
                Some((_, answer)) => answer,
                None => sending.answer(stdout),
            };
            let answer = answer.map_err(|refused| refuse(*refused));
            let answer = answer.map_err(|failure| StepFailure {
                stderr: stderr.clone(),
                time,
                image: image.clone(),
                exit_code: Some(0),
                ..failure
            })?;
            Ok(Made {
                items: answer.items,
                from: answer.from,
                results: answer.results,
                warnings: answer.warnings,
                stderr,
                time,
                image,
                failure: None,
            })
        }
        Err(failure) => failed(step, &sending, &failure),
    }
}

/// Whether a text may be an answer from its first to its last byte. Reading one that is not costs time and nothing else.
fn may_be_whole(text: &str) -> bool {
    text.ends_with(['\n', '}'])
}

/// An answer that cannot be taken.
fn refuse(refused: Refused) -> StepFailure {
    let Refused { mut error, results, warnings } = refused;
    // A place without a file is one in the output.
    if error.location.is_some() && error.file.is_none() {
        error = error.in_file("(output)");
    }
    StepFailure { results, warnings, ..StepFailure::new(vec![error]) }
}

/// A function that failed has its say. Where its failure is deferred, what it gave is taken, if it can be.
fn failed(
    step: &Step,
    sending: &InputList<'_>,
    failure: &Failure,
) -> Result<Made, Box<StepFailure>> {
    let output = String::from_utf8_lossy(failure.stdout());
    let said = File::parse(output.to_string()).map(|file| parse_results(&file));
    let said = said.unwrap_or_default();
    let has_errors = said.results.iter().any(|it| it.severity == Severity::Error);
    let is_finding = step.is_validator && has_errors && matches!(failure.reason, Reason::Exit(_));
    let told = StepFailure {
        results: said.results,
        warnings: said.warnings,
        stderr: failure.stderr().clone(),
        time: failure.time(),
        image: failure.image().cloned(),
        exit_code: failure.exit_code(),
        is_finding,
        is_deed: true,
        ..StepFailure::new(vec![failure.deed()])
    };
    if !step.defers_failure || !matches!(failure.reason, Reason::Exit(_)) {
        return Err(Box::new(told));
    }
    let Ok(answer) = sending.answer(output.into_owned()) else { return Err(Box::new(told)) };
    Ok(Made {
        items: answer.items,
        from: answer.from,
        results: answer.results,
        warnings: answer.warnings,
        stderr: told.stderr.clone(),
        time: told.time,
        image: told.image.clone(),
        failure: Some(Box::new(told)),
    })
}
