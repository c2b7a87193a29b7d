//! Projects created by `krm fn new`: each is built, tested and run as its page in `docs/write-a-function` says.
//!
//! Those with dependencies (Rust, Go, TypeScript) are built only if `KRM_PROJECTS` is set, as it is in CI.

use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

/// YAML readers disagree about these scalars, and libraries move some of these comments.
const POD: &str = "\
# the shop
apiVersion: v1
kind: Pod # the one
metadata:
  name: web # do not rename
  annotations: # of the pod
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
    # below the first
  # the second
  - name: logs
";

/// A project in a sandbox with a package beside it.
struct Project {
    sandbox: Sandbox,
    name: &'static str,
    /// The annotation, or the file, that the function adds.
    added: &'static str,
}

impl Project {
    /// Follows the page of a language up to the publication of an image, on a package in place of `DIR`. `adapt` changes commands that a
    /// test cannot run as they are.
    fn follow_page(lang: &str, adapt: impl Fn(&str) -> String) -> Self {
        let page = root().join(format!("docs/write-a-function/{lang}.md"));
        let page = std::fs::read_to_string(page).unwrap();
        let (steps, publish) = page.split_once("\n## Publish\n").unwrap();
        let blocks = steps.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
        let steps: Vec<String> = blocks.flat_map(str::lines).map(adapt).collect();
        let name = if lang == "shell" { "make-owner" } else { "set-owner" };
        let new = format!("krm fn new {name} --lang {lang}");
        assert_eq!(steps.first(), Some(&new), "the page begins with the project");
        assert!(
            publish.contains(&format!(
                "docker build -t registry.example.com/functions/{name}:v1.0.0 ."
            )),
            "{publish}"
        );

        let added = if lang == "shell" {
            "  owner: \"team-a\"\n"
        } else {
            "    example.com/owner: team-a\n"
        };
        let project = Self { sandbox: Sandbox::new(), name, added };
        project.sandbox.write("pkg/pod.yaml", POD.as_bytes());
        let package = project.sandbox.path().join("pkg").display().to_string();
        let script = format!("set -e\n{}", steps.join("\n").replace("DIR", &package));
        project.run(&script);
        project.check(&script);
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
        self.sandbox.path().join(self.name).join(name).display().to_string()
    }

    /// Runs the function on the package with each form of functionConfig, and checks the result.
    fn eval(&self, function: &str) {
        for config in [&format!("--fn-config {}/config.yaml", self.name), "-- owner=team-a"] {
            self.orchestrate(&format!("krm fn eval pkg {function} {config}"));
        }
    }

    /// The same under kpt, which prints what the function returns: comments and scalars stay.
    fn eval_with_kpt(&self, program: &str) {
        if has("under kpt", "kpt version") {
            self.orchestrate(&format!(
                "kpt fn eval pkg --exec '{program}' --fn-config {}/config.yaml",
                self.name
            ));
        }
    }

    /// Runs an orchestrator twice: it adds the annotation, then nothing.
    fn orchestrate(&self, line: &str) {
        std::fs::remove_dir_all(self.sandbox.path().join("pkg")).unwrap();
        self.sandbox.write("pkg/pod.yaml", POD.as_bytes());
        for _ in 0..2 {
            self.run(line);
            self.check(line);
        }
    }

    /// The function added what it should, once, and changed nothing else.
    fn check(&self, line: &str) {
        let files = self.sandbox.files();
        let package = files.iter().filter(|(path, _)| path.starts_with("pkg/"));
        let package: String = package.map(|(_, text)| text.as_str()).collect();
        assert_eq!(package.matches(self.added).count(), 1, "{line}\n{package}");
        assert_eq!(files["pkg/pod.yaml"].replace(self.added, ""), POD, "{line}");
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
    let may = std::env::var_os("KRM_PROJECTS").is_some();
    if !may {
        println!("skipped: {test}: KRM_PROJECTS is not set");
    }
    may
}

#[test]
fn python_project_passes_its_tests_and_runs() {
    if has("python", "python3 -c 'import ruamel.yaml'") {
        let without_pip = |line: &str| line.replace("pip install -r requirements.txt", "true");
        let project = Project::follow_page("python", without_pip);
        let program = project.file("function.py");
        project.eval(&format!("--exec {program}"));
        project.eval_with_kpt(&program);
    }
}

#[test]
fn shell_project_passes_its_tests_and_runs() {
    if has("shell", "bash -c true") {
        let project = Project::follow_page("shell", str::to_owned);
        project.eval(&format!("--exec {}", project.file("function.sh")));
    }
}

#[test]
fn starlark_project_passes_its_tests_and_runs() {
    if has("starlark", "krm fn list | grep -q starlark") {
        let project = Project::follow_page("starlark", str::to_owned);
        project.eval("--starlark set-owner/function.star");
    }
}

#[test]
fn go_project_builds_passes_its_tests_and_runs() {
    if may_build("go") && has("go", "go version && go list -m sigs.k8s.io/kustomize/kyaml@v0.20.1")
    {
        let project = Project::follow_page("go", str::to_owned);
        project.run("cd set-owner && go vet ./...");
        project.eval("--exec set-owner/set-owner");
        project.eval_with_kpt(&project.file("set-owner"));
        project.eval("--wasm set-owner/set-owner.wasm");
    }
}

#[test]
fn typescript_project_builds_passes_its_tests_and_runs() {
    if may_build("typescript") && has("typescript", "npm view yaml version") {
        let project = Project::follow_page("typescript", str::to_owned);
        let program = format!("node {}", project.file("dist/main.js"));
        project.eval(&format!("--exec '{program}'"));
        project.eval_with_kpt(&program);
    }
}

/// Without optimization and debug information, and in a directory that all runs share, so that it takes seconds after the first run.
#[test]
fn rust_project_builds_passes_its_tests_and_runs() {
    if may_build("rust")
        && has("rust", "cargo --version && rustup target list --installed | grep -q wasm32-wasip1")
    {
        let target = root().join("target/projects");
        std::fs::create_dir_all(&target).unwrap();
        let project = Project::follow_page("rust", |line| {
            let line = line.replace(" --release", "").replace("/release/", "/debug/");
            let shared =
                format!("ln -s '{}' target; export CARGO_PROFILE_DEV_DEBUG=0", target.display());
            line.replace("cd set-owner", &format!("cd set-owner; {shared}"))
        });
        project.eval("--exec set-owner/target/debug/set-owner");
        project.eval_with_kpt(&project.file("target/debug/set-owner"));
        project.eval("--wasm set-owner/target/wasm32-wasip1/debug/set-owner.wasm");
    }
}
