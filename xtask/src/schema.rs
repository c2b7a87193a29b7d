//! `cargo xtask schema`: generates the tables of Kubernetes types from the OpenAPI documents of its Go module.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use krm_core::schema::{Schema, kubernetes_versions, table_difference};
use krm_yaml::{File, Path as Field};

use crate::{TaskResult, shell};

const MODULE: &str = "k8s.io/kubernetes";
const DOCUMENTS: &str = "api/openapi-spec/v3";
const TABLE: &str = "crates/krm-core/src/schema/kubernetes.txt";
const DIFFERENCES: &str = "crates/krm-core/src/schema/kubernetes_versions.txt";

/// The number of minor versions that are built in.
const VERSIONS: usize = 5;

/// The head of the differences.
const HEAD: &str = "\
# What older versions of Kubernetes have instead of the types of the next newer one. Made by `cargo xtask schema` from the OpenAPI
# documents of Kubernetes, which are Copyright The Kubernetes Authors and under the Apache License, version 2.0. See NOTICE. Do not edit.
";

pub(crate) fn run(mut args: lexopt::Parser) -> TaskResult {
    let mut version = None;
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Value(value) => version = Some(value.to_string_lossy().into_owned()),
            _ => return Err(arg.unexpected().into()),
        }
    }
    let versions = versions(version.as_deref())?;
    let mut tables = Vec::new();
    for version in &versions {
        tables.push(table(&documents(&download(version)?)?, version)?);
    }
    let differences = tables.windows(2).map(|pair| table_difference(&pair[0], &pair[1]));
    let differences = differences.collect::<Result<Vec<String>, _>>()?;
    write(TABLE, &tables[0], &versions[..1])?;
    write(DIFFERENCES, &format!("{HEAD}{}", differences.concat()), &versions[1..])
}

fn write(name: &str, text: &str, versions: &[String]) -> TaskResult {
    let path = shell::root().join(name);
    let is_new = fs::read_to_string(&path)? != text;
    fs::write(&path, text)?;
    let status = if is_new { "updated; review the diff" } else { "unchanged" };
    println!("{name}: {}, {} bytes, {status}", versions.join(", "), text.len());
    Ok(())
}

/// The newest releases of the minor versions up to a version, newest first. A release that is not in the module's list, which may be
/// outdated, is taken from the committed tables.
fn versions(newest: Option<&str>) -> TaskResult<Vec<String>> {
    let listed = shell::output(shell::program("go").args(["list", "-m", "-versions", MODULE]))?;
    let mut known: Vec<&str> = listed.split_whitespace().skip(1).collect();
    for version in kubernetes_versions() {
        known.push(version);
    }
    known.extend(newest);
    let mut releases: BTreeMap<Vec<u32>, (Vec<u32>, &str)> = BTreeMap::new();
    let limit = newest.and_then(release);
    for version in known {
        let Some(numbers) =
            release(version).filter(|it| limit.as_ref().is_none_or(|max| it <= max))
        else {
            continue;
        };
        let newest = releases.entry(numbers[..2].to_vec()).or_default();
        *newest = std::mem::take(newest).max((numbers, version));
    }
    let newest = releases.values().rev().take(VERSIONS);
    Ok(newest.map(|(_, version)| (*version).to_owned()).collect())
}

/// The version numbers of a release; `None` for pre-releases.
fn release(version: &str) -> Option<Vec<u32>> {
    let numbers: Option<Vec<u32>> =
        version.strip_prefix('v')?.split('.').map(|number| number.parse().ok()).collect();
    numbers.filter(|it| it.len() == 3)
}

/// Downloads the module and returns its directory.
pub(crate) fn download(version: &str) -> TaskResult<PathBuf> {
    let module = format!("{MODULE}@{version}");
    println!("go mod download {module}");
    let output = shell::output(shell::program("go").args(["mod", "download", "-json", &module]))?;
    let file = File::parse(output)?;
    let directory = Field::default().join("Dir");
    let directory = file.document(0).and_then(|document| document.find(&directory));
    let directory =
        directory.and_then(|node| node.as_str()).ok_or("no `Dir` in the output of go")?;
    Ok(Path::new(&*directory).join(DOCUMENTS))
}

/// The OpenAPI documents, sorted by name so that the table is deterministic.
pub(crate) fn documents(directory: &Path) -> TaskResult<Vec<File>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory)? {
        paths.push(entry?.path());
    }
    paths.sort();
    paths.iter().map(|path| Ok(File::from_bytes(fs::read(path)?)?)).collect()
}

pub(crate) fn table(documents: &[File], version: &str) -> TaskResult<String> {
    let mut schema = Schema::empty();
    let schemas: Field = "components.schemas".parse()?;
    for document in documents.iter().flat_map(File::documents) {
        // Documents that list groups and versions have no schemas.
        let Some(root) = document.root().filter(|_| document.find(&schemas).is_some()) else {
            continue;
        };
        if let Some(diagnostic) = schema.add_openapi(root).first() {
            let line = diagnostic.location.as_ref().map_or(0, |place| place.line);
            return Err(format!("{} (line {line})", diagnostic.message()).into());
        }
    }
    Ok(schema.to_table(version)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_ordered_numerically() {
        assert!(release("v1.9.0") < release("v1.37.1"));
        assert_eq!(release("v1.38.0-rc.1"), None);
    }

    #[test]
    fn openapi_documents_become_a_table() {
        let text = r##"{"components":{"schemas":{"a.v1.Box":{"type":"object","properties":{"metadata":{"type":"object"},
            "lids":{"type":"array","items":{"$ref":"#/components/schemas/a.v1.Lid"},"x-kubernetes-list-type":"atomic"}},
            "x-kubernetes-group-version-kind":[{"group":"a","version":"v1","kind":"Box"}]},"a.v1.Lid":{"type":"string"}}}}"##;
        let table = table(&[File::parse(text.to_owned()).expect("valid JSON")], "v0.1.0")
            .expect("valid schema");
        let body = table.split_once("package ").expect("a package line").1;
        assert_eq!(
            body,
            "a.v1 a.v1\ntype a.v1.Box kind=a/v1\n lids []@a.v1.Lid atomic\n metadata object\ntype a.v1.Lid string\n"
        );
        assert!(table.contains("\nkubernetes v0.1.0\ntypes 2\nfields 2\nkinds 1\n"), "{table}");
    }
}
