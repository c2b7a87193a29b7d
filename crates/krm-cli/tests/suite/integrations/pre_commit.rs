//! The hooks of `.pre-commit-hooks.yaml` with the real pre-commit.

use super::{DEPLOYMENT, KPTFILE, program, python_programs, root, succeed};
use crate::sandbox::Sandbox;

const ENVIRONMENT: &str = "export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b HOME=$PWD/home";

/// A repository whose pre-commit takes the hooks from a clone of their definitions.
fn repository() -> Option<(Sandbox, String)> {
    let pre_commit = program(&["pre-commit"], &[python_programs()])?;
    let sandbox = super::package();
    // Rendering adds a label that formatting moves before another one.
    let kptfile = KPTFILE.replace("team: shop", "a-team: shop");
    sandbox.write("shop/Kptfile", kptfile.as_bytes());
    let hooks = std::fs::read(root().join(".pre-commit-hooks.yaml")).unwrap();
    sandbox.write("hooks/.pre-commit-hooks.yaml", &hooks);
    let hooks = "git init -q -b main hooks && git -C hooks add . && git -C hooks commit -q -m hooks && git -C hooks tag v1";
    let config = "printf 'repos:\\n- repo: ./hooks\\n  rev: v1\\n  hooks:\\n  - id: krm-check\\n  - id: krm-render\\n    args: [shop]\\n  - id: krm-fmt\\n    args: [shop]\\n' > .pre-commit-config.yaml";
    let init = "printf 'hooks\\nhome\\n' > .gitignore && git init -q -b main . && git commit -q --allow-empty -m empty && git add .";
    succeed(&sandbox, &format!("{ENVIRONMENT}; {hooks} && {config} && {init}"));
    let run = format!("{ENVIRONMENT}; {} run --color never", pre_commit.display());
    Some((sandbox, run))
}

#[test]
fn hooks_render_and_format_before_a_commit() {
    let Some((sandbox, run)) = repository() else { return };
    let ran = sandbox.run(&run);
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("check YAML (krm)"), "{}", ran.stdout);
    assert!(ran.stdout.contains("files were modified by this hook"), "{}", ran.stdout);
    let rendered = &sandbox.files()["shop/deployment.yaml"];
    assert!(
        rendered.contains("{a-team: shop, app: web}") && rendered.contains("replicas: 3 #"),
        "{rendered}"
    );
    let ran = sandbox.run(&format!("git add . && {run}"));
    assert_eq!(ran.exit, 0, "a second run changes nothing: {}{}", ran.stdout, ran.stderr);
}

#[test]
fn check_hook_stops_broken_files() {
    let Some((sandbox, run)) = repository() else { return };
    sandbox
        .write("shop/deployment.yaml", DEPLOYMENT.replace("replicas: 1", "replicas 1").as_bytes());
    let ran = sandbox.run(&format!("git add . && {run} krm-check"));
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("shop/deployment.yaml:6"), "{}", ran.stdout);
}
