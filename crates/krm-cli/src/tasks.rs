//! The commands by task, for `krm --help` and for the list of commands in the documentation.

use std::fmt::Write;

/// What somebody wants to do, and the commands for it.
pub(crate) struct Task {
    pub(crate) title: &'static str,
    /// Without `krm`, the most used first.
    pub(crate) commands: &'static [&'static str],
}

const fn task(title: &'static str, commands: &'static [&'static str]) -> Task {
    Task { title, commands }
}

/// Every command is in one of these; a test checks it.
pub(crate) const TASKS: &[Task] = &[
    task("Run functions on packages", &["fn render", "fn eval", "fn run", "fix"]),
    task(
        "Inspect and compare packages",
        &["cfg tree", "cfg cat", "cfg count", "cfg grep", "cfg diff"],
    ),
    task(
        "Edit and merge packages",
        &["cfg fmt", "cfg annotate", "cfg init", "cfg merge", "cfg merge3"],
    ),
    task(
        "Set values with setters",
        &[
            "cfg set",
            "cfg get",
            "cfg list-setters",
            "cfg create-setter",
            "cfg create-subst",
            "cfg delete-setter",
            "cfg delete-subst",
            "cfg rename-setter",
            "cfg migrate-setters",
        ],
    ),
    task(
        "Get and update upstream packages",
        &[
            "pkg get",
            "pkg update",
            "pkg diff",
            "pkg status",
            "pkg tree",
            "pkg cat",
            "pkg init",
            "pkg vendor",
            "pkg push",
            "pkg migrate",
        ],
    ),
    task(
        "Read and edit any YAML",
        &[
            "yaml get",
            "yaml set",
            "yaml rm",
            "yaml check",
            "yaml merge",
            "yaml merge3",
            "yaml events",
        ],
    ),
    task(
        "Find and write functions",
        &[
            "fn list",
            "fn doc",
            "fn doctor",
            "fn new",
            "fn call",
            "fn source",
            "fn sink",
            "fn wrap",
            "fn xargs",
        ],
    ),
    task("Work with other tools", &["git install", "git uninstall", "serve"]),
    task("Manage the cache", &["cache stats", "cache prune"]),
    task("Get help", &["explain", "version", "completion", "man"]),
];

/// The layout of the help of krm itself: commands by task instead of one list of groups.
const TEMPLATE: &str = "\
{about-with-newline}
{usage-heading} {usage}

{before-help}Options:
{options}{after-help}";

/// Adds the commands by task to the help of krm: names with `-h`, and descriptions with `--help`.
pub(crate) fn with_tasks(command: clap::Command) -> clap::Command {
    let (short, long) = (names(&command), descriptions(&command));
    command.help_template(TEMPLATE).before_help(short).before_long_help(long)
}

/// The command of this name, such as `cfg tree`.
pub(crate) fn find<'a>(root: &'a clap::Command, name: &str) -> Option<&'a clap::Command> {
    name.split(' ').try_fold(root, |command, part| command.find_subcommand(part))
}

/// The longest line of names, so that they are not wrapped in a terminal of 100 columns.
const NAMES_WIDTH: usize = 60;

/// The names of commands for each task: `cfg tree, cat, count`. Another group follows a semicolon.
fn names(root: &clap::Command) -> String {
    let header = root.get_styles().get_header();
    let mut text = format!("{header}Commands by task:{header:#}\n");
    let width = TASKS.iter().map(|task| task.title.len()).max().unwrap_or_default();
    for Task { title, commands } in TASKS {
        let mut lines = vec![String::new()];
        let mut last = None;
        for command in *commands {
            let (group, name) = command.rsplit_once(' ').unwrap_or(("", command));
            let next = match last {
                None => (*command).to_owned(),
                Some(last) if last == group => format!(", {name}"),
                Some(_) => format!("; {command}"),
            };
            last = Some(group);
            match lines.last_mut() {
                Some(line) if line.len() + next.len() <= NAMES_WIDTH => line.push_str(&next),
                Some(line) => {
                    line.push(',');
                    lines.push(name.to_owned());
                }
                None => {}
            }
        }
        for (at, line) in lines.iter().enumerate() {
            let title = if at == 0 { title } else { "" };
            let _ = writeln!(text, "  {title:width$}  {line}");
        }
    }
    text + "\nUse --help for a line on each command, and krm COMMAND --help for its options."
}

/// A line for each command, below the title of its task.
fn descriptions(root: &clap::Command) -> String {
    let styles = root.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let all = || TASKS.iter().flat_map(|task| task.commands);
    let width = all().map(|name| name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for Task { title, commands } in TASKS {
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for name in *commands {
            let about = find(root, name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            for (at, line) in wrapped(&about, HELP_WIDTH - width - 4).iter().enumerate() {
                let name = if at == 0 { name } else { "" };
                let _ = writeln!(text, "  {literal}{name:width$}{literal:#}  {line}");
            }
        }
        text.push('\n');
    }
    text + "Use krm COMMAND --help for the options of a command."
}

/// The columns of the help. clap would continue a longer line below the name of the command.
const HELP_WIDTH: usize = 98;

/// The lines of a text, divided between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    /// The names of all commands that do something, without hidden ones.
    fn leaves(command: &clap::Command, prefix: &str, found: &mut BTreeSet<String>) {
        for command in command.get_subcommands().filter(|it| !it.is_hide_set()) {
            let name = format!("{prefix}{}", command.get_name());
            match command.has_subcommands() {
                true => leaves(command, &format!("{name} "), found),
                false => _ = found.insert(name),
            }
        }
    }

    #[test]
    fn every_command_belongs_to_one_task() {
        let mut defined = BTreeSet::new();
        leaves(&Cli::command(), "", &mut defined);
        let listed: Vec<&str> = TASKS.iter().flat_map(|it| it.commands).copied().collect();
        let unique: BTreeSet<String> = listed.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(unique, defined);
        assert_eq!(listed.len(), unique.len(), "a command belongs to two tasks");
    }

    #[test]
    fn help_names_every_command_once() {
        let help = with_tasks(Cli::command()).render_long_help().to_string();
        for name in TASKS.iter().flat_map(|it| it.commands) {
            let lines = help.lines().filter(|line| line.starts_with(&format!("  {name}  ")));
            let count = lines.count();
            // The longest name is followed by two spaces, too.
            assert_eq!(count, 1, "{name} in\n{help}");
        }
        let descriptions = help.lines().skip_while(|it| !it.ends_with(':'));
        let descriptions = descriptions.take_while(|it| !it.starts_with("Use krm"));
        let indent = " ".repeat(20);
        for line in descriptions.filter(|it| it.starts_with(' ')) {
            let is_continued = line.starts_with(&indent);
            let is_named = TASKS
                .iter()
                .flat_map(|it| it.commands)
                .any(|name| line.strip_prefix("  ").is_some_and(|it| it.starts_with(name)));
            assert!(is_named || is_continued, "{line}");
        }
        let short = with_tasks(Cli::command()).render_help().to_string();
        assert!(short.contains("cfg tree, cat, count, grep, diff\n"), "{short}");
    }
}
