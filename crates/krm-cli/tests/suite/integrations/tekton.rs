//! The Task of Tekton: checked against the CustomResourceDefinition of Tekton with krm's kubeconform, and its script run.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{file, package, succeed, value};
use crate::sandbox::{Sandbox, skipped};

/// The source of a Go module, whose files no checkout of krm contains; none, with a message, without Go or the module.
pub(super) fn module(name: &str, version: &str) -> Option<PathBuf> {
    let sandbox = Sandbox::new();
    sandbox.write("go.mod", b"module schemas\n");
    let output = Command::new("go")
        .args(["mod", "download", "-json", &format!("{name}@{version}")])
        .current_dir(sandbox.path())
        .output();
    let text =
        output.map(|it| String::from_utf8_lossy(&it.stdout).into_owned()).unwrap_or_default();
    let directory = text.lines().find_map(|line| {
        let path = line.trim().strip_prefix("\"Dir\": \"")?.strip_suffix("\",")?;
        Some(PathBuf::from(path))
    });
    if directory.is_none() {
        assert!(
            std::env::var_os("KRM_REQUIRE_INTEGRATIONS").is_none(),
            "cannot download {name}: {text}"
        );
        skipped("integrations", &format!("cannot download the schemas of {name}"));
    }
    directory
}

/// Checks a resource with the schema of a CustomResourceDefinition, and that this check can fail.
pub(super) fn check_with_crd(crd: &Path, resource: &Path) {
    let sandbox = Sandbox::new();
    let text = std::fs::read_to_string(resource).unwrap();
    sandbox.write("resource/resource.yaml", text.as_bytes());
    let check = format!("krm fn eval resource --image kubeconform --schema {} -q", crd.display());
    succeed(&sandbox, &check);
    let broken = text.replacen("\nspec:\n", "\nspec:\n  unknownField: 1\n", 1);
    sandbox.write("resource/resource.yaml", broken.as_bytes());
    let strict = format!("{check} -- strict=true");
    let ran = sandbox.run(&strict);
    assert_eq!(ran.exit, 1, "the schema knows the fields: {}{}", ran.stdout, ran.stderr);
    sandbox.write("resource/resource.yaml", text.as_bytes());
    succeed(&sandbox, &strict);
}

#[test]
fn task_matches_its_schema() {
    let Some(source) = module("github.com/tektoncd/pipeline", "v1.6.0") else { return };
    check_with_crd(&source.join("config/300-crds/300-task.yaml"), &file("tekton/task.yaml"));
}

#[test]
fn task_renders_a_part_of_its_workspace() {
    let sandbox = package();
    sandbox.write("other/Kptfile", super::KPTFILE.as_bytes());
    sandbox.write("other/deployment.yaml", super::DEPLOYMENT.as_bytes());
    let script = value(&file("tekton/task.yaml"), "spec.steps[name=check].script");
    sandbox.write("script.sh", script.as_bytes());
    let run = |shard: &str| {
        sandbox.run(&format!("DIRECTORY=. SHARD={shard} CHANGED_SINCE= HOME=$PWD sh script.sh -q"))
    };
    let parts = [run("1/2").stdout, run("2/2").stdout];
    assert_ne!(parts[0], parts[1]);
    assert_eq!(parts.concat().lines().count(), 2, "{parts:?}");
    succeed(&sandbox, "krm fn render . -q");
    assert_eq!(run("1/2").exit, 0);
}
