//! The examples of the pages in `docs/` and of the README: what they show is what happens.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

/// One command line of a `console` block, with what the page shows below it.
struct Example {
    line: usize,
    command: String,
    output: String,
}

#[test]
fn examples_in_the_pages_print_what_they_show() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages: Vec<PathBuf> = vec![root.join("README.md")];
    pages.extend(
        fs::read_dir(root.join("docs/commands")).unwrap().map(|entry| entry.unwrap().path()),
    );
    pages.sort();
    let mut wrong = Vec::new();
    let mut count = 0;
    for page in pages {
        for example in examples(&fs::read_to_string(&page).unwrap()) {
            count += 1;
            let actual = run(&example.command, &root.join("examples"));
            if actual != example.output {
                let place = format!("{}:{}", page.display(), example.line);
                wrong.push(format!(
                    "{place}: {}\nshows:\n{}prints:\n{actual}",
                    example.command, example.output
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(count > 20, "only {count} examples were found");
}

#[test]
fn every_command_has_its_page() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands");
    for command in ["get", "set", "rm", "check", "events"] {
        let text = fs::read_to_string(folder.join(format!("krm-yaml-{command}.md"))).unwrap();
        assert!(text.starts_with(&format!("# krm yaml {command}\n")), "{command}");
    }
}

/// Each example starts from fresh copies of the files in `examples/`.
fn run(command: &str, examples: &Path) -> String {
    let sandbox = Sandbox::new();
    for entry in fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        sandbox.write(&format!("examples/{name}"), &fs::read(&path).unwrap());
        sandbox.write(name, &fs::read(&path).unwrap());
    }
    let ran = sandbox.run(command);
    let mut output = ran.stdout + &ran.stderr;
    if ran.exit != 0 {
        output.push_str(&format!("[exit {}]\n", ran.exit));
    }
    output
}

fn examples(page: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        match line.strip_prefix("$ ") {
            _ if line.starts_with("```") => inside = line == "```console",
            Some(command) if inside => {
                found.push(Example {
                    line: number + 1,
                    command: command.to_owned(),
                    output: String::new(),
                });
            }
            _ if inside => {
                let example = found.last_mut().expect("a console block begins with a command");
                example.output.push_str(line);
                example.output.push('\n');
            }
            _ => {}
        }
    }
    found
}
