//! Rolls back a run that fails: files have their old contents again, and no staged files are left.

use std::io;

use super::apply::{Unit, content};
use super::journal::{self, JournalStep};
use super::recover::Unreachable;
use super::target::WriteTarget;
use super::{flush, recover};

/// Removes the staged files of runs that renamed nothing yet. What cannot be removed stays in the journal for the next run.
pub(super) fn discard_staged(units: &mut [Unit<'_>]) -> io::Result<()> {
    let mut result = Ok(());
    for unit in units {
        let Some(journal) = &mut unit.journal else { continue };
        let undone = journal
            .take_back()
            .or_else(|_| without_commit(unit))
            .and_then(|()| recover::back(&unit.steps, &unit.opened, Unreachable::Fail))
            .and_then(|()| journal::end(&unit.opened));
        result = result.and(undone);
    }
    result
}

/// Replaces a journal that may be committed by one that is not.
fn without_commit(unit: &Unit<'_>) -> io::Result<()> {
    journal::begin_next(&unit.opened, &unit.steps)?;
    journal::replace(&unit.opened)
}

/// A rollback that failed, and what the next run is going to do.
#[derive(Debug)]
pub(super) enum RollbackError {
    /// The first journal is in effect: the run is completed.
    NotBegun(io::Error),
    /// The journal of the rollback is in effect: the rollback is completed.
    NotFinished(io::Error),
}

/// Restores the old contents. This is a run of its own with a journal that replaces the first one: a rollback can be killed, too.
pub(super) fn roll_back(units: &[Unit<'_>]) -> Result<(), RollbackError> {
    let prepared = units.iter().try_for_each(prepare);
    if let Err(error) = prepared {
        let discard = |unit: &Unit<'_>| recover::discard_next(&unit.opened, Unreachable::Fail);
        // What cannot be removed is listed in the next journal.
        units.iter().for_each(|unit| _ = discard(unit));
        return Err(RollbackError::NotBegun(error));
    }
    for (at, unit) in units.iter().enumerate() {
        journal::replace(&unit.opened).map_err(|error| match at {
            0 => RollbackError::NotBegun(error),
            _ => RollbackError::NotFinished(error),
        })?;
    }
    units.iter().try_for_each(finish).map_err(RollbackError::NotFinished)
}

/// Everything up to the point where the journal of the rollback replaces the first one.
fn prepare(unit: &Unit<'_>) -> io::Result<()> {
    // Listed before they are staged, so that a killed rollback leaves no file that nobody knows.
    let mut journal = journal::begin_next(&unit.opened, &inverse_steps(unit))?;
    stage(unit)?;
    journal.commit()
}

fn finish(unit: &Unit<'_>) -> io::Result<()> {
    let steps = inverse_steps(unit);
    recover::forward(&steps, &unit.opened, Unreachable::Fail)?;
    journal::end(&unit.opened)
}

/// The steps that revert what a run did: changes that were made, staged files that are not needed, and new directories.
fn inverse_steps(unit: &Unit<'_>) -> Vec<JournalStep> {
    let made = executed(unit, true).map(|(target, step)| inverse(target, step));
    let rest = executed(unit, false).filter_map(|(_, step)| step.staged());
    let rest = rest.map(|staged| JournalStep::Drop { staged });
    let directories = unit.steps.iter().rev().filter_map(|step| match step {
        JournalStep::CreateDirectory { path } => {
            Some(JournalStep::RemoveDirectory { path: path.clone() })
        }
        _ => None,
    });
    made.chain(rest).chain(directories).collect()
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
fn stage(unit: &Unit<'_>) -> io::Result<()> {
    let mut all = Vec::new();
    for (target, step) in executed(unit, true) {
        let Some(staged) = inverse(target, step).staged() else { continue };
        let old = target.change.old_bytes().unwrap_or_default();
        content(&unit.opened, &staged, old, target.attributes(), None)?;
        all.push(staged);
    }
    Ok(flush::files(&unit.opened, &all)?)
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

/// Stages a rollback of a complete run, and commits its journal, but does not replace the first one.
#[cfg(test)]
pub(super) fn stage_only(unit: &mut Unit<'_>) {
    unit.executed = vec![true; unit.targets.len()];
    prepare(unit).unwrap();
}
