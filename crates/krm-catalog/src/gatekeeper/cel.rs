//! Policies in CEL: Gatekeeper's `K8sNativeValidation`, which follows Kubernetes' ValidatingAdmissionPolicy.

use std::collections::BTreeMap;

use super::exchange::{CelSource, Document, PolicyError};
use crate::expression::{self, Environment, EvaluationError, Expression, Scope, Value};

/// The variables of every policy.
const OBJECTS: [&str; 4] = ["object", "oldObject", "request", "namespaceObject"];
/// The variables that Gatekeeper adds.
const ADDED: [&str; 2] = ["variables.anyObject", "variables.params"];
/// Compat: a longer message is replaced by that of the policy.
const MAX_MESSAGE: usize = 5 * 1024;

/// A policy that can be evaluated.
pub(super) struct CelPolicy {
    at: usize,
    environment: Environment,
    ignores_failure: bool,
    /// Full names, such as `variables.containers`.
    variables: Vec<(String, Expression)>,
    conditions: Vec<Expression>,
    validations: Vec<CompiledValidation>,
}

struct CompiledValidation {
    source: String,
    expression: Expression,
    message: String,
    message_expression: Option<Expression>,
}

/// Why an expression has no value, and its number.
struct Failure {
    expression: usize,
    error: EvaluationError,
}

impl CelPolicy {
    pub(super) fn of(at: usize, source: &CelSource<'_>) -> Result<Self, PolicyError> {
        let invalid = |expression: usize, reason: String| PolicyError::Expression {
            policy: at,
            expression,
            reason,
        };
        let environment = Environment::kubernetes().map_err(|reason| invalid(0, reason))?;
        let mut names: Vec<String> =
            OBJECTS.iter().chain(&ADDED).map(|it| (*it).to_owned()).collect();
        let mut number = 0;
        let mut compile = |text: &str, names: &[String]| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let compiled = environment.compile(text, &names);
            number += 1;
            compiled.map_err(|reason| invalid(number - 1, reason))
        };
        let mut variables = Vec::new();
        for (name, text) in &source.variables {
            // A variable can use those before it.
            let expression = compile(text, &names)?;
            names.push(format!("variables.{name}"));
            variables.push((format!("variables.{name}"), expression));
        }
        let conditions =
            source.conditions.iter().map(|it| compile(it, &names)).collect::<Result<_, _>>()?;
        let mut expressions = Vec::new();
        for it in &source.validations {
            expressions.push(compile(it.expression, &names)?);
        }
        let mut validations = Vec::new();
        for (it, expression) in source.validations.iter().zip(expressions) {
            // Every validation has a number for its message, even if there is none.
            let message_expression = match it.message_expression {
                "" => compile("''", &names).map(|_| None)?,
                text => Some(compile(text, &names)?),
            };
            validations.push(CompiledValidation {
                source: it.expression.to_owned(),
                expression,
                message: it.message.to_owned(),
                message_expression,
            });
        }
        let ignores_failure = source.ignores_failure;
        Ok(Self { at, environment, ignores_failure, variables, conditions, validations })
    }

    /// The messages of all violations.
    pub(super) fn violations(
        &self,
        document: &Document<'_>,
        parameters: &str,
        documents: &[Document<'_>],
    ) -> Result<Vec<String>, PolicyError> {
        let data = |reason: String| PolicyError::Data { reason };
        let mut scope = self.scope(document, parameters, documents).map_err(data)?;
        let mut errors = BTreeMap::new();
        for (at, (name, expression)) in self.variables.iter().enumerate() {
            match expression.evaluate(&scope) {
                Ok(value) => scope.set(name, value),
                // It matters only if the variable is used.
                Err(error) => _ = errors.insert(name.as_str(), (at, error)),
            }
        }
        let evaluate = |at: usize, expression: &Expression| {
            expression.evaluate(&scope).map_err(|error| first_cause(at, error, &errors))
        };
        let mut number = self.variables.len();
        let mut failed_condition = None;
        for condition in &self.conditions {
            match evaluate(number, condition) {
                Ok(Value::Bool(true)) => {}
                Ok(_) => return Ok(Vec::new()),
                Err(failure) => failed_condition = failed_condition.or(Some(failure)),
            }
            number += 1;
        }
        if let Some(failure) = failed_condition {
            return Ok(self.on_failure(failure, "matchCondition")?.into_iter().collect());
        }
        let mut messages = Vec::new();
        for (at, validation) in self.validations.iter().enumerate() {
            match evaluate(number + at, &validation.expression) {
                Ok(Value::Bool(true)) => {}
                Ok(_) => {
                    let at = number + self.validations.len() + at;
                    let value = validation.message_expression.as_ref().map(|it| evaluate(at, it));
                    messages.push(validation.message(value));
                }
                Err(failure) => messages.extend(self.on_failure(failure, &validation.source)?),
            }
        }
        Ok(messages)
    }

    /// A resource on which an expression fails is a violation, unless the policy ignores failures.
    ///
    /// # Errors
    /// If the failure may be due to a limit of this implementation, an ignored failure would be a pass that nobody asked for.
    fn on_failure(&self, failure: Failure, source: &str) -> Result<Option<String>, PolicyError> {
        let Failure { expression, error } = failure;
        match error {
            EvaluationError::Failed(_) if self.ignores_failure => Ok(None),
            EvaluationError::Failed(reason) | EvaluationError::NoOverload(reason)
                if !self.ignores_failure =>
            {
                Ok(Some(format!("expression '{}' resulted in error: {reason}", source.trim())))
            }
            error => {
                let reason = error.to_string();
                Err(PolicyError::Expression { policy: self.at, expression, reason })
            }
        }
    }

    /// The values of the variables that every policy has.
    fn scope(
        &self,
        document: &Document<'_>,
        parameters: &str,
        documents: &[Document<'_>],
    ) -> Result<Scope, String> {
        let mut scope = self.environment.scope();
        let object = expression::from_json(document.object)?;
        let namespace = documents.iter().find(|it| {
            it.api_version == "v1" && it.kind == "Namespace" && it.name == document.namespace
        });
        let namespace = match namespace.filter(|_| !document.namespace.is_empty()) {
            Some(namespace) => expression::from_json(namespace.object)?,
            None => Value::Null,
        };
        scope.set("object", object.clone());
        scope.set("oldObject", Value::Null);
        scope.set("namespaceObject", namespace);
        scope.set("request", request(document));
        scope.set("variables.anyObject", object);
        scope.set("variables.params", expression::from_json(parameters)?);
        Ok(scope)
    }
}

/// The admission request for a resource.
fn request(document: &Document<'_>) -> Value {
    let group = document.api_version.split_once('/').map_or("", |(group, _)| group);
    let version = document.api_version.rsplit('/').next().unwrap_or_default();
    let map = |entries: Vec<(&str, Value)>| {
        let entries = entries.into_iter().map(|(name, value)| (name.to_owned(), value));
        Value::from(entries.collect::<std::collections::HashMap<String, Value>>())
    };
    let kind = map(vec![
        ("group", group.into()),
        ("version", version.into()),
        ("kind", document.kind.into()),
    ]);
    map(vec![
        ("kind", kind.clone()),
        ("requestKind", kind),
        ("name", document.name.into()),
        ("namespace", document.namespace.into()),
        ("operation", "CREATE".into()),
        ("dryRun", Value::Bool(false)),
    ])
}

/// The error of a variable, if an expression failed because of it.
fn first_cause(
    at: usize,
    error: EvaluationError,
    errors: &BTreeMap<&str, (usize, EvaluationError)>,
) -> Failure {
    let mut failure = Failure { expression: at, error };
    // A variable may have failed because of one before it.
    while let EvaluationError::NoValue(name) = &failure.error {
        match errors.get(name.as_str()) {
            Some((at, error)) => failure = Failure { expression: *at, error: error.clone() },
            None => break,
        }
    }
    failure
}

impl CompiledValidation {
    /// The message of a violation. Compat: an expression that fails or has no suitable value gives way to the string, and that to
    /// the text of the validation.
    fn message(&self, value: Option<Result<Value, Failure>>) -> String {
        let evaluated = match value {
            Some(Ok(Value::String(text))) => text.trim().to_owned(),
            _ => String::new(),
        };
        let is_suitable = evaluated.len() <= MAX_MESSAGE && !evaluated.contains('\n');
        match (evaluated.is_empty() || !is_suitable, self.message.trim()) {
            (false, _) => evaluated,
            (true, "") => format!("failed expression: {}", self.source.trim()),
            (true, message) => message.to_owned(),
        }
    }
}
