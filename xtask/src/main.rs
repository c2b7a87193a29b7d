//! Development tasks: `cargo xtask COMMAND` runs the same checks locally and in continuous integration.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "xtask prints to a terminal")]

mod bench;
mod book;
mod chart;
mod ci;
mod corpus;
mod cross;
mod differential;
mod dist;
mod engine;
mod fuzz;
mod package;
mod peers;
mod platforms;
mod real_functions;
mod schema;
mod shell;
mod supply_chain;
mod tidy;
mod toolchain;
mod torture;
mod triples;

use std::process::ExitCode;

/// The result of a command; the error is printed as one message.
type TaskResult<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// A subcommand of `cargo xtask`.
struct Command {
    name: &'static str,
    /// The arguments, as shown by `--help`.
    usage: &'static str,
    help: &'static str,
    run: fn(lexopt::Parser) -> TaskResult,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "ci",
        usage: "",
        help: "run everything that continuous integration runs, up to the first failure",
        run: ci::run,
    },
    Command {
        name: "tidy",
        usage: "",
        help: "check the project rules that neither the compiler nor clippy checks",
        run: tidy::run,
    },
    Command {
        name: "package",
        usage: "[--verify]",
        help: "package every published crate and check its metadata",
        run: package::run,
    },
    Command {
        name: "dist",
        usage: "[--native] [--verify]",
        help: "build the archives of a release reproducibly, with a bill of materials and checksums",
        run: dist::run,
    },
    Command {
        name: "platforms",
        usage: "[TARGET…]",
        help: "lint krm and its libraries for macOS and Windows, or for other targets",
        run: platforms::run,
    },
    Command {
        name: "book",
        usage: "",
        help: "build the book from docs/ into target/book",
        run: book::run,
    },
    Command {
        name: "chart",
        usage: "",
        help: "draw docs/speed.svg from the figures in docs/benchmarks.csv",
        run: chart::run,
    },
    Command {
        name: "deny",
        usage: "",
        help: "check the advisories, licences and sources of all dependencies",
        run: supply_chain::deny,
    },
    Command {
        name: "advisories",
        usage: "REPOSITORY",
        help: "copy the advisories of all dependencies from a clone of RustSec's advisory-db",
        run: supply_chain::advisories,
    },
    Command {
        name: "corpus",
        usage: "OUT N [--layout many|one] [--shuffled] [--versions]",
        help: "generate N resources under OUT, or three versions of them; the output is deterministic",
        run: corpus::run,
    },
    Command {
        name: "peers",
        usage: "[--force] [--only TEXT]",
        help: "install the tools that `bench` compares with into target/peers/bin",
        run: peers::run,
    },
    Command {
        name: "bench",
        usage: "[--runs N] [--full] [--only TEXT] [--krm PATH] [--baseline PATH]",
        help: "measure krm and other tools on the same work, or krm and another krm binary",
        run: bench::run,
    },
    Command {
        name: "bench-parse",
        usage: "bare|krm FILE",
        help: "parse one file and print the time; used by `bench`",
        run: bench::parse::run_parser,
    },
    Command {
        name: "differential",
        usage: "[--reader [--count N] [REPOSITORY…]] [--reprint [REPOSITORY…]] [--merge] [--functions DIR [--only TEXT] [--count N] [--show N] [--krm PATH]] [--kpt [--count N] [DIR…]] [--tables [--krm PATH] [--only TEXT]] [--policies DIR [--krm PATH] [--only TEXT]]",
        help: "compare reading, editing, merging and functions with yq, kyaml and the function catalog",
        run: differential::run,
    },
    Command {
        name: "triples",
        usage: "REPOSITORY… [--count N] [--show N]",
        help: "merge triples of real git histories and check that nothing is lost",
        run: triples::run,
    },
    Command {
        name: "schema",
        usage: "[VERSION]",
        help: "update the table of built-in Kubernetes types to VERSION or the newest release",
        run: schema::run,
    },
    Command {
        name: "real-functions",
        usage: "[--only TEXT]",
        help: "install third-party functions, run them with every runtime, and check their changes",
        run: real_functions::run,
    },
    Command {
        name: "engine",
        usage: "COMMAND…",
        help: "run a command, such as the tests of krm-run, with a temporary container engine",
        run: engine::run,
    },
    Command {
        name: "fuzz",
        usage: "[TARGET] [--minutes M] [--runs N]",
        help: "run all fuzz targets, or one, for M minutes or N inputs each",
        run: fuzz::run,
    },
    Command {
        name: "torture",
        usage: "[--kills N] [--signals N] [--faults N] [--races N] [--swaps N] [--seed N] [--skip N] [--jobs N] [--krm PATH] [--dir DIR]",
        help: "kill krm, inject faults, race it and swap its directories, and check that files are old or new",
        run: torture::run,
    },
];

fn main() -> ExitCode {
    match dispatch() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch() -> TaskResult {
    let mut args = lexopt::Parser::from_env();
    let name = match args.next()? {
        Some(lexopt::Arg::Value(name)) => name.to_string_lossy().into_owned(),
        None | Some(lexopt::Arg::Long("help") | lexopt::Arg::Short('h')) => {
            print!("{}", help());
            return Ok(());
        }
        Some(other) => return Err(other.unexpected().into()),
    };
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(
            format!("unknown command `{name}`; `cargo xtask --help` lists all commands").into()
        );
    };
    // `--help` anywhere must never start an hour of fuzzing.
    if std::env::args().skip(2).any(|arg| arg == "--help" || arg == "-h") {
        println!("cargo xtask {} {}\n  {}", command.name, command.usage, command.help);
        return Ok(());
    }
    (command.run)(args)
}

fn help() -> String {
    let mut text = String::from("Usage: cargo xtask COMMAND\n\n");
    for command in COMMANDS {
        let usage = format!("{} {}", command.name, command.usage);
        text += &format!("  {usage}\n      {}\n", command.help);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_every_command() {
        let text = help();
        for command in COMMANDS {
            assert!(text.contains(command.name), "{} is not in:\n{text}", command.name);
        }
    }
}
