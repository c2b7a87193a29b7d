//! `cargo xtask schema`: the table of Kubernetes' own kinds, made from the OpenAPI documents of its Go module.

use std::fs;
use std::path::{Path, PathBuf};

use krm_core::schema::{Schema, kubernetes_version};
use krm_yaml::{File, Path as Field};

use crate::{Outcome, shell};

const MODULE: &str = "k8s.io/kubernetes";
const DOCUMENTS: &str = "api/openapi-spec/v3";
const TABLE: &str = "crates/krm-core/src/schema/kubernetes.txt";

pub(crate) fn run(mut args: lexopt::Parser) -> Outcome {
    let mut version = None;
    while let Some(arg) = args.next()? {
        match arg {
            lexopt::Arg::Value(value) => version = Some(value.to_string_lossy().into_owned()),
            _ => return Err(arg.unexpected().into()),
        }
    }
    let version = version.map_or_else(newest, Ok)?;
    let table = table(&documents(&download(&version)?)?, &version)?;
    let path = shell::root().join(TABLE);
    let is_new = fs::read_to_string(&path)? != table;
    fs::write(&path, &table)?;
    let outcome = if is_new { "written; read the difference" } else { "as it was" };
    println!("{TABLE}: {version}, {} bytes, {outcome}", table.len());
    Ok(())
}

/// The newest release that the module's list names, but never one before the committed table's: such lists lag.
fn newest() -> Outcome<String> {
    let listed = shell::output(shell::program("go").args(["list", "-m", "-versions", MODULE]))?;
    let versions = listed.split_whitespace().skip(1).chain([kubernetes_version()]);
    let newest = versions.filter_map(|version| Some((release(version)?, version))).max();
    Ok(newest.map(|(_, version)| version.to_owned()).ok_or("no release is listed")?)
}

/// The numbers of a release; none for alphas, betas and candidates.
fn release(version: &str) -> Option<Vec<u32>> {
    version.strip_prefix('v')?.split('.').map(|number| number.parse().ok()).collect()
}

/// Where the module's files are, once they are here.
fn download(version: &str) -> Outcome<PathBuf> {
    let module = format!("{MODULE}@{version}");
    println!("go mod download {module}");
    let said = shell::output(shell::program("go").args(["mod", "download", "-json", &module]))?;
    let file = File::parse(said)?;
    let folder = Field::default().join("Dir");
    let folder = file.document(0).and_then(|document| document.find(&folder));
    let folder = folder.and_then(|node| node.as_str()).ok_or("go does not say where it put it")?;
    Ok(Path::new(&*folder).join(DOCUMENTS))
}

/// The documents in the order of their names, so that the same version gives the same table.
fn documents(folder: &Path) -> Outcome<Vec<File>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    paths.iter().map(|path| Ok(File::from_bytes(fs::read(path)?)?)).collect()
}

fn table(documents: &[File], version: &str) -> Outcome<String> {
    let mut schema = Schema::empty();
    let schemas: Field = "components.schemas".parse()?;
    for document in documents.iter().flat_map(File::documents) {
        // Lists of groups and versions have no schemas.
        let Some(root) = document.root().filter(|_| document.find(&schemas).is_some()) else {
            continue;
        };
        if let Some(fault) = schema.add_openapi(root).first() {
            let line = fault.location.as_ref().map_or(0, |place| place.line);
            return Err(format!("{} (line {line})", fault.message()).into());
        }
    }
    Ok(schema.to_table(version)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_release_is_the_largest_by_its_numbers() {
        assert!(release("v1.9.0") < release("v1.37.1"));
        assert_eq!(release("v1.38.0-rc.1"), None);
    }

    #[test]
    fn documents_make_a_table() {
        let text = r##"{"components":{"schemas":{"a.v1.Box":{"type":"object","properties":{"metadata":{"type":"object"},
            "lids":{"type":"array","items":{"$ref":"#/components/schemas/a.v1.Lid"},"x-kubernetes-list-type":"atomic"}},
            "x-kubernetes-group-version-kind":[{"group":"a","version":"v1","kind":"Box"}]},"a.v1.Lid":{"type":"string"}}}}"##;
        let table = table(&[File::parse(text.to_owned()).expect("it is JSON")], "v0.1.0")
            .expect("it is a schema");
        let body = table.split_once("package ").expect("there is one").1;
        assert_eq!(
            body,
            "a.v1 a.v1\ntype a.v1.Box kind=a/v1\n lids []@a.v1.Lid atomic\n metadata object\ntype a.v1.Lid string\n"
        );
        assert!(table.contains("\nkubernetes v0.1.0\ntypes 2\nfields 2\nkinds 1\n"), "{table}");
    }
}
