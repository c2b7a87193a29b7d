//! Evaluates the policies of all templates on all resources that constraints select.

use super::cel::CelPolicy;
use super::exchange::{Check, Document, Outcome, PolicyError, PolicySource, Request};
use super::rego::{self, RegoPolicy};
use crate::interpreter::{Language, MessageReader};

/// The interpreters of policies.
pub const LANGUAGE: Language = Language { name: "policy", evaluate };

/// Evaluates a request.
fn evaluate(request: &str) -> String {
    let request = Request::read(&mut MessageReader::new(request)).unwrap_or_default();
    Outcome::from(run(&request)).write()
}

/// A policy that can be evaluated.
enum Policy {
    Rego(Box<RegoPolicy>),
    Cel(CelPolicy),
}

fn run(request: &Request<'_>) -> Result<Vec<Vec<String>>, PolicyError> {
    let mut policies = Vec::new();
    for (at, source) in request.policies.iter().enumerate() {
        policies.push(match source {
            PolicySource::Rego { is_v1, scripts } => {
                Policy::Rego(Box::new(RegoPolicy::of(at, *is_v1, scripts)?))
            }
            PolicySource::Cel(source) => Policy::Cel(CelPolicy::of(at, source)?),
        });
    }
    let is_rego = policies.iter().any(|policy| matches!(policy, Policy::Rego(_)));
    // The values of the other language are never made.
    let documents: &[Document<'_>] = if is_rego { &request.documents } else { &[] };
    let values = rego::Values::of(documents, &request.parameters)?;
    for policy in &mut policies {
        if let Policy::Rego(policy) = policy {
            policy.set_inventory(values.inventory())?;
        }
    }
    let mut check = |check: &Check| match policies.get_mut(check.policy) {
        Some(Policy::Rego(policy)) => {
            policy.violations(values.input(check.document, check.parameters))
        }
        Some(Policy::Cel(policy)) => {
            let document = request.documents.get(check.document);
            let parameters = request.parameters.get(check.parameters);
            match document.zip(parameters) {
                Some((document, parameters)) => {
                    policy.violations(document, parameters, &request.documents)
                }
                None => Ok(Vec::new()),
            }
        }
        None => Ok(Vec::new()),
    };
    request.checks.iter().map(&mut check).collect()
}
