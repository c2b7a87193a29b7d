//! The order of fields: known ones as kustomize sorts them, then all others by their bytes.

use std::borrow::Cow;
use std::sync::LazyLock;

use krm_yaml::{NodeRef, ScalarStyle, Value};

/// Compat: the order of kustomize's `cfg fmt`. Of names that it lists twice, the effective position.
const KNOWN: &[&str] = &[
    "name",
    "generateName",
    "namespace",
    "clusterName",
    "apiVersion",
    "kind",
    "metadata",
    "type",
    "labels",
    "annotations",
    "spec",
    "status",
    "stringData",
    "data",
    "binaryData",
    "parallelism",
    "completions",
    "backoffLimit",
    "replicas",
    "selector",
    "manualSelector",
    "template",
    "ttlSecondsAfterFinished",
    "volumeClaimTemplates",
    "service",
    "serviceName",
    "podManagementPolicy",
    "updateStrategy",
    "strategy",
    "minReadySeconds",
    "revision",
    "revisionHistoryLimit",
    "paused",
    "progressDeadlineSeconds",
    "restartPolicy",
    "terminationGracePeriodSeconds",
    "activeDeadlineSeconds",
    "dnsPolicy",
    "serviceAccountName",
    "serviceAccount",
    "automountServiceAccountToken",
    "nodeName",
    "hostNetwork",
    "hostPID",
    "hostIPC",
    "shareProcessNamespace",
    "hostname",
    "subdomain",
    "schedulerName",
    "priorityClassName",
    "priority",
    "runtimeClassName",
    "enableServiceLinks",
    "nodeSelector",
    "hostAliases",
    "initContainers",
    "containers",
    "volumes",
    "imagePullSecrets",
    "affinity",
    "tolerations",
    "dnsConfig",
    "readinessGates",
    "image",
    "command",
    "args",
    "workingDir",
    "ports",
    "envFrom",
    "env",
    "resources",
    "volumeMounts",
    "volumeDevices",
    "livenessProbe",
    "readinessProbe",
    "lifecycle",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "imagePullPolicy",
    "securityContext",
    "stdin",
    "stdinOnce",
    "tty",
    "clusterIP",
    "externalIPs",
    "loadBalancerIP",
    "loadBalancerSourceRanges",
    "externalName",
    "externalTrafficPolicy",
    "sessionAffinity",
    "protocol",
    "port",
    "targetPort",
    "hostPort",
    "containerPort",
    "hostIP",
    "readOnly",
    "mountPath",
    "subPath",
    "subPathExpr",
    "mountPropagation",
    "value",
    "valueFrom",
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
    "prefix",
    "configMapRef",
    "secretRef",
];

/// The sort key of a field: its rank, and its bytes for fields of the same rank.
pub(super) type FieldOrder<'a> = (usize, Cow<'a, str>);

/// The known names with their ranks, sorted by length first, because lengths compare faster than bytes.
static RANKS: LazyLock<Vec<((usize, &str), usize)>> = LazyLock::new(|| {
    let ranks = KNOWN.iter().enumerate().map(|(at, name)| ((name.len(), *name), at + 1));
    let mut ranks: Vec<_> = ranks.collect();
    ranks.sort_unstable();
    ranks
});

/// The sort key of a field; none if the key is not a scalar.
///
/// A merge key (`<<`) comes first, where it usually is.
pub(super) fn order_of(key: NodeRef<'_>) -> Option<FieldOrder<'_>> {
    let scalar = key.resolve().as_scalar()?;
    let name = match scalar.style() {
        ScalarStyle::Plain if !scalar.raw().contains(['\n', '\r']) => Cow::Borrowed(scalar.raw()),
        _ => scalar.value(),
    };
    let rank = match known_rank(&name) {
        Some(rank) => rank,
        None if name == "<<" && scalar.style() == ScalarStyle::Plain => 0,
        None => usize::MAX,
    };
    Some((rank, name))
}

fn known_rank(name: &str) -> Option<usize> {
    let at = RANKS.binary_search_by_key(&(name.len(), name), |(known, _)| *known).ok()?;
    Some(RANKS[at].1)
}

/// Sorts the fields of a value that is not written yet by the Kubernetes convention, at every depth, as [`super::format()`] does with
/// files. Mappings with keys other than strings keep their order.
///
/// ```
/// use krm_yaml::Value;
///
/// let mut container = Value::from_iter([("args", "-v"), ("image", "nginx"), ("name", "web")]);
/// krm_core::format::sort_value(&mut container);
/// assert_eq!(krm_core::print::json::display(&container), r#"{"name":"web","image":"nginx","args":"-v"}"#);
/// ```
pub fn sort_value(value: &mut Value<'_>) {
    match value {
        Value::Sequence(items) => items.iter_mut().for_each(sort_value),
        Value::Mapping(entries) => {
            entries.iter_mut().for_each(|(_, value)| sort_value(value));
            if entries.iter().all(|(key, _)| matches!(key, Value::String(_))) {
                entries.sort_by_cached_key(|(key, _)| match key {
                    Value::String(name) => {
                        (known_rank(name).unwrap_or(usize::MAX), name.to_string())
                    }
                    _ => (usize::MAX, String::new()),
                });
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_fields_are_unique() {
        assert!(RANKS.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn merge_keys_sort_before_known_fields_before_others() {
        let text = "{<<: {}, 'name': 1, kind: 1, secretRef: 1, '<<': 1, B: 1, a: 1}";
        let file = krm_yaml::File::parse(text.to_owned()).unwrap();
        let root = file.document(0).unwrap().root().unwrap();
        let keys = root.as_mapping().unwrap().entries().map(|entry| order_of(entry.key).unwrap());
        assert!(keys.collect::<Vec<_>>().is_sorted());
    }
}
