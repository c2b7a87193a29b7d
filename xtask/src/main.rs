//! One door for automation: `cargo xtask WORD` runs what people and CI both run.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "xtask is for people at a terminal")]

mod bench;
mod ci;
mod corpus;
mod differential;
mod engine;
mod fuzz;
mod peers;
mod real_functions;
mod schema;
mod shell;
mod tidy;

use std::process::ExitCode;

/// What a word gives back: nothing, or one sentence for the person who asked.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// A subcommand: its name, what `--help` says, and what it does with its arguments.
struct Word {
    name: &'static str,
    usage: &'static str,
    help: &'static str,
    run: fn(lexopt::Parser) -> Outcome,
}

const WORDS: &[Word] = &[
    Word {
        name: "ci",
        usage: "",
        help: "everything that CI runs, in order, up to the first failure",
        run: ci::run,
    },
    Word {
        name: "tidy",
        usage: "",
        help: "the rules of the house that no compiler checks",
        run: tidy::run,
    },
    Word {
        name: "corpus",
        usage: "OUT N [--layout many|one] [--shuffled] [--versions]",
        help: "write N made-up resources under OUT, the same ones every time, or three versions of them",
        run: corpus::run,
    },
    Word {
        name: "peers",
        usage: "[--force]",
        help: "install the tools that `bench` compares with into target/peers/bin",
        run: peers::run,
    },
    Word {
        name: "bench",
        usage: "[--runs N] [--full] [--only TEXT]",
        help: "time krm beside its peers on the same work and print a table",
        run: bench::run,
    },
    Word {
        name: "bench-parse",
        usage: "bare|krm FILE",
        help: "read one file into an index and print the time; `bench` measures this from outside",
        run: bench::parse::run_contestant,
    },
    Word {
        name: "differential",
        usage: "[--merge] [--functions [--stand-in]]",
        help: "read and edit with krm-yaml and with yq, merge with krm and with kyaml, and say where they differ",
        run: differential::run,
    },
    Word {
        name: "schema",
        usage: "[VERSION]",
        help: "renew the table of Kubernetes' own kinds, from the newest version or this one",
        run: schema::run,
    },
    Word {
        name: "real-functions",
        usage: "[--only TEXT]",
        help: "install functions that others wrote, run them in every way, and see that they change what they should",
        run: real_functions::run,
    },
    Word {
        name: "engine",
        usage: "COMMAND…",
        help: "run a command, such as the tests of krm-run, with a container engine of its own",
        run: engine::run,
    },
    Word {
        name: "fuzz",
        usage: "[TARGET] [--minutes M]",
        help: "run the fuzz targets of fuzz/, or the one named, for M minutes each",
        run: fuzz::run,
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

fn dispatch() -> Outcome {
    let mut args = lexopt::Parser::from_env();
    let name = match args.next()? {
        Some(lexopt::Arg::Value(name)) => name.to_string_lossy().into_owned(),
        None | Some(lexopt::Arg::Long("help") | lexopt::Arg::Short('h')) => {
            print!("{}", help());
            return Ok(());
        }
        Some(other) => return Err(other.unexpected().into()),
    };
    let Some(word) = WORDS.iter().find(|word| word.name == name) else {
        return Err(format!("no such word: {name}; `cargo xtask --help` lists them").into());
    };
    // Asking for help must never start an hour of fuzzing, wherever the flag stands.
    if std::env::args().skip(2).any(|arg| arg == "--help" || arg == "-h") {
        println!("cargo xtask {} {}\n  {}", word.name, word.usage, word.help);
        return Ok(());
    }
    (word.run)(args)
}

fn help() -> String {
    let mut text = String::from("cargo xtask WORD: one door for automation\n\n");
    for word in WORDS {
        text += &format!("  {:<42} {}\n", format!("{} {}", word.name, word.usage), word.help);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_word() {
        let text = help();
        for word in WORDS {
            assert!(text.contains(word.name), "{} is not in:\n{text}", word.name);
        }
    }
}
