//! Packages with resources of Config Connector, for the functions that know their references.

use super::configs::one;
use super::extras::{NO_ANNOTATION, placed};
use super::resources::NAMESPACES;
use crate::corpus::random::Random;

const RESOURCE_MANAGER: &str = "resourcemanager.cnrm.cloud.google.com/v1beta1";
const IAM: &str = "iam.cnrm.cloud.google.com/v1beta1";

/// The kinds of placeholders.
pub(super) const BOUND: [(&str, &str); 4] = [
    (RESOURCE_MANAGER, "Folder"),
    (RESOURCE_MANAGER, "Project"),
    (IAM, "IAMServiceAccount"),
    ("v1", "ServiceAccount"),
];

/// Compat: the original of `bind` and `set-name-prefix` ends with a nil pointer where these kinds have no reference.
fn spec_of(kind: &str) -> &'static str {
    match kind {
        "Folder" | "Project" => "spec:\n  folderRef: {external: \"1234\"}\n",
        _ => "",
    }
}

/// A resource in a file of its own.
fn resource(version: &str, kind: &str, name: &str, namespace: &str, rest: &str) -> String {
    annotated(version, kind, name, namespace, NO_ANNOTATION, rest)
}

/// A resource in a file of its own, with more annotations in flow style.
fn annotated(
    version: &str,
    kind: &str,
    name: &str,
    namespace: &str,
    annotations: &str,
    rest: &str,
) -> String {
    let namespace = match namespace {
        "" => String::new(),
        namespace => format!("  namespace: {namespace}\n"),
    };
    let annotations = placed(&format!("{}-{name}.yaml", kind.to_lowercase()), annotations);
    format!(
        "apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\n{namespace}  annotations: {annotations}\n{rest}"
    )
}

/// Resources that refer to Folders, Projects and accounts of these names.
fn referrers(random: &mut Random, name: fn(&str) -> String, namespace: &str) -> Vec<String> {
    let reference = |random: &mut Random, name: &str| {
        let mut fields = vec![format!("name: {name}")];
        if random.chance(40) {
            fields.push(format!("namespace: {}", one(random, &["shop", "dev"])));
        }
        format!("{{{}}}", fields.join(", "))
    };
    let mut texts = Vec::new();
    if random.chance(60) {
        let parent = reference(random, &name("Folder"));
        let spec = format!("spec:\n  name: x\n  folderRef: {parent}\n");
        texts.push(resource(RESOURCE_MANAGER, "Project", "inner", namespace, &spec));
    }
    if random.chance(40) {
        let parent = reference(random, &name("Folder"));
        let spec = format!("spec:\n  displayName: Inner\n  folderRef: {parent}\n");
        texts.push(resource(RESOURCE_MANAGER, "Folder", "inner", namespace, &spec));
    }
    if random.chance(40) {
        let spec = match random.chance(30) {
            true => "spec:\n  folderRef:\n    external: \"1234\"\n".to_owned(),
            false => "spec:\n  displayName: Other\n  folderRef: {name: other}\n".to_owned(),
        };
        texts.push(resource(RESOURCE_MANAGER, "Folder", "other", namespace, &spec));
    }
    if random.chance(50) {
        let project = reference(random, &name("Project"));
        let spec =
            format!("spec:\n  resourceID: compute.googleapis.com\n  projectRef: {project}\n");
        let version = "serviceusage.cnrm.cloud.google.com/v1beta1";
        texts.push(resource(version, "Service", "compute", namespace, &spec));
    }
    if random.chance(50) {
        let account = name("IAMServiceAccount");
        let spec = format!(
            "spec:\n  role: roles/viewer\n  memberFrom:\n    serviceAccountRef:\n      name: {account}\n  resourceRef:\n    apiVersion: {RESOURCE_MANAGER}\n    kind: Project\n    name: {}\n",
            name("Project")
        );
        texts.push(resource(IAM, "IAMPolicyMember", "viewer", namespace, &spec));
    }
    if random.chance(50) {
        let account = name("ServiceAccount");
        let namespace_of_subject = match random.chance(50) {
            true => format!("\n  namespace: {}", one(random, &["shop", "dev"])),
            false => String::new(),
        };
        let rest = format!(
            "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: ClusterRole\n  name: view\nsubjects:\n- kind: ServiceAccount\n  name: {account}{namespace_of_subject}\n"
        );
        texts.push(resource(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            "view",
            namespace,
            &rest,
        ));
    }
    texts
}

/// One placeholder, seldom none or two, and resources that refer to it.
pub(super) fn placeholder(random: &mut Random) -> Vec<String> {
    let namespace = one(random, &["", "shop", "dev"]);
    let mut texts = Vec::new();
    let binding = "config.kubernetes.io/local-config: binding";
    for (version, kind) in BOUND {
        if random.chance(90) {
            texts.push(annotated(version, kind, "example", namespace, binding, spec_of(kind)));
        }
        if random.chance(4) {
            texts.push(annotated(version, kind, "example-2", namespace, binding, spec_of(kind)));
        }
    }
    texts.extend(referrers(random, |_| "example".to_owned(), namespace));
    texts
}

/// Resources with the prefix `packagename`, and the package context.
pub(super) fn prefixed(random: &mut Random) -> Vec<String> {
    let mut texts = Vec::new();
    if random.chance(85) {
        let data = format!("data:\n  name: {}\n", one(random, &["shop", "my-package"]));
        let local = "config.kubernetes.io/local-config: \"true\"";
        texts.push(annotated("v1", "ConfigMap", "kptfile.kpt.dev", "", local, &data));
    }
    let namespace = one(random, &["", "shop", "packagename"]);
    for (version, kind) in BOUND {
        if random.chance(50) {
            let name = format!("packagename-{}", kind.to_lowercase());
            texts.push(resource(version, kind, &name, namespace, spec_of(kind)));
        }
    }
    if random.chance(40) {
        texts.push(resource("v1", "Namespace", "packagename", "", ""));
    }
    texts.extend(referrers(
        random,
        |kind| format!("packagename-{}", kind.to_lowercase()),
        namespace,
    ));
    texts
}

/// A Kptfile, with setters or without, and resources of a project.
pub(super) fn project(random: &mut Random) -> Vec<String> {
    let mut texts = Vec::new();
    if random.chance(95) {
        let mut pipeline = String::new();
        if random.chance(70) {
            pipeline.push_str("pipeline:\n  mutators:\n");
            if random.chance(40) {
                pipeline.push_str(
                    "  - image: gcr.io/kpt-fn/set-namespace:v0.2.0\n    configMap:\n      namespace: shop\n",
                );
            }
            pipeline.push_str(&format!(
                "  - image: gcr.io/kpt-fn/apply-setters:v0.2\n{}",
                one(
                    random,
                    &[
                        "    configMap:\n      app: web\n",
                        "    configMap:\n      project-id: old\n",
                        "    configMap:\n      project-id: \"\"\n",
                        "    configPath: setters.yaml\n",
                        "    configPath: setters.yaml\n",
                        "",
                    ]
                )
            ));
        }
        if pipeline.is_empty() && random.chance(50) {
            pipeline = one(
                random,
                &[
                    "info:\n  description: a shop\n",
                    "pipeline: {}\n",
                    "pipeline:\n  validators:\n  - image: gcr.io/kpt-fn/kubeval:v0.1\n",
                ],
            )
            .to_owned();
        }
        let annotations = placed("Kptfile", "");
        texts.push(format!(
            "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: shop\n  annotations: {annotations}\n{pipeline}"
        ));
    }
    if random.chance(85) {
        let data = one(
            random,
            &["data:\n  app: web\n", "data:\n  project-id: old\n", "data:\n  project-id: \"\"\n"],
        );
        let annotations = placed("setters.yaml", "");
        texts.push(format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: setters\n  annotations: {annotations}\n{data}"
        ));
    }
    for (version, kind, name) in [
        ("storage.cnrm.cloud.google.com/v1beta1", "StorageBucket", "images"),
        ("core.cnrm.cloud.google.com/v1beta1", "ConfigConnector", "configconnector"),
        (IAM, "IAMServiceAccount", "robot"),
    ] {
        if random.chance(60) {
            let annotation = match random.chance(30) {
                true => "cnrm.cloud.google.com/project-id: old",
                false => NO_ANNOTATION,
            };
            texts.push(annotated(version, kind, name, "shop", annotation, ""));
        }
    }
    texts
}

/// Sets of services, and services that an earlier run generated.
pub(super) fn services(random: &mut Random) -> Vec<String> {
    let mut texts = Vec::new();
    for name in ["first", "second"] {
        if !random.chance(75) {
            continue;
        }
        let namespace = one(random, &["", "shop"]);
        let mut spec = "spec:\n  services:\n".to_owned();
        let mut count = 0;
        for service in ["compute", "storage-api", "iam"] {
            if random.chance(60) {
                count += 1;
                spec.push_str(&format!("  - {service}.googleapis.com\n"));
            }
        }
        if random.chance(4) {
            count += 1;
            spec.push_str("  - wrong\n");
        }
        if count == 0 {
            spec = "spec:\n  services: []\n".to_owned();
        }
        if random.chance(50) {
            spec.push_str("  projectID: shop-1234\n");
        }
        let annotation = one(
            random,
            &[
                NO_ANNOTATION,
                "config.kubernetes.io/local-config: \"true\"",
                "cnrm.cloud.google.com/deletion-policy: abandon",
            ],
        );
        let version = "blueprints.cloud.google.com/v1alpha1";
        texts.push(annotated(version, "ProjectServiceSet", name, namespace, annotation, &spec));
        for service in ["iam", "bigquery"] {
            if random.chance(35) {
                let owner = format!(
                    "blueprints.cloud.google.com/ownerReference: blueprints.cloud.google.com/ProjectServiceSet/{name}"
                );
                let spec = format!("spec:\n  resourceID: {service}.googleapis.com\n");
                let version = "serviceusage.cnrm.cloud.google.com/v1beta1";
                let name = format!("{name}-{service}");
                texts.push(annotated(version, "Service", &name, namespace, &owner, &spec));
            }
        }
    }
    texts
}

/// A hierarchy of folders of any version, and a folder that exists.
pub(super) fn hierarchy(random: &mut Random) -> Vec<String> {
    let namespace = if random.chance(60) { random.pick(&NAMESPACES) } else { "" };
    let folders = |random: &mut Random, depth: &str| -> String {
        let mut text = String::new();
        for name in ["Dev", "Team A", "it's_prod", "\"x/1\""] {
            if random.chance(50) {
                text.push_str(&format!("{depth}- {name}\n"));
            }
        }
        text
    };
    let mut config = String::new();
    for name in ["Outer", "Shared"] {
        let inner = folders(random, "    ");
        let line = match (random.between(0, 5), inner.is_empty()) {
            (0, _) => format!("  - {name}: {{$subtree: team}}\n"),
            (1, _) | (_, true) => format!("  - {name}\n"),
            _ => format!("  - {name}:\n{inner}"),
        };
        config.push_str(&line);
    }
    let subtrees = match random.chance(80) {
        true => "  subtrees:\n    team:\n    - Alpha\n    - Beta:\n      - Gamma\n",
        false => "",
    };
    let parent = one(
        random,
        &[
            "  parentRef:\n    kind: Organization\n    external: \"123\"\n",
            "  parentRef:\n    kind: Folder\n    external: \"456\"\n",
            "  parentRef:\n    external: 123\n",
            "  parentRef:\n    kind: Organization\n    external: \"123\"\n",
        ],
    );
    let parent = match random.between(0, 19) {
        0 => "",
        1 => "  parentRef:\n    kind: Project\n    external: \"1\"\n",
        _ => parent,
    };
    let annotation = one(
        random,
        &["config.kubernetes.io/local-config: \"true\"", "example.com/owner: me", NO_ANNOTATION],
    );
    let (version, spec) = match random.between(0, 9) {
        0..=6 => (
            "blueprints.cloud.google.com/v1alpha3",
            format!("spec:\n{parent}  config:\n{config}{subtrees}"),
        ),
        7 | 8 => ("cft.dev/v1alpha2", format!("spec:\n{parent}  config:\n{config}{subtrees}")),
        _ => (
            "cft.dev/v1alpha1",
            "spec:\n  organization: 123\n  layers: [env, team]\n  config:\n    env: [dev, prod]\n    team: [Retail, finance]\n".to_owned(),
        ),
    };
    let mut texts =
        vec![annotated(version, "ResourceHierarchy", "root", namespace, annotation, &spec)];
    if random.chance(30) {
        let spec = "spec:\n  displayName: Old\n  organizationRef: {external: \"9\"}\n";
        let annotation = one(random, &[NO_ANNOTATION, "example.com/owner: other"]);
        texts.push(annotated(RESOURCE_MANAGER, "Folder", "outer", namespace, annotation, spec));
    }
    texts
}
