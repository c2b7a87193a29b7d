//! Generated resources: the four most common kinds, with the formatting variations of real repositories.

use std::fmt::Write as _;

use super::random::Random;

const NOUNS: &[&str] = &[
    "amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "harbor", "inlet", "jasper",
    "kelp", "lagoon", "meadow", "nectar", "onyx", "prairie", "quartz", "ridge", "summit", "tundra",
    "umber", "valley", "willow", "yarrow",
];

/// Appends resource `id` to `out`, as one document without `---`.
pub(super) fn write(out: &mut String, id: usize) {
    let mut random = Random::new("resource", id);
    match random.between(0, 99) {
        0..40 => deployment(out, id, &mut random),
        40..67 => service(out, id),
        67..95 => config_map(out, id, &mut random),
        _ => custom_resource_definition(out, id, &mut random),
    }
}

/// Appends one line.
macro_rules! line {
    ($out:expr) => { $out.push('\n') };
    ($out:expr, $($arg:tt)*) => { writeln!($out, $($arg)*).expect("writing to a String cannot fail") };
}

fn name(id: usize) -> String {
    format!("{}-{id}", NOUNS[id % NOUNS.len()])
}

fn sentence(random: &mut Random, length: usize) -> String {
    (0..length).map(|_| random.pick(NOUNS)).collect::<Vec<_>>().join(" ")
}

fn deployment(out: &mut String, id: usize, random: &mut Random) {
    let name = name(id);
    if random.chance(60) {
        line!(out, "# {name} belongs to team-{}\n# and is rolled out by hand", id % 17);
    }
    line!(
        out,
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  namespace: default\n  labels:"
    );
    line!(out, "    app.kubernetes.io/name: {name}  # also in the selector");
    line!(
        out,
        "    app.kubernetes.io/part-of: \"shop-{}\"\n    tier: backend\n  annotations:",
        id % 7
    );
    line!(out, "    example.com/checksum: '{:016x}{:016x}'", random.next_u64(), random.next_u64());
    line!(
        out,
        "    example.com/description: >-\n      {name} serves the requests of\n      {}.",
        sentence(random, 12)
    );
    line!(out, "spec:\n  replicas: {} # kpt-set: ${{replicas}}", random.between(1, 9));
    line!(
        out,
        "  revisionHistoryLimit: 3\n  selector:\n    matchLabels:\n      app.kubernetes.io/name: {name}"
    );
    line!(
        out,
        "  strategy:\n    type: RollingUpdate\n    rollingUpdate: {{maxSurge: 25%, maxUnavailable: 0}}"
    );
    line!(
        out,
        "  template:\n    metadata:\n      labels:\n        app.kubernetes.io/name: {name}\n    spec:"
    );
    line!(
        out,
        "      serviceAccountName: default\n      # the first container is the one that counts\n      containers:"
    );
    // Sequences are indented by two columns, or compact.
    let step = if random.chance(50) { "  " } else { "" };
    for number in 0..random.between(2, 3) {
        if number == 1 && random.chance(50) {
            line!(out);
        }
        container(out, number, step, random);
    }
    line!(
        out,
        "      volumes:\n      {step}- name: config\n      {step}  configMap:\n      {step}    name: settings-{id}"
    );
}

fn container(out: &mut String, number: u64, step: &str, random: &mut Random) {
    let outer = format!("      {step}");
    let (key, item) = (format!("{outer}  "), format!("{outer}  {step}"));
    line!(
        out,
        "{outer}- name: part{number}\n{key}image: registry.example.com/shop/part-{number}:v1.4.1"
    );
    line!(
        out,
        "{key}imagePullPolicy: IfNotPresent\n{key}args: [\"--listen=:80{number}0\", \"--log-level\", \"info\"]"
    );
    line!(
        out,
        "{key}ports:\n{item}- name: http\n{item}  containerPort: 80{number}0\n{item}  protocol: TCP\n{key}env:"
    );
    for variable in 0..random.between(2, 5) {
        let note = if random.chance(20) { "  # measured" } else { "" };
        let value = format!("{}-{}", random.pick(NOUNS), random.between(0, 999));
        line!(out, "{item}- name: SETTING_{variable}\n{item}  value: \"{value}\"{note}");
    }
    line!(out, "{key}resources:\n{key}  requests:\n{key}    cpu: 100m\n{key}    memory: 128Mi");
    line!(
        out,
        "{key}  limits:\n{key}    memory: 512Mi\n{key}readinessProbe:\n{key}  httpGet:\n{key}    path: /ready"
    );
    line!(out, "{key}    port: http\n{key}  periodSeconds: 10");
    line!(out, "{key}volumeMounts:\n{item}- name: config\n{item}  mountPath: /etc/settings");
}

fn service(out: &mut String, id: usize) {
    let name = name(id);
    line!(
        out,
        "apiVersion: v1\nkind: Service\nmetadata:\n  name: {name}\n  namespace: default\n  labels:\n    app: {name}"
    );
    line!(
        out,
        "spec:\n  type: ClusterIP\n  selector:\n    app.kubernetes.io/name: {name}\n  ports:"
    );
    line!(out, "  - name: http # for users\n    port: 80\n    targetPort: http\n    protocol: TCP");
    line!(
        out,
        "  - name: metrics\n    port: {}\n    targetPort: 9090\n    protocol: TCP",
        9000 + id % 1000
    );
}

fn config_map(out: &mut String, id: usize, random: &mut Random) {
    line!(
        out,
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{id}\n  namespace: default"
    );
    line!(out, "# every key becomes a file\ndata:\n  LOG_LEVEL: info");
    line!(
        out,
        "  feature.{}: \"{}\"\n  app.conf: |",
        random.pick(NOUNS),
        random.pick(&["true", "false"])
    );
    for number in 0..random.between(8, 30) {
        if number > 0 && random.chance(15) {
            line!(out);
        }
        let key = format!("{}.{}", random.pick(NOUNS), random.pick(NOUNS));
        line!(out, "    {key} = {}  # entry {number}", random.between(0, 99_999));
    }
    line!(out, "  start.sh: |-\n    #!/bin/sh\n    set -eu");
    for number in 0..random.between(3, 10) {
        line!(out, "    echo \"{}\" | tee -a /var/log/{number}.log", sentence(random, 6));
    }
    let (first, second, count) =
        (random.pick(NOUNS), random.pick(NOUNS), random.between(0, 1_000_000_000));
    line!(
        out,
        "  seed.json: '{{\"id\": {id}, \"tags\": [\"{first}\", \"{second}\"], \"n\": {count}}}'"
    );
}

fn custom_resource_definition(out: &mut String, id: usize, random: &mut Random) {
    let singular = format!("{}{id}", NOUNS[id % NOUNS.len()]);
    let kind = format!("{}{}", singular[..1].to_uppercase(), &singular[1..]);
    line!(out, "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:");
    line!(
        out,
        "  name: {singular}s.example.com\n  annotations:\n    example.com/generated-by: a-tool-0.14.0"
    );
    line!(
        out,
        "spec:\n  group: example.com\n  names:\n    kind: {kind}\n    listKind: {kind}List\n    plural: {singular}s"
    );
    line!(
        out,
        "    singular: {singular}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    storage: true"
    );
    line!(
        out,
        "    schema:\n      openAPIV3Schema:\n        description: {kind} is one of the {singular}s\n        type: object"
    );
    line!(out, "        properties:");
    for (field, of_type) in
        [("apiVersion", "string"), ("kind", "string"), ("metadata", "object"), ("spec", "object")]
    {
        line!(out, "          {field}:\n            type: {of_type}");
    }
    line!(out, "            properties:");
    let deep = " ".repeat(14);
    for number in 0..random.between(10, 30) {
        line!(
            out,
            "{deep}field{number}:\n{deep}  description: |-\n{deep}    Field{number} {}",
            sentence(random, 9)
        );
        line!(
            out,
            "{deep}    {}\n{deep}  type: {}",
            sentence(random, 7),
            random.pick(&["string", "integer", "boolean"])
        );
    }
    line!(
        out,
        "            required:\n            - field0\n          status:\n            type: object"
    );
    line!(
        out,
        "            x-kubernetes-preserve-unknown-fields: true\n    subresources:\n      status: {{}}"
    );
}
