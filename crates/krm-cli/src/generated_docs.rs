//! Tests that generated parts of the documentation are up to date; `UPDATE_CASES=1` rewrites them.

use std::path::{Path, PathBuf};

use clap::CommandFactory;

use crate::cli::Cli;
use crate::explanations::areas;

/// The lines that enclose the command table of the README.
const TABLE_START: &str =
    "<!-- Generated from the command definitions by the tests of krm-cli. -->\n";
const TABLE_END: &str = "<!-- End of the generated table. -->\n";

#[test]
fn errors_page_explains_every_id() {
    check("docs/errors.md", |_| errors_page());
}

#[test]
fn readme_lists_every_command() {
    check("README.md", |readme| {
        let (before, rest) = readme.split_once(TABLE_START).expect("the README has a table");
        let (_, after) = rest.split_once(TABLE_END).expect("the table has an end");
        format!("{before}{TABLE_START}\n{}\n{TABLE_END}{after}", command_table())
    });
}

/// Compares a file of the repository with what `generate` makes of its text.
fn check(file: &str, generate: impl FnOnce(&str) -> String) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let expected = generate(&text);
    if std::env::var_os("UPDATE_CASES").is_some_and(|value| value == "1") {
        std::fs::write(&path, expected).unwrap();
    } else {
        assert!(text == expected, "{file} is out of date: run this test with UPDATE_CASES=1");
    }
}

fn errors_page() -> String {
    let mut page = "# Errors and warnings\n\n\
        Every error and warning has an id, which is printed in brackets and never changes: `error[cannot-read]: …`.\n\
        `krm explain ID` prints the same explanation as this page, which is generated.\n"
        .to_owned();
    for area in areas() {
        page.push_str(&format!("\n## {}\n", area.title));
        for id in area.ids() {
            let text = area.explanation(id).unwrap_or_default();
            page.push_str(&format!("\n### {id}\n\n{text}\n"));
        }
    }
    page
}

fn command_table() -> String {
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    format!("| command | |\n|---|---|\n{}", rows(&root))
}

/// A row for each command below this one; groups of commands have no page of their own.
fn rows(command: &clap::Command) -> String {
    let row = |command: &clap::Command| {
        if command.has_subcommands() {
            return rows(command);
        }
        let name = command.get_bin_name().unwrap_or_default();
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        format!("| [`{name}`](docs/commands/{}.md) | {about} |\n", name.replace(' ', "-"))
    };
    command.get_subcommands().filter(|command| !command.is_hide_set()).map(row).collect()
}
