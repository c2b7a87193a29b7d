//! `krm explain`: what an error or warning means and what to do about it.

use clap_complete::engine::ArgValueCandidates;
use krm_core::Diagnostic;
use krm_core::diagnostics::closest_name;
use krm_core::print::Record;
use krm_yaml::Value;

use super::completion::candidates;
use super::kinds::CommandKind;
use crate::commands::list_output::ListFormat;
use crate::console::Console;
use crate::explanations::{areas, summary};
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm explain duplicate-key
  krm explain
  krm explain -o json";

/// Explain an error or warning, or list all of them.
///
/// ID is printed in brackets before the message: error[cannot-read]: ...
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The id to explain [default: list all ids]
    #[arg(add = ArgValueCandidates::new(candidates::ids))]
    id: Option<String>,

    /// Print the list in this format
    #[arg(short, long, value_name = "FORMAT", conflicts_with = "id")]
    output: Option<ListFormat>,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let text = match (&args.id, args.output) {
        (Some(id), _) => explanation(id)?,
        (None, Some(format)) => format.write(&records())?,
        (None, None) => list(),
    };
    console.data(&text)?;
    Ok(Exit::Success)
}

fn explanation(id: &str) -> Result<String, Failure> {
    let found = areas().find_map(|area| area.explanation(id));
    found.map(|text| format!("{text}\n")).ok_or_else(|| {
        let error = Diagnostic::error(CommandKind::UnknownId { id: id.to_owned() });
        Failure::usage(error.hint(match closest_name(areas().flat_map(|area| area.ids()), id) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "use `krm explain` without an id to list all of them".to_owned(),
        }))
    })
}

fn list() -> String {
    let mut text = String::new();
    for area in areas() {
        let gap = if text.is_empty() { "" } else { "\n" };
        text.push_str(&format!("{gap}{}\n", area.title));
        let width = area.ids().map(str::len).max().unwrap_or_default();
        for id in area.ids() {
            let summary = summary(area.explanation(id).unwrap_or_default());
            text.push_str(&format!("  {id:width$}  {summary}\n"));
        }
    }
    text
}

fn records() -> Vec<Record<'static>> {
    let record = |area: &'static krm_core::diagnostics::explain::Area, id: &'static str| {
        let text = area.explanation(id).unwrap_or_default();
        vec![
            ("id", Value::from(id)),
            ("area", Value::from(area.title)),
            ("summary", Value::string(summary(text))),
            ("explanation", Value::from(text)),
        ]
    };
    areas().flat_map(|area| area.ids().map(move |id| record(area, id))).collect()
}
