//! The documents that the packages of some functions have beside the generated resources.

use super::configs::one;
use super::resources::{NAMES, NAMESPACES};
use crate::corpus::random::Random;

/// A template for the generated constraints.
const TEMPLATE: &str = "\
apiVersion: templates.gatekeeper.sh/v1beta1
kind: ConstraintTemplate
metadata:
  name: bannedkeys
spec:
  crd:
    spec:
      names:
        kind: BannedKeys
  targets:
  - target: admission.k8s.gatekeeper.sh
    rego: |
      package bannedkeys
      violation[{\"msg\": msg}] {
        input.review.object.data.private_key
        msg := sprintf(\"%v has a private key\", [input.review.object.metadata.name])
      }
";

pub(super) fn no_extra(_: &mut Random) -> Vec<String> {
    Vec::new()
}

/// A policy, and a constraint with any of the criteria.
pub(super) fn policy(random: &mut Random) -> Vec<String> {
    let mut constraint =
        "apiVersion: constraints.gatekeeper.sh/v1beta1\nkind: BannedKeys\nmetadata: {name: banned}\nspec:\n".to_owned();
    if random.chance(40) {
        constraint.push_str(&format!(
            "  enforcementAction: {}\n",
            one(random, &["warn", "dryrun", "deny"])
        ));
    }
    let criteria = [
        "kinds: [{apiGroups: [''], kinds: [ConfigMap]}]",
        "kinds: [{apiGroups: ['*'], kinds: ['*']}]",
        "namespaces: [shop]",
        "excludedNamespaces: [dev]",
        "namespaces: ['sh*']",
        "scope: Namespaced",
        "labelSelector: {matchLabels: {app: web}}",
        "labelSelector: {matchExpressions: [{key: app, operator: Exists}]}",
        "namespaceSelector: {matchLabels: {app: web}}",
        "namespaceSelector: {matchExpressions: [{key: app, operator: DoesNotExist}]}",
        "name: web*",
    ];
    let mut chosen: Vec<&str> = criteria.into_iter().filter(|_| random.chance(12)).collect();
    // A mapping has each key once.
    chosen.dedup_by_key(|it| it.split(':').next());
    constraint.push_str(&format!("  match: {{{}}}\n", chosen.join(", ")));
    let mut texts = vec![TEMPLATE.to_owned(), constraint];
    for namespace in NAMESPACES {
        let key = if random.chance(70) { "private_key" } else { "other" };
        texts.push(format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web-{namespace}, namespace: {namespace}, labels: {{app: {}}}}}\ndata: {{{key}: x}}\n",
            one(random, &NAMES)
        ));
        if random.chance(60) {
            texts.push(format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}, labels: {{app: {}}}}}\n", one(random, &NAMES)));
        }
    }
    texts
}

/// Fields with apply-time-mutation comments, and a mutation as a resource.
pub(super) fn mutated(random: &mut Random) -> Vec<String> {
    let source = one(
        random,
        &[
            "/namespaces/shop/ConfigMap/db",
            "/v1/namespaces/shop/ConfigMap/db",
            "apps/namespaces/dev/Deployment/web",
            "/Namespace/shop",
        ],
    );
    let path = one(random, &["$.data.stage", "$.spec.replicas", "$.status.phase"]);
    let (before, after) = (one(random, &["", "x-"]), one(random, &["", "-y"]));
    let mut text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: target\n  namespace: shop\n  annotations: {}\ndata:\n  stage: dev # apply-time-mutation: {before}${{{source}:{path}}}{after}\n",
        placed("target.yaml", NO_ANNOTATION)
    );
    if random.chance(40) {
        text.push_str(&format!(
            "  other: \"\" # apply-time-mutation: ${{{source}:$.metadata.uid}}\n"
        ));
    }
    let mut texts = vec![text];
    if random.chance(40) {
        texts.push(format!(
            "apiVersion: fn.kpt.dev/v1alpha1\nkind: ApplyTimeMutation\nmetadata:\n  name: mutation\n  annotations: {}\nspec:\n  targetRef: {{kind: ConfigMap, name: target, namespace: shop}}\n  substitutions:\n  - sourceRef: {{kind: ConfigMap, name: db, namespace: shop}}\n    sourcePath: $.data.stage\n    targetPath: $.data.copy\n",
            placed("mutation.yaml", "config.kubernetes.io/local-config: \"true\"")
        ));
    }
    texts
}

/// Stands for no further annotation.
pub(super) const NO_ANNOTATION: &str = "";

/// The annotations of the orchestrator for a file, and others, in flow style.
pub(super) fn placed(file: &str, others: &str) -> String {
    let mut entries = Vec::new();
    entries.extend((!others.is_empty()).then(|| others.to_owned()));
    for prefix in ["", "internal."] {
        entries.push(format!("{prefix}config.kubernetes.io/path: {file}"));
        entries.push(format!("{prefix}config.kubernetes.io/index: '0'"));
    }
    format!("{{{}}}", entries.join(", "))
}
