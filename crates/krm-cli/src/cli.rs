//! The command line: global options, groups of commands, and options that several commands share.

use std::num::NonZeroUsize;

use clap::{Args, Parser, Subcommand, ValueEnum};
use krm_core::Severity;

use crate::Exit;
use crate::commands::{cache, cfg, completion, explain, fix, function, git, man, pkg, serve, yaml};
use crate::loader::LoadOptions;
use crate::reports::Report;
use crate::walk::Subpackages;

const EXAMPLES: &str = "\
Examples:
  krm cfg tree shop --image --replicas
  krm cfg grep 'spec.replicas>2' shop
  krm yaml get spec.replicas deployment.yaml
  krm yaml set spec.replicas 5 deployment.yaml --diff
  krm yaml check *.yaml

Exit codes: 0 success, 1 findings, 2 invalid usage, 3 invalid input, 4 function failed, 70 bug";

/// Kubernetes configuration as data: read, edit, merge and transform YAML without reformatting it.
#[derive(Debug, Parser)]
#[command(name = "krm", disable_version_flag = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// Print the version; with --verbose also build details
    #[arg(short = 'V', long)]
    pub(crate) version: bool,

    #[command(flatten)]
    pub(crate) global: Global,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Inspect, edit and merge packages of Kubernetes resources
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Cfg {
        #[command(subcommand)]
        command: cfg::Command,
    },
    /// Run, inspect and create KRM functions
    #[command(name = "fn", subcommand_required = true, arg_required_else_help = true)]
    #[command(mut_arg("truncate_output", optional_bool))]
    Function {
        /// Compat: accepted and ignored; --results-dir keeps the full output of a function
        #[arg(long, global = true, hide = true, default_value = "true")]
        truncate_output: bool,

        #[command(subcommand)]
        command: function::Command,
    },
    /// Get, update and compare packages that come from git or a registry
    #[command(alias = "package", subcommand_required = true, arg_required_else_help = true)]
    Pkg {
        #[command(subcommand)]
        command: pkg::Command,
    },
    /// Read and edit YAML, leaving everything else byte for byte as it was
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Yaml {
        #[command(subcommand)]
        command: yaml::Command,
    },
    Fix(fix::Args),
    /// Make git merge and compare manifests by meaning
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Git {
        #[command(subcommand)]
        command: git::Command,
    },
    /// Inspect and reduce the cache of results, images and upstreams
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Cache {
        #[command(subcommand)]
        command: cache::Command,
    },
    Serve(Box<serve::Args>),
    /// Print the version; with --verbose also build details
    Version,
    Explain(explain::Args),
    Completion(completion::Args),
    Man(man::Args),
}

/// Options of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Print warnings and errors only, no status, progress or infos
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print more detail
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,

    /// Number of files to process in parallel [default: number of processors]
    #[arg(short, long, global = true, value_name = "N", value_parser = positive)]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// When to use colors
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = false
    )]
    pub(crate) color: Color,

    /// Format of diagnostics
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub(crate) error_format: ErrorFormat,

    /// Write the findings to a file: sarif, junit, gitlab, checkstyle, github, markdown, json or html; may be repeated
    #[arg(long, global = true, value_name = "FORMAT=FILE")]
    pub(crate) report: Vec<Report>,

    /// Show values of Secrets in diagnostics and diffs
    #[arg(long, global = true)]
    pub(crate) show_secrets: bool,

    /// Read symlinks of packages whose targets are outside of the package
    #[arg(long, global = true)]
    pub(crate) follow_external_links: bool,

    /// Compat: accepted and ignored, as kustomize has it
    #[arg(long, global = true, hide = true)]
    pub(crate) stack_trace: bool,
}

impl Global {
    /// How packages are read.
    pub(crate) fn load_options(&self) -> LoadOptions {
        let follow_external_links = self.follow_external_links;
        LoadOptions { jobs: self.jobs, follow_external_links, ..LoadOptions::default() }
    }
}

/// Whether subpackages are part of a package. One rule for every command that reads or writes packages: they are, unless the user
/// excludes them.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("recurse_subpackages", optional_bool))]
pub(crate) struct Recursion {
    /// Leave out subpackages
    #[arg(long)]
    no_recurse: bool,

    /// Include subpackages, which is the default; =false is --no-recurse
    #[arg(short = 'R', long, default_value = "true", hide_default_value = true)]
    #[arg(conflicts_with = "no_recurse")]
    recurse_subpackages: bool,
}

impl Recursion {
    /// Whether subpackages are included.
    pub(crate) fn includes_subpackages(&self) -> bool {
        self.recurse_subpackages && !self.no_recurse
    }

    /// How packages are read.
    pub(crate) fn load_options(&self, global: &Global) -> LoadOptions {
        let subpackages = match self.includes_subpackages() {
            true => Subpackages::Include,
            false => Subpackages::Exclude,
        };
        LoadOptions { subpackages, ..global.load_options() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ErrorFormat {
    /// Text with source lines
    Text,
    /// One JSON object per line
    Json,
    /// Workflow commands of GitHub Actions
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

/// From which severity on findings are a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Findings of severity error
    Error,
    /// Findings of severity error or warning
    Warning,
    /// All findings
    Info,
}

impl FailOn {
    pub(crate) fn severity(self) -> Severity {
        match self {
            Self::Error => Severity::Error,
            Self::Warning => Severity::Warning,
            Self::Info => Severity::Info,
        }
    }
}

/// The option of commands that report findings of their own.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FindingsExit {
    /// Exit with 1 if there is a finding of this severity or above; errors are always a failure
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<FailOn>,
}

impl FindingsExit {
    /// The exit code of a command that reported findings, the most severe of which is `worst`.
    pub(crate) fn exit(self, exit: Exit, worst: Option<Severity>) -> Exit {
        let fails =
            self.fail_on.is_some_and(|it| worst.is_some_and(|worst| worst >= it.severity()));
        if exit == Exit::Success && fails { Exit::Findings } else { exit }
    }
}

/// Options of every command that writes files. With any of them nothing is written.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Preview (write nothing)")]
pub(crate) struct Preview {
    /// List the changes to files that would be made
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print the changes as a unified diff
    #[arg(long)]
    pub(crate) diff: bool,

    /// List the files that would change and exit with 1 if there are any
    #[arg(long)]
    pub(crate) check: bool,
}

impl Preview {
    /// Whether a preview is requested, so that nothing may be written.
    pub(crate) fn is_on(&self) -> bool {
        self.dry_run || self.diff || self.check
    }
}

/// Makes a flag take an optional value, as in kustomize: `--kind`, `--kind=true`, `--kind=false`.
pub(crate) fn optional_bool(flag: clap::Arg) -> clap::Arg {
    flag.action(clap::ArgAction::Set)
        .value_name("BOOL")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("true")
        .hide_possible_values(true)
}

/// Selects the documents of a file.
#[derive(Clone, Debug, Args)]
pub(crate) struct Documents {
    /// Number of the document, counted from 0 [default: all documents]
    #[arg(long, value_name = "N", value_parser = document_index)]
    pub(crate) doc: Option<usize>,
}

fn document_index(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "expected a non-negative integer; the first document is 0".to_owned())
}

fn positive(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a positive integer".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn command_definitions_are_valid() {
        Cli::command().debug_assert();
    }
}
