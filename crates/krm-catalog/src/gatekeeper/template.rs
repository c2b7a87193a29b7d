//! ConstraintTemplates: a policy in Rego that constraints of its kind give parameters.

use core::time::Duration;
use std::num::NonZeroU32;

use krm_sdk::{Diagnostic, Error, Resource};
use krm_yaml::NodeRef;
use regorus::utils::limits::ExecutionTimerConfig;
use regorus::{Engine, Value};

use super::imports::written_out;
use crate::look::{below, items, text};
use crate::script_place::{self, At};

const GROUP: &str = "templates.gatekeeper.sh";
/// One evaluation of one policy on one resource takes no longer. The interpreter counts no steps: its clock is the only limit that it
/// has, and the only way in which time reaches this room. It decides whether there is an answer, never which.
const MOST_TIME: Duration = Duration::from_secs(10);
/// How many steps of an evaluation go by between two looks at the clock.
const STEPS: NonZeroU32 = NonZeroU32::new(4096).expect("it is more than zero");

/// Whether a resource is a template.
pub(super) fn is_template(resource: &Resource) -> bool {
    resource.kind() == "ConstraintTemplate" && resource.view().group() == GROUP
}

/// The kind of the constraints of a template.
pub(super) fn kind(resource: &Resource) -> Result<String, Error> {
    let kind = resource.get_text("spec.crd.spec.names.kind").filter(|kind| !kind.is_empty());
    let told = || {
        tell(resource, resource.root(), "a template needs `spec.crd.spec.names.kind`")
            .hint("put the kind of its constraints there")
    };
    Ok(kind.ok_or_else(told)?.into_owned())
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
            limit: MOST_TIME,
            check_interval: STEPS,
        });
        let scripts: Vec<NodeRef<'a>> = [policy.rego].into_iter().chain(policy.libs).collect();
        let mut template = Self { resource, scripts, engine, rule: String::new() };
        for at in 0..template.scripts.len() {
            let script = template.scripts[at].as_scalar().map(|it| written_out(&it.value()));
            let package = template.engine.add_policy(at.to_string(), script.unwrap_or_default());
            let package = package.map_err(|error| template.explain(&error))?;
            if at == 0 {
                template.rule = format!("{package}.violation");
            }
        }
        Ok(template)
    }

    /// Tells the policy of the other resources, as `data.inventory`.
    pub(super) fn know(&mut self, inventory: &Value) -> Result<(), Error> {
        let added = self.engine.add_data(inventory.clone());
        added.map_err(|error| self.explain(&error).into())
    }

    /// What is violated: messages, sorted.
    pub(super) fn violations(&mut self, input: Value) -> Result<Vec<String>, Error> {
        self.engine.set_input(input);
        let found = self.engine.eval_rule(self.rule.clone());
        let found = found.map_err(|error| self.explain(&error))?;
        let found = found.as_set().cloned().unwrap_or_default();
        let message = |it: &Value| match &it["msg"] {
            Value::String(text) => Ok(text.to_string()),
            _ => {
                let words = "a violation of the policy has no `msg` that is a text";
                let hint = "write `violation[{\"msg\": msg}]`, and give `msg` a text";
                Err(tell(self.resource, self.scripts[0], words).hint(hint).into())
            }
        };
        found.iter().map(message).collect()
    }

    /// What Rego says, at the line of the file where it says so.
    fn explain(&self, error: &anyhow::Error) -> Diagnostic {
        let told = format!("{error:#}");
        let words = told.lines().rev().map(str::trim).find(|line| !line.is_empty());
        let words = words.unwrap_or_default().trim_start_matches("error: ");
        let place = told.lines().find_map(|line| {
            let mut parts = line.trim().strip_prefix("--> ")?.rsplitn(3, ':');
            let (column, line) = (parts.next()?.parse::<usize>(), parts.next()?.parse::<usize>());
            let script: usize = parts.next()?.parse().ok()?;
            let at =
                At { line: line.ok()?.checked_sub(1)?, column: column.ok()?.saturating_sub(1) };
            Some((*self.scripts.get(script)?, at))
        });
        let hint = match words.contains("could not find function") {
            true => {
                "a built-in function has no network, clock or chance; run the image itself, with `--no-builtin`"
            }
            false => "look at the policy of the template here",
        };
        let message = format!("the policy cannot be evaluated: {words}");
        match place {
            Some((node, at)) => {
                let text = node.as_scalar().map(|it| it.value()).unwrap_or_default();
                let end = At { column: at.column + 1, ..at };
                script_place::tell(
                    Diagnostic::untyped_error(message).hint(hint),
                    self.resource,
                    node,
                    (&text, at, end),
                )
            }
            None => tell(self.resource, self.scripts[0], &message).hint(hint),
        }
    }
}

/// The texts of a policy.
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
            let words = "a template needs `spec.targets` with a policy";
            let hint = "add a target with the policy as `rego`";
            return Err(tell(resource, resource.root(), words).hint(hint).into());
        };
        let engines: Vec<NodeRef<'a>> = items(target, "code").collect();
        let is_rego = |code: &&NodeRef<'a>| text(**code, "engine").is_some_and(|it| it == "Rego");
        let source = engines.iter().find(is_rego).and_then(|code| below(*code, &["source"]));
        let holder = source.unwrap_or(target);
        let rego = below(holder, &["rego"]).filter(|it| it.as_scalar().is_some());
        let Some(rego) = rego else {
            return Err(match engines.first() {
                Some(code) => refuse(resource, *code),
                None => tell(resource, target, "a template needs `rego`, the policy")
                    .hint("put the policy behind `rego: |`"),
            }
            .into());
        };
        let is_v1 = text(holder, "version").is_some_and(|it| it == "v1");
        Ok(Self { rego, libs: items(holder, "libs").collect(), is_v1 })
    }
}

/// Policies in other languages are not for us.
fn refuse(resource: &Resource, code: NodeRef<'_>) -> Diagnostic {
    let name = text(code, "engine").unwrap_or_default();
    let words = match &*name {
        "K8sNativeValidation" => {
            "the policy is written in CEL, and only Rego is built in".to_owned()
        }
        name => format!("the policy is for the engine `{name}`, and only Rego is built in"),
    };
    tell(resource, code, &words).hint(
        "give the template a `rego` policy, too, or run the image itself, with `--no-builtin`",
    )
}

fn tell(resource: &Resource, node: NodeRef<'_>, words: &str) -> Diagnostic {
    let told =
        Diagnostic::untyped_error(format!("ConstraintTemplate {}: {words}", resource.name()));
    let mut told = told.at(resource.item().file(), node.span());
    told.file = resource.path().map(|path| path.as_str().into());
    told
}
