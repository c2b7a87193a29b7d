//! Rolls back a run that fails: files have their old contents again, and no staged files are left.

use std::io;

use super::apply::{Unit, content};
use super::journal::{self, JournalStep};
use super::target::WriteTarget;
use super::{flush, recover};

/// Removes the staged files of runs that renamed nothing yet. What cannot be removed stays in the journal for the next run.
pub(super) fn discard_staged(units: &mut [Unit<'_>]) {
    for unit in units {
        let Some(journal) = &mut unit.journal else { continue };
        let undone = journal.take_back().and_then(|()| recover::back(&unit.steps, &unit.directory));
        if undone.is_ok() {
            let _ = journal::end(&unit.directory);
        }
    }
}

/// Restores the old contents. This is a run of its own with a journal that replaces the first one: a rollback can be killed, too.
pub(super) fn roll_back(units: &[Unit<'_>]) -> io::Result<()> {
    for unit in units {
        let mut steps = Vec::with_capacity(unit.targets.len());
        let staged = stage(unit, &mut steps);
        if staged.is_err() {
            // The first journal is still in effect and does not list these files.
            let _ = recover::back(&steps, &unit.directory);
        }
        staged?;
        let rest = executed(unit, false).filter_map(|(_, step)| step.staged());
        steps.extend(rest.map(|staged| JournalStep::Drop { staged }));
        journal::replace(&unit.directory, &steps)?;
        recover::forward(&steps, &unit.directory)?;
        recover::back(&unit.steps, &unit.directory)?;
        journal::end(&unit.directory)?;
    }
    Ok(())
}

/// The files whose step was executed, or those whose step was not.
fn executed<'u, 'a>(
    unit: &'u Unit<'a>,
    is_executed: bool,
) -> impl Iterator<Item = (&'u WriteTarget<'a>, &'u JournalStep)> {
    let all = unit.executed.iter().copied().chain(std::iter::repeat(false));
    unit.files()
        .zip(all)
        .filter(move |(_, executed)| *executed == is_executed)
        .map(|(file, _)| file)
}

/// Stages the old contents of all files that were changed.
fn stage(unit: &Unit<'_>, steps: &mut Vec<JournalStep>) -> io::Result<()> {
    for (target, step) in executed(unit, true) {
        let step = inverse(target, step);
        steps.push(step.clone());
        if let Some(staged) = step.staged() {
            let old = target.change.old.as_deref().unwrap_or_default();
            content(&unit.directory.join(staged), old, target.metadata.as_ref())?;
        }
    }
    let staged: Vec<_> =
        steps.iter().filter_map(JournalStep::staged).map(|it| unit.directory.join(it)).collect();
    flush::files(&staged)
}

/// The step that reverts a step.
fn inverse(target: &WriteTarget<'_>, step: &JournalStep) -> JournalStep {
    let mut staged = target.staged.clone();
    staged.push("-back");
    match step.clone() {
        JournalStep::Replace { target, old, new, .. } => {
            JournalStep::Replace { target, staged, old: new, new: old }
        }
        JournalStep::Delete { target, old } => JournalStep::Create { target, staged, new: old },
        JournalStep::Create { target, new, .. } => JournalStep::Delete { target, old: new },
        other => other,
    }
}
