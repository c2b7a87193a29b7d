//! The code of a ConstraintTemplate: Rego, or CEL where there is no Rego.

use std::borrow::Cow;

use krm_sdk::{Error, Resource};
use krm_yaml::NodeRef;

use super::dialect::adapt;
use super::exchange::{CelSource, PolicySource, Validation};
use super::imports::expand_imports;
use super::template::invalid;
use crate::lookup::{below, items, text};

/// The code of a template.
pub(super) enum TemplateCode<'a> {
    Rego(RegoCode<'a>),
    Cel(CelCode<'a>),
}

/// A policy and its libraries.
pub(super) struct RegoCode<'a> {
    pub(super) nodes: Vec<NodeRef<'a>>,
    pub(super) scripts: Vec<String>,
    pub(super) is_v1: bool,
}

/// Expressions.
#[derive(Default)]
pub(super) struct CelCode<'a> {
    /// The node of each expression, by its number.
    pub(super) nodes: Vec<NodeRef<'a>>,
    ignores_failure: bool,
    variables: Vec<(Cow<'a, str>, Cow<'a, str>)>,
    conditions: Vec<Cow<'a, str>>,
    validations: Vec<[Cow<'a, str>; 3]>,
}

impl<'a> TemplateCode<'a> {
    /// Compat: the image of the kpt function has only Rego. Of a template with code for both engines it would use the Rego, and so
    /// does this function; Gatekeeper in a cluster prefers CEL if it is enabled.
    pub(super) fn of(resource: &'a Resource) -> Result<Self, Error> {
        let targets = below(resource.root(), &["spec", "targets"]);
        let target = targets.and_then(NodeRef::as_sequence).and_then(|it| it.items().next());
        let Some(target) = target.map(NodeRef::resolve) else {
            let hint = "add a target with the policy in `rego`";
            let error = invalid(resource, resource.root(), "missing field `spec.targets`");
            return Err(error.hint(hint).into());
        };
        let engines: Vec<NodeRef<'a>> = items(target, "code").collect();
        let code_of = |name: &str| {
            let code =
                engines.iter().find(|code| text(**code, "engine").is_some_and(|it| it == name));
            code.map(|code| below(*code, &["source"]).unwrap_or(*code))
        };
        let holder = code_of("Rego").unwrap_or(target);
        let rego = below(holder, &["rego"]).filter(|it| it.as_scalar().is_some());
        if let Some(rego) = rego {
            let nodes: Vec<NodeRef<'a>> = [rego].into_iter().chain(items(holder, "libs")).collect();
            let scripts = nodes.iter().map(|node| adapt(&expand_imports(&scalar(*node)))).collect();
            let is_v1 = text(holder, "version").is_some_and(|it| it == "v1");
            return Ok(Self::Rego(RegoCode { nodes, scripts, is_v1 }));
        }
        if let Some(source) = code_of("K8sNativeValidation") {
            return CelCode::of(resource, source).map(Self::Cel);
        }
        Err(match engines.first() {
            Some(code) => {
                let name = text(*code, "engine").unwrap_or_default();
                let reason = format!("policies for the engine `{name}` are not supported");
                invalid(resource, *code, &reason)
                    .hint("add a policy in Rego or CEL, or use `--no-builtin` to run the image")
            }
            None => invalid(resource, target, "missing field `rego`")
                .hint("write the policy as a block scalar: `rego: |`"),
        }
        .into())
    }

    /// The script or expression with this number.
    pub(super) fn node(&self, number: usize) -> Option<NodeRef<'a>> {
        match self {
            Self::Rego(code) => code.nodes.get(number).copied(),
            Self::Cel(code) => code.nodes.get(number).copied(),
        }
    }

    /// The code for the interpreter.
    pub(super) fn source(&self) -> PolicySource<'_> {
        match self {
            Self::Rego(code) => PolicySource::Rego {
                is_v1: code.is_v1,
                scripts: code.scripts.iter().map(String::as_str).collect(),
            },
            Self::Cel(code) => PolicySource::Cel(code.source()),
        }
    }
}

/// The text of a scalar; empty for any other node.
pub(super) fn scalar(node: NodeRef<'_>) -> Cow<'_, str> {
    node.as_scalar().map(|it| it.value()).unwrap_or_default()
}

impl<'a> CelCode<'a> {
    fn of(resource: &'a Resource, source: NodeRef<'a>) -> Result<Self, Error> {
        // Gatekeeper ignores unknown fields, and with them a condition that somebody relies on.
        let misspelled = below(source, &["matchConditions"]);
        if let Some(node) = misspelled {
            let error = invalid(resource, node, "unknown field `matchConditions`");
            return Err(error.hint("use `matchCondition`").into());
        }
        let mut code =
            Self { ignores_failure: ignores_failure(resource, source)?, ..Self::default() };
        for variable in items(source, "variables") {
            let name = text(variable, "name").unwrap_or_default();
            if matches!(&*name, "" | "params" | "anyObject")
                || name.starts_with("gatekeeper_internal_")
            {
                let reason = format!("`{name}` is not a valid name of a variable");
                return Err(invalid(resource, variable, &reason).hint("use another name").into());
            }
            let expression = code.expression(resource, variable)?;
            code.variables.push((name, expression));
        }
        for condition in items(source, "matchCondition") {
            let expression = code.expression(resource, condition)?;
            code.conditions.push(expression);
        }
        let mut messages = Vec::new();
        for validation in items(source, "validations") {
            let field = |name: &str| text(validation, name).unwrap_or_default();
            let expression = code.expression(resource, validation)?;
            messages.push(below(validation, &["messageExpression"]).unwrap_or(validation));
            code.validations.push([expression, field("message"), field("messageExpression")]);
        }
        code.nodes.append(&mut messages);
        if code.validations.is_empty() {
            let error = invalid(resource, source, "missing field `validations`");
            return Err(error.hint("add a validation with an `expression`").into());
        }
        Ok(code)
    }

    fn expression(
        &mut self,
        resource: &Resource,
        holder: NodeRef<'a>,
    ) -> Result<Cow<'a, str>, Error> {
        match below(holder, &["expression"]).filter(|it| it.as_scalar().is_some()) {
            Some(node) => {
                self.nodes.push(node);
                Ok(scalar(node))
            }
            None => {
                let error = invalid(resource, holder, "missing field `expression`");
                Err(error.hint("write the expression as a string").into())
            }
        }
    }

    fn source(&self) -> CelSource<'_> {
        CelSource {
            ignores_failure: self.ignores_failure,
            variables: self.variables.iter().map(|(name, text)| (&**name, &**text)).collect(),
            conditions: self.conditions.iter().map(|it| &**it).collect(),
            validations: self
                .validations
                .iter()
                .map(|[expression, message, message_expression]| Validation {
                    expression,
                    message,
                    message_expression,
                })
                .collect(),
        }
    }
}

/// `failurePolicy`: `Fail`, which is the default, or `Ignore`.
fn ignores_failure(resource: &Resource, source: NodeRef<'_>) -> Result<bool, Error> {
    match text(source, "failurePolicy").as_deref() {
        None | Some("Fail") => Ok(false),
        Some("Ignore") => Ok(true),
        Some(other) => {
            let node = below(source, &["failurePolicy"]).unwrap_or(source);
            let reason = format!("unknown failure policy `{other}`");
            Err(invalid(resource, node, &reason).hint("use `Fail` or `Ignore`").into())
        }
    }
}
