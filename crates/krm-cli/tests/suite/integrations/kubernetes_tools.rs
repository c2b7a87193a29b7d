//! krm as a plugin of kubectl, as functions of kustomize, and as a post-renderer of Helm 4, with the real programs.

use std::fs;
use std::path::PathBuf;

use super::{KPTFILE, file, program, root, succeed};
use crate::sandbox::{Sandbox, skipped};

/// The programs that `cargo xtask peers` installs.
fn peers() -> PathBuf {
    root().join("target/peers/bin")
}

fn copy_example(sandbox: &Sandbox) {
    for entry in fs::read_dir(file("kustomize/example")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        sandbox.write(&format!("example/{name}"), &fs::read(&path).unwrap());
    }
}

#[test]
fn kubectl_runs_krm_as_a_plugin() {
    let Some(kubectl) = program(&["kubectl"], &[]) else { return };
    let sandbox = super::package();
    let krm = env!("CARGO_BIN_EXE_krm");
    let line = format!(
        "mkdir bin && ln -s {krm} bin/kubectl-krm && export HOME=$PWD PATH=$PWD/bin:$PATH; {} krm",
        kubectl.display()
    );
    assert_eq!(succeed(&sandbox, &format!("{line} version")).stdout, "krm 0.1.0\n");
    let sandbox = super::package();
    let ran = sandbox.run(&format!("{line} fn render shop --check -q"));
    assert_eq!((ran.exit, ran.stdout.as_str()), (1, "shop/deployment.yaml\n"), "{}", ran.stderr);
    let help = Sandbox::new().run(&format!("{line} cfg tree --help")).stdout;
    assert!(help.contains("Usage: kubectl krm cfg tree"), "{help}");
}

#[test]
fn kustomize_runs_built_in_functions() {
    let Some(kustomize) = program(&["kustomize-5", "kustomize"], &[peers()]) else { return };
    let build = format!(
        "HOME=$PWD {} build --enable-alpha-plugins --enable-exec example",
        kustomize.display()
    );
    let sandbox = Sandbox::new();
    copy_example(&sandbox);
    let built = succeed(&sandbox, &build).stdout;
    sandbox.write("built.yaml", built.as_bytes());
    let label = "krm yaml get spec.template.metadata.labels.team built.yaml";
    assert_eq!(succeed(&sandbox, label).stdout, "web-shop\n", "{built}");

    let broken = fs::read_to_string(file("kustomize/example/deployment.yaml")).unwrap();
    sandbox.write(
        "example/deployment.yaml",
        broken.replace("replicas: 3", "replicas: \"3\"").as_bytes(),
    );
    let ran = sandbox.run(&build);
    assert_ne!(ran.exit, 0, "the validator fails the build: {}", ran.stdout);
    assert!(ran.stderr.contains("got string, want null or integer"), "{}", ran.stderr);
}

/// Helm 4, which CI does not build because that takes minutes.
fn helm() -> Option<PathBuf> {
    let helm = std::env::var_os("KRM_HELM_4").map(PathBuf::from);
    let helm = helm.or_else(|| Some(peers().join("helm-4")).filter(|it| it.is_file()));
    if helm.is_none() {
        skipped("integrations", "`cargo xtask peers --only helm-4` installs Helm 4");
    }
    helm
}

#[test]
fn helm_passes_manifests_through_krm() {
    let Some(helm) = helm() else { return };
    let sandbox = Sandbox::new();
    for name in ["plugin.yaml", "post-render.sh"] {
        sandbox.write(
            &format!("plugins/krm/{name}"),
            &fs::read(file(&format!("helm/{name}"))).unwrap(),
        );
    }
    sandbox.write("web/Chart.yaml", b"apiVersion: v2\nname: web\nversion: 1.0.0\n");
    sandbox.write(
        "web/templates/all.yaml",
        b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  a: b\n---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: hook\n  annotations: {helm.sh/hook: pre-install}\n",
    );
    let template = format!(
        "export HOME=$PWD/home HELM_PLUGINS=$PWD/plugins; chmod +x plugins/krm/post-render.sh; {} template shop ./web --post-renderer krm",
        helm.display()
    );
    let function = "--post-renderer-args set-labels --post-renderer-args team=web-shop";
    let printed = succeed(&sandbox, &format!("{template} {function}")).stdout;
    sandbox.write("printed.yaml", printed.as_bytes());
    let label = "krm yaml get metadata.labels.team printed.yaml --doc";
    for document in 0..2 {
        let ran = succeed(&sandbox, &format!("{label} {document}"));
        assert_eq!(ran.stdout, "web-shop\n", "{printed}");
    }
    assert!(!printed.contains("postrender-filename"), "helm removes its annotation: {printed}");

    sandbox.write("pipeline/Kptfile", KPTFILE.as_bytes());
    let printed = succeed(&sandbox, &format!("{template} --post-renderer-args ./pipeline")).stdout;
    assert_eq!(printed.matches("team: shop").count(), 2, "{printed}");
    assert!(!sandbox.files().contains_key("pipeline/helm-release.yaml"));

    let ran = sandbox.run(&format!("export KRM_LOG=$PWD/krm.log; {template}"));
    assert_ne!(ran.exit, 0);
    let log = &sandbox.files()["krm.log"];
    assert!(log.contains("expected a directory with a Kptfile"), "{log}");
}

/// The script without helm, so that it is tested where helm is not installed.
#[test]
fn post_renderer_runs_a_pipeline_or_a_function() {
    let sandbox = Sandbox::new();
    sandbox.write("pipeline/Kptfile", KPTFILE.as_bytes());
    sandbox.write("in.yaml", b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  annotations: {postrenderer.helm.sh/postrender-filename: x}\n");
    let script = file("helm/post-render.sh");
    for arguments in ["pipeline", "set-labels team=shop"] {
        let ran = succeed(&sandbox, &format!("{} {arguments} < in.yaml", script.display()));
        assert!(ran.stdout.contains("team: shop"), "{arguments}: {}", ran.stdout);
        assert!(ran.stdout.contains("postrender-filename: x"), "{arguments}: {}", ran.stdout);
    }
    assert_eq!(sandbox.files().len(), 2, "the pipeline stays as it is");
}
