//! `starlark`: runs a Starlark script that changes or validates the resources.

mod answer;
mod display;
mod engine;
mod exchange;
mod globals;
mod interpolation;
mod json;
mod location;
mod loops;
mod math;
mod native;
mod render;
mod values;

use std::collections::BTreeMap;

use krm_core::diagnostics::CommonKind;
use krm_core::functions::resource_list::InputList;
use krm_sdk::{Diagnostic, Error, Resource, ResourceList};
use krm_yaml::{NodeRef, ScalarType};

use crate::config::{at_field, rejected};
use crate::interpreter::{InProcess, Interpreter, MAX_NESTING, Syntax, check_nesting};
use crate::{Builtin, Run, releases};
pub use exchange::LANGUAGE;
use exchange::Request;
use location::Script;

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "starlark",
    aliases: &[],
    summary: "run a Starlark script of the functionConfig on the resources",
    doc: include_str!("../../doc/starlark.md"),
    releases: releases::STARLARK,
    run: Run::Interpreted(run),
};

const API_VERSION: &str = "fn.kpt.dev/v1alpha1";
const KIND: &str = "StarlarkRun";

/// What nests in Starlark.
const SYNTAX: Syntax = Syntax {
    comment: "#",
    quotes: "'\"",
    has_triple_quotes: true,
    has_raw_prefix: false,
    raw_quote: None,
    keywords: &["and", "else", "for", "if", "in", "or", "while"],
    prefixes: &["lambda", "not"],
    is_indented: true,
    max_brackets: MAX_NESTING,
};

/// Runs the script of the functionConfig.
pub fn run(list: &mut ResourceList, interpreter: &dyn Interpreter) -> Result<(), Error> {
    let config = list.function_config.clone();
    let Some(config) = config.filter(|config| config.root().as_mapping().is_some()) else {
        let error = rejected("FunctionConfig is missing. Expect `ConfigMap` or `StarlarkRun`");
        return Err(error.hint(kind_hint()).into());
    };
    let text = source(&config)?;
    let name = config.name();
    let name = if name.is_empty() { "starlark-function-run" } else { &name };
    let node = config.get_in(["source"]).or_else(|| config.get_in(["data", "source"]));
    let field = node.map(|node| (&config, node));
    run_source(Script { name, text: &text, field }, list, interpreter)
}

/// Runs a script file, as `krm fn eval --starlark FILE` does. Any functionConfig is passed to the script.
pub fn run_file(name: &str, text: &str, list: &mut ResourceList) -> Result<(), Error> {
    run_file_with(name, text, list, &InProcess)
}

/// Like [`run_file`], with an interpreter of the caller's choice.
pub fn run_file_with(
    name: &str,
    text: &str,
    list: &mut ResourceList,
    interpreter: &dyn Interpreter,
) -> Result<(), Error> {
    run_source(Script { name, text, field: None }, list, interpreter)
}

fn run_source(
    script: Script<'_>,
    list: &mut ResourceList,
    interpreter: &dyn Interpreter,
) -> Result<(), Error> {
    check_nesting(script.text, &SYNTAX).map_err(|at| script.too_deep(at))?;
    let input = InputList::of(list.items.iter().map(Resource::item), &answer::options(list))?;
    let rewritten = loops::rewrite_while(&loops::rename_methods(script.text));
    let request = Request { name: script.name, source: &rewritten.text, list: input.text() };
    let response = request.send(interpreter)?;
    list.log.extend(response.printed);
    let output = response.outcome.map_err(|error| script.diagnostic(error, &rewritten))?;
    list.items = answer::resources(&input, output)?;
    Ok(())
}

/// The script of a functionConfig.
fn source(config: &Resource) -> Result<String, Error> {
    let (api_version, kind) = (config.api_version(), config.kind());
    if !matches!((&*api_version, &*kind), ("v1", "ConfigMap") | (API_VERSION, KIND)) {
        let named = |api_version: &str, kind: &str| {
            let group = if api_version.contains('/') { "" } else { "/" };
            format!("{group}{api_version}, Kind={kind}")
        };
        let message = format!(
            "`functionConfig` must be either {} or {}, but we got: {}",
            named("v1", "ConfigMap"),
            named(API_VERSION, KIND),
            named(&api_version, &kind),
        );
        return Err(locate(rejected(message).hint(kind_hint()), config, "kind").into());
    }
    let source = match &*kind {
        KIND => source_field(config)?,
        _ => config.read_config::<BTreeMap<String, String>>()?.remove("source").unwrap_or_default(),
    };
    if source.trim().is_empty() {
        let error = rejected("`source` must not be empty");
        let error = error.hint("write the script as a block scalar: `source: |`");
        return Err(locate(error, config, "source").into());
    }
    Ok(source)
}

/// The field `source` of a StarlarkRun. Other fields are for the script, which may read any field of its functionConfig.
fn source_field(config: &Resource) -> Result<String, Error> {
    let Some(node) = config.get_in(["source"]).map(NodeRef::resolve) else {
        return Ok(String::new());
    };
    match node.as_scalar().map(|scalar| (scalar.resolve(), scalar.value())) {
        Some((ScalarType::String, text)) => Ok(text.into_owned()),
        Some((ScalarType::Null, _)) => Ok(String::new()),
        _ => {
            let error = Diagnostic::error(CommonKind::wrong_type("a string", node));
            Err(at_field(config, "source", error).into())
        }
    }
}

fn kind_hint() -> String {
    format!("use a `{KIND}` of `{API_VERSION}` with the script in `source`")
}

/// Locates a diagnostic at a field of the functionConfig, or at its root if the field is missing.
fn locate(diagnostic: Diagnostic, config: &Resource, field: &str) -> Diagnostic {
    let node = config.get_in([field]).or_else(|| config.get_in(["data", field]));
    let diagnostic = diagnostic.at(config.item().file(), node.unwrap_or(config.root()).span());
    match config.path() {
        Some(path) => diagnostic.in_file(path.as_str()),
        None => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpreter::{Language, STACK_SIZE};

    fn list() -> ResourceList {
        let pod =
            Resource::parse("apiVersion: v1\nkind: Pod\nmetadata: {name: a} # comment\n").unwrap();
        ResourceList { items: vec![pod], ..ResourceList::default() }
    }

    #[test]
    fn script_can_be_a_file() {
        let mut list = list();
        let script = "print('hello')\nn = 3\nwhile n > 1:\n  n -= 1\nctx.resource_list['items'][0]['spec'] = {'count': n}\n";
        run_file("n.star", script, &mut list).unwrap();
        assert_eq!(
            list.items[0].text(),
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a} # comment\nspec:\n  count: 1\n"
        );
        assert_eq!(list.log, ["hello"]);
    }

    #[test]
    fn script_can_look_up_types_of_kubernetes() {
        let script = "d = ctx.open_api['definitions']\nspec = d['io.k8s.api.apps.v1.Deployment']['properties']['spec']\nprint(spec['$ref'])\nname = spec['$ref'].split('/')[-1]\nprint(d[name]['properties']['replicas']['type'])\n";
        let mut list = list();
        run_file("n.star", script, &mut list).unwrap();
        assert_eq!(list.log, ["#/definitions/io.k8s.api.apps.v1.DeploymentSpec", "integer"]);
    }

    /// Evaluates on a quarter of the stack.
    struct SmallStack;

    impl Interpreter for SmallStack {
        fn evaluate(&self, language: &Language, request: &str) -> Result<String, Error> {
            let (evaluate, request) = (language.evaluate, request.to_owned());
            let thread = std::thread::Builder::new().stack_size(STACK_SIZE / 4);
            Ok(thread.spawn(move || evaluate(&request)).unwrap().join().unwrap())
        }
    }

    #[test]
    fn nested_scripts_fit_the_stack() {
        let repeat = |text: &str, count: usize| text.repeat(count);
        let deep = MAX_NESTING - 10;
        for script in [
            format!("x = {}{}", repeat("[", deep), repeat("]", deep)),
            format!("x = {}1{}", repeat("(", deep), repeat(")", deep)),
            format!("x = {}1", repeat("1 + ", deep)),
            format!("x = {}1", repeat("not ", deep)),
            format!("x = {}1", repeat("- ", deep)),
            format!("x = {}1", repeat("1 and ", deep)),
            format!("x = {}1", repeat("lambda: ", deep / 2)),
            format!("x = {}1", repeat("1 if 1 else ", deep / 2)),
            format!("x = {{}}{}", repeat(".get(1, {})", deep / 2 - 5)),
            format!("x = [1 {}]", repeat("for x in [1] ", deep / 4)),
            (0..deep - 5).map(|at| format!("{}if 1:\n", repeat(" ", at))).collect::<String>()
                + &repeat(" ", deep)
                + "x = 1",
            format!("if 0:\n  x = 1\n{}", repeat("elif 0:\n  x = 1\n", deep - 5)),
        ] {
            let ran = run_file_with("n.star", &script, &mut list(), &SmallStack);
            assert_eq!(ran, Ok(()), "{}", &script[..30]);
        }
    }

    #[test]
    fn deep_scripts_are_located() {
        let script = format!("x = 1\ny = {}\n", "[".repeat(4000));
        let error = run_file("n.star", &script, &mut list()).unwrap_err();
        let at = error.diagnostics[0].location.as_deref().unwrap();
        assert_eq!((error.diagnostics[0].id(), at.line), ("script-nesting", 2));
        assert_eq!(at.column as usize, 4 + MAX_NESTING - 1);
    }

    #[test]
    fn errors_of_a_script_file_are_located_in_it() {
        let script = "n = 0\nwhile n < 2:\n  n += 1\n  print(n)\n\nfail('no: [')\n";
        let mut list = list();
        let error = run_file("dir/n.star", script, &mut list).unwrap_err();
        let diagnostic = &error.diagnostics[0];
        let at = diagnostic.location.as_deref().unwrap();
        assert_eq!((diagnostic.file.as_deref(), at.line, at.column), (Some("dir/n.star"), 6, 1));
        assert_eq!((diagnostic.message(), at.text.as_str()), ("fail: no: [", "fail('no: [')"));
        assert_eq!(list.log, ["1", "2"]);
    }
}
