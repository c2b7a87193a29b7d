//! Completion in real interactive shells: a line is typed with tabs on a terminal, and the shell runs what it completed.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::sandbox::{Sandbox, skipped};

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
";

const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 3 # kpt-set: ${replicas}\n";

/// A shell, and how krm's completion is installed in it.
struct Shell {
    name: &'static str,
    /// The line that starts it on a terminal.
    command: &'static str,
    /// Prepares the files that it reads at its start.
    setup: &'static str,
}

const BASH: Shell = Shell {
    name: "bash",
    command: "bash --rcfile bashrc -i",
    setup: "krm completion bash > krm.bash; printf 'source ./krm.bash\\nPS1=\"READY\"\"> \"\\n' > bashrc",
};

const ZSH_SOURCED: Shell = Shell {
    name: "zsh",
    command: "zsh -d -i",
    setup: "krm completion zsh > krm.zsh; printf 'autoload -Uz compinit && compinit -u -D\\nsource ./krm.zsh\\nPS1=\"READY\"\"> \"\\n' > .zshrc",
};

/// As `krm completion --help` says.
const ZSH_FUNCTION: Shell = Shell {
    name: "zsh",
    command: "zsh -d -i",
    setup: "mkdir zfunc; krm completion zsh > zfunc/_krm; printf 'fpath=($PWD/zfunc $fpath)\\nautoload -Uz compinit && compinit -u -D\\nPS1=\"READY\"\"> \"\\n' > .zshrc",
};

const FISH: Shell = Shell {
    name: "fish",
    command: "fish -i",
    setup: "mkdir -p config/fish/completions data/fish/generated_completions; krm completion fish > config/fish/completions/krm.fish; \
            printf 'function fish_prompt; printf READY%%s \"> \"; end\\nset -g fish_greeting\\n' > config/fish/config.fish",
};

/// What is typed, with tabs, and what the completed command writes to `out`.
const LINES: [(&str, &str); 6] = [
    ("krm yaml set --dry\t spec.replicas 5 shop/web.yaml > out", "would change shop/web.yaml"),
    ("krm explain no-mani\t > out", "The directory has no file"),
    ("krm cfg get shop rep\t > out", "3\n"),
    (
        "krm fn eval shop --match-kind Dep\t -i set-annotations --dry-run > out -- a=b",
        "would change",
    ),
    ("krm cfg count sh\t > out", "Deployment"),
    ("krm yaml get spec.replicas shop --kind Dep\t > out", "3\n"),
];

fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).status().is_ok()
}

/// Types a line in a new shell, and returns what is in `out` afterwards and what the terminal showed.
fn type_line(shell: &Shell, line: &str) -> (String, String) {
    let sandbox = Sandbox::new();
    sandbox.write("shop/Kptfile", KPTFILE.as_bytes());
    sandbox.write("shop/web.yaml", DEPLOYMENT.as_bytes());
    assert_eq!(sandbox.run(shell.setup).exit, 0, "{}", shell.name);
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_krm")).parent().unwrap();
    let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap());
    // `script` gives the shell a terminal; without a limit a shell that waits would never end.
    let mut command = Command::new("timeout");
    command
        .args(["120", "script", "-qec", shell.command, "/dev/null"])
        .current_dir(sandbox.path())
        .env_clear()
        .env("PATH", path)
        .env("TERM", "dumb")
        .env("HOME", sandbox.path())
        .env("ZDOTDIR", sandbox.path())
        .env("XDG_CONFIG_HOME", sandbox.path().join("config"))
        .env("XDG_DATA_HOME", sandbox.path().join("data"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut shown = wait_for_prompt(&mut output, String::new());
    writeln!(input, "{line}").unwrap();
    input.flush().unwrap();
    shown = wait_for_prompt(&mut output, shown);
    writeln!(input, "exit").unwrap();
    input.flush().unwrap();
    let mut rest = Vec::new();
    let _ = output.read_to_end(&mut rest);
    drop(input);
    let _ = child.wait();
    let text = std::fs::read_to_string(sandbox.path().join("out")).unwrap_or_default();
    (text, shown)
}

/// Reads until the next prompt, or the end. A prompt that is drawn again while a line is edited does not count: it is on the same line.
fn wait_for_prompt(output: &mut impl Read, mut shown: String) -> String {
    let begin = shown.len();
    let mut buffer = [0; 1024];
    loop {
        let is_prompted =
            shown[begin..].rsplit('\n').next().is_some_and(|it| it.contains("READY> "));
        let is_new = begin == 0 || shown[begin..].contains('\n');
        if is_prompted && is_new {
            return shown;
        }
        match output.read(&mut buffer) {
            Ok(0) | Err(_) => return shown,
            Ok(count) => shown.push_str(&String::from_utf8_lossy(&buffer[..count])),
        }
    }
}

fn check(shell: &Shell) {
    for program in [shell.name, "script"] {
        if !is_installed(program) {
            let reason = format!("{program} is not installed");
            assert!(std::env::var_os("KRM_REQUIRE_SHELLS").is_none(), "{reason}");
            return skipped("completion in a shell", &reason);
        }
    }
    for (line, expected) in LINES {
        let (out, shown) = type_line(shell, line);
        assert!(out.contains(expected), "{}: {line}\n{shown}\n{out}", shell.name);
    }
}

#[test]
fn bash_completes_on_a_terminal() {
    check(&BASH);
}

#[test]
fn zsh_completes_with_a_script_that_is_sourced() {
    check(&ZSH_SOURCED);
}

#[test]
fn zsh_completes_with_a_function_on_fpath() {
    check(&ZSH_FUNCTION);
}

#[test]
fn fish_completes_on_a_terminal() {
    check(&FISH);
}
