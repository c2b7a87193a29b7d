//! `krm fn`: functions, run on packages and by hand.

mod call;
mod command;
pub(crate) mod configuration;
mod doc;
mod eval;
pub(crate) mod images;
mod interrupt;
mod limits;
mod list;
mod new;
mod opening;
mod output;
mod permissions;
mod render;
mod rendering;
mod run;
mod running;
mod saving;
mod selection;
mod sink;
mod source;
mod streams;
mod templates;
mod wrap;
mod writing_back;
mod xargs;

use clap::Subcommand;

use crate::Outcome;
use crate::cli::Global;
use crate::show::Screen;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Call(call::Args),
    Doc(doc::Args),
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

pub(crate) fn run(command: &Command, global: &Global, screen: &mut Screen) -> Outcome {
    match command {
        Command::Call(args) => call::run(args, screen),
        Command::Doc(args) => doc::run(args, screen),
        Command::Eval(args) => eval::run(args, global, screen),
        Command::List(args) => list::run(args, screen),
        Command::New(args) => new::run(args, screen),
        Command::Run(args) => run::run(args, global, screen),
        Command::Sink(args) => sink::run(args, global, screen),
        Command::Render(args) => render::run(args, global, screen),
        Command::Source(args) => source::run(args, global, screen),
        Command::Wrap(args) => wrap::run(args, global, screen),
        Command::Xargs(args) => xargs::run(args, screen),
    }
}
