//! The end of every command that writes: a plan is shown, or carried out.

use krm_core::Plan;

use crate::cli::Preview;
use crate::show::Screen;
use crate::{Exit, Failure, Outcome, disk};

/// Shows the plan where a preview is asked for, and writes it otherwise.
pub(crate) fn finish(mut plan: Plan, preview: &Preview, screen: &mut Screen) -> Outcome {
    if preview.is_on() {
        return show(&plan, preview, screen);
    }
    let piped = plan.take(disk::STDIN);
    disk::write(&plan).map_err(Failure::input)?;
    for change in plan.changes() {
        screen.note(&format!("changed {}", change.path));
    }
    screen.print(piped.and_then(|change| change.new).as_deref().unwrap_or_default())?;
    Ok(Exit::Done)
}

fn show(plan: &Plan, preview: &Preview, screen: &mut Screen) -> Outcome {
    for change in plan.changes() {
        if preview.diff {
            screen.diff(change)?;
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
