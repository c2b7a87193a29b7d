//! `format`: orders the fields of resources by the Kubernetes convention.

use krm_core::format::{FormatOptions, format};
use krm_core::schema::Schema;
use krm_sdk::{Error, Resource, ResourceList, Severity};
use krm_yaml::NodeRef;
use serde::Deserialize;

use crate::{Builtin, Run, releases};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "format",
    aliases: &[],
    summary: "order fields by the Kubernetes convention, and quote strings that look like other types",
    doc: include_str!("../doc/format.md"),
    releases: releases::FORMAT,
    run: Run::Native(run),
};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Config {
    /// Whether to sort containers and the operations of webhooks.
    sort_lists: bool,
}

/// Formats every resource.
pub fn run(list: &mut ResourceList) -> Result<(), Error> {
    let config: Config = list.config_or_default()?;
    let mut schema = Schema::built_in();
    for crd in list.items.iter().filter(|it| it.kind() == "CustomResourceDefinition") {
        let _ = schema.add_crd(crd.root());
    }
    let (mut results, mut errors) = (Vec::new(), Vec::new());
    for item in &mut list.items {
        let json = item.path().is_some_and(|path| path.is_json());
        let options = FormatOptions {
            json,
            sort_lists: config.sort_lists,
            schema: Some(&schema),
            ..FormatOptions::default()
        };
        match format(item.item().file(), options) {
            Ok(formatted) => {
                results.extend(formatted.diagnostics.iter().map(|warning| {
                    let at = warning
                        .location
                        .as_ref()
                        .map(|at| path_at(item, at.line))
                        .unwrap_or_default();
                    item.result(Severity::Warning, format!("{}{at}", warning.message())).into()
                }));
                if let Some(text) = formatted.text {
                    item.replace(text)?;
                }
            }
            Err(all) => errors.extend(all),
        }
    }
    if !errors.is_empty() {
        return Err(Error::of_diagnostics(errors));
    }
    list.results.extend(results);
    Ok(())
}

/// The path of the first node on a line, in parentheses.
fn path_at(item: &Resource, line: u32) -> String {
    let nodes = item.root().descendants();
    let mut on_line = nodes.filter(|node: &NodeRef<'_>| node.position().line == line);
    on_line.next().map(|node| format!(" (`{}`)", node.path())).unwrap_or_default()
}
