//! `starlark`: a script of the package changes its resources, or says what is wrong with them.

mod answer;
mod engine;
mod loops;
mod native;
mod place;
mod render;
mod values;

use std::collections::BTreeMap;

use krm_core::functions::resource_list::InputList;
use krm_sdk::{Any, Diagnostic, Error, Resource, ResourceList};
use serde::Deserialize;

use crate::Builtin;
use place::Source;

/// The function as it is listed.
pub const BUILTIN: Builtin = Builtin {
    name: "starlark",
    aliases: &[],
    summary: "run a Starlark script of the functionConfig on the resources",
    doc: include_str!("../../doc/starlark.md"),
    tags: &["v0.1", "v0.2", "v0.3", "v0.4", "v0.4.3", "v0.5", "v0.5.0"],
    run,
};

const API_VERSION: &str = "fn.kpt.dev/v1alpha1";
const KIND: &str = "StarlarkRun";

/// The functionConfig.
#[derive(Deserialize)]
enum Config {
    StarlarkRun {
        #[serde(default)]
        source: String,
        #[serde(default, rename = "params")]
        _params: Option<Any>,
    },
    ConfigMap(BTreeMap<String, String>),
}

/// Runs the script of the functionConfig.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config = list.function_config.clone();
    let Some(config) = config.filter(|config| config.root().as_mapping().is_some()) else {
        return Err(Diagnostic::untyped_error(
            "FunctionConfig is missing. Expect `ConfigMap` or `StarlarkRun`",
        )
        .hint(format!("make a `{KIND}` of `{API_VERSION}` with the script as `source`"))
        .into());
    };
    let text = source(&config)?;
    let name = config.name();
    let name = if name.is_empty() { "starlark-function-run" } else { &name };
    let node = config.get("source").or_else(|| config.get("data.source"));
    let field = node.map(|node| (&config, node));
    run_source(Source { name, text: &text, field }, list)
}

/// Runs a script that is a file of its own, as `krm fn eval --starlark FILE` does. The functionConfig may be anything.
pub fn run_file(name: &str, text: &str, list: &mut ResourceList) -> Result<(), Error> {
    run_source(Source { name, text, field: None }, list)
}

fn run_source(source: Source<'_>, list: &mut ResourceList) -> Result<(), Error> {
    let sending = InputList::of(list.items.iter().map(Resource::item), &answer::options(list))?;
    let script = loops::without_while(source.text);
    let given = answer::list_of(&sending)?;
    let outcome = engine::execute(source.name, &script.text, &given, engine::LIMITS);
    list.log.extend(outcome.printed);
    let left = outcome.list.map_err(|error| source.explain(&error, &script))?;
    list.items = answer::taken(&sending, left)?;
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
        let hint = format!("make a `{KIND}` of `{API_VERSION}` with the script as `source`");
        return Err(at(Diagnostic::untyped_error(message).hint(hint), config, "kind").into());
    }
    let source = match config.read_config()? {
        Config::StarlarkRun { source, .. } => source,
        Config::ConfigMap(mut data) => data.remove("source").unwrap_or_default(),
    };
    if source.trim().is_empty() {
        let told = Diagnostic::untyped_error("`source` must not be empty");
        return Err(
            at(told.hint("put the script there, behind `source: |`"), config, "source").into()
        );
    }
    Ok(source)
}

/// Names the place of a field, or of the resource where it has none.
fn at(told: Diagnostic, config: &Resource, field: &str) -> Diagnostic {
    let node = config.get(field).or_else(|| config.get(&format!("data.{field}")));
    let told = told.at(config.item().file(), node.unwrap_or(config.root()).span());
    match config.path() {
        Some(path) => told.in_file(path.as_str()),
        None => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> ResourceList {
        let pod = Resource::parse("apiVersion: v1\nkind: Pod\nmetadata: {name: a} # it\n").unwrap();
        ResourceList { items: vec![pod], ..ResourceList::default() }
    }

    #[test]
    fn a_script_can_be_a_file() {
        let mut list = list();
        let script = "print('hello')\nn = 3\nwhile n > 1:\n  n -= 1\nctx.resource_list['items'][0]['spec'] = {'count': n}\n";
        run_file("n.star", script, &mut list).unwrap();
        assert_eq!(
            list.items[0].text(),
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a} # it\nspec:\n  count: 1\n"
        );
        assert_eq!(list.log, ["hello"]);
    }

    #[test]
    fn what_is_wrong_in_a_file_has_its_place_there() {
        let script = "n = 0\nwhile n < 2:\n  n += 1\n  print(n)\n\nfail('no: [')\n";
        let mut list = list();
        let error = run_file("dir/n.star", script, &mut list).unwrap_err();
        let told = &error.diagnostics[0];
        let place = told.location.as_deref().unwrap();
        assert_eq!((told.file.as_deref(), place.line, place.column), (Some("dir/n.star"), 6, 1));
        assert_eq!((told.message(), place.text.as_str()), ("fail: no: [", "fail('no: [')"));
        assert_eq!(list.log, ["1", "2"]);
    }
}
