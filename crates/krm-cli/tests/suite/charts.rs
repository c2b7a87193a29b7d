//! `render-helm-chart` with the real `helm`, which is `KRM_HELM`, on PATH, or installed by `cargo xtask peers --only helm`; and
//! `generate-kpt-pkg-docs` on a directory.

use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, skipped};

const CONFIG: &str = "apiVersion: fn.kpt.dev/v1alpha1\nkind: RenderHelmChart\nmetadata:\n  name: charts\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\nhelmGlobals:\n  chartHome: charts\nhelmCharts:\n- chartArgs:\n    name: web\n  templateOptions:\n    releaseName: shop\n    namespace: prod\n    values:\n      valuesFiles: [values.yaml]\n      valuesInline:\n        color: green\n";

/// The directory of `helm`; none if it is not installed.
fn helm() -> Option<PathBuf> {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers/bin");
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let given = std::env::var_os("KRM_HELM").map(PathBuf::from);
    let given = given.and_then(|it| it.parent().map(Path::to_owned));
    let mut directories = given.into_iter().chain(std::env::split_paths(&on_path)).chain([peers]);
    let found = directories.find(|it| it.join("helm").is_file());
    assert!(
        found.is_some() || std::env::var_os("KRM_REQUIRE_HELM").is_none(),
        "KRM_REQUIRE_HELM is set, and helm is not installed"
    );
    if found.is_none() {
        skipped("tests of charts", "helm is not installed");
    }
    found
}

/// A package with a chart.
fn shop() -> Sandbox {
    let sandbox = Sandbox::new();
    let chart = "shop/charts/web";
    let files = [
        ("shop/Kptfile", "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\npipeline:\n  mutators:\n  - image: ghcr.io/kptdev/krm-functions-catalog/render-helm-chart:v0.3\n    configPath: charts.yaml\n".to_owned()),
        ("shop/charts.yaml", CONFIG.to_owned()),
        ("shop/.krmignore", "charts/\nvalues.yaml\n".to_owned()),
        ("shop/values.yaml", "color: red\nreplicas: 2\n".to_owned()),
        ("shop/charts/web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n".to_owned()),
        ("shop/charts/web/values.yaml", "color: none\nreplicas: 1\n".to_owned()),
    ];
    for (name, text) in files {
        sandbox.write(name, text.as_bytes());
    }
    let template = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}-web\n  namespace: {{ .Release.Namespace }}\n  labels:\n    color: {{ .Values.color }}\nspec:\n  replicas: {{ .Values.replicas }}\n";
    sandbox.write(&format!("{chart}/templates/web.yaml"), template.as_bytes());
    sandbox
}

#[test]
fn chart_of_the_package_is_rendered() {
    let Some(helm) = helm() else { return };
    let sandbox = shop();
    let path = format!("PATH={}:$PATH", helm.display());
    let ran = sandbox.run(&format!("{path} krm fn render shop --allow-exec -q"));
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.exit), ("", "", 0));
    let expected = "# Source: web/templates/web.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: shop-web\n  namespace: prod\n  labels:\n    color: green\nspec:\n  replicas: 2\n";
    let files = sandbox.files();
    let new: Vec<(&String, &String)> =
        files.iter().filter(|(name, _)| name.contains("deployment")).collect();
    assert_eq!(new.len(), 1, "{:?}", files.keys());
    assert_eq!(new[0].1, expected, "{}", new[0].0);
    let again = sandbox.run(&format!("{path} krm fn render shop --allow-exec --check"));
    assert_eq!(again.exit, 0, "{}", again.stderr);
    assert_eq!(sandbox.files(), files);
}

#[test]
fn errors_of_helm_are_reported() {
    let Some(helm) = helm() else { return };
    let sandbox = shop();
    sandbox.write("shop/charts/web/templates/bad.yaml", b"a: {{ fail \"no color\" }}\n");
    let ran =
        sandbox.run(&format!("PATH={}:$PATH krm fn render shop --allow-exec", helm.display()));
    assert_eq!(ran.exit, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("`helm template`: exited with code 1"), "{}", ran.stderr);
    assert!(ran.stderr.contains("no color"), "{}", ran.stderr);
}

#[test]
fn charts_need_a_permission_and_helm() {
    let sandbox = shop();
    let ran = sandbox.run("krm fn render shop");
    assert_eq!(ran.exit, 4);
    assert!(ran.stderr.contains("error[exec-not-allowed]"), "{}", ran.stderr);
    let ran = sandbox.run("krm=$(command -v krm); PATH=/nowhere $krm fn render shop --allow-exec");
    assert_eq!(ran.exit, 4);
    assert!(ran.stderr.contains("`helm`: command not found on PATH"), "{}", ran.stderr);
}

const MARKERS: [&str; 2] = [
    "<!-- BEGINNING OF PRE-COMMIT-BLUEPRINT DOCS HOOK:TITLE -->",
    "<!-- END OF PRE-COMMIT-BLUEPRINT DOCS HOOK:TITLE -->",
];

#[test]
fn readme_is_part_of_the_plan() {
    let sandbox = Sandbox::new();
    let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\npipeline:\n  mutators:\n  - image: gcr.io/kpt-fn/generate-kpt-pkg-docs:unstable\n";
    let readme = format!("{}\n\n{}\nrest\n", MARKERS[0], MARKERS[1]);
    sandbox.write("shop/Kptfile", kptfile.as_bytes());
    sandbox.write("shop/README.md", readme.as_bytes());
    sandbox.write("shop/sub/Kptfile", kptfile.replace("shop", "sub").as_bytes());
    sandbox.write("shop/sub/README.md", readme.as_bytes());
    let before = sandbox.files();
    let checked = sandbox.run("krm fn render shop --check");
    assert_eq!((checked.exit, sandbox.files() == before), (1, true), "{}", checked.stderr);
    let diff = sandbox.run("krm fn render shop --diff -q");
    assert!(diff.stdout.contains("--- a/shop/README.md"), "{}", diff.stdout);
    assert!(diff.stdout.contains("+# sub"), "{}", diff.stdout);
    let ran = sandbox.run("krm fn render shop -q");
    assert_eq!((ran.stderr.as_str(), ran.exit), ("", 0));
    for (directory, name) in [("shop", "shop"), ("shop/sub", "sub")] {
        let expected = format!("{}\n# {name}\n\n\n{}\nrest\n", MARKERS[0], MARKERS[1]);
        assert_eq!(sandbox.files()[&format!("{directory}/README.md")], expected);
    }
    assert_eq!(sandbox.run("krm fn render shop --check -q").exit, 0);
}

#[test]
fn readme_that_cannot_be_printed_is_reported() {
    let sandbox = Sandbox::new();
    let kptfile = "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n";
    sandbox.write("shop/Kptfile", kptfile.as_bytes());
    sandbox.write("shop/README.md", format!("{}\n\n{}\n", MARKERS[0], MARKERS[1]).as_bytes());
    let before = sandbox.files();
    for output in ["stdout", "unwrap"] {
        let ran = sandbox.run(&format!("krm fn eval shop -i generate-kpt-pkg-docs -o {output}"));
        assert_eq!((ran.exit, sandbox.files() == before), (0, true), "{}", ran.stderr);
        let warning = "warning[document-not-printed]: shop/README.md: the changed file is not a";
        assert!(ran.stderr.contains(warning), "{output}: {}", ran.stderr);
    }
    let ran = sandbox.run("krm fn eval shop -i generate-kpt-pkg-docs -o new -q");
    assert_eq!((ran.stderr.as_str(), ran.exit), ("", 0));
    let expected = format!("{}\n# shop\n\n\n{}\n", MARKERS[0], MARKERS[1]);
    assert_eq!(sandbox.files()["new/README.md"], expected);
    // An unchanged README is not worth a warning.
    sandbox.write("shop/README.md", expected.as_bytes());
    let ran = sandbox.run("krm fn eval shop -i generate-kpt-pkg-docs -o unwrap -q");
    assert_eq!((ran.stderr.as_str(), ran.exit), ("", 0));
}

#[test]
fn readme_outside_the_package_is_refused() {
    let sandbox = Sandbox::new();
    sandbox
        .write("shop/Kptfile", b"apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n");
    sandbox.write("README.md", MARKERS.join("\n\n").as_bytes());
    std::os::unix::fs::symlink("../README.md", sandbox.path().join("shop/LINK.md")).unwrap();
    let before = sandbox.files();
    for path in ["../README.md", "LINK.md", "/tmp/README.md"] {
        let ran = sandbox
            .run(&format!("krm fn eval shop --image generate-kpt-pkg-docs -- readme-path={path}"));
        assert_eq!(ran.exit, 4, "{path}: {}", ran.stderr);
        assert!(ran.stderr.contains("function-file-outside-package"), "{path}: {}", ran.stderr);
    }
    assert_eq!(sandbox.files(), before);
}
