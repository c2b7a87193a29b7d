//! Packages of other projects whose pipelines need only built-in functions: the output must equal that of the original functions.
//! `KRM_CORPORA` is a directory with packages that have an `.expected` directory.
//!
//! Only functions are tested here, not the commands that run them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use krm_catalog::find;
use krm_core::PackagePath;
use krm_core::print::json;
use krm_sdk::{Item, Resource};
use krm_yaml::{File, NodeRef, Value};

use crate::run::run;

#[test]
fn output_equals_that_of_the_original_functions() {
    let Some(root) = env::var_os("KRM_CORPORA") else {
        println!("skipped: KRM_CORPORA is not set");
        return;
    };
    let (mut failures, mut count) = (Vec::new(), 0);
    for case in cases(Path::new(&root)) {
        match check_case(&case) {
            Some(Ok(())) => count += 1,
            Some(Err(error)) => failures.push(format!("{}: {error}", case.display())),
            None => {}
        }
    }
    println!("{count} packages match");
    let unexpected: Vec<_> = failures.into_iter().filter(|it| !is_known(it)).collect();
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
}

/// Cases in which the original function is wrong, or in which kpt changes more than the function.
const KNOWN: &[(&str, &str)] = &[
    ("examples/enable-gcp-services-simple", "kpt adds an annotation of its own"),
    ("examples/export-terraform-advanced", "README.md of the export has other words"),
    ("examples/export-terraform-imperative", "README.md of the export has other words"),
    ("examples/generate-folders-resourcehierarchy-v1", "kpt adds an annotation of its own"),
    ("set-namespace/no-fnconfig-resource", "the original reports an error and succeeds"),
    (
        "fn-render/krm-check-exclude-kustomize",
        "the original sets labels of a document that is not a resource",
    ),
    (
        "fn-render/resource-has-pkgname-prefix",
        "the original merges files of two packages with the same name",
    ),
];

fn is_known(failure: &str) -> bool {
    let case = failure.split(':').next().unwrap_or_default();
    KNOWN.iter().any(|(name, _)| case.ends_with(name))
}

/// Directories with an `.expected`, in order.
fn cases(dir: &Path) -> Vec<PathBuf> {
    let mut cases = Vec::new();
    if dir.join(".expected").is_dir() {
        cases.push(dir.to_owned());
    }
    for path in entries(dir).into_iter().filter(|path| path.is_dir()) {
        cases.extend(cases_below(&path));
    }
    cases
}

fn cases_below(dir: &Path) -> Vec<PathBuf> {
    let name = dir.file_name().unwrap_or_default();
    if name.to_string_lossy().starts_with('.') { Vec::new() } else { cases(dir) }
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(dir).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The files of a package with resources, by path.
fn files(root: &Path, dir: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for path in entries(dir) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            files.extend(self::files(root, &path));
        } else if name == "Kptfile" || name.ends_with(".yaml") || name.ends_with(".yml") {
            let place = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
            files.insert(place, fs::read_to_string(&path).unwrap());
        }
    }
    files
}

/// Checks a case; none if it needs more than functions.
fn check_case(case: &Path) -> Option<Result<(), String>> {
    let expected = case.join(".expected");
    if expected.join("exec.sh").exists() || expected.join("setup.sh").exists() {
        return None;
    }
    let config = fs::read_to_string(expected.join("config.yaml")).unwrap_or_default();
    let config = Resource::parse(format!("x: y\n{config}")).ok()?;
    if text_at(&config, "skip").as_deref() == Some("true") {
        return None;
    }
    let should_fail = text_at(&config, "exitCode").is_some_and(|code| code != "0");
    let steps = if text_at(&config, "testType").as_deref() == Some("eval") {
        vec![(String::new(), eval_step(case, &config)?)]
    } else {
        render_steps(case)?
    };
    let is_readable = |config: &String| Resource::parse(config.clone()).is_ok();
    if !steps.iter().filter_map(|(_, step)| step.config.as_ref()).all(is_readable) {
        return None;
    }
    // Without results it is the command that fails.
    let by_function = expected.join("results.yaml").exists();
    match apply(case, &steps) {
        Err(_) if should_fail => Some(Ok(())),
        Ok(_) if should_fail => by_function.then(|| Err("the function does not fail".to_owned())),
        Err(error) => Some(Err(error)),
        Ok((items, messages)) => {
            let expected = after_patch(case)?;
            let actual: Vec<String> = as_json(items.iter().map(Resource::root));
            Some(compare(&expected, &actual).and_then(|()| compare_messages(case, &messages)))
        }
    }
}

struct Step {
    name: String,
    config: Option<String>,
    selects: Vec<Resource>,
    excludes: Vec<Resource>,
}

fn text_at(config: &Resource, path: &str) -> Option<String> {
    config.get_text(path).unwrap()
}

fn builtin_name(image: &str) -> Option<String> {
    let name = image.rsplit('/').next()?.split([':', '@']).next()?;
    find(name).map(|builtin| builtin.name.to_owned())
}

fn eval_step(case: &Path, config: &Resource) -> Option<Step> {
    let name = builtin_name(&text_at(config, "image")?)?;
    let file = text_at(config, "fnConfig").map(|path| case.join(".expected").join(path));
    let args = config.get_in(["args"]).map(|args| config_map(args));
    let config = file.map(|path| fs::read_to_string(path).unwrap()).or(args);
    Some(Step { name, config, selects: Vec::new(), excludes: Vec::new() })
}

/// The functions of all packages, subpackages first.
fn render_steps(case: &Path) -> Option<Vec<(String, Step)>> {
    let all = files(case, case);
    let mut directories: Vec<&str> =
        all.keys().filter_map(|path| path.strip_suffix("Kptfile")).collect();
    directories.sort_by_key(|directory| std::cmp::Reverse(directory.matches('/').count()));
    let mut steps = Vec::new();
    for directory in directories {
        let kptfile = Resource::parse(all[&format!("{directory}Kptfile")].clone()).ok()?;
        if kptfile
            .get_in(["metadata", "annotations"])
            .is_some_and(|it| it.text().contains("kpt.dev/"))
        {
            return None;
        }
        for list in ["pipeline.mutators", "pipeline.validators"] {
            let functions = kptfile.get(list).unwrap().and_then(|it| it.as_sequence());
            for function in functions.into_iter().flat_map(|it| it.items()) {
                steps.push((directory.to_owned(), render_step(&all, directory, function)?));
            }
        }
    }
    Some(steps)
}

fn render_step(all: &BTreeMap<String, String>, directory: &str, step: NodeRef<'_>) -> Option<Step> {
    let step = step.as_mapping()?;
    let name = builtin_name(&step.get("image")?.as_str()?)?;
    let path = step.get("configPath").and_then(|it| it.as_str());
    let config = match (path, step.get("configMap")) {
        (Some(path), _) => Some(all.get(&format!("{directory}{path}"))?.clone()),
        (None, Some(data)) => {
            data.as_mapping().filter(|it| it.entries().next().is_some()).map(|_| config_map(data))
        }
        (None, None) => None,
    };
    let list = |name| {
        let list = step.get(name).and_then(|it| it.as_sequence());
        let texts =
            list.into_iter().flat_map(|it| it.items()).map(krm_core::print::source_text::text);
        texts.map(|text| Resource::parse(text + "\n").unwrap()).collect::<Vec<_>>()
    };
    Some(Step { name, config, selects: list("selectors"), excludes: list("exclude") })
}

fn config_map(data: NodeRef<'_>) -> String {
    let entries = data.as_mapping().into_iter().flat_map(|it| it.entries());
    let lines: String = entries
        .map(|it| {
            let value = it.value.as_scalar().map(|it| it.value()).unwrap_or_default();
            format!("  {}: {}\n", it.key.text(), json::string(&value))
        })
        .collect();
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\ndata:\n{lines}")
}

/// Whether a selector selects a resource.
fn selects(selector: &Resource, resource: &Resource) -> bool {
    let is = |name: &str, value: &str| {
        text_at(selector, name).is_none_or(|wanted| wanted.is_empty() || wanted == value)
    };
    let has = |name: &str| {
        let wanted = selector.get_in([name]).and_then(|it| it.as_mapping());
        wanted.into_iter().flat_map(|it| it.entries()).all(|it| {
            let there = resource.get_in(["metadata", name]).and_then(|it| it.as_mapping());
            let there = there.and_then(|there| there.get(&it.key.as_scalar()?.value())?.as_str());
            there == it.value.as_str()
        })
    };
    is("kind", &resource.kind())
        && is("apiVersion", &resource.api_version())
        && is("name", &resource.name())
        && is("namespace", &resource.namespace())
        && has("labels")
        && has("annotations")
}

/// Runs the functions, and returns the resources and messages.
fn apply(case: &Path, steps: &[(String, Step)]) -> Result<(Vec<Resource>, Vec<String>), String> {
    let mut messages = Vec::new();
    let mut items: Vec<Resource> = Vec::new();
    for (path, text) in files(case, case) {
        let file = File::parse(text).map_err(|error| error.to_string())?;
        for (index, document) in file.documents().enumerate() {
            let Some(root) = document.root().filter(|it| it.as_mapping().is_some()) else {
                continue;
            };
            let text = krm_core::print::source_text::ensure_trailing_newline(
                krm_core::print::source_text::text(root),
            );
            let mut item = Item::parse(text).map_err(|error| error.message().to_owned())?;
            item.path = Some(PackagePath::new(&path).unwrap());
            item.index = Some(index);
            items.push(item.into());
        }
    }
    for (directory, step) in steps {
        let is_selected = |it: &Resource| {
            let path = it.path().map_or_else(String::new, ToString::to_string);
            path.starts_with(directory)
                && (step.selects.is_empty() || step.selects.iter().any(|by| selects(by, it)))
                && !step.excludes.iter().any(|by| selects(by, it))
        };
        let (selected, others): (Vec<_>, Vec<_>) = items.into_iter().partition(is_selected);
        let output = run(&step.name, step.config.as_deref(), selected)?;
        // A function with errors among its results has failed.
        if output.results.iter().any(|it| it.starts_with("error: ")) {
            return Err(output.results.join("\n"));
        }
        messages.extend(output.messages);
        items = output.items;
        // A new resource belongs to the package whose function generated it.
        for new in items.iter_mut().filter(|it| it.path().is_none()) {
            new.move_to(PackagePath::new(&format!("{directory}new.yaml")).unwrap());
        }
        items.extend(others);
    }
    Ok((items, messages))
}

/// The expected resources: those of the package with the patch of the case.
fn after_patch(case: &Path) -> Option<Vec<String>> {
    let directory = work_directory();
    let _ = fs::remove_dir_all(&directory);
    for (path, text) in files(case, case) {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let patch = case.join(".expected/diff.patch");
    if patch.exists() {
        let mut git = Command::new("git");
        // Otherwise git applies the patch to the enclosing repository.
        git.env("GIT_CEILING_DIRECTORIES", env!("CARGO_TARGET_TMPDIR"));
        let status = git.arg("apply").arg(patch).current_dir(&directory).status().ok()?;
        assert!(status.success(), "{}: the patch does not apply", case.display());
    }
    let texts = files(&directory, &directory).into_values();
    let files: Vec<File> = texts.map(|text| File::parse(text).unwrap()).collect();
    let roots = files.iter().flat_map(|file| file.documents().filter_map(|it| it.root()));
    Some(as_json(roots))
}

fn work_directory() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpora")
}

/// Compares messages with those of the original functions, which are in the results or in the status of the Kptfile.
fn compare_messages(case: &Path, messages: &[String]) -> Result<(), String> {
    let results = case.join(".expected/results.yaml");
    let path = if results.exists() { results } else { work_directory().join("Kptfile") };
    let expected = match fs::read_to_string(path) {
        Ok(text) if text.contains("results:") => text,
        _ => return Ok(()),
    };
    let expected = Resource::parse(expected).unwrap();
    let is_message = |node: &NodeRef<'_>| node.key().is_some_and(|key| key.text() == "message");
    let nodes = expected.root().descendants().filter(is_message);
    let expected: Vec<String> = nodes.filter_map(|it| Some(it.as_str()?.into_owned())).collect();
    if expected == messages {
        Ok(())
    } else {
        Err(format!("expected {expected:#?}, found {messages:#?}"))
    }
}

fn as_json<'a>(roots: impl Iterator<Item = NodeRef<'a>>) -> Vec<String> {
    let value = |root: NodeRef<'a>| json::display(&sorted(root.to_value().unwrap(), 0));
    let mut resources: Vec<String> = roots.filter(|it| is_resource(*it)).map(value).collect();
    resources.sort();
    resources
}

/// Other documents are not passed to functions.
fn is_resource(root: NodeRef<'_>) -> bool {
    let has = |name| root.as_mapping().is_some_and(|it| it.get(name).is_some());
    has("apiVersion") && has("kind")
}

/// Sorts all keys, and removes the status that kpt writes to the Kptfile.
fn sorted(value: Value<'_>, depth: usize) -> Value<'_> {
    match value {
        Value::Sequence(items) => {
            Value::Sequence(items.into_iter().map(|it| sorted(it, depth + 1)).collect())
        }
        Value::Mapping(entries) => {
            let is_status = |key: &Value<'_>| depth == 0 && json::display(key) == "\"status\"";
            let entries = entries.into_iter().filter(|(key, _)| !is_status(key));
            let mut entries: Vec<_> =
                entries.map(|(key, value)| (key, sorted(value, depth + 1))).collect();
            entries.sort_by_key(|(key, _)| json::display(key));
            Value::Mapping(entries)
        }
        other => other,
    }
}

fn compare(wanted: &[String], there: &[String]) -> Result<(), String> {
    let missing: Vec<_> = wanted.iter().filter(|it| !there.contains(it)).collect();
    let extra: Vec<_> = there.iter().filter(|it| !wanted.contains(it)).collect();
    match missing.is_empty() && extra.is_empty() {
        true => Ok(()),
        false => Err(format!("wanted {missing:?}, got {extra:?}")),
    }
}
