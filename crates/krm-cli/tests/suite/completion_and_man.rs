//! Completion scripts in real shells, and manual pages in a real formatter.

use std::collections::BTreeSet;
use std::process::Command;

use crate::sandbox::Sandbox;

const KPTFILE: &str = "\
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: shop
pipeline:
  mutators:
  - image: example.com/own-labels:v1
  - image: apply-setters:v0.2
    configMap:
      replicas: \"3\"
      image-tag: \"1.26\"
";

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop-prod
spec:
  replicas: 3 # kpt-set: ${replicas}
";

/// What a real bash completes at the end of a line, in a directory with a package.
fn completions(line: &str) -> Vec<String> {
    let sandbox = Sandbox::new();
    sandbox.write("shop/Kptfile", KPTFILE.as_bytes());
    sandbox.write("shop/web.yaml", DEPLOYMENT.as_bytes());
    let arguments: Vec<String> = line.split(' ').map(|it| format!("\"{it}\"")).collect();
    let at = arguments.len() - 1;
    let script = format!(
        "source <(krm completion bash)\nCOMP_WORDS=({})\nCOMP_CWORD={at}\n\
         _clap_complete_krm krm {} {}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        arguments.join(" "),
        arguments[at],
        arguments[at - 1]
    );
    sandbox.write("complete.sh", script.as_bytes());
    let ran = sandbox.run("bash --norc complete.sh");
    // Outside of a completion there is no option to set, which bash reports.
    let errors: Vec<&str> = ran.stderr.lines().filter(|it| !it.contains("compopt")).collect();
    assert_eq!((errors, ran.exit), (Vec::new(), 0), "{line}");
    ran.stdout.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_flags_and_values() {
    assert_eq!(completions("krm cfg gr"), ["grep"]);
    assert_eq!(completions("krm compl"), ["completion"]);
    assert_eq!(completions("krm yaml set --dry"), ["--dry-run"]);
    assert_eq!(completions("krm cfg cat --error-format git"), ["github"]);
    assert!(completions("krm completion ").contains(&"fish".to_owned()));
    assert_eq!(completions("krm cfg zzz"), Vec::<String>::new());
}

#[test]
fn bash_completes_what_the_package_contains() {
    assert_eq!(completions("krm fn eval shop --match-kind Dep"), ["Deployment"]);
    assert_eq!(completions("krm fn eval shop --match-kind "), ["Deployment", "Kptfile"]);
    assert_eq!(completions("krm cfg annotate shop --kv a=b --name w"), ["web"]);
    assert_eq!(completions("krm fn eval shop --exclude-namespace "), ["shop-prod"]);
    // Options follow, as the word to complete is empty.
    assert_eq!(completions("krm cfg set shop ")[..2], ["image-tag", "replicas"]);
    assert_eq!(completions("krm cfg get shop rep"), ["replicas"]);
    assert_eq!(completions("krm cfg rename-setter shop im"), ["image-tag"]);
    assert_eq!(completions("krm cfg set sh"), ["shop/"]);
}

#[test]
fn bash_completes_functions_and_ids() {
    assert_eq!(completions("krm fn eval shop -i example"), ["example.com/own-labels:v1"]);
    assert_eq!(completions("krm fn eval shop -i set-la"), ["set-labels"]);
    assert_eq!(completions("krm fn doc kubec"), ["kubeconform"]);
    assert_eq!(completions("krm explain no-mani"), ["no-manifests"]);
}

#[test]
fn completion_in_a_directory_that_cannot_be_read_is_empty() {
    let sandbox = Sandbox::new();
    let line =
        "KRM_COMPLETE=bash _CLAP_COMPLETE_INDEX=4 krm -- krm fn eval missing --match-kind ''";
    let ran = sandbox.run(&line.replace("INDEX=4", "INDEX=5"));
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.exit), ("", "", 0));
}

#[test]
fn bash_registers_the_completion_for_krm() {
    let line = "bash --norc -c 'source <(krm completion bash) && complete -p krm'";
    let ran = Sandbox::new().run(line);
    assert!(ran.stdout.contains("-F _clap_complete_krm"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn installed_shells_accept_their_completion_scripts() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = sandbox.run(&format!("krm completion {shell}"));
        assert_eq!((script.stderr.as_str(), script.exit), ("", 0), "{shell}");
        assert!(script.stdout.contains("KRM_COMPLETE"), "{shell}: {}", script.stdout);
        if matches!(shell, "bash" | "zsh" | "fish") && is_installed(shell) {
            sandbox.write("script", script.stdout.as_bytes());
            let ran = sandbox.run(&format!("{shell} -n script"));
            assert_eq!((ran.stderr.as_str(), ran.exit), ("", 0), "{shell}");
        }
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run("krm man --dir man/man1").exit, 0);
    let pages = sandbox.files();
    // Groups of commands have a page, too.
    let mut expected = BTreeSet::from(["krm".to_owned()]);
    for command in commands(&sandbox) {
        let group = command.split_once(' ').map(|(group, _)| format!("krm {group}"));
        expected.extend(group);
        expected.insert(format!("krm {command}"));
    }
    let name = |command: &String| format!("man/man1/{}.1", command.replace(' ', "-"));
    let mut names: Vec<String> = expected.iter().map(name).collect();
    names.sort();
    assert_eq!(pages.keys().cloned().collect::<Vec<_>>(), names);
    assert!(names.len() > 12, "{names:?}");
    for command in expected {
        let page = &pages[&format!("man/man1/{}.1", command.replace(' ', "-"))];
        assert!(page.contains(".SH SYNOPSIS"), "{command}");
        let printed = sandbox.run(&format!("krm man {}", command.trim_start_matches("krm")));
        assert_eq!(&printed.stdout, page, "{command}");
    }
}

#[test]
fn groff_formats_the_manual_pages() {
    if !is_installed("groff") {
        eprintln!("skipped: groff is not installed");
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

/// All commands without groups, without the name of the program.
pub(crate) fn commands(sandbox: &Sandbox) -> Vec<String> {
    let help = sandbox.run("krm --help").stdout;
    let lines = help.lines().take_while(|line| !line.starts_with("Use krm COMMAND"));
    // `  cfg tree     Print resources as a tree`; continuation lines begin with more spaces.
    let rows = lines.filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
    let rows = rows.filter(|(command, _)| !command.is_empty());
    rows.map(|(command, _)| command.to_owned()).collect()
}

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}
