//! Functions that need more than a case: other languages, pipes, signals and terminals.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, krm};

/// A resource with much formatting that serializing would change.
const DEPLOYMENT: &str = "# the shop\n\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web # it\n  labels: {app: 'web', \"tier\": front}\nspec:\n    replicas:   3 # for now\n\n    # who is meant\n    selector: &sel\n        matchLabels: {app: web}\n    template:\n        spec:\n            containers:\n              - name: web\n                image: \"web:1.0\" # pinned\n                command: [sh, -c, 'echo \"hi\"']\n                args:\n                - |\n                  one\n                  two\n              - {name: side, image: side:2}\n    again: *sel\n    flag: off\n    mode: 0644\n    long: 'it is a long text that goes on and on and on and on and on and on and on and on and on and on and on'\n";
const OTHERS: &str = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n  ports: [{port: 80}] # one\n---\n# second\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: a # first\n  data: {x: \"1\"}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: b}\n";

/// Changes the replicas and serializes everything again: comments, quotes and order are lost.
const PYTHON: &str = "import sys, yaml\nlist = yaml.safe_load(sys.stdin)\nfor item in list['items']:\n    if item['kind'] == 'Deployment':\n        item['spec']['replicas'] = 5\n        item['spec']['template']['spec']['containers'][0]['image'] = 'web:2.0'\nyaml.safe_dump(list, sys.stdout, sort_keys=True)\n";

fn shop() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("shop/deployment.yaml", DEPLOYMENT.as_bytes());
    sandbox.write("shop/sub/others.yaml", OTHERS.as_bytes());
    sandbox.write("shop/config.json", b"{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\",\n \"metadata\": {\"name\": \"json\"}}\n");
    sandbox
}

fn has_python() -> bool {
    let found = Sandbox::new().run("python3 -c 'import yaml'").exit == 0;
    assert!(
        found || std::env::var_os("KRM_REQUIRE_PYTHON").is_none(),
        "KRM_REQUIRE_PYTHON is set, and python3 with PyYAML is not installed"
    );
    if !found {
        println!("skipped: python3 with PyYAML is not installed");
    }
    found
}

#[test]
fn reserialized_output_changes_only_what_the_function_changed() {
    if !has_python() {
        return;
    }
    let sandbox = shop();
    sandbox.write("scale.py", PYTHON.as_bytes());
    let ran = sandbox.run("krm fn eval shop --exec 'python3 ../scale.py' -q");
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.exit), ("", "", 0));
    let expected =
        DEPLOYMENT.replace("replicas:   3", "replicas:   5").replace("\"web:1.0\"", "\"web:2.0\"");
    let files = sandbox.files();
    assert_eq!(files["shop/deployment.yaml"], expected);
    assert_eq!(files["shop/sub/others.yaml"], OTHERS);
}

#[test]
fn source_and_sink_equal_eval() {
    let mut functions = vec![
        ("cat", "cat"),
        ("sed 's/replicas:   3/replicas: 7/'", "sed"),
        ("sed -e 's/ # .*//' -e 's/kind: Service/kind: Servant/'", "no comments"),
        ("sed 's|path: sub/others.yaml|path: sub/moved.yaml|'", "moved"),
        ("sed '/^- apiVersion: v1$/,/^# second/ {/^# second/!d}'", "deleted"),
    ];
    if has_python() {
        functions.push(("python3 ../scale.py", "python"));
    }
    for (function, name) in functions {
        let (eval, pipe) = (shop(), shop());
        for sandbox in [&eval, &pipe] {
            sandbox.write("scale.py", PYTHON.as_bytes());
        }
        let quoted = function.replace('\'', "'\\''");
        let one = eval.run(&format!("krm fn eval shop --exec '{quoted}' -q"));
        let line = format!(
            "cd shop && krm fn source . > ../in && {function} < ../in > ../out && krm fn sink . --prune -q < ../out"
        );
        let two = pipe.run(&line);
        assert_eq!((one.stderr.as_str(), one.exit), (two.stderr.as_str(), two.exit), "{name}");
        let shop_of = |sandbox: &Sandbox| {
            let files = sandbox.files().into_iter();
            files.filter(|(name, _)| name.starts_with("shop/")).collect::<Vec<_>>()
        };
        assert_eq!(shop_of(&eval), shop_of(&pipe), "{name}");
    }
}

#[test]
fn signal_stops_the_function_and_leaves_files_unchanged() {
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let sandbox = shop();
        let before = sandbox.files();
        let line = "sh -c 'echo $$ > ../child; exec sleep 600'";
        let mut child = krm()
            .args(["fn", "eval", "shop", "--exec", line, "-q"])
            .current_dir(sandbox.path())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = wait_for(|| {
            let text = fs::read_to_string(sandbox.path().join("child")).ok()?;
            text.trim().parse::<u32>().ok()
        });
        let sent =
            Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        let status = child.wait().unwrap();
        let mut stderr = String::new();
        std::io::Read::read_to_string(child.stderr.as_mut().unwrap(), &mut stderr).unwrap();
        assert_eq!(status.signal(), Some(number), "{signal}: {stderr}");
        assert!(stderr.contains("error[function-interrupted]"), "{signal}: {stderr}");
        wait_for(|| (!fs::exists(format!("/proc/{pid}")).unwrap_or(false)).then_some(()));
        let mut after = sandbox.files();
        after.remove("child");
        assert_eq!(after, before);
    }
}

pub(crate) fn wait_for<T>(mut poll: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "timed out");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn running_function_is_shown_on_a_terminal_and_logged_in_one_line() {
    let sandbox = shop();
    let line = "env TERM=xterm NO_COLOR=1 script -qec \"krm fn eval shop --exec 'sh -c \\\"sleep 1; cat\\\"'\" /dev/null";
    let ran = sandbox.run(line);
    let erase = "\r\u{1b}[K";
    assert!(ran.stdout.starts_with(&format!("{erase}running sh -c ")), "{:?}", ran.stdout);
    assert!(ran.stdout.contains(&format!("{erase}[PASS] \"sh -c ")), "{:?}", ran.stdout);
    let ran = sandbox.run("krm fn eval shop --exec cat");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(
        lines,
        [
            "[PASS] \"cat\" (exec) on 5 resources of shop",
            "no files changed, 5 resources, 1 function in 1 ms"
        ]
    );
    assert_eq!(sandbox.run("krm fn eval shop --exec cat -q").stderr, "");
}
