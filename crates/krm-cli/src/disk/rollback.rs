//! A run that fails takes back what it did: files are as they were, and nothing is left beside them.

use std::io;

use super::apply::{Unit, content};
use super::journal::{self, Step};
use super::target::Target;
use super::{flush, recover};

/// Removes what was staged. What cannot be removed now is for the next run, which the journal tells of it.
pub(super) fn discard_staged(units: &mut [Unit<'_>]) {
    for unit in units {
        let Some(journal) = &mut unit.journal else { continue };
        let undone = journal.take_back().and_then(|()| recover::back(&unit.steps, &unit.folder));
        if undone.is_ok() {
            let _ = journal::end(&unit.folder);
        }
    }
}

/// Puts the old contents back. That is a run of its own, with a journal in the place of the first.
pub(super) fn roll_back(units: &[Unit<'_>]) -> io::Result<()> {
    for unit in units {
        let mut steps = Vec::with_capacity(unit.targets.len());
        let staged = stage(unit, &mut steps);
        if staged.is_err() {
            // The first journal still holds, and does not know of these.
            let _ = recover::back(&steps, &unit.folder);
        }
        staged?;
        let rest = made(unit, false).filter_map(|(_, step)| step.staged());
        steps.extend(rest.map(|staged| Step::Drop { staged }));
        journal::replace(&unit.folder, &steps)?;
        recover::forward(&steps, &unit.folder)?;
        recover::back(&unit.steps, &unit.folder)?;
        journal::end(&unit.folder)?;
    }
    Ok(())
}

/// The files that were changed, or those that were not.
fn made<'u, 'a>(
    unit: &'u Unit<'a>,
    wanted: bool,
) -> impl Iterator<Item = (&'u Target<'a>, &'u Step)> {
    let all = unit.made.iter().copied().chain(std::iter::repeat(false));
    unit.files().zip(all).filter(move |(_, made)| *made == wanted).map(|(file, _)| file)
}

/// Stages the old contents of all files that were changed.
fn stage(unit: &Unit<'_>, steps: &mut Vec<Step>) -> io::Result<()> {
    for (target, step) in made(unit, true) {
        let step = inverse(target, step);
        steps.push(step.clone());
        if let Some(staged) = step.staged() {
            let old = target.change.old.as_deref().unwrap_or_default();
            content(&unit.folder.join(staged), old, target.metadata.as_ref())?;
        }
    }
    let staged: Vec<_> =
        steps.iter().filter_map(Step::staged).map(|it| unit.folder.join(it)).collect();
    flush::files(&staged)
}

/// The step that takes a step back.
fn inverse(target: &Target<'_>, step: &Step) -> Step {
    let mut staged = target.staged.clone();
    staged.push("-back");
    match step.clone() {
        Step::Replace { target, old, new, .. } => {
            Step::Replace { target, staged, old: new, new: old }
        }
        Step::Delete { target, old } => Step::Create { target, staged, new: old },
        Step::Create { target, new, .. } => Step::Delete { target, old: new },
        other => other,
    }
}
