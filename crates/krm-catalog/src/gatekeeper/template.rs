//! ConstraintTemplates: policies, which constraints parameterize.

use krm_sdk::{Diagnostic, Error, Resource};
use krm_yaml::NodeRef;

use super::exchange::PolicySource;
use super::recursion::{Recursion, find_recursion};
use super::template_code::{RegoCode, TemplateCode, scalar};
use crate::interpreter::{self, Syntax, check_nesting};
use crate::kinds::CatalogKind;
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
    max_brackets: MAX_BRACKETS,
};
/// The maximal depth of brackets. The parser of the interpreter reads what is in a bracket up to twice to find out what it is, so its
/// time doubles with every level; policies of Gatekeeper's library have at most six.
const MAX_BRACKETS: usize = 16;

/// Whether a resource is a template.
pub(super) fn is_template(resource: &Resource) -> bool {
    resource.kind() == "ConstraintTemplate" && resource.view().group() == GROUP
}

/// The kind of the constraints of a template.
pub(super) fn kind(resource: &Resource) -> Result<String, Error> {
    let kind = resource.get_text("spec.crd.spec.names.kind")?.filter(|kind| !kind.is_empty());
    let missing = || {
        invalid(resource, resource.root(), "missing field `spec.crd.spec.names.kind`")
            .hint("set it to the kind of the constraints")
    };
    Ok(kind.ok_or_else(missing)?)
}

/// A template and its policy.
pub(super) struct Template<'a> {
    resource: &'a Resource,
    code: TemplateCode<'a>,
}

impl<'a> Template<'a> {
    /// Reads the policy of a template.
    pub(super) fn of(resource: &'a Resource) -> Result<Self, Error> {
        let code = TemplateCode::of(resource)?;
        if let TemplateCode::Rego(code) = &code {
            check_rego(resource, code)?;
        }
        Ok(Self { resource, code })
    }

    /// The policy for the interpreter.
    pub(super) fn source(&self) -> PolicySource<'_> {
        self.code.source()
    }

    /// The script or expression with a number, or the whole template.
    fn node(&self, number: usize) -> NodeRef<'a> {
        self.code.node(number).unwrap_or(self.resource.root())
    }

    /// The diagnostic for an expression that is invalid or cannot be evaluated.
    pub(super) fn failed_expression(&self, number: usize, reason: &str) -> Diagnostic {
        let kind = CatalogKind::PolicyFailed { reason: reason.into() };
        let hint = match reason.contains("unknown function") {
            true => "use a function that is available, or `--no-builtin` to run the image",
            false => "correct the expression of the template",
        };
        located(Diagnostic::error(kind).hint(hint), self.resource, self.node(number))
    }

    /// The diagnostic for a violation without a message.
    pub(super) fn no_message(&self) -> Diagnostic {
        let reason = "a violation has no string in `msg`";
        let hint = "write `violation[{\"msg\": msg}]`, and set `msg` to a string";
        invalid(self.resource, self.node(0), reason).hint(hint)
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
            Some((self.code.node(script)?, at))
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
            None => located(error, self.resource, self.node(0)),
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

/// Finds what the interpreter cannot handle before it is called.
fn check_rego(resource: &Resource, code: &RegoCode<'_>) -> Result<(), Error> {
    for node in &code.nodes {
        check_nesting(&scalar(*node), &SYNTAX).map_err(|found| {
            let at = ScriptPosition { line: found.line, column: found.column };
            locate(interpreter::too_deep(found), resource, *node, at)
        })?;
    }
    if let Some(Recursion { script, at, cycle }) = find_recursion(&code.scripts) {
        let error = Diagnostic::error(CatalogKind::RecursiveFunction { cycle: cycle.into() });
        return Err(locate(error, resource, code.nodes[script], at).into());
    }
    Ok(())
}

pub(super) fn invalid(resource: &Resource, node: NodeRef<'_>, reason: &str) -> Diagnostic {
    let (template, reason) = (resource.name(), reason.to_owned());
    located(Diagnostic::error(CatalogKind::InvalidTemplate { template, reason }), resource, node)
}

fn located(error: Diagnostic, resource: &Resource, node: NodeRef<'_>) -> Diagnostic {
    let mut error = error.at(resource.item().file(), node.span());
    error.file = resource.path().map(|path| path.as_str().into());
    error
}
