//! Constraints: which resources a policy is for, with which parameters, and how bad it is to violate it.

use krm_sdk::{Error, FunctionResult, Resource, Severity};
use krm_yaml::NodeRef;
use regorus::Value;

use super::review::{self, Review};
use super::template::Template;
use crate::look::{below, items, text};

const GROUP: &str = "constraints.gatekeeper.sh";
/// The name of a check outside of a cluster, among the points where a constraint may be enforced.
const POINT: &str = "gator.gatekeeper.sh";

/// A constraint.
pub(super) struct Constraint<'a> {
    /// The resource.
    pub(super) resource: &'a Resource,
    /// The kind, which names the template.
    pub(super) kind: String,
    /// `spec.match`
    pub(super) selection: Option<NodeRef<'a>>,
    severity: Severity,
}

impl<'a> Constraint<'a> {
    /// The constraint that a resource is; none where it is something else.
    pub(super) fn of(resource: &'a Resource) -> Option<Self> {
        (resource.view().group() == GROUP).then(|| Self {
            resource,
            kind: resource.kind().into_owned(),
            selection: below(resource.root(), &["spec", "match"]),
            severity: severity(resource),
        })
    }

    /// The results for a resource that the constraint is for.
    pub(super) fn check(
        &self,
        template: &mut Template<'_>,
        review: &Review<'_>,
    ) -> Result<Vec<FunctionResult>, Error> {
        let parameters = below(self.resource.root(), &["spec", "parameters"]);
        let parameters = parameters.map(review::value).transpose()?;
        let parameters = parameters.unwrap_or_else(Value::new_object);
        let messages = template.violations(review.input(parameters))?;
        let results = messages.into_iter().map(|message| {
            let message = format!("{message}\nviolatedConstraint: {}", self.resource.name());
            review.resource.result(self.severity, message).into()
        });
        Ok(results.collect())
    }
}

/// Compat: whatever is neither `dryrun` nor `warn` denies.
fn severity(resource: &Resource) -> Severity {
    let action = resource.get_text("spec.enforcementAction").unwrap_or_default();
    let action = match &*action {
        "scoped" => scoped(resource),
        action => action.to_owned(),
    };
    match action.as_str() {
        "dryrun" => Severity::Info,
        "warn" => Severity::Warning,
        _ => Severity::Error,
    }
}

/// The action that is for a check such as this one.
fn scoped(resource: &Resource) -> String {
    let Some(spec) = below(resource.root(), &["spec"]) else { return String::new() };
    let is_here = |action: &NodeRef<'_>| {
        let mut points = items(*action, "enforcementPoints");
        points.any(|point| text(point, "name").is_some_and(|it| it == POINT || it == "*"))
    };
    let action = items(spec, "scopedEnforcementActions").find(is_here);
    action.and_then(|it| text(it, "action")).unwrap_or_default().into_owned()
}
