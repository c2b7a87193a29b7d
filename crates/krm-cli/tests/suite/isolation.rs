//! Scripts, policies and conditions are evaluated in a process of their own: the same results, and limits that hold.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use krm_catalog::interpreter::{InProcess, Interpreter};
use krm_catalog::{BuiltinRelease, Host};
use krm_core::PackagePath;
use krm_run::{INTERPRETER_ARGUMENT, Interrupt, Limits, ProcessInterpreter};
use krm_sdk::{Item, Resource, ResourceList};
use krm_testkit::Case;

use crate::sandbox::{Sandbox, krm};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../krm-catalog/tests/cases");
const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a # it\n";

/// Everything that a function leaves behind.
fn outcome(
    name: &str,
    mut list: ResourceList,
    interpreter: &dyn Interpreter,
) -> (Vec<String>, String) {
    let called = BuiltinRelease::from(krm_catalog::find(name).unwrap())
        .call_with(&mut list, Host { interpreter, ..Host::default() });
    let texts = list.items.iter().map(|item| item.text().to_owned()).collect();
    (texts, format!("{called:#?}\n{:#?}\n{:#?}", list.results, list.log))
}

fn list_of(case: &Case, config: Option<&str>) -> ResourceList {
    let text = case.input().input_text();
    let items = text.split("---\n").filter(|text| !text.trim().is_empty()).enumerate();
    let item = |(at, text): (usize, &str)| {
        let mut item = Item::parse(text.to_owned()).unwrap();
        item.path = Some(PackagePath::new("input.yaml").unwrap());
        (item.index, item.origin) = (Some(at), Some(at));
        Resource::from(item)
    };
    let config = config.map(|name| case.input_named(name).unwrap().input_text());
    ResourceList {
        items: items.map(item).collect(),
        function_config: config.map(|text| Resource::parse(&text).unwrap()),
        ..ResourceList::default()
    }
}

#[test]
fn process_and_thread_give_the_same_results() {
    let program = Path::new(env!("CARGO_BIN_EXE_krm"));
    let process = ProcessInterpreter::new(program, Limits::default(), Interrupt::new());
    let mut compared = 0;
    for file in fs::read_dir(CASES).unwrap() {
        let case = Case::load(file.unwrap().path()).unwrap();
        for section in case.actions() {
            let words: Vec<&str> = section.title.split(' ').collect();
            let Some(at) = words.iter().position(|it| ["starlark", "gatekeeper"].contains(it))
            else {
                continue;
            };
            let list = list_of(&case, words.get(at + 1).copied());
            let here = outcome(words[at], list.clone(), &InProcess);
            let there = outcome(words[at], list, &process);
            assert_eq!(here, there, "{}: {}", case.path().display(), section.title);
            compared += 1;
        }
    }
    assert!(compared >= 30, "{compared}");
}

/// Runs a script on a package. Returns the exit code and the id of the error.
fn eval(script: &str) -> (i32, String) {
    let sandbox = Sandbox::new();
    sandbox.write("p/a.yaml", CONFIG_MAP.as_bytes());
    sandbox.write("x.star", script.as_bytes());
    let ran = sandbox.run("krm fn eval p --starlark x.star --memory 256m --timeout 20s");
    assert_eq!(sandbox.files()["p/a.yaml"], CONFIG_MAP);
    (ran.exit, id(&ran.stderr))
}

/// Checks a policy on a package. Returns the exit code and the id of the error.
fn check(policy: &str) -> (i32, String) {
    let sandbox = Sandbox::new();
    let policy = policy.replace('\n', "\n      ");
    sandbox.write("p/a.yaml", CONFIG_MAP.as_bytes());
    sandbox.write("p/t.yaml", format!("apiVersion: templates.gatekeeper.sh/v1\nkind: ConstraintTemplate\nmetadata: {{name: t}}\nspec:\n  crd: {{spec: {{names: {{kind: T}}}}}}\n  targets:\n  - target: admission.k8s.gatekeeper.sh\n    rego: |\n      package t\n      {policy}\n").as_bytes());
    sandbox.write("p/c.yaml", b"apiVersion: constraints.gatekeeper.sh/v1beta1\nkind: T\nmetadata: {name: c}\nspec: {match: {kinds: [{kinds: [ConfigMap]}]}}\n");
    let ran = sandbox.run("krm fn eval p -i gatekeeper --memory 256m --timeout 20s");
    (ran.exit, id(&ran.stderr))
}

fn render(condition: &str, flags: &str) -> (i32, String) {
    let sandbox = Sandbox::new();
    sandbox.write("p/a.yaml", CONFIG_MAP.as_bytes());
    sandbox.write("p/Kptfile", format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: p\npipeline:\n  mutators:\n  - image: no-op\n    condition: '{condition}'\n").as_bytes());
    let ran = sandbox.run(&format!("krm fn render p {flags}"));
    (ran.exit, id(&ran.stderr))
}

fn id(stderr: &str) -> String {
    let id = stderr.split_once("error[").and_then(|(_, rest)| rest.split_once(']'));
    id.map_or_else(|| stderr.to_owned(), |(id, _)| id.to_owned())
}

fn fails_with(id: &str) -> (i32, String) {
    (4, id.to_owned())
}

#[test]
fn operations_of_scripts_are_limited_in_memory() {
    for script in [
        "x = 'a' * 1000000\ny = x.join(['b'] * 100000)\n",
        "x = 'a' * 1000000\ny = x.replace('a', x)\n",
        "x = 'a' * 10000000\ny = ('%s' * 1000) % tuple([x] * 1000)\n",
        "x = 'a' * 2000000000\n",
        "x = 'a' * 2147483647 * 2147483647\n",
        "x = [0] * 100000000\n",
        "x = list(range(100000000))\n",
    ] {
        assert_eq!(eval(script), fails_with("function-memory-limit"), "{script}");
    }
}

#[test]
fn nesting_of_scripts_is_limited() {
    let (open, close) = ("[".repeat(4000), "]".repeat(4000));
    for script in [
        format!("x = {open}{close}\n"),
        format!("x = {}1\n", "1 + ".repeat(4000)),
        format!("x = {}1\n", "not ".repeat(4000)),
        format!("x = {}1\n", "1 if 2 else ".repeat(4000)),
        format!("x = ctx{}\n", ".a".repeat(4000)),
        (0..4000).map(|at| format!("{}if x:\n", " ".repeat(at))).collect(),
    ] {
        assert_eq!(eval(&script), fails_with("script-nesting"), "{}", &script[..20]);
    }
    let levels = 990;
    let deep = format!("x = {}{}\n", "[".repeat(levels), "]".repeat(levels));
    assert_eq!(eval(&deep).0, 0);
    let deep = format!("x = {}1\n", "1 + ".repeat(levels));
    assert_eq!(eval(&deep).0, 0);
}

#[test]
fn printed_text_is_limited() {
    let script = "for i in range(100000):\n  print('x' * 1000000)\n";
    assert_eq!(eval(script), fails_with("starlark-error"));
}

#[test]
fn policies_are_limited() {
    let violation =
        |body: &str| format!("violation[{{\"msg\": msg}}] {{\n  {body}\n  msg := \"x\"\n}}");
    let range = violation("x := numbers.range(1, 100000000000)");
    assert_eq!(check(&range), fails_with("function-memory-limit"));
    let wide = violation("x := sprintf(\"%1000000000d\", [1])");
    assert_eq!(check(&wide), fails_with("policy-evaluation-failed"));
    let recursive = format!("f(x) = y {{\n  y := f(x + 1)\n}}\n{}", violation("f(1)"));
    assert_eq!(check(&recursive), fails_with("recursive-policy-function"));
    let deep = violation(&format!("x := {}{}", "[".repeat(4000), "]".repeat(4000)));
    assert_eq!(check(&deep), fails_with("script-nesting"));
}

#[test]
fn conditions_are_limited() {
    let digits = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"];
    let endless = names
        .iter()
        .fold("true".to_owned(), |inner, name| format!("{digits}.all({name}, {inner})"));
    assert_eq!(render(&endless, "--timeout 1s"), fails_with("function-timeout"));
    let deep = format!("{}true{}", "(".repeat(4000), ")".repeat(4000));
    assert_eq!(render(&deep, ""), fails_with("invalid-condition"));
    let doubled = ".map(a, a + a + a + a + a + a + a + a + a + a)".repeat(9);
    let large = format!("[\"aaaaaaaaaa\"]{doubled}.size() == 1");
    assert_eq!(render(&large, "--memory 256m"), fails_with("function-memory-limit"));
}

#[test]
fn interpreter_that_panics_is_a_bug() {
    // regorus 0.11 panics for a step of zero.
    let policy =
        "violation[{\"msg\": msg}] {\n  x := numbers.range_step(1, 5, 0)\n  msg := \"x\"\n}";
    let (exit, id) = check(policy);
    assert_eq!((exit, id.as_str()), (70, "interpreter-panicked"));
}

#[test]
fn deleted_program_still_evaluates() {
    let sandbox = Sandbox::new();
    fs::copy(env!("CARGO_BIN_EXE_krm"), sandbox.path().join("copy")).unwrap();
    sandbox.write("x.star", b"print('evaluated')\n");
    sandbox.write("a.yaml", CONFIG_MAP.as_bytes());
    let ran = sandbox.run("(sleep 1; rm copy; cat a.yaml) | ./copy fn eval - --starlark x.star");
    assert_eq!((ran.stdout.as_str(), ran.exit), (CONFIG_MAP, 0), "{}", ran.stderr);
}

#[test]
fn other_version_of_the_program_is_refused() {
    let ran = Sandbox::new().run(&format!("krm {INTERPRETER_ARGUMENT} 0.0.0 1000000000 9"));
    assert_eq!((ran.stdout.as_str(), ran.exit), ("", 72));
}

/// Waits until `read` returns something.
fn wait_for<T>(what: &str, read: impl Fn() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = read() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn interpreter_gives_up_its_rights_before_it_reads() {
    let arguments = [INTERPRETER_ARGUMENT, env!("CARGO_PKG_VERSION"), "1000000000", "9"];
    let mut child =
        krm().args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let directory = Path::new("/proc").join(child.id().to_string());
    let status = || fs::read_to_string(directory.join("status")).unwrap();
    let is_filtered = || status().contains("Seccomp:\t2").then_some(());
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        wait_for("the filter is installed", is_filtered);
    }
    let limits = fs::read_to_string(directory.join("limits")).unwrap();
    let limit = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(
        (limit("Max open files"), limit("Max file size"), limit("Max core file size")),
        (3, 0, 0)
    );
    assert_eq!(limit("Max cpu time"), 9);
    assert!((1_000_000_000..1_500_000_000).contains(&limit("Max address space")));
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(72));
}

/// The process id of a child of a process.
#[cfg(target_os = "linux")]
fn child_of(parent: u32) -> Option<String> {
    let status = |id: &String| fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let ids = fs::read_dir("/proc").unwrap().flatten();
    let mut ids = ids.filter_map(|entry| entry.file_name().into_string().ok());
    ids.find(|id| status(id).contains(&format!("\nPPid:\t{parent}\n")))
}

#[test]
#[cfg(target_os = "linux")]
fn interpreter_ends_with_krm() {
    let sandbox = Sandbox::new();
    sandbox.write("p/a.yaml", CONFIG_MAP.as_bytes());
    sandbox.write("x.star", b"x = 3\nfor i in range(1000):\n  x = x * x\n");
    let mut parent = krm()
        .args(["fn", "eval", "p", "--starlark", "x.star"])
        .current_dir(sandbox.path())
        .spawn()
        .unwrap();
    let child = wait_for("krm starts a process", || child_of(parent.id()));
    parent.kill().unwrap();
    parent.wait().unwrap();
    let is_gone = || {
        let status = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        (status.is_empty() || status.contains(") Z ")).then_some(())
    };
    wait_for("the process ends", is_gone);
}

#[test]
#[cfg(target_os = "linux")]
fn too_little_memory_for_the_stack_is_reported() {
    let version = env!("CARGO_PKG_VERSION");
    let command = format!("ulimit -v 200000; krm {INTERPRETER_ARGUMENT} {version} 2147483648 9");
    assert_eq!(Sandbox::new().run(&command).exit, 71);
}
