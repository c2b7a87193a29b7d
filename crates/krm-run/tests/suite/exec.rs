//! Commands: how they are split and found, what they see, and what is refused.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use krm_run::{Environment, Exec, ExecSettings, Function, Interrupt, Limits, Reason, Variable};

use crate::programs::{INPUT, Scripts};

fn stdout(function: &Exec) -> String {
    function.run(INPUT, &Limits::default(), &Interrupt::new()).unwrap().stdout
}

#[test]
fn a_command_line_is_split_as_a_shell_splits_it() {
    let scripts = Scripts::new();
    scripts.write("words", r#"for word in "$@"; do echo "[$word]"; done"#);
    let function = scripts.exec(r#"./words a 'b c' "d \" e" f\ g '' $HOME * # no"#).unwrap();
    assert_eq!(stdout(&function), "[a]\n[b c]\n[d \" e]\n[f g]\n[]\n[$HOME]\n[*]\n");
    assert_eq!(function.name(), r#"./words a 'b c' "d \" e" f\ g '' $HOME * # no"#);
}

#[test]
fn a_command_line_that_cannot_be_split_is_refused() {
    let scripts = Scripts::new();
    for (line, words) in [
        ("sed 's/a/b/", "missing closing quote"),
        ("", "there is no command in it"),
        ("  ", "there is no command in it"),
        ("'' a", "there is no command in it"),
    ] {
        assert_eq!(
            scripts.exec(line).unwrap_err().reason,
            Reason::Unusable(words.into()),
            "{line:?}"
        );
    }
}

#[test]
fn commands_need_permission() {
    let scripts = Scripts::new();
    let marker = scripts.path().join("ran");
    scripts.write("function", &format!("touch {}", marker.display()));
    let settings = ExecSettings { allow_exec: false, ..scripts.settings() };
    let failure = Exec::new("./function", settings).unwrap_err();
    assert_eq!(failure.reason, Reason::ExecNotAllowed);
    assert!(!marker.exists());
}

#[test]
fn a_relative_command_is_looked_up_where_the_person_stands() {
    let scripts = Scripts::new();
    scripts.write("bin/function", "pwd");
    let package = scripts.path().join("package");
    fs::create_dir(&package).unwrap();
    for command in ["bin/function", "./bin/function", "package/../bin/function"] {
        let settings = ExecSettings { folder: package.clone(), ..scripts.settings() };
        let function = Exec::new(command, settings).unwrap();
        // It runs in the package's folder all the same.
        let folder = stdout(&function);
        assert_eq!(
            fs::canonicalize(folder.trim_end()).unwrap(),
            fs::canonicalize(&package).unwrap()
        );
    }
}

#[test]
fn a_bare_name_is_looked_up_on_the_path_and_then_where_the_person_stands() {
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
fn what_cannot_be_executed_on_the_path_is_passed_over() {
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
    let shown = closed.display().to_string().into();
    assert_eq!(find(format!("{root}/one")).unwrap_err().reason, Reason::NotExecutable(shown));
}

#[test]
fn what_is_no_command_is_told_apart() {
    let scripts = Scripts::new();
    let path = |name: &str| scripts.path().join(name).display().to_string().into_boxed_str();
    fs::create_dir(scripts.path().join("folder")).unwrap();
    fs::write(scripts.path().join("text"), "hello").unwrap();
    symlink("nowhere", scripts.path().join("link")).unwrap();
    let reason = |command: &str| scripts.exec(command).unwrap_err().reason;
    let missing = format!("at {}", scripts.path().join("./missing").display());
    assert_eq!(reason("./missing"), Reason::NotFound(missing.into()));
    let nowhere = format!("on PATH, nor in {}", scripts.path().display());
    assert_eq!(reason("no-such-command-of-krm"), Reason::NotFound(nowhere.into()));
    assert_eq!(reason("./folder"), Reason::IsFolder(path("./folder")));
    assert_eq!(reason("folder"), Reason::IsFolder(path("folder")));
    assert_eq!(reason("./text"), Reason::NotExecutable(path("./text")));
    assert!(matches!(reason("./link"), Reason::CannotStart(_)));
}

#[test]
fn what_cannot_be_started_says_why() {
    let scripts = Scripts::new();
    let why = |name: &str, text: &str| {
        let path = scripts.write(name, "");
        fs::write(path, text).unwrap();
        let function = scripts.exec(&format!("./{name}")).unwrap();
        function.run(INPUT, &Limits::default(), &Interrupt::new()).unwrap_err().reason
    };
    let words = "it is no program; does its first line begin with `#!`?";
    assert_eq!(why("text", "hello\n"), Reason::CannotStart(words.into()));
    let words = "the interpreter that its first line names is not there";
    assert_eq!(why("script", "#!/no/such/interpreter\n"), Reason::CannotStart(words.into()));
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let scripts = Scripts::new();
    let folder = scripts.path().join("gone");
    let function = Exec::new("cat", ExecSettings { folder, ..scripts.settings() }).unwrap();
    let failure = function.run(INPUT, &Limits::default(), &Interrupt::new()).unwrap_err();
    let words = format!("there is no folder {}/gone", scripts.path().display());
    assert_eq!(failure.reason, Reason::CannotStart(words.into()));
}

#[test]
fn only_a_small_environment_is_seen() {
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
