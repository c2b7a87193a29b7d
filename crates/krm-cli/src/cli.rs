//! The command line: what people may type, in one place for all commands.

use std::num::NonZeroUsize;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::{cfg, completion, explain, fix, function, man, yaml};

const EXAMPLES: &str = "\
Examples:
  krm cfg tree shop --image --replicas
  krm cfg grep 'spec.replicas>2' shop
  krm yaml get spec.replicas deployment.yaml
  krm yaml set spec.replicas 5 deployment.yaml --diff
  krm yaml check *.yaml

Exit codes: 0 done, 1 findings, 2 wrong usage, 3 wrong input, 4 a function failed, 70 a bug in krm";

/// Kubernetes configuration as data: every change is an edit, and no other byte moves.
#[derive(Debug, Parser)]
#[command(name = "krm", disable_version_flag = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// Print the version, and more with --verbose
    #[arg(short = 'V', long)]
    pub(crate) version: bool,

    #[command(flatten)]
    pub(crate) global: Global,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Look at packages of Kubernetes resources, and edit them
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Cfg {
        #[command(subcommand)]
        command: cfg::Command,
    },
    /// Run functions on packages, and be one
    #[command(name = "fn", subcommand_required = true, arg_required_else_help = true)]
    #[command(mut_arg("truncate_output", yes_or_no))]
    Function {
        /// Compat: what a function says is kept whole with --results-dir
        #[arg(long, global = true, hide = true, default_value = "true")]
        truncate_output: bool,

        #[command(subcommand)]
        command: function::Command,
    },
    /// Read and edit any YAML without disturbing a byte that nobody named
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Yaml {
        #[command(subcommand)]
        command: yaml::Command,
    },
    Fix(fix::Args),
    Explain(explain::Args),
    Completion(completion::Args),
    Man(man::Args),
}

/// Flags that every command has.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "For every command")]
pub(crate) struct Global {
    /// Only errors, no warnings
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Say more
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,

    /// How many files are worked on at a time [default: one for each processor]
    #[arg(short, long, global = true, value_name = "N", value_parser = positive)]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// When to use colours
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = false
    )]
    pub(crate) color: Color,

    /// How errors and warnings are told
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub(crate) error_format: ErrorFormat,

    /// Show the values of Secrets in errors and diffs
    #[arg(long, global = true)]
    pub(crate) show_secrets: bool,

    /// Taken because kustomize takes it; errors here say what is wrong
    #[arg(long, global = true, hide = true)]
    pub(crate) stack_trace: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ErrorFormat {
    /// With the source line, for people
    Text,
    /// One JSON object a line
    Json,
    /// Commands that the workflows of GitHub show beside the line
    Github,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Flags of every command that writes files: each of them shows, and writes nothing.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Preview (nothing is written)")]
pub(crate) struct Preview {
    /// Say which files would change
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Show the changes as a unified diff
    #[arg(long)]
    pub(crate) diff: bool,

    /// List the files that would change, and exit with 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
}

impl Preview {
    /// Whether nothing is to be written.
    pub(crate) fn is_on(&self) -> bool {
        self.dry_run || self.diff || self.check
    }
}

/// A flag that may be given a word, as in kustomize: `--kind`, `--kind=true`, `--kind=false`.
pub(crate) fn yes_or_no(flag: clap::Arg) -> clap::Arg {
    flag.action(clap::ArgAction::Set)
        .value_name("BOOL")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("true")
        .hide_possible_values(true)
}

/// Which documents of a file are meant.
#[derive(Clone, Debug, Args)]
pub(crate) struct Documents {
    /// Only this document of the file, counted from 0 [default: all]
    #[arg(long, value_name = "N", value_parser = number)]
    pub(crate) doc: Option<usize>,
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "a whole number is wanted, and 0 is the first".to_owned())
}

fn positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "a whole number from 1 is wanted".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
