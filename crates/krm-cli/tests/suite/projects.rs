//! Projects created by `krm fn new`: each is built, tested and run as its README says.
//!
//! Those with dependencies (Rust, Go, TypeScript) are built only if `KRM_PROJECTS` is set, as it is in CI. The Rust project compiles
//! krm-sdk once more, so it needs `KRM_PROJECTS=all`.

use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

/// YAML readers disagree about these scalars.
const POD: &str = "\
# the shop
apiVersion: v1
kind: Pod # the one
metadata:
  name: web # do not rename
  annotations:
    switch: \"on\"
    mode: 0777
    size: 1e3
    flag: yes
    quoted: 'single'
# of the shop
spec:
  containers:
  - name: web # first
    image: nginx
";

/// A project in a sandbox with a package beside it.
struct Project {
    sandbox: Sandbox,
}

impl Project {
    fn new(lang: &str) -> Self {
        let sandbox = Sandbox::new();
        sandbox.write("pkg/pod.yaml", POD.as_bytes());
        let project = Self { sandbox };
        project.run(&format!("krm fn new set-owner --lang {lang}"));
        project
    }

    /// Runs a command line that must succeed. It has the user's `HOME`, where package managers keep their caches.
    fn run(&self, line: &str) -> String {
        let home = std::env::var("HOME").unwrap_or_default();
        let ran = self.sandbox.run(&format!("export HOME='{home}'; {line}"));
        assert_eq!(ran.exit, 0, "{line}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// The absolute path of a file of the project, because functions run in the directory of the package.
    fn file(&self, name: &str) -> String {
        self.sandbox.path().join("set-owner").join(name).display().to_string()
    }

    /// Runs the function on the package with each form of functionConfig, and checks the result.
    fn eval(&self, function: &str) {
        for config in ["--fn-config set-owner/config.yaml", "-- owner=team-a"] {
            self.orchestrate(&format!("krm fn eval pkg {function} {config}"));
        }
    }

    /// The same under kpt, which prints what the function returns: comments and scalars stay.
    fn eval_with_kpt(&self, program: &str) {
        if has("under kpt", "kpt version") {
            self.orchestrate(&format!(
                "kpt fn eval pkg --exec '{program}' --fn-config set-owner/config.yaml"
            ));
        }
    }

    /// Runs an orchestrator twice: it adds the annotation, then nothing.
    fn orchestrate(&self, line: &str) {
        self.sandbox.write("pkg/pod.yaml", POD.as_bytes());
        let added = "    example.com/owner: team-a\n";
        for _ in 0..2 {
            self.run(line);
            let text = &self.sandbox.files()["pkg/pod.yaml"];
            assert_eq!(text.replace(added, ""), POD, "{line}");
            assert!(text.contains(added), "{line}\n{text}");
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Whether a command line succeeds; if not, prints that the test is skipped.
fn has(test: &str, line: &str) -> bool {
    let succeeds = Sandbox::new().run(line).exit == 0;
    if !succeeds {
        println!("skipped: {test}: `{line}` fails here");
    }
    succeeds
}

/// Whether dependencies may be downloaded and built for a test.
fn may_build(test: &str) -> bool {
    let chosen = std::env::var("KRM_PROJECTS").unwrap_or_default();
    let may = chosen == "all" || !chosen.is_empty() && test != "rust";
    if !may {
        println!("skipped: {test}: KRM_PROJECTS is `{chosen}`");
    }
    may
}

#[test]
fn python_project_passes_its_tests_and_runs() {
    if has("python", "python3 -c 'import ruamel.yaml'") {
        let project = Project::new("python");
        project.run("cd set-owner && python3 -m unittest");
        let program = project.file("function.py");
        project.eval(&format!("--exec {program}"));
        project.eval_with_kpt(&program);
    }
}

#[test]
fn shell_project_passes_its_tests_and_runs() {
    if has("shell", "bash -c true") {
        let project = Project::new("shell");
        assert_eq!(project.run("set-owner/test.sh"), "ok\n");
        let function = project.file("function.sh");
        project.run(&format!("krm fn eval pkg --exec {function} -- owner=team-a"));
        let files = project.sandbox.files();
        assert_eq!(files["pkg/pod.yaml"], POD);
        let made = files.iter().find(|(path, _)| path.contains("owner_configmap"));
        assert!(made.is_some_and(|(_, text)| text.contains("owner: \"team-a\"")), "{files:?}");
    }
}

#[test]
fn starlark_project_passes_its_tests_and_runs() {
    let project = Project::new("starlark");
    let ran = project.sandbox.run("krm fn eval pkg --starlark set-owner/function.star -- owner=a");
    if ran.stderr.contains("built without Starlark") {
        println!("skipped: starlark: this krm was built without it");
        return;
    }
    assert_eq!(project.run("set-owner/test.sh").lines().last(), Some("ok"));
    project.eval("--starlark set-owner/function.star");
}

#[test]
fn go_project_builds_passes_its_tests_and_runs() {
    if may_build("go") && has("go", "go version && go list -m sigs.k8s.io/kustomize/kyaml@v0.20.1")
    {
        let project = Project::new("go");
        project.run("cd set-owner && go vet ./... && go test ./... && go build -o set-owner .");
        project.eval("--exec set-owner/set-owner");
        project.eval_with_kpt(&project.file("set-owner"));
        project.run("cd set-owner && GOOS=wasip1 GOARCH=wasm go build -o set-owner.wasm .");
        project.eval("--wasm set-owner/set-owner.wasm");
    }
}

#[test]
fn typescript_project_builds_passes_its_tests_and_runs() {
    if may_build("typescript") && has("typescript", "npm view yaml version") {
        let project = Project::new("typescript");
        project.run("cd set-owner && npm install && npm test");
        let program = format!("node {}", project.file("dist/main.js"));
        project.eval(&format!("--exec '{program}'"));
        project.eval_with_kpt(&program);
    }
}

#[test]
fn rust_project_builds_passes_its_tests_and_runs() {
    if may_build("rust") && has("rust", "cargo --version") {
        let project = Project::new("rust");
        let target = root().join("target/projects");
        let cargo = format!("cd set-owner && export CARGO_TARGET_DIR={}", target.display());
        project.run(&format!("{cargo} && cargo test && cargo build"));
        let program = format!("{}/debug/set-owner", target.display());
        project.eval(&format!("--exec {program}"));
        project.eval_with_kpt(&program);
        if has("rust as a module", "rustup target list --installed | grep -q wasm32-wasip1") {
            project.run(&format!("{cargo} && cargo build --target wasm32-wasip1"));
            project
                .eval(&format!("--wasm {}/wasm32-wasip1/debug/set-owner.wasm", target.display()));
        }
    }
}
