//! The end of every command that writes: a plan is shown, or carried out.

use krm_core::Plan;

use crate::cli::Preview;
use crate::show::Screen;
use crate::{Exit, Failure, Outcome, disk};

/// Shows the plan where a preview is asked for, and writes it otherwise.
pub(crate) fn finish(plan: Plan, preview: &Preview, screen: &mut Screen) -> Outcome {
    if preview.is_on() {
        return show(&plan, preview, screen);
    }
    let mut on_disk = Plan::default();
    let mut piped = None;
    for change in plan.files() {
        match change.path == disk::STDIN {
            true => piped = change.new.clone(),
            false => on_disk.add(change.clone()),
        }
    }
    disk::write(&on_disk).map_err(Failure::input)?;
    for change in on_disk.changes() {
        screen.note(&format!("changed {}", change.path));
    }
    screen.print(&piped.unwrap_or_default())?;
    Ok(Exit::Done)
}

fn show(plan: &Plan, preview: &Preview, screen: &mut Screen) -> Outcome {
    for change in plan.changes() {
        if preview.diff {
            screen.diff(change, preview.show_secrets)?;
        } else if preview.check {
            screen.print(&format!("{}\n", disk::shown(&change.path)))?;
        } else {
            screen.print(&format!("would change {}\n", disk::shown(&change.path)))?;
        }
    }
    if plan.is_empty() && !preview.check {
        screen.note("nothing would change");
    }
    let differs = preview.check && !plan.is_empty();
    Ok(if differs { Exit::Findings } else { Exit::Done })
}
