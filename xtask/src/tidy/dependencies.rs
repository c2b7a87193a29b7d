//! Rule `dependencies_point_one_way`: which crate may depend on which, read from the manifests.

use toml::{Table, Value};

use super::{Finding, TextFile};

/// Each crate may depend on the crates after it.
const LAYERS: &[&str] = &[
    "krm-cli",
    "krm-grpc",
    "krm-run",
    "krm-oci",
    "krm-catalog",
    "krm-sdk",
    "krm-core",
    "krm-yaml",
];
/// Crates that use the network stand beside the functions: the registry client must not know what runs in an image, and gRPC with its
/// async runtime is for the program only.
const BESIDE: &[&str] = &["krm-oci", "krm-grpc"];
/// What they may depend on.
const BELOW: &[&str] = &["krm-core", "krm-yaml"];
const TESTKIT: &str = "krm-testkit";
const XTASK: &str = "xtask";

pub(super) fn dependencies_point_one_way(files: &[TextFile]) -> Vec<Finding> {
    let workspace = files.iter().find(|file| file.path == "Cargo.toml");
    let workspace = workspace.and_then(|file| file.text.parse::<Table>().ok()).unwrap_or_default();
    let members = files.iter().filter(|file| is_member(&file.path));
    members.flat_map(|file| findings(file, &workspace)).collect()
}

fn is_member(path: &str) -> bool {
    let directory = path.strip_suffix("/Cargo.toml");
    directory.is_some_and(|directory| directory == XTASK || directory.starts_with("crates/"))
}

fn findings(file: &TextFile, workspace: &Table) -> Vec<Finding> {
    let manifest = match file.text.parse::<Table>() {
        Ok(manifest) => manifest,
        Err(error) => {
            return vec![Finding::new(
                file,
                1,
                format!("cannot parse the manifest: {}", error.message()),
            )];
        }
    };
    let name = manifest
        .get("package")
        .and_then(|package| package.get("name"))
        .and_then(Value::as_str)
        .unwrap_or("");
    if !LAYERS.contains(&name) && name != TESTKIT && name != XTASK {
        let message = format!(
            "unknown crate `{name}`; a new crate needs a new permission and a place in the layers"
        );
        return vec![Finding::new(file, line_of(file, name), message)];
    }
    let mut findings = Vec::new();
    for (kind, dependency) in dependencies(&manifest, workspace) {
        if let Some(violation) = violation(name, kind, &dependency) {
            findings.push(Finding::new(file, line_of(file, &dependency), violation));
        }
    }
    findings
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Normal,
    Dev,
}

/// Why a dependency is not allowed; `None` if it is.
fn violation(from: &str, kind: Kind, to: &str) -> Option<String> {
    let layer = |name: &str| LAYERS.iter().position(|it| *it == name);
    match (layer(from), layer(to)) {
        _ if to == XTASK => {
            Some(format!("{from} depends on xtask; move the shared code into a library crate"))
        }
        _ if from == XTASK => None,
        _ if to == TESTKIT && kind == Kind::Dev => None,
        _ if to == TESTKIT => Some(format!(
            "{from} depends on {TESTKIT}, which is only allowed in [dev-dependencies]"
        )),
        (None, Some(_)) => Some(format!(
            "{from} depends on {to}, which is tested with it; pass the value as an argument"
        )),
        (Some(left), Some(right)) if left >= right => Some(format!(
            "{from} depends on {to}; dependencies point one way: {}",
            LAYERS.join(" → ")
        )),
        _ if BESIDE.contains(&from) && to.starts_with("krm-") && !BELOW.contains(&to) => {
            Some(format!("{from} depends on {to}; it may depend on {} only", BELOW.join(" and ")))
        }
        (_, None) if to.starts_with("krm-") => Some(format!("unknown crate `{to}`")),
        _ => None,
    }
}

/// Every dependency by package name, including platform-specific and renamed ones.
fn dependencies(manifest: &Table, workspace: &Table) -> Vec<(Kind, String)> {
    let platforms = manifest.get("target").and_then(Value::as_table);
    let platforms =
        platforms.into_iter().flat_map(|table| table.values()).filter_map(Value::as_table);
    let mut found = Vec::new();
    for table in std::iter::once(manifest).chain(platforms) {
        for (section, kind) in [
            ("dependencies", Kind::Normal),
            ("build-dependencies", Kind::Normal),
            ("dev-dependencies", Kind::Dev),
        ] {
            let entries = table.get(section).and_then(Value::as_table).into_iter().flatten();
            found.extend(entries.map(|(key, value)| (kind, package(key, value, workspace))));
        }
    }
    found
}

fn package(key: &str, value: &Value, workspace: &Table) -> String {
    let shared = || workspace.get("workspace")?.get("dependencies")?.get(key);
    let inherited = value.get("workspace").and_then(Value::as_bool).unwrap_or(false);
    let value = if inherited { shared().unwrap_or(value) } else { value };
    value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned()
}

/// The line that contains the name, or 1 if the manifest only has an inherited alias.
fn line_of(file: &TextFile, name: &str) -> usize {
    let is_candidate = |line: &str| {
        !line.trim_start().starts_with(['#']) && !line.trim_start().starts_with("description")
    };
    file.text
        .lines()
        .position(|line| is_candidate(line) && line.contains(name))
        .map_or(1, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::super::tests::file;
    use super::*;

    const WORKSPACE: &str = "[workspace.dependencies]\nyaml = { package = \"krm-yaml\", path = \"x\" }\n\
                             tools = { package = \"xtask\", path = \"x\" }\n";

    fn check(path: &str, name: &str, rest: &str) -> Vec<String> {
        let manifest = format!("[package]\nname = \"{name}\"\n{rest}");
        let files = [file("Cargo.toml", WORKSPACE), file(path, &manifest)];
        dependencies_point_one_way(&files).iter().map(ToString::to_string).collect()
    }

    fn is_allowed(name: &str, rest: &str) -> bool {
        check(&format!("crates/{name}/Cargo.toml"), name, rest).is_empty()
    }

    #[test]
    fn a_dependency_on_a_higher_layer_is_found_with_its_line() {
        let found = check(
            "crates/krm-yaml/Cargo.toml",
            "krm-yaml",
            "[dependencies]\nkrm-core.workspace = true\n",
        );
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("crates/krm-yaml/Cargo.toml:4: krm-yaml depends on krm-core"),
            "{found:?}"
        );
    }

    #[test]
    fn only_dependencies_on_lower_layers_are_allowed() {
        for (left, from) in LAYERS.iter().enumerate() {
            for (right, to) in LAYERS.iter().enumerate() {
                for section in [
                    "dependencies",
                    "build-dependencies",
                    "dev-dependencies",
                    "target.'cfg(unix)'.dependencies",
                ] {
                    let is_beside = BESIDE.contains(from) && !BELOW.contains(to);
                    assert_eq!(
                        is_allowed(from, &format!("[{section}]\n{to} = \"0.1\"\n")),
                        left < right && !is_beside,
                        "{from} → {to}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_testkit_is_a_dev_dependency_only() {
        assert!(is_allowed("krm-core", "[dev-dependencies]\nkrm-testkit.workspace = true\n"));
        assert!(!is_allowed("krm-core", "[dependencies]\nkrm-testkit.workspace = true\n"));
        assert!(!is_allowed("krm-testkit", "[dependencies]\nkrm-yaml.workspace = true\n"));
    }

    #[test]
    fn xtask_may_depend_on_all_crates_and_none_on_it() {
        assert!(!is_allowed("krm-cli", "[dependencies]\nxtask = { path = \"../../xtask\" }\n"));
        assert!(!is_allowed("krm-cli", "[dev-dependencies]\ntools.workspace = true\n"));
        assert!(
            check(
                "xtask/Cargo.toml",
                "xtask",
                "[dependencies]\nkrm-cli.workspace = true\nlexopt = \"1\"\n"
            )
            .is_empty()
        );
    }

    #[test]
    fn renamed_dependencies_are_found() {
        assert!(!is_allowed(
            "krm-yaml",
            "[dependencies]\nself-again = { package = \"krm-core\", version = \"0.1\" }\n"
        ));
        assert!(is_allowed("krm-core", "[dependencies]\nyaml.workspace = true\n"));
        assert!(!is_allowed("krm-testkit", "[dependencies]\nyaml.workspace = true\n"));
    }

    #[test]
    fn unknown_crates_are_found() {
        assert!(!is_allowed("krm-extra", ""));
        assert!(!is_allowed("krm-core", "[dependencies]\nkrm-extra = \"0.1\"\n"));
        assert!(!check("crates/krm-core/Cargo.toml", "krm-core", "[broken").is_empty());
    }
}
