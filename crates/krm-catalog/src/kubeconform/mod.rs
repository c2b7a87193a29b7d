//! `kubeconform` and `kubeval`: validate resources against the schemas of Kubernetes and of CustomResourceDefinitions.

mod check;
mod config;
mod definitions;
mod formats;
mod limits;
mod locations;
mod output_format;
mod rules;

use krm_sdk::{Diagnostic, Error, FunctionResult, ResourceList, Severity};
use krm_yaml::{File, NodeRef};

use crate::schema_files::SchemaFiles;
use crate::validation_input::ValidationInput;
use crate::{Builtin, Run, releases};
use check::{Problem, Violation};
use config::Config;
use definitions::{Definitions, Found};
use output_format::OutputFormat;

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "kubeconform",
    aliases: &[],
    summary: "validate every resource against the schema of its kind",
    doc: include_str!("../../doc/kubeconform.md"),
    releases: releases::KUBECONFORM,
    run: Run::Validating(run),
};

/// The description of the older function.
pub const KUBEVAL: Builtin = Builtin {
    name: "kubeval",
    aliases: &[],
    summary: "validate every resource against the schema of its kind, with the messages of kubeval",
    doc: include_str!("../../doc/kubeval.md"),
    releases: releases::KUBEVAL,
    run: Run::Validating(kubeval),
};

/// Validates all resources, and reports violations as results.
pub fn run(list: &mut ResourceList, files: &dyn SchemaFiles) -> Result<(), Error> {
    check_all(list, files, OutputFormat::Kubeconform)
}

/// Validates all resources, with the messages of kubeval.
pub fn kubeval(list: &mut ResourceList, files: &dyn SchemaFiles) -> Result<(), Error> {
    check_all(list, files, OutputFormat::Kubeval)
}

/// What a validator decides about a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It matches its schema.
    Valid,
    /// It does not match its schema.
    Invalid,
    /// It is not validated.
    Skipped,
    /// It cannot be validated, or its kind is rejected.
    Error,
}

/// A verdict with the results for it.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Violations, and warnings about values that readers disagree about.
    pub results: Vec<FunctionResult>,
}

/// The verdict of kubeconform about every item of a list, in order.
///
/// # Errors
/// If the functionConfig is invalid, or a schema cannot be read.
pub fn judge(list: &ResourceList, files: &dyn SchemaFiles) -> Result<Vec<Judgement>, Error> {
    judge_all(list, files, OutputFormat::Kubeconform)
}

fn check_all(
    list: &mut ResourceList,
    files: &dyn SchemaFiles,
    output_format: OutputFormat,
) -> Result<(), Error> {
    let judgements = judge_all(list, files, output_format)?;
    list.results.extend(judgements.into_iter().flat_map(|it| it.results));
    Ok(())
}

fn judge_all(
    list: &ResourceList,
    files: &dyn SchemaFiles,
    output_format: OutputFormat,
) -> Result<Vec<Judgement>, Error> {
    let config: Config = list.config_or_default()?;
    let function_config = list.function_config.as_ref();
    let settings = config.settings(function_config, files)?;
    let definition_files = parse_definitions(files)?;
    // An unreadable definition leaves its resources without rules, so it is an error even if its kind is skipped.
    let inputs: Vec<_> = list.items.iter().map(ValidationInput::of).collect();
    let readable = || inputs.iter().filter_map(|it| it.as_ref().ok()).map(|it| &*it.read);
    let mut definitions =
        Definitions::new(settings.locations, settings.table, &settings.version, config.strict);
    definition_files.iter().for_each(|file| definitions.add_file(file));
    definitions.add_resources(readable());
    for resource in readable().filter(|it| !config.skips(it) && !config.rejects(it)) {
        definitions.load(resource, files)?;
    }
    let judge = |input: &Result<ValidationInput<'_>, Vec<FunctionResult>>| match input {
        Ok(input) => judge_one(input, &config, &definitions, output_format),
        Err(results) => Judgement { verdict: Verdict::Error, results: results.clone() },
    };
    Ok(inputs.iter().map(judge).collect())
}

fn judge_one(
    input: &ValidationInput<'_>,
    config: &Config,
    definitions: &Definitions<'_>,
    output_format: OutputFormat,
) -> Judgement {
    let (resource, read) = (input.written, &*input.read);
    let error = |message: String| FunctionResult::from(resource.result(Severity::Error, message));
    if config.skips(read) {
        return Judgement { verdict: Verdict::Skipped, results: Vec::new() };
    }
    if config.rejects(read) {
        let results = vec![error(format!("prohibited resource kind {}", read.kind()))];
        return Judgement { verdict: Verdict::Error, results };
    }
    match definitions.find(read) {
        Some(found) => violations(input, &found, config.strict, output_format),
        None if config.reports_missing(read, output_format) => {
            let message = format!(
                "no schema for {} {}; add its CustomResourceDefinition, or set `ignore_missing_schemas` or `skip_kinds`",
                read.api_version(),
                read.kind()
            );
            Judgement { verdict: Verdict::Error, results: vec![error(message)] }
        }
        None => Judgement { verdict: Verdict::Skipped, results: Vec::new() },
    }
}

/// The violations of one resource, and where readers disagree about its types.
fn violations(
    input: &ValidationInput<'_>,
    found: &Found<'_>,
    is_strict: bool,
    output_format: OutputFormat,
) -> Judgement {
    let read = input.read.root();
    let mut violations = names(read, found);
    violations.extend(check::check(read, found.rules, is_strict));
    let is_valid = violations.is_empty();
    let mut results = output_format.results(input.written, violations);
    if !input.differences.is_empty() {
        // The resource as YAML 1.2 reads it: a type that only Kubernetes accepts depends on the reader.
        let written = check::check(input.written.root(), found.rules, is_strict);
        results.extend(input.differences.iter().map(|difference| {
            let node = difference.scalar.node();
            input.finding(*difference, written.iter().any(|it| it.is_about_type_of(node)))
        }));
    }
    let verdict = if is_valid { Verdict::Valid } else { Verdict::Invalid };
    Judgement { verdict, results }
}

/// Violations for an `apiVersion` and `kind` that are spelled in another way than those of the schema.
fn names<'a>(resource: NodeRef<'a>, found: &Found<'_>) -> Vec<Violation<'a>> {
    let Some((api_version, kind)) = &found.expected else { return Vec::new() };
    let violation = |(name, expected): (&str, &String)| {
        let node = resource.as_mapping()?.get(name)?;
        let is_other = node.as_str().is_none_or(|it| it != **expected);
        let problem = Problem::Rule(limits::not_one_of(std::iter::once(format!("'{expected}'"))));
        is_other.then_some(Violation { node, problem })
    };
    [("apiVersion", api_version), ("kind", kind)].into_iter().filter_map(violation).collect()
}

/// The files with CustomResourceDefinitions that the user named.
fn parse_definitions(files: &dyn SchemaFiles) -> Result<Vec<File>, Diagnostic> {
    let mut parsed = Vec::new();
    for (name, text) in files.definitions() {
        parsed.push(locations::parse(name, text.clone())?);
    }
    Ok(parsed)
}
