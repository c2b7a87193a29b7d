//! Generated resources: the kinds that the functions of the catalog treat specially, with fields that are missing, empty or odd now and then.

use crate::corpus::random::Random;
use crate::differential::tree::Tree::{self, List, Map, Scalar};

/// Names, namespaces and values that the functionConfigs use, too, so that functions find something to change.
pub(super) const NAMES: [&str; 5] = ["web", "db", "my-web", "web-2", "dev-cache"];
pub(super) const NAMESPACES: [&str; 3] = ["shop", "default", "dev"];
pub(super) const IMAGES: [&str; 8] = [
    "nginx:1.16.1",
    "nginx",
    "\"nginx:1.16.1\"",
    "registry.example.com/nginx:1.16.1",
    "registry.example.com:5000/web",
    "nginx@sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3",
    "nginx:1.16.1@sha256:24a0c4b4a4c0eb97a1aabb8e29f18e917d05abfe1b7a7c07857230879ce7d3d3",
    "busybox:dev",
];
/// Scalars that are easily read or written as another type.
const ODD: [&str; 14] = [
    "yes",
    "'no'",
    "010",
    "1e3",
    "~",
    "\"\"",
    "'8080'",
    "8080",
    "1.50",
    "true",
    "'true'",
    "\"a\\nb\"",
    "it's",
    "web:dev",
];

fn text(value: impl Into<String>) -> Tree {
    Scalar(value.into())
}

fn map<const N: usize>(entries: [(&str, Tree); N]) -> Tree {
    Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn put(map: &mut Tree, key: &str, value: Tree) {
    if let Map(entries) = map {
        entries.push((key.to_owned(), value));
    }
}

type Spec = fn(&mut Random) -> Vec<(&'static str, Tree)>;

/// The kinds: API version, kind, and what follows the metadata.
const KINDS: &[(&str, &str, Spec)] = &[
    ("apps/v1", "Deployment", workload),
    ("apps/v1", "Deployment", workload),
    ("apps/v1", "StatefulSet", stateful_set),
    ("apps/v1", "DaemonSet", workload),
    ("apps/v1", "ReplicaSet", workload),
    ("batch/v1", "Job", job),
    ("batch/v1", "CronJob", cron_job),
    ("v1", "Pod", pod),
    ("v1", "ReplicationController", replication_controller),
    ("v1", "Service", service),
    ("v1", "Service", service),
    ("v1", "ConfigMap", config_map),
    ("v1", "ConfigMap", config_map),
    ("v1", "Namespace", no_spec),
    ("v1", "ServiceAccount", no_spec),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", binding),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", binding),
    ("networking.k8s.io/v1", "NetworkPolicy", network_policy),
    ("policy/v1", "PodDisruptionBudget", disruption_budget),
    ("autoscaling/v2", "HorizontalPodAutoscaler", autoscaler),
    ("apiregistration.k8s.io/v1", "APIService", api_service),
    ("example.com/v1", "Widget", widget),
    ("example.com/v1", "Widget", widget),
    ("constraints.gatekeeper.sh/v1beta1", "BannedKeys", constraint),
];

/// A few resources. Two never have the same identity, because functions may choose either.
pub(super) fn package(random: &mut Random) -> Vec<Tree> {
    let count = random.between(1, 4);
    let mut seen = Vec::new();
    let mut resources = Vec::new();
    for _ in 0..count {
        let (version, kind, spec) = KINDS[index(random, KINDS.len())];
        let name = random.pick(&NAMES);
        if seen.contains(&(kind, name)) {
            continue;
        }
        seen.push((kind, name));
        let at = resources.len();
        let mut resource = map([("apiVersion", text(version)), ("kind", text(kind))]);
        put(&mut resource, "metadata", metadata(random, kind, name, at));
        for (key, value) in spec(random) {
            put(&mut resource, key, value);
        }
        resources.push(resource);
    }
    resources
}

pub(super) fn index(random: &mut Random, length: usize) -> usize {
    usize::try_from(random.between(0, length as u64 - 1)).expect("an index fits")
}

fn is_cluster_scoped(kind: &str) -> bool {
    matches!(kind, "Namespace" | "ClusterRoleBinding" | "APIService" | "BannedKeys")
}

fn metadata(random: &mut Random, kind: &str, name: &str, at: usize) -> Tree {
    let mut metadata = map([("name", text(name))]);
    if !is_cluster_scoped(kind) && random.chance(65) {
        put(&mut metadata, "namespace", text(random.pick(&NAMESPACES)));
    }
    if random.chance(60) {
        let labels = if random.chance(8) { Map(Vec::new()) } else { labels(random) };
        put(&mut metadata, "labels", labels);
    }
    put(&mut metadata, "annotations", annotations(random, kind, name, at));
    metadata
}

fn labels(random: &mut Random) -> Tree {
    let mut labels = map([("app", text(random.pick(&NAMES)))]);
    if random.chance(40) {
        put(&mut labels, "tier", text(random.pick(&["dev", "\"1\"", "'true'", "backend"])));
    }
    labels
}

fn annotations(random: &mut Random, kind: &str, name: &str, at: usize) -> Tree {
    let mut annotations = Map(Vec::new());
    if random.chance(25) {
        put(&mut annotations, "example.com/owner", text(random.pick(&["me", "'8080'", "web"])));
    }
    if random.chance(15) {
        let namespace = random.pick(&NAMESPACES);
        let (group, kind) =
            if random.chance(50) { ("apps", "Deployment") } else { ("", "Service") };
        let on = format!("{group}/namespaces/{namespace}/{kind}/{}", random.pick(&NAMES));
        put(&mut annotations, "config.kubernetes.io/depends-on", text(on));
    }
    if random.chance(8) {
        put(&mut annotations, "config.kubernetes.io/local-config", text("\"true\""));
    }
    if random.chance(25) {
        let namespace = if is_cluster_scoped(kind) { "~C" } else { random.pick(&NAMESPACES) };
        put(
            &mut annotations,
            "internal.kpt.dev/upstream-identifier",
            text(format!("'|{kind}|{namespace}|{name}'")),
        );
    }
    for prefix in ["", "internal."] {
        put(
            &mut annotations,
            &format!("{prefix}config.kubernetes.io/path"),
            text(format!("file-{at}.yaml")),
        );
        put(&mut annotations, &format!("{prefix}config.kubernetes.io/index"), text("'0'"));
    }
    annotations
}

fn no_spec(_: &mut Random) -> Vec<(&'static str, Tree)> {
    Vec::new()
}

fn workload(random: &mut Random) -> Vec<(&'static str, Tree)> {
    if random.chance(4) {
        return Vec::new();
    }
    let mut spec = map([("replicas", text(random.pick(&["3", "1", "'3'"])))]);
    if random.chance(85) {
        put(&mut spec, "selector", map([("matchLabels", labels(random))]));
    }
    put(&mut spec, "template", template(random));
    vec![("spec", spec)]
}

fn stateful_set(random: &mut Random) -> Vec<(&'static str, Tree)> {
    let mut fields = workload(random);
    if let Some((_, spec)) = fields.first_mut() {
        let claim = map([
            ("metadata", map([("name", text("data"))])),
            ("spec", map([("storageClassName", text("fast"))])),
        ]);
        put(spec, "serviceName", text(random.pick(&NAMES)));
        put(spec, "volumeClaimTemplates", List(vec![claim]));
    }
    fields
}

fn job(random: &mut Random) -> Vec<(&'static str, Tree)> {
    vec![("spec", map([("template", template(random))]))]
}

fn cron_job(random: &mut Random) -> Vec<(&'static str, Tree)> {
    let job = map([("spec", map([("template", template(random))]))]);
    vec![("spec", map([("schedule", text("\"* * * * *\"")), ("jobTemplate", job)]))]
}

fn pod(random: &mut Random) -> Vec<(&'static str, Tree)> {
    vec![("spec", pod_spec(random))]
}

fn replication_controller(random: &mut Random) -> Vec<(&'static str, Tree)> {
    vec![("spec", map([("selector", labels(random)), ("template", template(random))]))]
}

fn template(random: &mut Random) -> Tree {
    let mut template = Map(Vec::new());
    if random.chance(85) {
        put(&mut template, "metadata", map([("labels", labels(random))]));
    }
    put(&mut template, "spec", pod_spec(random));
    template
}

fn pod_spec(random: &mut Random) -> Tree {
    let mut spec = Map(Vec::new());
    if random.chance(20) {
        put(&mut spec, "initContainers", List(vec![container(random, "init")]));
    }
    let mut containers = vec![container(random, "web")];
    if random.chance(35) {
        containers.push(container(random, "log"));
    }
    put(&mut spec, "containers", List(containers));
    if random.chance(20) {
        put(&mut spec, "serviceAccountName", text(random.pick(&NAMES)));
    }
    if random.chance(25) {
        let volume = map([
            ("name", text("config")),
            ("configMap", map([("name", text(random.pick(&NAMES)))])),
        ]);
        put(&mut spec, "volumes", List(vec![volume]));
    }
    if random.chance(15) {
        let constraint = map([
            ("maxSkew", text("1")),
            ("labelSelector", map([("matchLabels", labels(random))])),
        ]);
        put(&mut spec, "topologySpreadConstraints", List(vec![constraint]));
    }
    if random.chance(12) {
        let term = map([
            ("labelSelector", map([("matchLabels", labels(random))])),
            ("topologyKey", text("zone")),
        ]);
        let affinity = map([("requiredDuringSchedulingIgnoredDuringExecution", List(vec![term]))]);
        put(&mut spec, "affinity", map([("podAntiAffinity", affinity)]));
    }
    spec
}

fn container(random: &mut Random, name: &str) -> Tree {
    let mut container = map([("name", text(name)), ("image", text(random.pick(&IMAGES)))]);
    if random.chance(30) {
        let args =
            ["run", "all", "dev"][..usize::try_from(random.between(0, 3)).expect("small")].iter();
        put(&mut container, "args", List(args.map(|it| text(*it)).collect()));
    }
    if random.chance(30) {
        let value = text(random.pick(&ODD));
        let mut env = vec![map([("name", text("STAGE")), ("value", value)])];
        if random.chance(40) {
            let from = map([(
                "configMapKeyRef",
                map([("name", text(random.pick(&NAMES))), ("key", text("stage"))]),
            )]);
            env.push(map([("name", text("FROM")), ("valueFrom", from)]));
        }
        put(&mut container, "env", List(env));
    }
    if random.chance(25) {
        put(
            &mut container,
            "ports",
            List(vec![map([("containerPort", text("8080")), ("name", text("http"))])]),
        );
    }
    if random.chance(25) {
        let quantities = ["1", "500m", "0.5", "1e3", "128Mi", "'2'", "1.50"];
        let limits = map([
            ("cpu", text(random.pick(&quantities))),
            ("memory", text(random.pick(&quantities))),
        ]);
        put(&mut container, "resources", map([("limits", limits)]));
    }
    container
}

fn service(random: &mut Random) -> Vec<(&'static str, Tree)> {
    let target = text(random.pick(&["8080", "http", "'8080'"]));
    let port = map([("port", text(random.pick(&["80", "8080"]))), ("targetPort", target)]);
    let mut spec = Map(Vec::new());
    if random.chance(80) {
        put(&mut spec, "selector", labels(random));
    }
    put(&mut spec, "ports", List(vec![port]));
    vec![("spec", spec)]
}

fn config_map(random: &mut Random) -> Vec<(&'static str, Tree)> {
    if random.chance(6) {
        return Vec::new();
    }
    let mut data = map([("stage", text(random.pick(&["dev", "prod", "'8080'"])))]);
    if random.chance(60) {
        put(&mut data, "odd", text(random.pick(&ODD)));
    }
    if random.chance(30) {
        put(&mut data, "url", text("http://web.dev:8080/nginx"));
    }
    if random.chance(15) {
        put(&mut data, "file", text("first: dev\nsecond: web\n"));
    }
    if random.chance(10) {
        put(&mut data, "private_key", text("abc"));
    }
    vec![("data", data)]
}

fn binding(random: &mut Random) -> Vec<(&'static str, Tree)> {
    let mut subject = map([("kind", text("ServiceAccount")), ("name", text(random.pick(&NAMES)))]);
    if random.chance(70) {
        put(&mut subject, "namespace", text(random.pick(&NAMESPACES)));
    }
    let role = map([
        ("apiGroup", text("rbac.authorization.k8s.io")),
        ("kind", text("ClusterRole")),
        ("name", text("view")),
    ]);
    vec![("roleRef", role), ("subjects", List(vec![subject]))]
}

fn network_policy(random: &mut Random) -> Vec<(&'static str, Tree)> {
    let selector = |random: &mut Random| map([("matchLabels", labels(random))]);
    let from = map([("podSelector", selector(random))]);
    let mut spec = map([("podSelector", selector(random))]);
    if random.chance(60) {
        put(&mut spec, "ingress", List(vec![map([("from", List(vec![from]))])]));
    }
    vec![("spec", spec)]
}

fn disruption_budget(random: &mut Random) -> Vec<(&'static str, Tree)> {
    let available = text(random.pick(&["1", "50%"]));
    vec![(
        "spec",
        map([("minAvailable", available), ("selector", map([("matchLabels", labels(random))]))]),
    )]
}

fn autoscaler(random: &mut Random) -> Vec<(&'static str, Tree)> {
    let target = map([
        ("apiVersion", text("apps/v1")),
        ("kind", text("Deployment")),
        ("name", text(random.pick(&NAMES))),
    ]);
    vec![("spec", map([("scaleTargetRef", target), ("maxReplicas", text("3"))]))]
}

fn api_service(random: &mut Random) -> Vec<(&'static str, Tree)> {
    let service =
        map([("name", text(random.pick(&NAMES))), ("namespace", text(random.pick(&NAMESPACES)))]);
    vec![("spec", map([("service", service), ("version", text("v1"))]))]
}

fn widget(random: &mut Random) -> Vec<(&'static str, Tree)> {
    let words = ["dev", "run", "all", "web", "8080", "'8080'"];
    let environments = (0..random.between(0, 3)).map(|_| text(random.pick(&words))).collect();
    let mut parts = Vec::new();
    for _ in 0..random.between(0, 2) {
        parts.push(map([
            ("name", text(random.pick(&NAMES))),
            ("size", text(random.pick(&["1", "big"]))),
        ]));
    }
    let mut spec = map([
        ("image", text(random.pick(&IMAGES))),
        ("environments", List(environments)),
        ("parts", List(parts)),
        ("odd", text(random.pick(&ODD))),
    ]);
    if random.chance(30) {
        put(
            &mut spec,
            "nested",
            map([("deep", map([("value", text(random.pick(&ODD))), ("name", text("web"))]))]),
        );
    }
    vec![("spec", spec)]
}

fn constraint(random: &mut Random) -> Vec<(&'static str, Tree)> {
    let mut spec = Map(Vec::new());
    if random.chance(50) {
        put(&mut spec, "enforcementAction", text(random.pick(&["deny", "dryrun", "warn"])));
    }
    let kinds =
        map([("apiGroups", List(vec![text("\"\"")])), ("kinds", List(vec![text("ConfigMap")]))]);
    put(&mut spec, "match", map([("kinds", List(vec![kinds]))]));
    vec![("spec", spec)]
}
