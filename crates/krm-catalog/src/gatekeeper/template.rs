//! ConstraintTemplates: Rego policies, which constraints parameterize.

use core::time::Duration;
use std::num::NonZeroU32;

use krm_sdk::{Diagnostic, Error, Resource};
use krm_yaml::NodeRef;
use regorus::utils::limits::ExecutionTimerConfig;
use regorus::{Engine, Value};

use super::imports::expand_imports;
use crate::kinds::CatalogKind;
use crate::lookup::{below, items, text};
use crate::script_location::{self, ScriptPosition};

const GROUP: &str = "templates.gatekeeper.sh";
/// The time limit for evaluating one policy on one resource. The interpreter has no limit of steps, so this is the only use of the
/// clock in this crate. It decides whether there is a result, never which.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// The number of evaluation steps between two checks of the clock.
const CHECK_INTERVAL: NonZeroU32 = NonZeroU32::new(4096).expect("not zero");

/// Whether a resource is a template.
pub(super) fn is_template(resource: &Resource) -> bool {
    resource.kind() == "ConstraintTemplate" && resource.view().group() == GROUP
}

/// The kind of the constraints of a template.
pub(super) fn kind(resource: &Resource) -> Result<String, Error> {
    let kind = resource.get_text("spec.crd.spec.names.kind").filter(|kind| !kind.is_empty());
    let missing = || {
        invalid(resource, resource.root(), "missing field `spec.crd.spec.names.kind`")
            .hint("set it to the kind of the constraints")
    };
    Ok(kind.ok_or_else(missing)?.into_owned())
}

/// A template whose policy can be evaluated.
pub(super) struct Template<'a> {
    resource: &'a Resource,
    scripts: Vec<NodeRef<'a>>,
    engine: Engine,
    rule: String,
}

impl<'a> Template<'a> {
    /// Reads the policy of a template.
    pub(super) fn of(resource: &'a Resource) -> Result<Self, Error> {
        let policy = Policy::of(resource)?;
        let mut engine = Engine::new();
        engine.set_rego_v0(!policy.is_v1);
        engine.set_execution_timer_config(ExecutionTimerConfig {
            limit: TIME_LIMIT,
            check_interval: CHECK_INTERVAL,
        });
        let scripts: Vec<NodeRef<'a>> = [policy.rego].into_iter().chain(policy.libs).collect();
        let mut template = Self { resource, scripts, engine, rule: String::new() };
        for at in 0..template.scripts.len() {
            let script = template.scripts[at].as_scalar().map(|it| expand_imports(&it.value()));
            let package = template.engine.add_policy(at.to_string(), script.unwrap_or_default());
            let package = package.map_err(|error| template.diagnostic(&error))?;
            if at == 0 {
                template.rule = format!("{package}.violation");
            }
        }
        Ok(template)
    }

    /// Tells the policy of the other resources, as `data.inventory`.
    pub(super) fn set_inventory(&mut self, inventory: &Value) -> Result<(), Error> {
        let added = self.engine.add_data(inventory.clone());
        added.map_err(|error| self.diagnostic(&error).into())
    }

    /// The messages of all violations, sorted.
    pub(super) fn violations(&mut self, input: Value) -> Result<Vec<String>, Error> {
        self.engine.set_input(input);
        let found = self.engine.eval_rule(self.rule.clone());
        let found = found.map_err(|error| self.diagnostic(&error))?;
        let found = found.as_set().cloned().unwrap_or_default();
        let message = |it: &Value| match &it["msg"] {
            Value::String(text) => Ok(text.to_string()),
            _ => {
                let reason = "a violation has no string in `msg`";
                let hint = "write `violation[{\"msg\": msg}]`, and set `msg` to a string";
                Err(invalid(self.resource, self.scripts[0], reason).hint(hint).into())
            }
        };
        found.iter().map(message).collect()
    }

    /// The diagnostic for an error of the interpreter, at the line of the policy. Regorus has no error type of its own, so location
    /// and reason are taken from its report.
    fn diagnostic(&self, error: &anyhow::Error) -> Diagnostic {
        let report = format!("{error:#}");
        let reason = report.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let reason = reason.unwrap_or_default().trim_start_matches("error: ");
        let location = report.lines().find_map(|line| {
            let mut parts = line.trim().strip_prefix("--> ")?.rsplitn(3, ':');
            let (column, line) = (parts.next()?.parse::<usize>(), parts.next()?.parse::<usize>());
            let script: usize = parts.next()?.parse().ok()?;
            let at = ScriptPosition {
                line: line.ok()?.checked_sub(1)?,
                column: column.ok()?.saturating_sub(1),
            };
            Some((*self.scripts.get(script)?, at))
        });
        let hint = match reason.contains("could not find function") {
            true => {
                "functions that use the network, the clock or randomness are not available; use `--no-builtin` to run the image"
            }
            false => "correct the policy of the template",
        };
        let kind = CatalogKind::PolicyFailed { reason: reason.into() };
        let error = Diagnostic::error(kind).hint(hint);
        match location {
            Some((node, at)) => {
                let text = node.as_scalar().map(|it| it.value()).unwrap_or_default();
                let end = ScriptPosition { column: at.column + 1, ..at };
                script_location::locate(error, self.resource, node, (&text, at, end))
            }
            None => located(error, self.resource, self.scripts[0]),
        }
    }
}

/// The source of a policy.
struct Policy<'a> {
    rego: NodeRef<'a>,
    libs: Vec<NodeRef<'a>>,
    is_v1: bool,
}

impl<'a> Policy<'a> {
    fn of(resource: &'a Resource) -> Result<Self, Error> {
        let targets = below(resource.root(), &["spec", "targets"]);
        let target = targets.and_then(NodeRef::as_sequence).and_then(|it| it.items().next());
        let Some(target) = target.map(NodeRef::resolve) else {
            let hint = "add a target with the policy in `rego`";
            let error = invalid(resource, resource.root(), "missing field `spec.targets`");
            return Err(error.hint(hint).into());
        };
        let engines: Vec<NodeRef<'a>> = items(target, "code").collect();
        let is_rego = |code: &&NodeRef<'a>| text(**code, "engine").is_some_and(|it| it == "Rego");
        let source = engines.iter().find(is_rego).and_then(|code| below(*code, &["source"]));
        let holder = source.unwrap_or(target);
        let rego = below(holder, &["rego"]).filter(|it| it.as_scalar().is_some());
        let Some(rego) = rego else {
            return Err(match engines.first() {
                Some(code) => unsupported_engine(resource, *code),
                None => invalid(resource, target, "missing field `rego`")
                    .hint("write the policy as a block scalar: `rego: |`"),
            }
            .into());
        };
        let is_v1 = text(holder, "version").is_some_and(|it| it == "v1");
        Ok(Self { rego, libs: items(holder, "libs").collect(), is_v1 })
    }
}

/// The diagnostic for a policy in another language.
fn unsupported_engine(resource: &Resource, code: NodeRef<'_>) -> Diagnostic {
    let name = text(code, "engine").unwrap_or_default();
    let reason = match &*name {
        "K8sNativeValidation" => "policies in CEL are not supported".to_owned(),
        name => format!("policies for the engine `{name}` are not supported"),
    };
    invalid(resource, code, &reason)
        .hint("add a policy in `rego`, or use `--no-builtin` to run the image")
}

fn invalid(resource: &Resource, node: NodeRef<'_>, reason: &str) -> Diagnostic {
    let (template, reason) = (resource.name().into_owned(), reason.to_owned());
    located(Diagnostic::error(CatalogKind::InvalidTemplate { template, reason }), resource, node)
}

fn located(error: Diagnostic, resource: &Resource, node: NodeRef<'_>) -> Diagnostic {
    let mut error = error.at(resource.item().file(), node.span());
    error.file = resource.path().map(|path| path.as_str().into());
    error
}
