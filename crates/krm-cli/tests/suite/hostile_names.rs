//! Names and values from files cannot control a terminal, and cannot forge lines of a log.

use crate::sandbox::Sandbox;

/// Moves the cursor, sets the title, changes the direction of text, and begins lines that look like those of krm and of CI systems.
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\u{202e}\u{2066}\u{2028}\r\n[PASS] forged\n::error::forged\n##[error]forged";

/// The same as a double-quoted scalar.
const QUOTED: &str = r#""x\e[2J\e]0;t\a\x9b31m\u202e\u2066\u2028\r\n[PASS] forged\n::error::forged\n##[error]forged""#;

/// Commands whose standard output people read. `$N` is the hostile name, `$F` a file of that name.
const FOR_PEOPLE: &[&str] = &[
    "krm cfg tree p --name --image --field spec.replicas",
    "krm cfg tree p --graph-structure owners",
    "krm cfg tree \"p/$N\"",
    "krm cfg count p",
    "krm cfg count \"$F\"",
    "krm cfg list-setters p --include-subst",
    "krm cfg list-setters p --markdown",
    "krm cfg diff p q",
    "krm cfg diff q p -o unified",
    "krm cfg fmt p --diff",
    "krm cfg fmt p --dry-run",
    "krm cfg fmt p --check",
    "krm cfg fmt p -v",
    "krm cfg annotate p --kv k=v --diff",
    "krm cfg annotate p --kv k=\"$N\" --diff",
    "krm cfg annotate p --kv k=v --dry-run -v",
    "krm cfg annotate p --kv k=v -v",
    "krm cfg set p \"$N\" 5",
    "krm cfg set p \"$N\" \"$N\" --diff",
    "krm cfg set p missing \"$N\"",
    "krm cfg create-setter p \"$N\" \"$N\"",
    "krm cfg create-setter p other x --field \"$N\" -v",
    "krm cfg rename-setter p \"$N\" other -v",
    "krm cfg delete-setter p \"$N\"",
    "krm cfg delete-setter p \"$N $N\"",
    "krm cfg merge q p --dry-run",
    "krm cfg merge q p --diff -v",
    "krm cfg merge3 --ancestor q --from p --to r --diff",
    "krm cfg merge3 --ancestor q --from p --to r -v",
    "krm cfg init \"p/$N\" -v",
    "krm fn eval p -i set-labels --diff -v -- \"k=$N\"",
    "krm fn eval p -i \"$N\"",
    "krm fn eval p --exec \"cat '$N'\" -v",
    "krm fn eval p --exec \"sh $PWD/results.sh\" -v",
    "krm fn eval p --exec \"sh $PWD/fails.sh\" -v",
    "krm fn eval p --exec \"sh $PWD/noisy.sh\" -v",
    "krm fn eval p --fn-config \"$F\" -i set-labels --dry-run",
    "krm fn eval p --starlark \"$F\"",
    "krm fn eval p --wasm \"$F\"",
    "krm fn render k --allow-exec -v",
    "krm fn render k",
    "krm fn render k --allow-exec --explain --dry-run",
    "krm fn run a --allow-exec -v",
    "krm fn run a --dry-run",
    "krm fn source p | krm fn sink p --overwrite --dry-run -v",
    "krm yaml check \"$F\"",
    "krm yaml check broken.yaml \"$F\" -v",
    "krm yaml set metadata.name \"$N\" \"$F\" --diff",
    "krm yaml set \"$N\" 1 \"$F\" --dry-run",
    "krm yaml rm \"$N\" \"$F\"",
    "krm yaml merge3 --base base.yaml --upstream \"$F\" --local local.yaml -i --diff -v",
    "krm explain \"$N\"",
    "krm \"$N\"",
    "krm cfg tree --\"$N\"",
    "krm cfg tree --\"$N\"=\"$N\"",
    "krm yaml get --doc=\"$N\" a",
];

/// Commands whose standard output is data, which stays as it is.
const FOR_PROGRAMS: &[&str] = &[
    "krm cfg cat p",
    "krm cfg grep kind=Pod p",
    "krm cfg grep \"$N=$N\" p",
    "krm cfg tree p -o json",
    "krm cfg count p -o yaml",
    "krm cfg get p \"$N\"",
    "krm fn source p -v",
    "krm fn source p | krm fn call \"$N\"",
    "krm fn source p | krm fn call set-labels",
    "krm fn source p | krm fn wrap -- sh noisy.sh",
    "krm fn source p | krm fn xargs -- sh fails.sh",
    "krm yaml get metadata \"$F\"",
    "krm yaml get \"$N\" \"$F\"",
    "krm yaml events \"$F\"",
    "krm yaml merge3 --base base.yaml --upstream \"$F\" --local local.yaml -v",
];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let resource = format!(
        "kind: {QUOTED}\napiVersion: v1\nmetadata:\n  name: {QUOTED}\n  namespace: {QUOTED}\n  labels:\n    {QUOTED}: {QUOTED}\nspec:\n  replicas: {QUOTED}\n  image: {QUOTED} # {{\"$openapi\":\"y\"}}\n"
    );
    let pod =
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n# \u{202e}::error::forged\nspec: {}\n";
    let setters = format!(
        "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n    \"io.k8s.cli.setters.{inner}\":\n      description: {QUOTED}\n      x-k8s-cli:\n        setter: {{name: {QUOTED}, value: {QUOTED}, setBy: {QUOTED}}}\n    io.k8s.cli.setters.y:\n      x-k8s-cli:\n        setter: {{name: y, value: {QUOTED}}}\n",
        inner = &QUOTED[1..QUOTED.len() - 1],
    );
    for package in ["p", "r"] {
        sandbox.write(&format!("{package}/{HOSTILE}.yaml"), resource.as_bytes());
        sandbox.write(&format!("{package}/{HOSTILE}/a.yaml"), pod.as_bytes());
        sandbox.write(&format!("{package}/Krmfile"), setters.as_bytes());
    }
    sandbox.write("r/Krmfile", setters.replace("setBy: \"", "setBy: \"z").as_bytes());
    sandbox.write("q/b.yaml", b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec: {b: 1}\n");
    let results = format!(
        "results:\n- message: {QUOTED}\n  severity: warning\n  resourceRef: {{apiVersion: v1, kind: {QUOTED}, name: {QUOTED}}}\n  field: {{path: {QUOTED}}}\n  file: {{path: {QUOTED}}}\n- message: {QUOTED}\n  severity: info\n"
    );
    sandbox.write("results.yaml", results.as_bytes());
    sandbox.write("results.sh", b"cat; cat \"$(dirname \"$0\")/results.yaml\"");
    sandbox.write("stderr.txt", HOSTILE.as_bytes());
    sandbox.write("noisy.sh", b"cat \"$(dirname \"$0\")/stderr.txt\" >&2; cat");
    sandbox.write("fails.sh", b"cat \"$(dirname \"$0\")/stderr.txt\" >&2; exit 1");
    let kptfile = format!(
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {{name: k}}\npipeline:\n  mutators:\n  - exec: sh ../noisy.sh {QUOTED}\n    name: {QUOTED}\n"
    );
    let kptfile = kptfile.replace("sh ../noisy.sh \"", "\"sh ../noisy.sh ");
    sandbox.write("k/Kptfile", kptfile.as_bytes());
    sandbox.write(&format!("k/{HOSTILE}.yaml"), resource.as_bytes());
    let function = format!(
        "apiVersion: v1\nkind: {QUOTED}\nmetadata:\n  name: {QUOTED}\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {{path: sh, args: [../noisy.sh, {QUOTED}]}}\n"
    );
    sandbox.write(&format!("a/{HOSTILE}.yaml"), function.as_bytes());
    sandbox.write("broken.yaml", "a: [\u{202e}::error::forged\n".as_bytes());
    sandbox.write("base.yaml", b"metadata: {name: a}\n");
    sandbox.write("local.yaml", b"metadata: {name: b}\n");
    sandbox.write("name", HOSTILE.as_bytes());
    sandbox
}

/// Raw control characters, and lines that only the hostile name can have begun.
fn problems(text: &str) -> Vec<String> {
    let is_raw = |c: &char| {
        c.is_control() && *c != '\n' || matches!(c, '\u{202e}' | '\u{2066}' | '\u{2028}')
    };
    let raw = text.chars().filter(is_raw).map(|c| format!("raw {c:?}"));
    let is_forged = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("::error::forged") || line.starts_with("[PASS] forged")
    };
    let forged = text.lines().filter(is_forged).map(|line| format!("line {line:?}"));
    let command = text.contains("##[error]").then(|| "##[error]".to_owned());
    raw.take(1).chain(forged.take(1)).chain(command).collect()
}

#[test]
fn names_cannot_control_terminals_or_forge_lines() {
    let lines = FOR_PEOPLE.iter().map(|line| (*line, true));
    let lines = lines.chain(FOR_PROGRAMS.iter().map(|line| (*line, false)));
    let mut failures = Vec::new();
    for (line, is_for_people) in lines {
        for format in ["text", "json", "github"] {
            let sandbox = sandbox();
            let line = line.replacen("krm ", &format!("krm --error-format={format} "), 1);
            let output = sandbox.run(&format!("N=$(cat name); F=\"p/$N.yaml\"; {line}"));
            let stdout = is_for_people.then_some(("stdout", &output.stdout));
            for (name, text) in stdout.into_iter().chain([("stderr", &output.stderr)]) {
                let problems = problems(text);
                if !problems.is_empty() {
                    failures.push(format!("{line}: {name}: {}\n{text:?}", problems.join(", ")));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
#[cfg(target_os = "linux")]
fn data_is_escaped_on_a_terminal_only() {
    let sandbox = Sandbox::new();
    sandbox.write("a.yaml", b"a: \"\\e[2J\\u202e\"\n");
    let line = "krm yaml get a a.yaml";
    assert_eq!(sandbox.run(line).stdout, "\u{1b}[2J\u{202e}\n");
    let on_a_terminal = sandbox.run(&format!("TERM=dumb script -qec '{line}' /dev/null"));
    assert_eq!(on_a_terminal.stdout, "\\u{1b}[2J\\u{202e}\r\n");
}
