//! Packages of other projects: those whose pipelines need built-in functions only mean the same afterwards as with the
//! originals. `KRM_CORPORA` is a folder with any packages that have an `.expected` beside their files.
//!
//! What a command does around functions is not looked at here: files, flags, messages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use krm_catalog::find;
use krm_core::PackagePath;
use krm_core::print::json;
use krm_sdk::{Item, Resource};
use krm_yaml::{File, NodeRef, Value};

use crate::trial::run;

#[test]
fn packages_of_other_projects_mean_what_the_originals_made_of_them() {
    let Some(root) = env::var_os("KRM_CORPORA") else {
        println!("skipped: KRM_CORPORA names no folder of packages");
        return;
    };
    let (mut failures, mut count) = (Vec::new(), 0);
    for case in cases(Path::new(&root)) {
        match judge(&case) {
            Some(Ok(())) => count += 1,
            Some(Err(why)) => failures.push(format!("{}: {why}", case.display())),
            None => {}
        }
    }
    println!("{count} packages are as expected");
    let unexpected: Vec<_> = failures.into_iter().filter(|it| !is_known(it)).collect();
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
}

/// Where the original is wrong, and ours knows better.
const KNOWN: &[(&str, &str)] = &[
    (
        "set-namespace/no-fnconfig-resource",
        "an error is told, and the function ends as if none were",
    ),
    ("fn-render/krm-check-exclude-kustomize", "a document that is no resource gets labels, too"),
    ("fn-render/resource-has-pkgname-prefix", "files of two packages with one name count as one"),
];

fn is_known(failure: &str) -> bool {
    let case = failure.split(':').next().unwrap_or_default();
    KNOWN.iter().any(|(name, _)| case.ends_with(name))
}

/// Folders with an `.expected`, in order.
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

/// Files of a package with resources, by their paths in it.
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

/// None for a case that needs more than functions.
fn judge(case: &Path) -> Option<Result<(), String>> {
    let expected = case.join(".expected");
    if expected.join("exec.sh").exists() || expected.join("setup.sh").exists() {
        return None;
    }
    let config = fs::read_to_string(expected.join("config.yaml")).unwrap_or_default();
    let config = Resource::parse(format!("x: y\n{config}")).ok()?;
    if config.get_text("skip").as_deref() == Some("true") {
        return None;
    }
    let fails = config.get_text("exitCode").is_some_and(|code| code != "0");
    let steps = if config.get_text("testType").as_deref() == Some("eval") {
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
        Err(_) if fails => Some(Ok(())),
        Ok(_) if fails => by_function.then(|| Err("it does not fail".to_owned())),
        Err(told) => Some(Err(told)),
        Ok((items, said)) => {
            let wanted = after_patch(case)?;
            let there: Vec<String> = meanings(items.iter().map(Resource::root));
            Some(compare(&wanted, &there).and_then(|()| compare_said(case, &said)))
        }
    }
}

struct Step {
    name: String,
    config: Option<String>,
    selects: Vec<Resource>,
    excludes: Vec<Resource>,
}

fn builtin_name(image: &str) -> Option<String> {
    let name = image.rsplit('/').next()?.split([':', '@']).next()?;
    find(name).map(|builtin| builtin.name.to_owned())
}

fn eval_step(case: &Path, config: &Resource) -> Option<Step> {
    let name = builtin_name(&config.get_text("image")?)?;
    let file = config.get_text("fnConfig").map(|path| case.join(".expected").join(&*path));
    let args = config.get("args").map(|args| config_map(args));
    let config = file.map(|path| fs::read_to_string(path).unwrap()).or(args);
    Some(Step { name, config, selects: Vec::new(), excludes: Vec::new() })
}

/// The functions of all packages, inner packages first.
fn render_steps(case: &Path) -> Option<Vec<(String, Step)>> {
    let all = files(case, case);
    let mut folders: Vec<&str> =
        all.keys().filter_map(|path| path.strip_suffix("Kptfile")).collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.matches('/').count()));
    let mut steps = Vec::new();
    for folder in folders {
        let kptfile = Resource::parse(all[&format!("{folder}Kptfile")].clone()).ok()?;
        if kptfile.get("metadata.annotations").is_some_and(|it| it.text().contains("kpt.dev/")) {
            return None;
        }
        for list in ["pipeline.mutators", "pipeline.validators"] {
            let functions = kptfile.get(list).and_then(|it| it.as_sequence());
            for function in functions.into_iter().flat_map(|it| it.items()) {
                steps.push((folder.to_owned(), render_step(&all, folder, function)?));
            }
        }
    }
    Some(steps)
}

fn render_step(all: &BTreeMap<String, String>, folder: &str, step: NodeRef<'_>) -> Option<Step> {
    let step = step.as_mapping()?;
    let name = builtin_name(&step.get("image")?.as_str()?)?;
    let path = step.get("configPath").and_then(|it| it.as_str());
    let config = match (path, step.get("configMap")) {
        (Some(path), _) => Some(all.get(&format!("{folder}{path}"))?.clone()),
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
            format!("  {}: {}\n", it.key.text(), json::write(&Value::string(value)))
        })
        .collect();
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: function-input\ndata:\n{lines}")
}

/// Whether a resource has all that a selector names.
fn selects(selector: &Resource, resource: &Resource) -> bool {
    let is = |name: &str, value: &str| {
        selector.get_text(name).is_none_or(|wanted| wanted.is_empty() || wanted == value)
    };
    let has = |name: &str| {
        let wanted = selector.get(name).and_then(|it| it.as_mapping());
        wanted.into_iter().flat_map(|it| it.entries()).all(|it| {
            let there = resource.get(&format!("metadata.{name}")).and_then(|it| it.as_mapping());
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

/// The resources afterwards, and what the functions said.
fn apply(case: &Path, steps: &[(String, Step)]) -> Result<(Vec<Resource>, Vec<String>), String> {
    let mut said = Vec::new();
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
    for (folder, step) in steps {
        let is_meant = |it: &Resource| {
            let path = it.path().map_or_else(String::new, ToString::to_string);
            path.starts_with(folder)
                && (step.selects.is_empty() || step.selects.iter().any(|by| selects(by, it)))
                && !step.excludes.iter().any(|by| selects(by, it))
        };
        let (seen, kept): (Vec<_>, Vec<_>) = items.into_iter().partition(is_meant);
        let trial = run(&step.name, step.config.as_deref(), seen)?;
        // A function with errors among its results has failed.
        if trial.results.iter().any(|it| it.starts_with("error: ")) {
            return Err(trial.results.join("\n"));
        }
        said.extend(trial.messages);
        items = trial.items;
        // A new resource belongs to the package whose function made it.
        for new in items.iter_mut().filter(|it| it.path().is_none()) {
            new.move_to(PackagePath::new(&format!("{folder}new.yaml")).unwrap());
        }
        items.extend(kept);
    }
    Ok((items, said))
}

/// What the resources of the package mean after the patch of the case.
fn after_patch(case: &Path) -> Option<Vec<String>> {
    let place = place();
    let _ = fs::remove_dir_all(&place);
    for (path, text) in files(case, case) {
        let path = place.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let patch = case.join(".expected/diff.patch");
    if patch.exists() {
        let mut git = Command::new("git");
        // Without this the repository around the folder is the one that git looks at.
        git.env("GIT_CEILING_DIRECTORIES", env!("CARGO_TARGET_TMPDIR"));
        let done = git.arg("apply").arg(patch).current_dir(&place).status().ok()?;
        assert!(done.success(), "{}: the patch does not fit", case.display());
    }
    let texts = files(&place, &place).into_values();
    let files: Vec<File> = texts.map(|text| File::parse(text).unwrap()).collect();
    let roots = files.iter().flat_map(|file| file.documents().filter_map(|it| it.root()));
    Some(meanings(roots))
}

fn place() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("corpora")
}

/// The messages of the functions are those of the originals, from the results or the status that kpt writes.
fn compare_said(case: &Path, said: &[String]) -> Result<(), String> {
    let results = case.join(".expected/results.yaml");
    let path = if results.exists() { results } else { place().join("Kptfile") };
    let wanted = match fs::read_to_string(path) {
        Ok(text) if text.contains("results:") => text,
        _ => return Ok(()),
    };
    let wanted = Resource::parse(wanted).unwrap();
    let is_message = |node: &NodeRef<'_>| node.key().is_some_and(|key| key.text() == "message");
    let messages = wanted.root().descendants().filter(is_message);
    let wanted: Vec<String> = messages.filter_map(|it| Some(it.as_str()?.into_owned())).collect();
    if wanted == said { Ok(()) } else { Err(format!("wanted {wanted:#?}, said {said:#?}")) }
}

fn meanings<'a>(roots: impl Iterator<Item = NodeRef<'a>>) -> Vec<String> {
    let value = |root: NodeRef<'a>| json::write(&sorted(root.to_value().unwrap(), 0));
    let mut meanings: Vec<String> = roots.filter(|it| is_resource(*it)).map(value).collect();
    meanings.sort();
    meanings
}

/// What is none is never sent to a function.
fn is_resource(root: NodeRef<'_>) -> bool {
    let has = |name| root.as_mapping().is_some_and(|it| it.get(name).is_some());
    has("apiVersion") && has("kind")
}

/// The value with its keys in order, and a package file without the status that kpt writes.
fn sorted(value: Value<'_>, depth: usize) -> Value<'_> {
    match value {
        Value::Sequence(items) => {
            Value::Sequence(items.into_iter().map(|it| sorted(it, depth + 1)).collect())
        }
        Value::Mapping(entries) => {
            let is_status = |key: &Value<'_>| depth == 0 && json::write(key) == "\"status\"";
            let entries = entries.into_iter().filter(|(key, _)| !is_status(key));
            let mut entries: Vec<_> =
                entries.map(|(key, value)| (key, sorted(value, depth + 1))).collect();
            entries.sort_by_key(|(key, _)| json::write(key));
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
