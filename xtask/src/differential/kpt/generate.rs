//! Generated packages: a tree of packages with pipelines, resources, setters, local configuration and functionConfigs.

use std::fs;
use std::path::Path;

use crate::TaskResult;
use crate::corpus::{self, random::Random};

/// A function, the entries of its ConfigMap, and whether it is a validator.
struct Choice {
    image: &'static str,
    config: &'static [(&'static str, &'static str)],
    is_validator: bool,
}

const fn mutator(image: &'static str, config: &'static [(&'static str, &'static str)]) -> Choice {
    Choice { image, config, is_validator: false }
}

const CHOICES: &[Choice] = &[
    mutator("set-labels:v0.2.5", &[("tier", "web"), ("app.kubernetes.io/part-of", "shop")]),
    mutator("gcr.io/kpt-fn/set-labels:v0.1.5", &[("tier", "back end")]),
    mutator("set-annotations", &[("example.com/owner", "team-a"), ("example.com/port", "8080")]),
    mutator("set-namespace:v0.4.5", &[("namespace", "shop")]),
    mutator("gcr.io/kpt-fn/set-namespace:v0.1", &[("namespace", "shop")]),
    mutator("ensure-name-substring:v0.2.0", &[("prepend", "eu-")]),
    mutator("apply-setters:v0.2", &[("color", "blue"), ("size", "5"), ("zones", "[a, b]")]),
    mutator("apply-setters:v0.2", &[("color", "yes"), ("size", "\"5\"")]),
    mutator("search-replace:v0.2", &[("by-path", "spec.replicas"), ("put-value", "4")]),
    mutator("set-image", &[("name", "nginx"), ("newTag", "1.29.1")]),
    mutator("remove-local-config-resources", &[]),
    mutator("no-op", &[]),
    mutator("create-setters", &[("image", "nginx")]),
    Choice { image: "no-op", config: &[], is_validator: true },
];

/// Functions whose functionConfig is a file: the image, the name of the file and its text.
const WITH_FILES: &[[&str; 3]] = &[
    [
        "upsert-resource:v0.2.0",
        "upsert.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: upserted # new\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\ndata:\n  color: green\n",
    ],
    [
        "starlark:v0.5.5",
        "star.yaml",
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: StarlarkRun\nmetadata:\n  name: star\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\nsource: |\n  for item in ctx.resource_list[\"items\"]:\n    if item[\"kind\"] == \"ConfigMap\":\n      item.setdefault(\"data\", {})[\"from\"] = \"starlark\"\n",
    ],
    [
        "apply-replacements:v0.1.1",
        "replacements.yaml",
        "apiVersion: fn.kpt.dev/v1alpha1\nkind: ApplyReplacements\nmetadata:\n  name: replace\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\nreplacements:\n- source:\n    kind: ConfigMap\n    name: settings\n    fieldPath: data.color\n  targets:\n  - select:\n      kind: ConfigMap\n      name: settings\n    fieldPaths:\n    - data.copy\n    options:\n      create: true\n",
    ],
];

/// Resources with setters, quotes, comments and values whose type is easily lost.
const SETTINGS: &str = "# settings of the package\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  color: red # kpt-set: ${color}\n  label: red-5 # kpt-set: ${color}-${size}\n  size: \"3\" # kpt-set: ${size}\n  'on': \"yes\"\n  octal: \"010\"\n  script: |\n    # not a comment\n    echo ${color}\n\n  folded: >-\n    one\n    two\n";

/// Writes package `number`.
pub(super) fn write(directory: &Path, number: usize) -> TaskResult {
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    let mut random = Random::new("kpt", number);
    write_package(directory, "root", &mut random, 0)
}

fn write_package(directory: &Path, name: &str, random: &mut Random, depth: u64) -> TaskResult {
    fs::create_dir_all(directory)?;
    let mut files = Vec::new();
    let kptfile = kptfile(name, random, &mut files);
    fs::write(directory.join("Kptfile"), kptfile)?;
    fs::write(directory.join("settings.yaml"), SETTINGS)?;
    for (name, text) in files {
        fs::write(directory.join(name), text)?;
    }
    let first = usize::try_from(random.between(0, 5000))?;
    for at in 0..random.between(1, 3) {
        let count = usize::try_from(random.between(1, 3))?;
        let start = first + 10 * usize::try_from(at)?;
        let documents: Vec<String> = (start..start + count).map(corpus::document).collect();
        let name = match random.chance(20) {
            true => format!("nested/file-{at}.yaml"),
            false => format!("file-{at}.yaml"),
        };
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap_or(directory))?;
        fs::write(path, documents.join("---\n"))?;
    }
    if random.chance(30) {
        fs::write(directory.join("README.md"), "# a file without resources\n")?;
    }
    if depth < 2 {
        for at in 0..random.between(0, 2) {
            let name = format!("sub-{at}");
            write_package(&directory.join(&name), &name, random, depth + 1)?;
        }
    }
    Ok(())
}

/// The Kptfile. Files of functionConfigs are added to `files`.
fn kptfile(name: &str, random: &mut Random, files: &mut Vec<(&str, &str)>) -> String {
    let (mut mutators, mut validators) = (String::new(), String::new());
    for _ in 0..random.between(0, 3) {
        if random.chance(25) {
            let at = usize::try_from(random.between(0, WITH_FILES.len() as u64 - 1)).unwrap_or(0);
            let [image, file, text] = WITH_FILES[at];
            if !files.iter().any(|(known, _)| *known == file) {
                files.push((file, text));
            }
            mutators.push_str(&format!("  - image: {image}\n    configPath: {file}\n"));
            continue;
        }
        let at = usize::try_from(random.between(0, CHOICES.len() as u64 - 1)).unwrap_or(0);
        let choice = &CHOICES[at];
        let mut text = format!("  - image: {}\n", choice.image);
        if !choice.config.is_empty() {
            text.push_str("    configMap:\n");
            for (key, value) in choice.config {
                text.push_str(&format!("      {key}: {value:?}\n"));
            }
        }
        text.push_str(random.pick(&[
            "",
            "",
            "    selectors:\n    - kind: Deployment\n    - kind: ConfigMap\n      name: settings\n",
            "    exclude:\n    - kind: Service\n",
            "    selectors:\n    - apiVersion: v1\n    exclude:\n    - kind: ConfigMap\n",
        ]));
        if choice.is_validator { validators.push_str(&text) } else { mutators.push_str(&text) }
    }
    let mut text = format!(
        "apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: {name} # the package\n  annotations:\n    config.kubernetes.io/local-config: \"true\"\ninfo:\n  description: generated\n"
    );
    let lists = [("mutators", mutators), ("validators", validators)];
    let lists: Vec<_> = lists.iter().filter(|(_, functions)| !functions.is_empty()).collect();
    if !lists.is_empty() {
        text.push_str("pipeline:\n");
    }
    for (name, functions) in lists {
        text.push_str(&format!("  {name}:\n{functions}"));
    }
    text
}
