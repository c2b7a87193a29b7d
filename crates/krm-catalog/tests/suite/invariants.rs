//! Invariants of all functions on random resources: idempotence, and preserved comments.

use krm_sdk::{Item, Resource};

use crate::run::run;

/// Functions and their functionConfigs.
const CALLS: &[(&str, &str)] = &[
    ("set-namespace", "data: {namespace: new}"),
    ("set-namespace", "data: {namespace: new, namespaceMatcher: shop}"),
    ("set-labels", "data: {app: new, version: \"1\", a.b/c: \"yes\"}"),
    ("set-annotations", "data: {app: new, version: \"1\", note: \"a: b # c\"}"),
    ("set-image", "data: {name: nginx, newName: web, newTag: \"2\"}"),
    ("ensure-name-substring", "data: {prepend: prod-}"),
    ("ensure-name-substring", "data: {append: -prod}"),
    ("delete-annotations", "data: {annotationKeys: \"app,owner\"}"),
    ("set-enforcement-action", "data: {enforcementAction: warn}"),
    ("annotate-apply-time-mutations", "data: {}"),
    ("search-replace", "data: {by-value-regex: 'a|(w)eb', put-value: 'new ${1}'}"),
    ("search-replace", "data: {by-path: metadata.namespace, put-value: \"7\"}"),
    ("apply-setters", "data: {none: x}"),
];

/// A deterministic random generator.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    fn choose<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len())]
    }

    fn maybe(&mut self, text: &str) -> String {
        if self.below(2) == 0 { String::new() } else { text.to_owned() }
    }
}

fn resource(random: &mut Random) -> String {
    let kind = random.choose(&[
        "v1 Service",
        "v1 ConfigMap",
        "v1 Pod",
        "v1 Namespace",
        "apps/v1 Deployment",
        "apps/v1 StatefulSet",
        "batch/v1 CronJob",
        "rbac.authorization.k8s.io/v1 RoleBinding",
        "constraints.gatekeeper.sh/v1beta1 K8sLabels",
        "example.com/v1 Thing",
    ]);
    let (api_version, kind) = kind.split_once(' ').unwrap();
    let mut text = random.maybe("# head\n");
    text += &format!("apiVersion: {api_version}{}\nkind: {kind}\n", random.maybe(" # version"));
    text += &metadata(random);
    text += &match kind {
        "Service" => format!("spec:\n  selector: {}\n", random.choose(&["{app: web}", "{ app: 'web' }", "{}", "~"])),
        "ConfigMap" => "data:\n  key: | # text\n    a\n    # no comment\n".to_owned(),
        "Pod" => format!("spec:\n{}", pod(random, "  ")),
        "Deployment" | "StatefulSet" => format!(
            "spec:\n  selector:\n    matchLabels:{}\n  template:\n    metadata:\n      labels:{}\n    spec:\n{}",
            random.choose(&[" &l {app: web} # anchored", "\n      app: web # plain", " {}"]),
            random.choose(&["\n        app: web", " {app: web}", ""]),
            pod(random, "      ")
        ),
        "CronJob" => format!("spec:\n    jobTemplate:\n        spec:\n            template:\n                spec:\n{}", pod(random, "                  ")),
        "RoleBinding" => "roleRef: {kind: Role, name: a}\nsubjects:\n- kind: ServiceAccount # who\n  name: a\n  namespace: shop\n".to_owned(),
        _ => random.choose(&["spec: {}\n", "spec:\n", "spec:\n  deep: # here\n  - a: [1, 2]\n", ""]).to_owned(),
    };
    match random.below(8) {
        0 => text.replace('\n', "\r\n"),
        1 => text.trim_end().to_owned(),
        _ => text,
    }
}

fn metadata(random: &mut Random) -> String {
    let name = random.choose(&["a", "b", "prod-a", "\"a\"", "'b'"]);
    if random.below(4) == 0 {
        return format!("metadata: {{name: {name}, namespace: shop}} # flow style\n");
    }
    let labels = random.choose(&[
        "",
        "  labels:\n    app: web # app\n    version: 1\n",
        "  labels: {app: \"web\"}\n",
        "  labels: null\n",
        "  labels:\n",
        "  labels:\n    # above\n    tier: x\n\n    app: web\n",
    ]);
    let annotations = random.choose(&[
        "",
        "  annotations:\n    owner: me\n",
        "  annotations: {app: x, owner: 'me'}\n",
        "  annotations:\n    config.kubernetes.io/depends-on: /namespaces/shop/ConfigMap/a\n",
    ]);
    let namespace = random.choose(&["", "  namespace: shop # place\n", "  namespace: \"other\"\n"]);
    format!(
        "metadata:\n  name: {name}{}\n{namespace}{labels}{annotations}",
        random.maybe(" # its name")
    )
}

fn pod(random: &mut Random, indent: &str) -> String {
    let image = random.choose(&["nginx", "nginx:1 # pinned", "\"nginx:1@sha256:ab\"", "redis"]);
    let dash = random.choose(&["", "  "]);
    let lines = [
        format!("{dash}- name: web"),
        format!("{dash}  image: {image}"),
        format!("{dash}  envFrom:"),
        format!("{dash}  - configMapRef: {{name: a}} # env"),
    ];
    let lines: String = lines.iter().map(|line| format!("{indent}{line}\n")).collect();
    format!("{indent}containers:\n{lines}")
}

fn comments(items: &[Resource]) -> Vec<String> {
    let of = |it: &Resource| {
        let comments = it.root().document().comments();
        comments.iter().map(|comment| comment.text.to_owned()).collect::<Vec<_>>()
    };
    items.iter().flat_map(of).collect()
}

#[test]
fn functions_are_idempotent_and_keep_comments() {
    let mut changed = 0;
    for seed in 0..400 {
        let mut random = Random(seed);
        let texts: Vec<String> = (0..4).map(|_| resource(&mut random)).collect();
        let items: Vec<Resource> =
            texts.iter().map(|text| Item::parse(text.clone()).unwrap().into()).collect();
        for (name, data) in CALLS {
            let config =
                format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\n{data}\n");
            let context = format!("{name} {data}\n{}", texts.join("\n---\n"));
            let once = run(name, Some(&config), items.clone());
            let once = once.unwrap_or_else(|error| panic!("{context}\n{error}"));
            let twice = run(name, Some(&config), once.items.clone()).unwrap();
            assert_eq!(twice.text(), once.text(), "{context}");
            for (before, after) in items.iter().zip(&once.items) {
                assert!(before.text() == after.text() || !after.item().shares_text(before.item()));
                changed += usize::from(before.text() != after.text());
            }
            // Removing an annotation removes its comment, but no removed annotation has one here.
            assert_eq!(comments(&once.items), comments(&items), "{context}");
        }
    }
    assert!(changed > 1000, "only {changed} resources were changed");
}
