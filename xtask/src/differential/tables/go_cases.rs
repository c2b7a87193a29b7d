//! The test tables of Go modules, read from the module cache with `xtask/peers/tables`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use krm_yaml::{File, Value};

use crate::{TaskResult, shell};

/// Tables in the tests of some packages of a module.
pub(super) struct GoTables {
    module: &'static str,
    version: &'static str,
    packages: &'static [&'static str],
    /// Names of variables or test functions; all if empty.
    tables: &'static [&'static str],
}

const KYAML: &str = "sigs.k8s.io/kustomize/kyaml";

pub(super) const MERGE2: GoTables =
    GoTables { module: KYAML, version: "v0.21.2", packages: &["yaml/merge2"], tables: &[] };

pub(super) const MERGE3: GoTables =
    GoTables { module: KYAML, version: "v0.21.2", packages: &["yaml/merge3"], tables: &[] };

/// Compat: the modules of kustomize 4.5.7, the last release with setters.
pub(super) const COMMANDS: GoTables = GoTables {
    module: "sigs.k8s.io/kustomize/cmd/config",
    version: "v0.10.9",
    packages: &["internal/commands"],
    tables: &[
        "TestCreateSetterCommand",
        "TestCreateSubstitutionCommand",
        "TestDeleteSetterCommand",
        "TestDeleteSubstitutionCommand",
        "TestListSettersCommand",
        "TestSetCommand",
    ],
};

pub(super) const SETTERS2: GoTables = GoTables {
    module: KYAML,
    version: "v0.13.9",
    packages: &["setters2"],
    tables: &["TestSet_Filter"],
};

/// One element of a table. Fields of nested structures have names such as `mergeOptions.ListIncreaseDirection`.
pub(super) struct TestCase {
    pub(super) table: String,
    texts: BTreeMap<String, String>,
    lists: BTreeMap<String, Vec<String>>,
}

impl TestCase {
    /// The table and the name or description: unique enough to list known differences.
    pub(super) fn name(&self) -> String {
        let name = self.texts.get("name").or_else(|| self.texts.get("description"));
        format!("{}/{}", self.table, name.map_or("", String::as_str))
    }

    /// The text of a field, or the empty string.
    pub(super) fn text(&self, field: &str) -> &str {
        self.texts.get(field).map_or("", String::as_str)
    }

    pub(super) fn list(&self, field: &str) -> &[String] {
        self.lists.get(field).map_or(&[], Vec::as_slice)
    }
}

impl std::fmt::Display for TestCase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f)?;
        for (name, list) in &self.lists {
            writeln!(f, "-- {name} --\n{}", list.join(" "))?;
        }
        self.texts.iter().try_for_each(|(name, text)| writeln!(f, "-- {name} --\n{}", text.trim()))
    }
}

/// Downloads the module if the cache does not have it, and reads its tables.
pub(super) fn read(tables: &GoTables) -> TaskResult<Vec<TestCase>> {
    let module = module_directory(tables)?;
    let mut command = shell::program("go");
    command.args(["run", "xtask/peers/tables/main.go"]);
    command.args(tables.packages.iter().map(|package| module.join(package)));
    let output = shell::output(&mut command)?;
    let cases = output.lines().map(parse).collect::<TaskResult<Vec<TestCase>>>()?;
    let is_selected =
        |case: &TestCase| tables.tables.is_empty() || tables.tables.contains(&case.table.as_str());
    Ok(cases.into_iter().filter(is_selected).collect())
}

/// Outside of a module, so that `go` does not look for a `go.mod`.
fn module_directory(tables: &GoTables) -> TaskResult<PathBuf> {
    let mut command = shell::program("go");
    command.current_dir(std::env::temp_dir()).args(["mod", "download", "-json"]);
    let output = shell::output(command.arg(format!("{}@{}", tables.module, tables.version)))?;
    let file = File::parse(output)?;
    let root = file.document(0).and_then(krm_yaml::DocumentRef::root);
    let directory = root.and_then(|root| root.as_mapping()?.get("Dir")?.as_scalar());
    Ok(directory.ok_or("`go mod download` printed no directory")?.value().into_owned().into())
}

fn parse(line: &str) -> TaskResult<TestCase> {
    let file = File::parse(line.to_owned())?;
    let root = file.document(0).and_then(krm_yaml::DocumentRef::root).ok_or("empty line")?;
    let root = root.as_mapping().ok_or("expected an object")?;
    let table = root.get("table").and_then(krm_yaml::NodeRef::as_scalar).ok_or("no table")?;
    let mut case = TestCase {
        table: table.value().into_owned(),
        texts: BTreeMap::new(),
        lists: BTreeMap::new(),
    };
    let fields = root.get("fields").ok_or("no fields")?.to_value()?;
    add_fields(&mut case, "", &fields);
    Ok(case)
}

fn add_fields(case: &mut TestCase, prefix: &str, fields: &Value<'_>) {
    let Value::Mapping(entries) = fields else { return };
    for (key, value) in entries {
        let Value::String(key) = key else { continue };
        let name = format!("{prefix}{key}");
        match value {
            Value::Mapping(_) => add_fields(case, &format!("{name}."), value),
            Value::Sequence(items) => {
                _ = case.lists.insert(name, items.iter().filter_map(text).collect());
            }
            value => case.texts.extend(text(value).map(|text| (name, text))),
        }
    }
}

fn text(value: &Value<'_>) -> Option<String> {
    match value {
        Value::String(text) | Value::Number(text) => Some(text.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_fields_have_a_path() {
        let line =
            r#"{"table":"T","fields":{"name":"n","args":["a","b"],"infer":true,"o":{"D":"x"}}}"#;
        let case = parse(line).unwrap();
        assert_eq!(case.name(), "T/n");
        assert_eq!((case.text("infer"), case.text("o.D")), ("true", "x"));
        assert_eq!(case.list("args"), ["a", "b"]);
    }
}
