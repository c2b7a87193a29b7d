//! Completions as a real shell runs them, and man pages as a real formatter reads them.

use std::process::Command;

use crate::sandbox::Sandbox;

/// What bash offers at the end of a line.
fn offered(line: &str) -> Vec<String> {
    let words: Vec<String> = line.split(' ').map(|word| format!("\"{word}\"")).collect();
    let at = words.len() - 1;
    let script = format!(
        "bash --norc -c 'source <(krm completion bash); COMP_WORDS=({}); COMP_CWORD={at}; \
         _krm krm {} {}; printf \"%s\\n\" \"${{COMPREPLY[@]}}\"'",
        words.join(" "),
        words[at],
        words[at - 1]
    );
    let ran = Sandbox::new().run(&script);
    assert_eq!((ran.stderr.as_str(), ran.exit), ("", 0), "{line}");
    ran.stdout.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_flags_and_values() {
    assert_eq!(offered("krm cfg gr"), ["grep"]);
    assert_eq!(offered("krm compl"), ["completion"]);
    assert_eq!(offered("krm yaml set --dry"), ["--dry-run"]);
    assert_eq!(offered("krm cfg cat --error-format git"), ["github"]);
    assert!(offered("krm completion ").contains(&"fish".to_owned()));
    assert_eq!(offered("krm cfg zzz"), Vec::<String>::new());
}

#[test]
fn bash_knows_whose_completion_it_is() {
    let line = "bash --norc -c 'source <(krm completion bash) && complete -p krm'";
    let ran = Sandbox::new().run(line);
    assert!(ran.stdout.contains("-F _krm"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn every_shell_that_is_here_takes_its_script() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.run(&format!("krm completion {shell}"));
        assert_eq!((script.stderr.as_str(), script.exit), ("", 0), "{shell}");
        for word in ["grep", "invert-match", "dry-run"] {
            assert!(script.stdout.contains(word), "{shell} does not know {word}");
        }
        if matches!(shell, "bash" | "zsh" | "fish") && is_here(shell) {
            sandbox.write("script", script.stdout.as_bytes());
            let ran = sandbox.run(&format!("{shell} -n script"));
            assert_eq!((ran.stderr.as_str(), ran.exit), ("", 0), "{shell}");
        }
    }
}

#[test]
fn every_command_has_its_page_in_the_manual() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run("krm man --dir man/man1").exit, 0);
    let pages = sandbox.files();
    let mut expected = vec!["krm".to_owned()];
    below(&sandbox, "krm", &mut expected);
    let mut names: Vec<String> =
        expected.iter().map(|words| format!("man/man1/{}.1", words.replace(' ', "-"))).collect();
    names.sort();
    assert_eq!(pages.keys().cloned().collect::<Vec<_>>(), names);
    assert!(names.len() > 12, "{names:?}");
    for words in expected {
        let page = &pages[&format!("man/man1/{}.1", words.replace(' ', "-"))];
        assert!(page.contains(".SH SYNOPSIS"), "{words}");
        let printed = sandbox.run(&format!("krm man {}", words.trim_start_matches("krm")));
        assert_eq!(&printed.stdout, page, "{words}");
    }
}

#[test]
fn pages_of_the_manual_can_be_read() {
    if !is_here("groff") {
        eprintln!("groff is not here: the pages were not formatted");
        return;
    }
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run("krm man --dir man").exit, 0);
    for name in sandbox.files().keys() {
        let ran = sandbox.run(&format!("groff -man -Tascii -P-c -P-b -P-u -ww {name}"));
        assert_eq!((ran.stderr.as_str(), ran.exit), ("", 0), "{name}");
        assert!(ran.stdout.contains("SYNOPSIS"), "{name}");
    }
    let grep = sandbox.run("groff -man -Tascii -P-c -P-b -P-u man/krm-cfg-grep.1").stdout;
    assert!(grep.contains("\n         krm cfg grep kind=Deployment shop\n"), "{grep}");
}

/// Every command that does something itself, without the program's name.
pub(crate) fn commands(sandbox: &Sandbox) -> Vec<String> {
    let mut all = Vec::new();
    below(sandbox, "krm", &mut all);
    let is_group = |words: &String| all.iter().any(|it| it.starts_with(&format!("{words} ")));
    let commands = all.iter().filter(|words| !is_group(words));
    commands.map(|words| words.trim_start_matches("krm ").to_owned()).collect()
}

/// Everything below a command, as the help lists it.
fn below(sandbox: &Sandbox, words: &str, all: &mut Vec<String>) {
    let help = sandbox.run(&format!("{words} -h")).stdout;
    let Some(list) = help.split("Commands:\n").nth(1) else { return };
    let names = list.lines().take_while(|line| line.starts_with("  "));
    // What is said about a command may go on on the next line.
    let names = names.filter(|line| !line.starts_with("   "));
    for name in names.filter_map(|line| line.split_whitespace().next()) {
        if name != "help" {
            let command = format!("{words} {name}");
            all.push(command.clone());
            below(sandbox, &command, all);
        }
    }
}

fn is_here(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}
