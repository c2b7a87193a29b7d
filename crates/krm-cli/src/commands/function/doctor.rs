//! `krm fn doctor`: prints which runtimes of images work on this machine, and what to change if they do not.

use std::fmt::Write;

use krm_core::print::Record;
use krm_run::RuntimeReport;
use krm_yaml::Value;

use super::interpreter;
use crate::commands::list_output::ListOutput;
use crate::console::Console;
use crate::{CommandResult, Exit, package_source};

const EXAMPLES: &str = "\
Examples:
  krm fn doctor
  krm fn doctor -o json";

/// Check which runtimes of images work on this machine.
///
/// Each runtime is really tried: krm and bubblewrap build a sandbox in which nothing runs, and container engines are asked for their
/// version. Images run in the first one that works, unless --runtime names another. Exits with 1 if none works.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    list: ListOutput,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let environment = std::env::vars_os().collect();
    let sandbox = package_source::sandbox(interpreter::program());
    let reports = krm_run::check_runtimes(sandbox.as_ref(), &environment);
    let first = reports.iter().position(|report| report.is_usable);
    let records = || -> Vec<Record<'_>> {
        reports.iter().enumerate().map(|(at, it)| record(it, Some(at) == first)).collect()
    };
    args.list.print(console, || text(&reports, first), records)?;
    Ok(if first.is_some() { Exit::Success } else { Exit::Findings })
}

fn text(reports: &[RuntimeReport], first: Option<usize>) -> String {
    let mut text = String::new();
    for (at, report) in reports.iter().enumerate() {
        let state = match report.is_usable {
            true if Some(at) == first => "works, default",
            true => "works",
            false => "does not work",
        };
        let _ = writeln!(text, "{}: {state}: {}", report.name, report.detail);
        if let Some(remedy) = &report.remedy {
            let _ = writeln!(text, "  {remedy}");
        }
    }
    text
}

fn record(report: &RuntimeReport, is_default: bool) -> Record<'_> {
    let remedy = report.remedy.as_deref().map_or(Value::Null, Value::from);
    vec![
        ("name", Value::from(report.name)),
        ("usable", Value::from(report.is_usable)),
        ("default", Value::from(is_default)),
        ("detail", Value::from(&*report.detail)),
        ("remedy", remedy),
    ]
}
