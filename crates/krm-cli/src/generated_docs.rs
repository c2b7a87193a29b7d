//! Tests that generated parts of the documentation are up to date; `UPDATE_CASES=1` rewrites them.

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use krm_catalog::{BUILTINS, Builtin};

use crate::cli::Cli;
use crate::commands::function::list;
use crate::explanations::areas;
use crate::tasks;

#[test]
fn errors_page_explains_every_id() {
    check("docs/errors.md", |_| errors_page());
}

#[test]
fn page_of_commands_lists_every_command() {
    check("docs/commands/README.md", |_| commands_page());
}

#[test]
fn every_function_has_a_page() {
    check("docs/functions/README.md", |_| functions_page());
    for builtin in BUILTINS {
        check(&format!("docs/functions/{}.md", builtin.name), |_| function_page(builtin));
    }
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

fn commands_page() -> String {
    let mut page = "# Commands\n\n\
        The commands by task. [`krm`](krm.md) describes the options, the output and the exit codes that all commands share. This page is generated.\n"
        .to_owned();
    let root = Cli::command();
    for task in tasks::TASKS {
        page.push_str(&format!("\n## {}\n\n| command | |\n|---|---|\n", task.title));
        for name in task.commands {
            let about = tasks::find(&root, name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let file = name.replace(' ', "-");
            page.push_str(&format!("| [`krm {name}`](krm-{file}.md) | {about} |\n"));
        }
    }
    page
}

fn functions_page() -> String {
    let mut page = "# Function catalog\n\n\
        These functions are part of krm. Each replaces the image of kpt's function catalog with its name, in every released version, and runs without a container engine.\n\
        [`krm fn doc NAME`](../commands/krm-fn-doc.md) prints the same pages, which are generated. [Render a package](../render.md) shows how a pipeline names a function.\n\n\
        | function | |\n|---|---|\n"
        .to_owned();
    for builtin in BUILTINS {
        let name = builtin.name;
        page.push_str(&format!("| [`{name}`]({name}.md) | {} |\n", builtin.summary));
    }
    page
}

/// The documentation of a function, and the releases that it replaces.
fn function_page(builtin: &Builtin) -> String {
    let mut page = builtin.doc.trim_end().to_owned();
    page.push_str("\n\n## Releases\n\n");
    if !builtin.aliases.is_empty() {
        let aliases: Vec<String> = builtin.aliases.iter().map(|it| format!("`{it}`")).collect();
        page.push_str(&format!("Other names: {}.\n\n", aliases.join(", ")));
    }
    page.push_str("| tags | changes |\n|---|---|\n");
    for release in builtin.releases {
        let tags = list::tags(builtin, release);
        let tags: Vec<String> = tags.iter().map(|tag| format!("`{tag}`")).collect();
        let changes =
            release.changes.iter().map(|it| format!("{}: {}", it.handling.name(), it.text));
        let changes = changes.collect::<Vec<_>>().join("<br>");
        page.push_str(&format!("| {} | {changes} |\n", tags.join(", ")));
    }
    page.push_str(
        "\n[`krm fn list --tags`](../commands/krm-fn-list.md) explains these terms, and what runs for other tags.\n",
    );
    page
}
