//! Exec functions: how commands are split and found, what they receive, and what is rejected.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use krm_run::{Environment, Exec, ExecSettings, Function, Invocation, RunKind, Variable};

use crate::programs::{Checked, INPUT, Scripts};

fn stdout(function: &Exec) -> String {
    function.run(&mut Invocation::new(INPUT)).text().to_owned()
}

#[test]
fn command_line_is_split_like_a_shell() {
    let scripts = Scripts::new();
    scripts.write("print-args", r#"for arg in "$@"; do echo "[$arg]"; done"#);
    let function = scripts.exec(r#"./print-args a 'b c' "d \" e" f\ g '' $HOME * # no"#).unwrap();
    assert_eq!(stdout(&function), "[a]\n[b c]\n[d \" e]\n[f g]\n[]\n[$HOME]\n[*]\n");
    assert_eq!(function.name(), r#"./print-args a 'b c' "d \" e" f\ g '' $HOME * # no"#);
}

#[test]
fn output_that_is_the_input_is_not_copied() {
    let scripts = Scripts::new();
    // More than a pipe holds, so that it arrives in several parts.
    let input = "kind: ResourceList # of many\n".repeat(20_000);
    let run = |line: &str, finds_echo: bool| {
        let mut is_echo = false;
        let mut invocation = Invocation::new(input.as_bytes());
        invocation.is_echo = finds_echo.then_some(&mut is_echo);
        let execution = scripts.exec(line).unwrap().run(&mut invocation);
        (is_echo, String::from_utf8(execution.stdout).unwrap())
    };
    assert_eq!(run("cat", true), (true, String::new()));
    assert_eq!(run("cat", false), (false, input.clone()));
    let more = format!("{input}more\n");
    assert_eq!(run("sh -c 'cat; echo more'", true), (false, more));
    let other = format!("{}other\n", &input[..input.len() - 5]);
    assert_eq!(run("sh -c 'head -c -5; echo other'", true), (false, other));
    assert_eq!(run("head -c 100000", true), (false, input[..100_000].to_owned()));
    assert_eq!(run("sed s/many/all/", true), (false, input.replace("many", "all")));
    assert_eq!(run("true", true), (false, String::new()));
}

#[test]
fn invalid_command_lines_are_rejected() {
    let scripts = Scripts::new();
    for (line, reason) in [
        ("sed 's/a/b/", "missing closing quote"),
        ("", "the command is empty"),
        ("  ", "the command is empty"),
        ("'' a", "the command is empty"),
    ] {
        assert_eq!(
            scripts.exec(line).unwrap_err(),
            RunKind::InvalidSettings { reason: reason.into() },
            "{line:?}"
        );
    }
}

#[test]
fn exec_needs_permission() {
    let scripts = Scripts::new();
    let marker = scripts.path().join("ran");
    scripts.write("function", &format!("touch {}", marker.display()));
    let settings = ExecSettings { allow_exec: false, ..scripts.settings() };
    let failure = Exec::new("./function", settings).unwrap_err();
    assert_eq!(failure, RunKind::ExecNotAllowed);
    assert!(!marker.exists());
}

#[test]
fn relative_command_is_looked_up_in_the_working_directory() {
    let scripts = Scripts::new();
    scripts.write("bin/function", "pwd");
    let package = scripts.path().join("package");
    fs::create_dir(&package).unwrap();
    for command in ["bin/function", "./bin/function", "package/../bin/function"] {
        let settings = ExecSettings { package_directory: package.clone(), ..scripts.settings() };
        let function = Exec::new(command, settings).unwrap();
        // It runs in the directory of the package.
        let directory = stdout(&function);
        assert_eq!(
            fs::canonicalize(directory.trim_end()).unwrap(),
            fs::canonicalize(&package).unwrap()
        );
    }
}

#[test]
fn bare_command_is_looked_up_on_path_and_then_in_the_working_directory() {
    let scripts = Scripts::new();
    scripts.write("one/function", "echo one");
    scripts.write("two/function", "echo two");
    scripts.write("function", "echo here");
    scripts.write("only-here", "echo only here");
    let path = format!("/no/such:{0}/one:{0}/two", scripts.path().display());
    let find = |command: &str, path: &str| {
        let environment = Environment::from_iter([("PATH", path)]);
        Exec::new(command, ExecSettings { environment, ..scripts.settings() }).unwrap()
    };
    assert_eq!(stdout(&find("function", &path)), "one\n");
    assert_eq!(stdout(&find("function", "/no/such")), "here\n");
    assert_eq!(stdout(&find("only-here", &path)), "only here\n");
}

#[test]
fn files_on_path_without_execute_permission_are_skipped() {
    let scripts = Scripts::new();
    let closed = scripts.write("one/function", "echo one");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o644)).unwrap();
    scripts.write("two/function", "echo two");
    let find = |path: String| {
        let environment = Environment::from_iter([("PATH", path)]);
        Exec::new("function", ExecSettings { environment, ..scripts.settings() })
    };
    let root = scripts.path().display();
    assert_eq!(stdout(&find(format!("{root}/one:{root}/two")).unwrap()), "two\n");
    let shown = closed.display().to_string();
    assert_eq!(
        find(format!("{root}/one")).unwrap_err(),
        RunKind::CommandNotExecutable { path: shown }
    );
}

#[test]
fn errors_distinguish_missing_files_directories_and_permissions() {
    let scripts = Scripts::new();
    let path = |name: &str| scripts.path().join(name).display().to_string();
    fs::create_dir(scripts.path().join("directory")).unwrap();
    fs::write(scripts.path().join("text"), "hello").unwrap();
    symlink("nowhere", scripts.path().join("link")).unwrap();
    let reason = |command: &str| scripts.exec(command).unwrap_err();
    let missing = format!("at {}", scripts.path().join("./missing").display());
    assert_eq!(reason("./missing"), RunKind::CommandNotFound { searched: missing });
    let nowhere = format!("on PATH or in {}", scripts.path().display());
    assert_eq!(reason("no-such-command-of-krm"), RunKind::CommandNotFound { searched: nowhere });
    assert_eq!(reason("./directory"), RunKind::CommandIsDirectory { path: path("./directory") });
    assert_eq!(reason("directory"), RunKind::CommandIsDirectory { path: path("directory") });
    assert_eq!(reason("./text"), RunKind::CommandNotExecutable { path: path("./text") });
    assert!(matches!(reason("./link"), RunKind::CannotStart { .. }));
}

#[test]
fn start_errors_explain_the_cause() {
    let scripts = Scripts::new();
    let why = |name: &str, text: &str| {
        let path = scripts.write(name, "");
        fs::write(path, text).unwrap();
        let function = scripts.exec(&format!("./{name}")).unwrap();
        function.run(&mut Invocation::new(INPUT)).error()
    };
    let reason = "the file is not a program; a script begins with `#!`";
    assert_eq!(why("text", "hello\n"), RunKind::CannotStart { reason: reason.into() });
    let reason = "the interpreter in its `#!` line does not exist";
    assert_eq!(
        why("script", "#!/no/such/interpreter\n"),
        RunKind::CannotStart { reason: reason.into() }
    );
}

#[test]
fn missing_package_directory_is_named() {
    let scripts = Scripts::new();
    let directory = scripts.path().join("gone");
    let function =
        Exec::new("cat", ExecSettings { package_directory: directory, ..scripts.settings() })
            .unwrap();
    let failure = function.run(&mut Invocation::new(INPUT)).failed();
    let reason = format!("the directory {}/gone does not exist", scripts.path().display());
    assert_eq!(failure.error(), RunKind::CannotStart { reason });
}

#[test]
fn only_few_variables_are_passed() {
    let scripts = Scripts::new();
    let all = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/home/me"),
        ("TMPDIR", "/tmp/me"),
        ("LANG", "de_DE.UTF-8"),
        ("AWS_SECRET_ACCESS_KEY", "hush"),
        ("TOKEN", "a=b c"),
        ("LD_PRELOAD", "/evil.so"),
    ];
    let settings = |variables: &[&str]| ExecSettings {
        environment: Environment::from_iter(all),
        variables: variables.iter().map(|text| text.parse().unwrap()).collect(),
        ..scripts.settings()
    };
    let seen = |variables: &[&str]| {
        let text = stdout(&Exec::new("env", settings(variables)).unwrap());
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let few = ["HOME=/home/me", "LANG=de_DE.UTF-8", "PATH=/usr/bin:/bin", "TMPDIR=/tmp/me"];
    assert_eq!(seen(&[]), few);
    let more = ["EMPTY=", "HOME=/", few[1], few[2], few[3], "TOKEN=a=b c"].map(str::to_owned);
    assert_eq!(seen(&["TOKEN", "HOME=/", "EMPTY=", "NOT_SET"]), {
        let mut more = more.to_vec();
        more.sort();
        more
    });
    let debug = format!("{:?}", settings(&["X=hush"]));
    assert!(!debug.contains("hush") && debug.contains("TOKEN"), "{debug}");
    assert_eq!("X=1".parse::<Variable>().unwrap().name(), "X");
}
