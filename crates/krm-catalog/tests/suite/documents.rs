//! `generate-kpt-pkg-docs` writes into the README of a package.

use krm_catalog::{BuiltinRelease, Host, find};
use krm_sdk::{Resource, ResourceList};

use crate::recorded::RecordedDocuments;
use crate::run::items;

const README: &str = "before\n<!-- BEGINNING OF PRE-COMMIT-BLUEPRINT DOCS HOOK:TITLE -->\nold\n<!-- END OF PRE-COMMIT-BLUEPRINT DOCS HOOK:TITLE -->\nbetween\n<!-- BEGINNING OF PRE-COMMIT-BLUEPRINT DOCS HOOK:BODY -->\nold\n<!-- END OF PRE-COMMIT-BLUEPRINT DOCS HOOK:BODY -->\nafter";

const PACKAGE: &str = "# Kptfile
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: shop
  annotations:
    blueprints.cloud.google.com/title: The shop
info:
  description: Sells things.
pipeline:
  mutators:
  - image: gcr.io/kpt-fn/apply-setters:v0.2
    configPath: setters.yaml
---
# setters.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: setters
data:
  replicas: \"3\"
---
# web.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
spec:
  replicas: 3 # kpt-set: ${replicas}
---
# service.yaml
apiVersion: v1
kind: Service
metadata:
  name: web
---
# db/Kptfile
apiVersion: kpt.dev/v1
kind: Kptfile
metadata:
  name: database
---
# db/disks/disk.yaml
apiVersion: v1
kind: PersistentVolume
metadata:
  name: disk
";

const EXPECTED: &str = "before
<!-- BEGINNING OF PRE-COMMIT-BLUEPRINT DOCS HOOK:TITLE -->
# The shop


<!-- END OF PRE-COMMIT-BLUEPRINT DOCS HOOK:TITLE -->
between
<!-- BEGINNING OF PRE-COMMIT-BLUEPRINT DOCS HOOK:BODY -->
Sells things.

## Setters

|   Name   | Value | Type | Count |
|----------|-------|------|-------|
| replicas |     3 | int  |     1 |

## Sub-packages

- [database](db)

## Resources

|     File     | APIVersion |    Kind    | Name | Namespace |
|--------------|------------|------------|------|-----------|
| web.yaml     | apps/v1    | Deployment | web  | shop      |
| service.yaml | v1         | Service    | web  |           |

## Resource References

- Deployment
- [Service](https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.22/#service-v1-core)

## Usage
";

fn documents(readme: &str) -> RecordedDocuments {
    let documents = RecordedDocuments::default();
    documents.texts.borrow_mut().push(("README.md".to_owned(), readme.to_owned()));
    documents
}

/// The README after a run, and the results or errors.
fn run(readme: &str, package: &str, config: Option<&str>) -> (String, Vec<String>) {
    let documents = documents(readme);
    let function_config = config.map(|text| Resource::parse(text).unwrap());
    let mut list =
        ResourceList { items: items(package), function_config, ..ResourceList::default() };
    let release = BuiltinRelease::from(find("generate-kpt-pkg-docs").unwrap());
    let called = release.call_with(&mut list, Host { documents: &documents, ..Host::default() });
    let mut messages: Vec<String> = list.results.iter().map(|it| it.message.clone()).collect();
    if let Err(error) = called {
        messages.extend(error.diagnostics.iter().map(|it| it.message().to_owned()));
    }
    let text = documents.texts.borrow()[0].1.clone();
    (text, messages)
}

#[test]
fn readme_describes_the_package_between_its_markers() {
    let (text, messages) = run(README, PACKAGE, None);
    assert!(text.starts_with(EXPECTED), "{text}");
    let usage =
        "kpt pkg get https://github.com/GoogleCloudPlatform/blueprints.git/catalog/shop@${VERSION}";
    assert!(text.contains(usage), "{text}");
    assert!(
        text.ends_with("    ```\n\n<!-- END OF PRE-COMMIT-BLUEPRINT DOCS HOOK:BODY -->\nafter"),
        "{text}"
    );
    assert_eq!(messages, ["updated `README.md`"]);
    assert_eq!(run(&text, PACKAGE, None), (text.clone(), Vec::new()), "the second run");
}

#[test]
fn repository_and_name_are_configured() {
    let config = "apiVersion: v1\nkind: ConfigMap\ndata:\n  repo-path: https://example.com/p.git/\n  pkg-name: other\n";
    let (text, _) = run(README, PACKAGE, Some(config));
    assert!(
        text.contains(
            "kpt pkg get https://example.com/p.git/other@${VERSION}\n    cd \"./other/\""
        ),
        "{text}"
    );
}

#[test]
fn other_files_and_packages_are_refused() {
    let with =
        |path: &str| format!("apiVersion: v1\nkind: ConfigMap\ndata:\n  readme-path: {path}\n");
    let (text, messages) = run(README, PACKAGE, Some(&with("Kptfile")));
    assert_eq!((text.as_str(), messages.len()), (README, 1));
    assert_eq!(messages, ["`Kptfile` is not a Markdown file"]);
    let (_, messages) = run(README, PACKAGE, Some(&with("missing.md")));
    assert!(messages[0].contains("Skipping readme generation"), "{messages:?}");
    let (_, messages) = run(README, "apiVersion: v1\nkind: Pod\n", None);
    assert!(messages[0].contains("unable to find root Kptfile"), "{messages:?}");
}
