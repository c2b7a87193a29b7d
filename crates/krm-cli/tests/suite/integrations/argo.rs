//! The plugin of Argo CD, run with the environment that Argo CD sets, and the template of Argo Workflows.

use super::tekton::{check_with_crd, module};
use super::{file, package, value};

/// Runs the command of the plugin as Argo CD does: in the directory of the Application, with its parameters as JSON.
fn generate(parameters: &str) -> crate::sandbox::Output {
    let sandbox = package();
    let command = value(&file("argocd/plugin.yaml"), "spec.generate.command[0]");
    assert_eq!(command, "krm-argocd-generate");
    let install = format!("mkdir bin && cp {} bin/{command}", file("argocd/generate.sh").display());
    let environment = format!(
        "export PATH=$PWD/bin:$PATH ARGOCD_APP_NAME=shop ARGOCD_APP_PARAMETERS='{parameters}'"
    );
    sandbox.run(&format!("{install} && {environment} && cd shop && {command}"))
}

#[test]
fn argo_cd_plugin_sets_setters_and_renders() {
    for (parameters, replicas) in [
        ("", "replicas: 3 #"),
        ("[]", "replicas: 3 #"),
        (r#"[{"name":"setters","title":"Setters","map":{"replicas":"7"}}]"#, "replicas: 7 #"),
    ] {
        let ran = generate(parameters);
        assert_eq!(ran.exit, 0, "{parameters}: {}", ran.stderr);
        assert!(ran.stdout.contains(replicas), "{parameters}: {}", ran.stdout);
        assert!(ran.stdout.contains("team: shop"), "{}", ran.stdout);
        assert!(!ran.stdout.contains("Kptfile"), "local configuration is left out: {}", ran.stdout);
    }
}

#[test]
fn argo_cd_plugin_fails_for_unknown_setters_and_values() {
    let ran = generate(r#"[{"name":"setters","map":{"replcas":"7"}}]"#);
    assert_ne!(ran.exit, 0, "{}", ran.stdout);
    assert!(ran.stderr.contains("replcas"), "{}", ran.stderr);
    let ran = generate(r#"[{"name":"setters","map":{"replicas":"many"}}]"#);
    assert_ne!(ran.exit, 0, "the validator rejects the value: {}", ran.stdout);
    assert_eq!(ran.stdout, "", "nothing is printed that Argo CD could apply");
}

#[test]
fn argo_cd_plugin_has_no_discovery() {
    let plugin = std::fs::read_to_string(file("argocd/plugin.yaml")).unwrap();
    assert!(!plugin.contains("discover:"), "the repository would be sent twice");
}

#[test]
fn workflow_template_matches_its_schema() {
    let Some(source) = module("github.com/argoproj/argo-workflows/v3", "v3.7.3") else { return };
    let crd = source.join("manifests/base/crds/full/argoproj.io_workflowtemplates.yaml");
    check_with_crd(&crd, &file("argo-workflows/workflow-template.yaml"));
}

#[test]
fn workflow_template_renders_a_part_of_a_clone() {
    let sandbox = package();
    let template = file("argo-workflows/workflow-template.yaml");
    let script = value(&template, "spec.templates[name=part].script.source");
    sandbox.write("source.sh", script.as_bytes());
    let git = "export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; \
               git init -q -b main shop && git -C shop add . && git -C shop commit -q -m shop";
    let variables = "REPOSITORY=file://$PWD/shop REVISION=main DIRECTORY=. SHARD=1/1 TMPDIR=$PWD";
    let ran = sandbox.run(&format!("{git} && {variables} sh source.sh"));
    assert_eq!((ran.exit, ran.stdout.as_str()), (1, "deployment.yaml\n"), "{}", ran.stderr);
}
