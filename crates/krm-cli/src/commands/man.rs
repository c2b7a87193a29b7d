//! `krm man`: manual pages, generated from the command definitions.

use clap::CommandFactory;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use krm_core::diagnostics::closest_name;
use krm_core::{Diagnostic, OriginalFile, Plan};

use crate::cli::{Cli, Preview};
use crate::commands::kinds::CommandKind;
use crate::commands::plan;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure, loader};

const EXAMPLES: &str = "\
Examples:
  krm man | man -l -
  krm man cfg grep | man -l -
  krm man --dir ~/.local/share/man/man1";

/// Print a manual page, or write the pages of all commands.
///
/// Pages are in roff, the input format of man.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The command whose page to print, such as cfg grep [default: krm]
    #[arg(conflicts_with = "dir")]
    command: Vec<String>,

    /// Write the pages of all commands to this directory
    #[arg(long, value_name = "DIR")]
    dir: Option<String>,

    #[command(flatten)]
    preview: Preview,
}

pub(super) fn run(args: &Args, console: &mut Console) -> CommandResult {
    let mut all = Cli::command().disable_help_subcommand(true);
    all.build();
    let Some(dir) = &args.dir else {
        let command = find(&all, &args.command)?;
        console.data(&page(command)?)?;
        return Ok(Exit::Success);
    };
    let lock = plan::lock_directory(dir, &args.preview, console)?;
    let mut plan = Plan::default();
    for command in with_subcommands(&all) {
        let (original, page) = man_page(dir, command)?;
        plan.set(original, Some(page)).map_err(Failure::input)?;
    }
    plan::apply_or_preview(&plan, &args.preview, &lock, console)
}

/// Finds a command by its names, such as `cfg grep`.
fn find<'a>(all: &'a clap::Command, names: &[String]) -> Result<&'a clap::Command, Failure> {
    names.iter().try_fold(all, |command, name| {
        command.find_subcommand(name).ok_or_else(|| {
            let known = command.get_subcommands().map(clap::Command::get_name);
            let parent = command.get_bin_name().unwrap_or("krm").to_owned();
            let hint = match closest_name(known, name) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("use `{parent} --help` to list its commands"),
            };
            let kind = CommandKind::UnknownCommand { parent, name: name.clone() };
            Failure::usage(Diagnostic::error(kind).hint(hint))
        })
    })
}

/// A command and all commands below it, without hidden ones.
fn with_subcommands(command: &clap::Command) -> Vec<&clap::Command> {
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    std::iter::once(command).chain(below.flat_map(with_subcommands)).collect()
}

/// The file of a command, and its new content.
fn man_page(dir: &str, command: &clap::Command) -> Result<(OriginalFile, String), Failure> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let name = format!("{name}.1");
    let old = plan::existing_content(&loader::join_display_path(dir, &name))?;
    Ok((plan::file_in(dir, &name, old)?, page(command)?))
}

/// Renders the page of one command. The generator would fill the lines of the examples, so they are rendered here.
fn page(command: &clap::Command) -> Result<String, Failure> {
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let man = Man::new(command.clone())
        .source(concat!("krm ", env!("CARGO_PKG_VERSION")))
        .manual("krm manual");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().any(|command| !command.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    examples(&after).to_writer(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Renders the text after the help: examples line by line, then notes.
fn examples(text: &str) -> Roff {
    let mut roff = Roff::new();
    let Some(examples) = text.strip_prefix("Examples:\n") else {
        return roff;
    };
    let (lines, rest) = examples.split_once("\n\n").unwrap_or((examples, ""));
    roff.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in lines.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []);
    if !rest.is_empty() {
        roff.control("SH", ["NOTES"]);
        roff.text([roman(rest.replace('\n', " "))]);
    }
    roff
}
