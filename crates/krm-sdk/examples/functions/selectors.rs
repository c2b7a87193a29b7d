//! `selectors`: a check over several resources: every Service finds the pods of a workload.

use krm_sdk::{Error, Resource, ResourceList, Severity};

/// The page.
pub(crate) const PAGE: &str = "# selectors

Fails where the selector of a Service fits the labels of no workload in its namespace.

Where one workload has all the labels under other values, those are proposed.
";

/// Looks, and changes nothing.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    for service in list.items.iter().filter(|it| it.kind() == "Service") {
        let selector = service.texts("spec.selector");
        let near = || list.items.iter().filter(|it| it.namespace() == service.namespace());
        if selector.is_empty() || near().any(|workload| fits(workload, &selector)) {
            continue;
        }
        let mut finding = service
            .result(Severity::Error, "the selector fits the pods of no workload")
            .field("spec.selector");
        if let Some(workload) = near().find(|it| it.name() == service.name() && has_pods(it)) {
            let labels = workload.get(&labels_of(workload));
            if let Some(labels) = labels {
                finding = finding.propose(labels);
            }
        }
        list.results.push(finding.into());
    }
    Ok(())
}

fn has_pods(workload: &Resource) -> bool {
    workload.pod_spec().is_some() && workload.get(&labels_of(workload)).is_some()
}

/// The labels of the pods of a workload.
fn labels_of(workload: &Resource) -> String {
    let spec = workload.pod_spec().unwrap_or_default();
    format!("{}metadata.labels", spec.strip_suffix("spec").unwrap_or_default())
}

fn fits<T: AsRef<str>>(workload: &Resource, selector: &[(T, T)]) -> bool {
    let labels = if has_pods(workload) { workload.texts(&labels_of(workload)) } else { Vec::new() };
    selector.iter().all(|(name, value)| {
        labels.iter().any(|(key, label)| key == name.as_ref() && label == value.as_ref())
    })
}
