//! `krm man`: the manual, a page for every command, from the same source as the help.

use clap::CommandFactory;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use krm_core::{Change, Diagnostic, Plan};

use crate::cli::{Cli, Preview};
use crate::commands::plan;
use crate::console::Console;
use crate::{CommandResult, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  krm man | man -l -
  krm man cfg grep | man -l -
  krm man --dir ~/.local/share/man/man1";

/// Print the manual, or write a page for every command.
///
/// A page is roff, as man reads it.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The command whose page is printed [default: krm itself]
    #[arg(conflicts_with = "dir")]
    command: Vec<String>,

    /// Write the pages of all commands into this folder
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
        console.print(&page(command)?)?;
        return Ok(Exit::Success);
    };
    let lock = plan::lock_directory(dir, &args.preview, console)?;
    let mut plan = Plan::default();
    for command in with_all_below(&all) {
        plan.add(change(dir, command)?);
    }
    plan::apply_or_preview(plan, &args.preview, &lock, console)
}

/// The command that some words lead to.
fn find<'a>(all: &'a clap::Command, words: &[String]) -> Result<&'a clap::Command, Failure> {
    words.iter().try_fold(all, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let names = command.get_subcommands().map(clap::Command::get_name);
            let near = krm_core::diagnostics::closest_name(names, word);
            let name = command.get_bin_name().unwrap_or("krm");
            let error = Diagnostic::untyped_error(format!("`{name}` has no command `{word}`"));
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("`{name} --help` lists its commands"),
            };
            Failure::Diagnostics(Exit::Usage, vec![error.hint(hint)])
        })
    })
}

/// A command and everything below it that is no secret.
fn with_all_below(command: &clap::Command) -> Vec<&clap::Command> {
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    std::iter::once(command).chain(below.flat_map(with_all_below)).collect()
}

fn change(dir: &str, command: &clap::Command) -> Result<Change, Failure> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let path = format!("{}/{name}.1", dir.trim_end_matches('/'));
    let old = plan::existing_content(&path)?;
    Ok(Change { path, old, new: Some(page(command)?) })
}

/// The page of one command. Its examples keep their lines, which is why they are not left to the generator.
fn page(command: &clap::Command) -> Result<String, Failure> {
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let man = Man::new(command.clone())
        .source(concat!("krm ", env!("CARGO_PKG_VERSION")))
        .manual("The manual of krm");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().any(|command| !command.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    as_they_stand(&after).to_writer(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// What follows the help: examples line by line, then what there is to say about them.
fn as_they_stand(text: &str) -> Roff {
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
