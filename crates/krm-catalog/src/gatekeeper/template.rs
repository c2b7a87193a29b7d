//! ConstraintTemplates: Rego policies, which constraints parameterize.

use krm_sdk::{Diagnostic, Error, Resource};
use krm_yaml::NodeRef;

use super::exchange::PolicySource;
use super::imports::expand_imports;
use super::recursion::{Recursion, find_recursion};
use crate::interpreter::{self, Syntax, check_nesting};
use crate::kinds::CatalogKind;
use crate::lookup::{below, items, text};
use crate::script_location::{self, ScriptPosition};

const GROUP: &str = "templates.gatekeeper.sh";
/// What nests in Rego.
const SYNTAX: Syntax = Syntax {
    comment: "#",
    quotes: "\"",
    has_triple_quotes: false,
    has_raw_prefix: false,
    raw_quote: Some('`'),
    keywords: &["else", "if", "in", "with"],
    prefixes: &["every", "not"],
    is_indented: false,
};

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

/// A template and its policy.
pub(super) struct Template<'a> {
    resource: &'a Resource,
    nodes: Vec<NodeRef<'a>>,
    /// The policy and its libraries, for the interpreter.
    scripts: Vec<String>,
    is_v1: bool,
}

impl<'a> Template<'a> {
    /// Reads the policy of a template.
    pub(super) fn of(resource: &'a Resource) -> Result<Self, Error> {
        let policy = Policy::of(resource)?;
        let nodes: Vec<NodeRef<'a>> = [policy.rego].into_iter().chain(policy.libs).collect();
        let text = |node: &NodeRef<'a>| node.as_scalar().map(|it| it.value()).unwrap_or_default();
        for node in &nodes {
            check_nesting(&text(node), &SYNTAX).map_err(|at| {
                let at = ScriptPosition { line: at.line, column: at.column };
                locate(interpreter::too_deep(), resource, *node, at)
            })?;
        }
        let scripts: Vec<String> = nodes.iter().map(|node| expand_imports(&text(node))).collect();
        if let Some(Recursion { script, at, cycle }) = find_recursion(&scripts) {
            let error = Diagnostic::error(CatalogKind::RecursiveFunction { cycle: cycle.into() });
            return Err(locate(error, resource, nodes[script], at).into());
        }
        Ok(Self { resource, nodes, scripts, is_v1: policy.is_v1 })
    }

    /// The policy for the interpreter.
    pub(super) fn source(&self) -> PolicySource<'_> {
        let scripts = self.scripts.iter().map(String::as_str).collect();
        PolicySource { is_v1: self.is_v1, scripts }
    }

    /// The diagnostic for a violation without a message.
    pub(super) fn no_message(&self) -> Diagnostic {
        let reason = "a violation has no string in `msg`";
        let hint = "write `violation[{\"msg\": msg}]`, and set `msg` to a string";
        invalid(self.resource, self.nodes[0], reason).hint(hint)
    }

    /// The diagnostic for an error of the interpreter, at the line of the policy. Regorus has no error type of its own, so location
    /// and reason are taken from its report.
    pub(super) fn failed(&self, report: &str) -> Diagnostic {
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
            Some((*self.nodes.get(script)?, at))
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
            Some((node, at)) => locate(error, self.resource, node, at),
            None => located(error, self.resource, self.nodes[0]),
        }
    }
}

/// Locates a diagnostic in a script of the template.
fn locate(
    error: Diagnostic,
    resource: &Resource,
    node: NodeRef<'_>,
    at: ScriptPosition,
) -> Diagnostic {
    let text = node.as_scalar().map(|it| it.value()).unwrap_or_default();
    let end = ScriptPosition { column: at.column + 1, ..at };
    script_location::locate(error, resource, node, (&text, at, end))
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
