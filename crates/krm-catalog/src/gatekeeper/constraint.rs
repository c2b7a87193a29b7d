//! Constraints: the resources to which a policy applies, its parameters, and the severity of violations.

use krm_sdk::{Error, FunctionResult, Resource, Severity};
use krm_yaml::NodeRef;

use super::review::{Review, json_of};
use crate::lookup::{below, items, text};
use crate::validation_input::ValidationInput;

const GROUP: &str = "constraints.gatekeeper.sh";
/// The enforcement point of checks outside of a cluster.
const ENFORCEMENT_POINT: &str = "gator.gatekeeper.sh";

/// A constraint.
pub(super) struct Constraint<'a> {
    /// The resource as Kubernetes reads it.
    pub(super) resource: &'a Resource,
    /// The resource as it is written, for locations.
    pub(super) written: &'a Resource,
    /// The kind, which names the template.
    pub(super) kind: String,
    /// `spec.match`
    pub(super) selection: Option<NodeRef<'a>>,
    severity: Severity,
}

impl<'a> Constraint<'a> {
    /// The constraint of a resource; none if it is another kind.
    pub(super) fn of(input: &'a ValidationInput<'a>) -> Option<Self> {
        let resource = &*input.read;
        (resource.view().group() == GROUP).then(|| Self {
            resource,
            written: input.written,
            kind: resource.kind(),
            selection: below(resource.root(), &["spec", "match"]),
            severity: severity(resource),
        })
    }

    /// The parameters of the policy, as JSON.
    pub(super) fn parameters(&self) -> Result<String, Error> {
        let parameters = below(self.resource.root(), &["spec", "parameters"]);
        parameters.map_or_else(|| Ok("{}".to_owned()), json_of)
    }

    /// The result for a violation.
    pub(super) fn result(&self, review: &Review<'_>, message: &str) -> FunctionResult {
        let message = format!("{message}\nviolatedConstraint: {}", self.resource.name());
        review.written.result(self.severity, message).into()
    }
}

/// Compat: any action other than `dryrun` and `warn` denies.
fn severity(resource: &Resource) -> Severity {
    let action = resource.get_text("spec.enforcementAction").ok().flatten().unwrap_or_default();
    let action = match &*action {
        "scoped" => scoped_action(resource),
        action => action.to_owned(),
    };
    match action.as_str() {
        "dryrun" => Severity::Info,
        "warn" => Severity::Warning,
        _ => Severity::Error,
    }
}

/// The action for [`ENFORCEMENT_POINT`].
fn scoped_action(resource: &Resource) -> String {
    let Some(spec) = below(resource.root(), &["spec"]) else { return String::new() };
    let is_here = |action: &NodeRef<'_>| {
        let mut points = items(*action, "enforcementPoints");
        points
            .any(|point| text(point, "name").is_some_and(|it| it == ENFORCEMENT_POINT || it == "*"))
    };
    let action = items(spec, "scopedEnforcementActions").find(is_here);
    action.and_then(|it| text(it, "action")).unwrap_or_default().into_owned()
}
