//! The Rego interpreter.

use core::time::Duration;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use regorus::utils::limits::ExecutionTimerConfig;
use regorus::{Engine, Value};

use super::builtins;
use super::exchange::{Document, PolicyError};

/// The time limit for evaluating one policy on one resource. The interpreter has no limit of steps, so this is the only use of the
/// clock in this crate. It decides whether there is a result, never which.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// The number of evaluation steps between two checks of the clock.
const CHECK_INTERVAL: NonZeroU32 = NonZeroU32::new(4096).expect("not zero");

/// The values that policies are evaluated on.
pub(super) struct Values {
    reviews: Vec<Value>,
    parameters: Vec<Value>,
    inventory: Value,
}

impl Values {
    pub(super) fn of(documents: &[Document<'_>], parameters: &[&str]) -> Result<Self, PolicyError> {
        let objects: Vec<Value> =
            documents.iter().map(|it| value(it.object)).collect::<Result<_, _>>()?;
        Ok(Self {
            reviews: documents.iter().zip(&objects).map(review).collect(),
            parameters: parameters.iter().map(|it| value(it)).collect::<Result<_, _>>()?,
            inventory: inventory(documents, &objects),
        })
    }

    /// All resources, as `data.inventory`.
    pub(super) fn inventory(&self) -> &Value {
        &self.inventory
    }

    /// The input for a resource and the parameters of a constraint.
    pub(super) fn input(&self, document: usize, parameters: usize) -> Value {
        let at = |values: &[Value], at: usize| values.get(at).cloned().unwrap_or(Value::Null);
        let (review, parameters) = (at(&self.reviews, document), at(&self.parameters, parameters));
        object_of([("review", review), ("parameters", parameters)])
    }
}

/// A policy that can be evaluated.
pub(super) struct RegoPolicy {
    at: usize,
    engine: Engine,
    rule: String,
}

impl RegoPolicy {
    pub(super) fn of(at: usize, is_v1: bool, scripts: &[&str]) -> Result<Self, PolicyError> {
        let mut engine = Engine::new();
        engine.set_rego_v0(!is_v1);
        // Compat: in OPA an expression whose built-in function fails is undefined.
        engine.set_strict_builtin_errors(false);
        // Nobody reads what a policy prints.
        engine.set_gather_prints(true);
        engine.set_execution_timer_config(ExecutionTimerConfig {
            limit: TIME_LIMIT,
            check_interval: CHECK_INTERVAL,
        });
        let registered = builtins::register(&mut engine);
        let mut policy = Self { at, engine, rule: String::new() };
        registered.map_err(|error| policy.error(&error))?;
        for (at, script) in scripts.iter().enumerate() {
            let package = policy.engine.add_policy(at.to_string(), (*script).to_owned());
            let package = package.map_err(|error| policy.error(&error))?;
            if at == 0 {
                policy.rule = format!("{package}.violation");
            }
        }
        Ok(policy)
    }

    /// Tells the policy of the other resources, as `data.inventory`.
    pub(super) fn set_inventory(&mut self, inventory: &Value) -> Result<(), PolicyError> {
        self.engine.add_data(inventory.clone()).map_err(|error| self.error(&error))
    }

    /// The messages of all violations, sorted.
    pub(super) fn violations(&mut self, input: Value) -> Result<Vec<String>, PolicyError> {
        self.engine.set_input(input);
        let found = self.engine.eval_rule(self.rule.clone());
        let found = found.map_err(|error| self.error(&error))?;
        let found = found.as_set().cloned().unwrap_or_default();
        let message = |it: &Value| match &it["msg"] {
            Value::String(text) => Ok(text.to_string()),
            _ => Err(PolicyError::NoMessage { policy: self.at }),
        };
        found.iter().map(message).collect()
    }

    fn error(&self, error: &anyhow::Error) -> PolicyError {
        PolicyError::Failed { policy: self.at, report: format!("{error:#}") }
    }
}

fn value(json: &str) -> Result<Value, PolicyError> {
    Value::from_json_str(json).map_err(|error| PolicyError::Data { reason: error.to_string() })
}

fn object_of(fields: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let entries = fields.into_iter().map(|(name, value)| (Value::from(name), value));
    Value::from(entries.collect::<BTreeMap<Value, Value>>())
}

/// The admission request for a resource.
fn review((document, object): (&Document<'_>, &Value)) -> Value {
    let group = document.api_version.split_once('/').map_or("", |(group, _)| group);
    let version = document.api_version.rsplit('/').next().unwrap_or_default();
    let kind = object_of([
        ("group", group.into()),
        ("version", version.into()),
        ("kind", document.kind.into()),
    ]);
    let mut fields = vec![
        ("kind", kind),
        ("name", document.name.into()),
        ("operation", "CREATE".into()),
        ("object", object.clone()),
    ];
    if !document.namespace.is_empty() {
        fields.push(("namespace", document.namespace.into()));
    }
    object_of(fields)
}

/// `data.inventory`: resources by namespace, `apiVersion`, kind and name.
fn inventory(documents: &[Document<'_>], objects: &[Value]) -> Value {
    let entry = |(document, object): (&Document<'_>, &Value)| {
        let mut path = match document.namespace {
            "" => vec!["cluster".to_owned()],
            name => vec!["namespace".to_owned(), name.to_owned()],
        };
        path.extend([document.api_version, document.kind, document.name].map(str::to_owned));
        (path, object.clone())
    };
    let entries = documents.iter().zip(objects).map(entry).collect();
    object_of([("inventory", tree(entries))])
}

/// Nests values by their paths; of two values at one path the first is used.
fn tree(entries: Vec<(Vec<String>, Value)>) -> Value {
    let mut below: BTreeMap<String, Vec<(Vec<String>, Value)>> = BTreeMap::new();
    for (mut path, value) in entries {
        if path.is_empty() {
            return value;
        }
        let first = path.remove(0);
        below.entry(first).or_default().push((path, value));
    }
    let entries =
        below.into_iter().map(|(name, entries)| (Value::from(name.as_str()), tree(entries)));
    Value::from(entries.collect::<BTreeMap<Value, Value>>())
}
