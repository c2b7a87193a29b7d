//! `krm fn`: run, inspect and create KRM functions.

mod annotated_steps;
mod cache_flags;
mod call;
mod doc;
mod doctor;
mod eval;
mod finish;
pub(crate) mod function_config;
pub(crate) mod images;
pub(crate) mod interpreter;
pub(crate) mod kinds;
pub(crate) mod limits;
pub(crate) mod list;
mod locked;
mod new;
mod open_package;
mod output;
mod permissions;
mod piped_list;
mod program;
pub(crate) mod remote;
mod render;
mod result_report;
mod run;
mod run_flags;
mod run_report;
mod save;
mod schema_flags;
mod selection;
mod sink;
mod source;
mod templates;
mod version_flag;
mod wrap;
mod xargs;

use clap::Subcommand;

use crate::CommandResult;
use crate::cli::Global;
use crate::console::Console;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Call(call::Args),
    Doc(doc::Args),
    Doctor(doctor::Args),
    Eval(Box<eval::Args>),
    List(list::Args),
    New(new::Args),
    Run(Box<run::Args>),
    Sink(sink::Args),
    Render(Box<render::Args>),
    Source(source::Args),
    Wrap(wrap::Args),
    Xargs(xargs::Args),
}

pub(crate) fn run(command: &Command, global: &Global, console: &mut Console) -> CommandResult {
    match command {
        Command::Call(args) => call::run(args, console),
        Command::Doc(args) => doc::run(args, console),
        Command::Doctor(args) => doctor::run(args, console),
        Command::Eval(args) => eval::run(args, global, console),
        Command::List(args) => list::run(args, console),
        Command::New(args) => new::run(args, console),
        Command::Run(args) => run::run(args, global, console),
        Command::Sink(args) => sink::run(args, global, console),
        Command::Render(args) => render::run(args, global, console),
        Command::Source(args) => source::run(args, global, console),
        Command::Wrap(args) => wrap::run(args, global, console),
        Command::Xargs(args) => xargs::run(args, console),
    }
}
