//! Packages of kpt before version 1, for `fix`.

use super::configs::one;
use super::extras::placed;
use crate::corpus::random::Random;

const SETTERS: [(&str, &str); 4] =
    [("replicas", "3"), ("app", "web"), ("image", "nginx"), ("tag", "1.16.1")];

/// A Kptfile of any version with its resources, and at times a subpackage.
pub(super) fn package(random: &mut Random) -> Vec<String> {
    let mut texts = Vec::new();
    directory(random, "", &mut texts);
    if random.chance(25) {
        directory(random, "sub/", &mut texts);
    }
    texts
}

fn directory(random: &mut Random, directory: &str, texts: &mut Vec<String>) {
    if directory.is_empty() && random.chance(4) {
        return;
    }
    let head = |version: &str| {
        let annotations = placed(&format!("{directory}Kptfile"), "");
        format!(
            "apiVersion: kpt.dev/{version}\nkind: Kptfile\nmetadata:\n  name: shop\n  annotations: {annotations}\n"
        )
    };
    let version = match random.between(0, 9) {
        0..=6 => "v1alpha1",
        7 | 8 => "v1alpha2",
        _ => "v1",
    };
    let rest = match version {
        "v1alpha1" => first_version(random),
        "v1alpha2" => second_version(random),
        _ => "info:\n  description: done\n".to_owned(),
    };
    texts.push(head(version) + &rest);
    let suffix = if directory.is_empty() { "" } else { "-sub" };
    texts.push(deployment(random, version, directory, suffix));
    if random.chance(30) {
        let key = one(random, &["config.kubernetes.io/function", "config.k8s.io/function"]);
        let annotations = format!(
            "{key}: \"container:\\n  image: gcr.io/kpt-fn/set-labels:v0.1\\n\", {}",
            placed(&format!("{directory}functions/labels.yaml"), "").trim_matches(['{', '}'])
        );
        texts.push(format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: labels{suffix}\n  annotations: {{{annotations}}}\ndata:\n  color: red\n"
        ));
    }
    if random.chance(10) {
        let annotations = placed(&format!("{directory}inventory.yaml"), "");
        texts.push(format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: inventory{suffix}\n  labels:\n    cli-utils.sigs.k8s.io/inventory-id: abc\n  annotations: {annotations}\n"
        ));
    }
}

/// What version 1alpha1 has beside the metadata.
fn first_version(random: &mut Random) -> String {
    let mut text = String::new();
    if random.chance(50) {
        text.push_str("packageMetadata:\n  shortDescription: a shop\n");
        for line in [
            "  url: https://example.com\n",
            "  email: me@example.com\n",
            "  license: MIT\n",
            "  tags:\n  - web\n",
            "  man: man.md\n",
        ] {
            if random.chance(40) {
                text.push_str(line);
            }
        }
    }
    if random.chance(50) {
        text.push_str(
            "upstream:\n  type: git\n  git:\n    repo: https://example.com/shop\n    directory: /shop\n    ref: v1\n    commit: abc\n",
        );
    }
    if random.chance(30) {
        text.push_str("inventory:\n  namespace: shop\n  name: inventory-1\n  inventoryID: id-1\n");
    }
    if random.chance(80) {
        text.push_str("openAPI:\n  definitions:\n");
        for (name, value) in SETTERS {
            text.push_str(&format!(
                "    io.k8s.cli.setters.{name}:\n      x-k8s-cli:\n        setter:\n          name: {name}\n          value: \"{value}\"\n"
            ));
            if random.chance(25) {
                text.push_str("          setBy: me\n");
            }
        }
        if random.chance(40) {
            text.push_str(
                "    io.k8s.cli.setters.list:\n      type: array\n      x-k8s-cli:\n        setter:\n          name: list\n          value: \"\"\n          listValues:\n          - a\n          - b\n",
            );
        }
        text.push_str(
            "    io.k8s.cli.substitutions.full-image:\n      x-k8s-cli:\n        substitution:\n          name: full-image\n          pattern: ${image}:${tag}\n          values:\n          - marker: ${image}\n            ref: '#/definitions/io.k8s.cli.setters.image'\n          - marker: ${tag}\n            ref: '#/definitions/io.k8s.cli.setters.tag'\n",
        );
    }
    text
}

/// What version 1alpha2 has beside the metadata.
fn second_version(random: &mut Random) -> String {
    let mut text = String::new();
    if random.chance(40) {
        text.push_str("info:\n  description: a shop\n");
    }
    if random.chance(70) {
        text.push_str("pipeline:\n  mutators:\n");
        text.push_str(one(
            random,
            &[
                "  - image: gcr.io/kpt-fn/apply-setters:v0.1\n    configMap:\n      app: web\n      replicas: \"3\"\n",
                "  - image: gcr.io/kpt-fn/apply-setters:v0.1\n    configPath: setters.yaml\n",
                "  - image: gcr.io/kpt-fn/set-labels:v0.1\n    configMap:\n      color: red\n",
            ],
        ));
    }
    text
}

/// A Deployment with references to setters in the forms of a version.
fn deployment(random: &mut Random, version: &str, directory: &str, suffix: &str) -> String {
    let is_first = version == "v1alpha1";
    let reference = |random: &mut Random, kind: &str, name: &str| match random.between(0, 3) {
        0 => String::new(),
        _ if !is_first => format!(" # kpt-set: ${{{name}}}"),
        1 if kind == "setters" => {
            format!(" # {{\"$ref\":\"#/definitions/io.k8s.cli.setters.{name}\"}}")
        }
        1 => format!(" # {{\"$ref\":\"#/definitions/io.k8s.cli.substitutions.{name}\"}}"),
        _ => format!(" # {{\"$kpt-set\":\"{name}\"}}"),
    };
    let app = reference(random, "setters", "app");
    let replicas = reference(random, "setters", "replicas");
    let image = reference(random, "substitutions", "full-image");
    let args = if is_first && random.chance(50) { " # {\"$kpt-set\":\"list\"}" } else { "" };
    let unknown = if is_first && random.chance(15) { " # {\"$kpt-set\":\"unknown\"}" } else { "" };
    let annotations = placed(&format!("{directory}deployment.yaml"), "");
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: deployment{suffix}\n  annotations: {annotations}\n  labels:\n    app: web{app}\n    other: x{unknown}\nspec:\n  replicas: 3{replicas}\n  template:\n    spec:\n      containers:\n      - name: web\n        image: nginx:1.16.1{image}\n        args:{args}\n        - a\n        - b\n"
    )
}
