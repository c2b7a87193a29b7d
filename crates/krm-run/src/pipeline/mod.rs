//! Pipelines: steps that run one after the other, and the pipelines of a tree of packages.
//!
//! `eval` and `run` give a list of steps to [`run_steps`]. `render` gives a tree of packages to [`Renderer`], which creates
//! the steps from their Kptfiles. Both return a [`PipelineRun`].

mod changes;
mod explain;
mod preflight;
mod render;
mod run_tree;
mod threads;

pub use changes::{ItemChange, changes_between};
pub use explain::{explain, explain_records};
pub use render::Renderer;

use krm_core::functions::resource_list::Item;
use krm_core::functions::results::RunReport;

use crate::{FunctionRun, Interrupt, Step};

/// The run of a pipeline.
#[derive(Clone, Debug, Default)]
pub struct PipelineRun {
    /// All items. After a failure those before the function that failed.
    pub items: Vec<Item>,
    /// Every function that ran, in order.
    pub runs: Vec<FunctionRun>,
    /// Whether a failure ended the pipeline, so that its output must not be written.
    pub is_stopped: bool,
}

impl PipelineRun {
    /// What results.yaml records.
    pub fn report(&self) -> RunReport {
        let is_failed = self.runs.iter().any(FunctionRun::is_failed);
        let ran = self.runs.iter().filter(|run| !run.is_skipped());
        let records = ran.map(|run| run.record.clone()).collect();
        RunReport { exit_code: is_failed.into(), records }
    }
}

/// What happens in a pipeline, for a progress display.
#[derive(Clone, Copy)]
pub enum PipelineEvent<'a> {
    /// A function is about to run.
    Started(&'a Step),
    /// A function has ended.
    Finished(&'a FunctionRun),
}

/// Runs steps one after the other, until one fails whose failure is not deferred. Leaves in `items` what they were, as [`Step::run`] does.
pub fn run_steps(
    steps: &[Step],
    items: &mut [Item],
    interrupt: &Interrupt,
    on_event: &mut dyn FnMut(PipelineEvent<'_>),
) -> PipelineRun {
    let mut pipeline = PipelineRun::default();
    let mut output: Option<Vec<Item>> = None;
    for step in steps {
        on_event(PipelineEvent::Started(step));
        let mut run = step.run(output.as_deref_mut().unwrap_or(items), interrupt);
        on_event(PipelineEvent::Finished(&run));
        output = run.output.take().or(output);
        pipeline.is_stopped = run.stops_pipeline;
        pipeline.runs.push(run);
        if pipeline.is_stopped {
            break;
        }
    }
    pipeline.items = output.unwrap_or_else(|| items.to_vec());
    pipeline
}

#[cfg(test)]
mod tests;
