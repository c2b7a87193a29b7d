//! The examples in `docs/` and in the README are run, and every command has a page.

use std::fs;
use std::path::{Path, PathBuf};

use crate::pkg::repository;
use crate::sandbox::Sandbox;

#[test]
fn documented_examples_print_what_the_pages_show() {
    let update = std::env::var_os("UPDATE_CASES").is_some_and(|value| value == "1");
    let (mut outdated, mut count) = (Vec::new(), 0);
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let session = is_session(&page).then(Sandbox::new);
        let actual = with_actual_output(&text, session.as_ref(), &mut count);
        if update {
            fs::write(&page, actual).unwrap();
        } else if actual != text {
            outdated.push(format!("{}\n{}", page.display(), krm_testkit::diff(&text, &actual)));
        }
    }
    assert!(outdated.is_empty(), "\n{}", outdated.join("\n"));
    assert!(count > 20, "only {count} examples were found");
}

#[test]
fn every_command_has_a_page_with_all_options() {
    let commands = crate::completion_and_man::commands(&Sandbox::new());
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands {
        let page = format!("docs/commands/krm-{}.md", command.replace(' ', "-"));
        let text = fs::read_to_string(root().join(page)).unwrap();
        assert!(text.starts_with(&format!("# krm {command}\n")), "{command}");
        assert!(text.contains("\n## Options\n"), "{command}");
        for option in options(&command) {
            assert!(
                text.contains(&format!("`{option}")),
                "{option} is not on the page of {command}"
            );
        }
    }
}

/// Examples of errors in YAML that other explanations cover better.
const FALLBACKS: [&str; 2] = ["broken-escape", "invalid-yaml"];

#[test]
fn examples_of_syntax_errors_have_the_error_that_they_explain() {
    let page = fs::read_to_string(root().join("docs/errors.md")).unwrap();
    let section = page.split("\n## ").find(|it| it.starts_with("YAML\n")).unwrap();
    let sandbox = Sandbox::new();
    let mut ids = Vec::new();
    for explanation in section.split("\n### ").skip(1) {
        let (id, text) = explanation.split_once('\n').unwrap();
        let example = text.split_once("```yaml\n").and_then(|(_, it)| it.split_once("```"));
        if let Some((example, _)) = example.filter(|_| !FALLBACKS.contains(&id)) {
            sandbox.write(&format!("{id}.yaml"), example.as_bytes());
            ids.push(id);
        }
    }
    let found = sandbox.run("krm yaml check . --error-format json").stderr;
    let mut count = 0;
    for id in ids {
        // Explanations of edits have examples without errors.
        let own: Vec<&str> =
            found.lines().filter(|it| it.contains(&format!("\"file\":\"{id}.yaml\""))).collect();
        let is_shown = own.iter().any(|it| it.starts_with(&format!("{{\"id\":\"{id}\"")));
        assert!(own.is_empty() || is_shown, "{id}: {own:#?}");
        count += usize::from(is_shown);
    }
    assert!(count > 25, "only {count} examples have an error");
}

/// A backslash before a quote is left over from a string of the source. In regular expressions, escapes and arguments of shells it is meant.
#[test]
fn help_and_pages_have_no_stray_backslashes() {
    let sandbox = Sandbox::new();
    let mut texts = vec![("krm".to_owned(), sandbox.run("krm --help").stdout)];
    for command in crate::completion_and_man::commands(&sandbox) {
        for flag in ["-h", "--help"] {
            let text = sandbox.run(&format!("krm {command} {flag}")).stdout;
            texts.push((format!("krm {command} {flag}"), text));
        }
    }
    assert!(texts.len() > 40, "only {} texts were found", texts.len());
    let pages = pages().into_iter().map(|page| {
        let text = fs::read_to_string(&page).unwrap();
        (page.display().to_string(), outside_of_examples(&text))
    });
    let stray = |text: &str| ["\\\"", "\\'", "\\`"].iter().any(|it| text.contains(it));
    for (name, text) in texts.into_iter().chain(pages) {
        let lines: Vec<&str> = text.lines().filter(|line| stray(line)).collect();
        assert!(lines.is_empty(), "{name}: {lines:#?}");
    }
}

/// The prose of a page: without code, whose content is tested or meant as it is.
fn outside_of_examples(page: &str) -> String {
    let mut inside = false;
    let lines = page.split_inclusive('\n').filter(|line| {
        let is_fence = line.starts_with("```");
        inside ^= is_fence;
        !inside && !is_fence
    });
    // Between backquotes, which stay, because a backslash before one of them is stray.
    lines.map(|line| line.split('`').step_by(2).collect::<Vec<_>>().join("`")).collect()
}

/// The long options in the help of a command, without global options.
fn options(command: &str) -> Vec<String> {
    let help = Sandbox::new().run(&format!("krm {command} -h")).stdout;
    let own = help.split("Global options:").next().unwrap();
    let parts = own.split("Examples:").next().unwrap().split_whitespace();
    let options =
        parts.filter(|part| part.starts_with("--") && part.len() > 3 && *part != "--help");
    let name = |word: &str| word.split(['[', '=']).next().unwrap_or_default().to_owned();
    options.map(|word| name(word.trim_end_matches(|c: char| !c.is_alphanumeric()))).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Pages whose examples other tests check: they are made from explanations and from runs of krm and kpt.
const GENERATED: [&str; 2] = ["docs/errors.md", "docs/compatibility-with-kpt.md"];

/// The README and all pages of the book. The pages of functions are made from those of krm-catalog, which tests their examples.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let mut directories = vec![root().join("docs")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("docs/functions") {
                directories.push(path);
            } else if path.extension().is_some_and(|it| it == "md")
                && !GENERATED.iter().any(|name| path.ends_with(name))
            {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// Whether the commands of a page run one after the other in one directory. The examples of other pages are independent.
fn is_session(page: &Path) -> bool {
    page.ends_with("docs/getting-started.md")
        || page.parent().is_some_and(|it| it.ends_with("docs/guides"))
}

/// The last command of those that make the repository of the examples.
const MAKES_REPOSITORY: &str = "git clone -q --bare source packages.git";

/// The page with the actual output of each command line in its `console` blocks. A command line with a here-document ends with it.
fn with_actual_output(page: &str, session: Option<&Sandbox>, count: &mut usize) -> String {
    let mut text = String::new();
    // One of the guides makes the repository itself, for all readers.
    let needs_repository = page.contains("packages.git") && !page.contains(MAKES_REPOSITORY);
    if let Some(sandbox) = session.filter(|_| needs_repository) {
        repository::packages(sandbox);
    }
    let mut inside = false;
    let mut lines = page.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let is_fence = line.starts_with("```");
        if is_fence {
            inside = line.trim_end() == "```console";
        }
        match line.strip_prefix("$ ") {
            Some(command) if inside => {
                *count += 1;
                text.push_str(line);
                let mut command = command.to_owned();
                if command.contains("<<'EOF'") {
                    let document = lines.by_ref().take_while(|line| line.trim_end() != "EOF");
                    let document = document.collect::<String>() + "EOF\n";
                    text.push_str(&document);
                    command.push_str(&document);
                }
                text.push_str(&match session {
                    Some(sandbox) => in_session(sandbox, command.trim_end()),
                    None => run(command.trim_end()),
                });
            }
            None if inside && !is_fence => {}
            _ => text.push_str(line),
        }
    }
    text
}

/// Every variable that krm reads is on the page of variables.
#[test]
fn every_variable_is_documented() {
    let page = fs::read_to_string(root().join("docs/reference/environment.md")).unwrap();
    let mut found = std::collections::BTreeSet::new();
    let mut directories = vec![root().join("crates")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap_or_default();
            if path.is_dir() && name != "tests" {
                directories.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap();
                found.extend(code.split('"').filter(|it| is_variable(it)).map(str::to_owned));
            }
        }
    }
    assert!(found.contains("KRM_CACHE_DIR"), "{found:?}");
    for variable in found {
        assert!(page.contains(&format!("`{variable}`")), "{variable} is not documented");
    }
}

fn is_variable(text: &str) -> bool {
    let name = ["KRM_", "KPT_", "KUST_"].iter().find_map(|prefix| text.strip_prefix(prefix));
    name.is_some_and(|it| !it.is_empty() && it.bytes().all(|c| c.is_ascii_uppercase() || c == b'_'))
}

/// Each example starts from fresh copies of the files in `examples/`.
fn run(command: &str) -> String {
    let sandbox = Sandbox::new();
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            // Directories are copied only for commands that name them, as others would see unexpected packages.
            if command.contains(&format!("examples/{name}")) {
                copy(&path, &format!("examples/{name}"), &sandbox);
            }
            continue;
        }
        sandbox.write(&format!("examples/{name}"), &fs::read(&path).unwrap());
        sandbox.write(&name, &fs::read(&path).unwrap());
    }
    if command.contains("packages.git") {
        repository::packages(&sandbox);
    }
    // Without the git configuration of this machine.
    if command.contains("packages.git") || command.starts_with("git ") {
        return in_session(&sandbox, command);
    }
    let ran = sandbox.run(command);
    ran.stdout + &ran.stderr
}

/// Runs a command in a directory that others used before, and shows that directory under a fixed name.
fn in_session(sandbox: &Sandbox, command: &str) -> String {
    let ran = sandbox.run(&format!("{}; {command}", repository::ENVIRONMENT));
    let real = sandbox.path().canonicalize().unwrap().display().to_string();
    (ran.stdout + &ran.stderr).replace(&real, "/home/me")
}

fn copy(directory: &Path, name: &str, sandbox: &Sandbox) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let inside = format!("{name}/{}", path.file_name().unwrap().to_str().unwrap());
        match path.is_dir() {
            true => copy(&path, &inside, sandbox),
            false => sandbox.write(&inside, &fs::read(&path).unwrap()),
        }
    }
}
