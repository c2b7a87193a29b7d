//! The examples of the pages in `docs/` and of the README: what they show is what happens.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

#[test]
fn examples_in_the_pages_print_what_they_show() {
    let update = std::env::var_os("UPDATE_CASES").is_some_and(|value| value == "1");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let actual = as_it_happens(&text, &mut count);
        if update {
            fs::write(&page, actual).unwrap();
        } else if actual != text {
            wrong.push(format!("{}\n{}", page.display(), krm_testkit::diff(&text, &actual)));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(count > 20, "only {count} examples were found");
}

#[test]
fn every_command_has_its_page() {
    let commands = crate::shells::commands(&Sandbox::new());
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

/// The long options that the help of a command lists, without those that every command has.
fn options(command: &str) -> Vec<String> {
    let help = Sandbox::new().run(&format!("krm {command} -h")).stdout;
    let own = help.split("Global options:").next().unwrap();
    let words = own.split("Examples:").next().unwrap().split_whitespace();
    let options =
        words.filter(|word| word.starts_with("--") && word.len() > 3 && *word != "--help");
    let name = |word: &str| word.split(['[', '=']).next().unwrap_or_default().to_owned();
    options.map(|word| name(word.trim_end_matches(|c: char| !c.is_alphanumeric()))).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("docs/render.md")];
    let folder = fs::read_dir(root().join("docs/commands")).unwrap();
    pages.extend(folder.map(|entry| entry.unwrap().path()));
    pages.sort();
    pages
}

/// The page with what each command line of its `console` blocks really prints.
fn as_it_happens(page: &str, count: &mut usize) -> String {
    let mut text = String::new();
    let mut inside = false;
    for line in page.split_inclusive('\n') {
        let is_fence = line.starts_with("```");
        if is_fence {
            inside = line.trim_end() == "```console";
        }
        match line.strip_prefix("$ ") {
            Some(command) if inside => {
                *count += 1;
                text.push_str(line);
                text.push_str(&run(command.trim_end()));
            }
            None if inside && !is_fence => {}
            _ => text.push_str(line),
        }
    }
    text
}

/// Each example starts from fresh copies of the files in `examples/`.
fn run(command: &str) -> String {
    let sandbox = Sandbox::new();
    for entry in fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            // A package is copied for those who name it, and for nobody else.
            if command.contains(&format!("examples/{name}")) {
                copy(&path, &format!("examples/{name}"), &sandbox);
            }
            continue;
        }
        sandbox.write(&format!("examples/{name}"), &fs::read(&path).unwrap());
        sandbox.write(&name, &fs::read(&path).unwrap());
    }
    let ran = sandbox.run(command);
    ran.stdout + &ran.stderr
}

fn copy(folder: &Path, name: &str, sandbox: &Sandbox) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let inside = format!("{name}/{}", path.file_name().unwrap().to_str().unwrap());
        match path.is_dir() {
            true => copy(&path, &inside, sandbox),
            false => sandbox.write(&inside, &fs::read(&path).unwrap()),
        }
    }
}
