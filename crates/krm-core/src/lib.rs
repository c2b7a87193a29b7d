//! Kubernetes configuration as data: packages and resources, schemas, merge, setters, formatting, functions and diagnostics.
//!
//! Nothing here reads files or prints. Text goes in, and text comes out: every change is an edit of the original text, so comments and
//! formatting stay. A command reads a [`Package`], runs an operation, collects its changes in a [`Plan`], and previews or writes it.
//!
//! | module | what it has |
//! |---|---|
//! | [`model`] | packages, paths, resources, identities, quantities, image names, ignore files |
//! | [`files`] | plans, placement of new resources, assembly, moves and removal |
//! | [`merge`] | two-way and three-way merges of nodes, files and packages |
//! | [`diff`] | semantic differences of nodes and packages |
//! | [`compare`] | equality, pairing and merge keys, shared by diff, merge and function output |
//! | [`setters`] | setters and substitutions in all dialects |
//! | [`schema`] | Kubernetes types, CRDs and OpenAPI documents |
//! | [`format`](mod@format), [`query`], [`print`](mod@print), [`annotate`] | what the commands of the same names do |
//! | [`kubernetes_reader`] | what Kubernetes' own YAML reader makes of a document |
//! | [`functions`] | the ResourceList protocol, Kptfiles, annotated functions, results and fixes |
//! | [`diagnostics`] | errors and warnings with kinds, locations and masked secrets |
//!
//! # Model and files
//!
//! ```
//! use krm_core::{Action, Package, PackageFile, Plan};
//!
//! let text = "apiVersion: v1\nkind: Service\nmetadata: {name: web} # public\n";
//! let package = Package::new(vec![PackageFile::from_text("service.yaml", text)?]);
//! let web = package.resources().next().ok_or("the package is empty")?;
//! assert_eq!(web.resource.label(), "Service web");
//!
//! let mut plan = Plan::default();
//! plan.set(web.file, Some(text.replace("web", "shop")))?;
//! assert_eq!(plan.changes().map(|change| change.action()).collect::<Vec<_>>(), [Action::Update]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Merge and diff
//!
//! ```
//! use krm_core::merge::{MergeOptions, NamedFile, merge_files_three_way};
//! use krm_yaml::File;
//!
//! let head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n";
//! let file = |spec: &str| File::parse(format!("{head}spec:\n{spec}")).map(std::sync::Arc::new);
//! let base = file("  replicas: 1\n")?;
//! let local = file("  replicas: 1 # small\n  paused: true\n")?;
//! let upstream = file("  replicas: 3\n")?;
//! let named = |name, file| NamedFile { name, file };
//! let merged = merge_files_three_way(
//!     named("base", &base), named("local", &local), named("upstream", &upstream), &MergeOptions::default())?;
//! assert!(merged.text.ends_with("spec:\n  replicas: 3 # small\n  paused: true\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! See [`diff::Differ`] for the reverse: what changed between two versions.
//!
//! # Format, query and schema
//!
//! ```
//! use krm_core::format::{FormatOptions, format};
//! use krm_core::query::Query;
//! use krm_core::schema::Schema;
//!
//! let file = krm_yaml::File::parse("kind: Service # web\napiVersion: v1\nmetadata: {name: web}\n".to_owned())?;
//! let formatted = format(&file, FormatOptions::default()).map_err(|errors| errors[0].clone())?;
//! assert!(formatted.text.is_some_and(|text| text.starts_with("apiVersion: v1\nkind: Service # web\n")));
//!
//! let query: Query = "metadata.name=^web".parse()?;
//! let document = file.document(0).ok_or("the file is empty")?;
//! assert!(query.matches(krm_core::model::resources(document)[0]));
//!
//! let schema = Schema::kubernetes();
//! let service = schema.resource_type("v1", "Service").ok_or("Kubernetes has Services")?;
//! assert!(service.field("spec").is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Setters
//!
//! ```
//! use krm_core::setters::{SetValues, Setters};
//! use krm_core::{Package, PackageFile};
//!
//! let krmfile = "apiVersion: config.k8s.io/v1alpha1\nkind: Krmfile\nopenAPI:\n  definitions:\n    io.k8s.cli.setters.replicas:\n      x-k8s-cli: {setter: {name: replicas, value: \"4\"}}\n";
//! let package = Package::new(vec![
//!     PackageFile::from_text("Krmfile", krmfile)?,
//!     PackageFile::from_text("a.yaml", "spec:\n  replicas: 4 # {\"$openapi\":\"replicas\"}\n")?,
//! ]);
//! let set = SetValues::new("replicas").to("5").compute(&Setters::read(&package));
//! let texts = set.and_then(|set| set.changes.texts()).map_err(|errors| errors[0].clone())?;
//! assert!(texts.iter().any(|(_, text)| text.starts_with("spec:\n  replicas: 5 #")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Functions
//!
//! ```
//! use krm_core::functions::resource_list::{InputList, InputOptions, Item};
//!
//! let items = [Item::parse("apiVersion: v1\nkind: Pod\nmetadata:\n  name: a # first\nspec: {x: 1}\n".to_owned())?];
//! let input = InputList::of(&items, &InputOptions::default())?;
//! let output = input.text().replace("{x: 1}", "{x: 2}").replace(" # first", "");
//! let applied = input.apply_output(output).map_err(|refused| refused.error)?;
//! assert!(applied.items[0].text().ends_with("\nspec: {x: 2}\n"));
//! # Ok::<(), krm_core::Diagnostic>(())
//! ```

pub mod annotate;
pub mod compare;
pub mod diagnostics;
pub mod diff;
pub mod files;
pub mod format;
pub mod functions;
pub mod kubernetes_reader;
pub mod merge;
pub mod model;
pub mod print;
pub mod query;
pub mod schema;
pub mod setters;

pub use diagnostics::{Diagnostic, Location, Severity};
pub use files::{Action, BinaryChange, Destination, FileText, OriginalFile, Plan, PlannedChange};
pub use model::{
    Identity, Package, PackageFile, PackagePath, PackagePathError, PackageResource, Resource,
};
