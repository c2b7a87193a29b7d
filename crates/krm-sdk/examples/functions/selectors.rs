//! `selectors`: a check across resources: every Service must select the pods of a workload.

use krm_sdk::{Error, Resource, ResourceList, Severity};

/// The documentation.
pub(crate) const README: &str = "# selectors

Fails if the selector of a Service matches no workload in its namespace.

If a workload has the name of the Service, its labels are proposed.
";

/// Validates all Services.
pub(crate) fn run(list: &mut ResourceList) -> Result<(), Error> {
    for service in list.items.iter().filter(|it| it.kind() == "Service") {
        let selector = service.string_map("spec.selector")?;
        let in_namespace = || list.items.iter().filter(|it| it.namespace() == service.namespace());
        if selector.is_empty() || in_namespace().any(|workload| matches(workload, &selector)) {
            continue;
        }
        let mut result = service
            .result(Severity::Error, "the selector matches no workload")
            .field("spec.selector");
        if let Some(workload) =
            in_namespace().find(|it| it.name() == service.name() && has_pods(it))
        {
            let labels = workload.get(&labels_of(workload))?;
            if let Some(labels) = labels {
                result = result.propose(labels);
            }
        }
        list.results.push(result.into());
    }
    Ok(())
}

fn has_pods(workload: &Resource) -> bool {
    workload.pod_spec().is_some() && !labels(workload).is_empty()
}

/// The labels of the pods of a workload; empty if it has none.
fn labels(workload: &Resource) -> Vec<(String, String)> {
    let path = workload.pod_spec().map(|_| labels_of(workload));
    path.and_then(|path| workload.string_map(&path).ok()).unwrap_or_default()
}

/// The path of the labels of the pods of a workload.
fn labels_of(workload: &Resource) -> String {
    let spec = workload.pod_spec().unwrap_or_default();
    format!("{}metadata.labels", spec.strip_suffix("spec").unwrap_or_default())
}

fn matches(workload: &Resource, selector: &[(String, String)]) -> bool {
    let labels = labels(workload);
    selector.iter().all(|label| labels.contains(label))
}
