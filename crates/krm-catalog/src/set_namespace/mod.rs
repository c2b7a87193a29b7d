//! `set-namespace`: sets the namespace of resources and of references in them.

mod by_field_spec;
mod fields;
mod one_namespace;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use krm_sdk::{Diagnostic, Error, FunctionResult, Resource, ResourceList, Severity};
use serde::Deserialize;

use crate::changes::{Changes, change, change_each, find_each, in_resource, text_of, without};
use crate::config::{
    PACKAGE_CONTEXT, function_config, invalid_field, is_config_map, is_custom, missing, rejected,
    unknown_kind,
};
use crate::depends_on::{Dependency, rewrite};
use crate::kinds::CatalogKind;
use crate::scope::{Definition, Scopes, definition};
use crate::{Builtin, Run, Version, releases};
use fields::{NamespaceField, Upstream, namespace_fields, upstream};

/// The description of the function.
pub const BUILTIN: Builtin = Builtin {
    name: "set-namespace",
    aliases: &[],
    summary: "set the namespace of resources, and update references to it",
    doc: include_str!("../../doc/set-namespace.md"),
    releases: releases::SET_NAMESPACE,
    run: Run::Versioned(run),
};

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SetNamespace {
    namespace: String,
    namespace_matcher: String,
}

/// The releases that changed something; see [`releases::SET_NAMESPACE`].
const WEBHOOKS: Version = Version::new(0, 1, 4);
const SERVICE_ACCOUNTS: Version = Version::new(0, 2, 0);
const ONE_NAMESPACE: Version = Version::new(0, 3, 0);
const ROLE_BINDING_SUBJECTS: Version = Version::new(0, 3, 2);
const ALL_NAMESPACES: Version = Version::new(0, 4, 0);

/// The changed and the existing namespaces, for the summary.
#[derive(Default)]
struct Tally {
    count: usize,
    old: BTreeSet<String>,
    seen: BTreeSet<String>,
}

impl Tally {
    fn add(&mut self, old: &str) {
        self.count += 1;
        if !self.old.contains(old) {
            self.old.insert(old.to_owned());
        }
    }

    /// The old values as the original prints them: sorted, separated by spaces.
    fn old_values(&self) -> String {
        let old: Vec<&str> = self.old.iter().map(String::as_str).collect();
        format!("[{}]", old.join(" "))
    }
}

/// Sets the namespace of resources as a release of the original does.
pub fn run(list: &mut ResourceList, version: Version) -> Result<(), Error> {
    match version {
        version if version < ONE_NAMESPACE => by_field_spec::run(list, version),
        version if version < ALL_NAMESPACES => one_namespace::run(list, version),
        _ => set_all(list),
    }
}

/// Sets the namespace of all resources except local configuration.
fn set_all(list: &mut ResourceList) -> Result<(), Error> {
    let config = read(list)?;
    let mut marked = find_each(&list.items, Marks::of);
    let scopes: Scopes =
        marked.iter_mut().filter_map(|(_, marks)| marks.definition.take()).collect();
    check_upstream(list, &marked, &scopes, &config)?;
    let depends = |marks: &Marks| !marks.is_local && marks.is_dependent;
    let dependents: Vec<usize> =
        marked.iter().filter(|(_, marks)| depends(marks)).map(|(at, _)| *at).collect();
    let local = marked.iter().filter(|(_, marks)| marks.is_local).map(|(at, _)| *at);
    // Shared, because the counts and sets of every resource would take more memory than most resources.
    let tally = Mutex::new(Tally::default());
    let outcomes = change_each(without(&mut list.items, local), |changes, resource| {
        let is_namespaced = scopes.is_namespaced(resource);
        let is_needed = is_namespaced && !dependents.is_empty();
        let before = is_needed.then(|| dependency(resource));
        let fields = namespace_fields(changes, resource, is_namespaced);
        let mut messages = Vec::new();
        let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
        let is_moved = config.set(changes, resource, fields, &mut tally, &mut messages);
        Ok((is_namespaced, before.map(|before| Box::new((before, is_moved))), messages))
    })?;
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Compat: results of cluster-scoped resources come first.
    let (namespaced, cluster_scoped): (Vec<_>, Vec<_>) =
        outcomes.into_iter().partition(|(is_namespaced, ..)| *is_namespaced);
    let mut moved = BTreeMap::new();
    let mut messages = Vec::new();
    for (_, dependency, found) in cluster_scoped.into_iter().chain(namespaced) {
        moved.extend(dependency.map(|it| *it));
        messages.extend(found);
    }
    let depends = rewrite_dependencies(list, &dependents, &config.namespace, &moved)?;
    messages.into_iter().for_each(|message| list.add_result(Severity::Info, message));
    summarize(list, &config.namespace, &tally, &depends);
    list.results.extend(no_match(list, &config, &tally));
    Ok(())
}

/// What few resources have, and decides how the others are treated.
struct Marks {
    is_local: bool,
    is_dependent: bool,
    upstream: Option<Upstream>,
    definition: Option<Definition>,
}

impl Marks {
    fn of(resource: &Resource) -> Option<Self> {
        let definition = definition(resource);
        // Most resources have no annotations.
        let is_annotated = resource.get_in(["metadata", "annotations"]).is_some();
        if definition.is_none() && !is_annotated {
            return None;
        }
        Some(Self {
            is_local: resource.view().is_local(),
            is_dependent: resource.annotation(crate::depends_on::ANNOTATION).is_some(),
            upstream: upstream(resource),
            definition,
        })
    }
}

/// Refuses to merge several upstream namespaces into one, because resources of the same name would become one.
///
/// Compat: the original reads the namespaces that kpt recorded when it fetched the package, not the current ones.
fn check_upstream(
    list: &ResourceList,
    marked: &[(usize, Marks)],
    scopes: &Scopes,
    config: &SetNamespace,
) -> Result<(), Error> {
    let marked = marked.iter().filter(|(_, marks)| !marks.is_local);
    let marked = marked.map(|(at, marks)| (&list.items[*at], marks));
    let mut namespaces: BTreeSet<&str> = BTreeSet::new();
    for (resource, marks) in marked.filter(|(it, _)| scopes.is_namespaced(it)) {
        match &marks.upstream {
            Some(Upstream::Namespace(namespace)) => _ = namespaces.insert(namespace),
            Some(Upstream::ClusterScoped) => {
                let message = format!(
                    "{} is namespace-scoped, but has cluster-scoped or unknown scoped origin",
                    label(resource)
                );
                let error = Diagnostic::error(CatalogKind::Failed { message: message.into() });
                return Err(in_resource(resource, error));
            }
            None => {}
        }
    }
    if namespaces.len() < 2 || !config.namespace_matcher.is_empty() {
        return Ok(());
    }
    let found: Vec<&str> = namespaces.into_iter().collect();
    let message = format!(
        "unable to use origin `namespace` to match. expect a single upstream namespace, found [{}]",
        found.join(" ")
    );
    let error = match function_config(list) {
        Some(config) if is_config_map(config) => invalid_field(config, "data.namespace", message),
        Some(config) => invalid_field(config, "namespace", message),
        None => rejected(message),
    };
    Err(error.hint("set `namespaceMatcher` to the namespace that you want to change").into())
}

/// Compat: a resource as the original prints it.
fn label(resource: &Resource) -> String {
    format!(
        "Resource(apiVersion={}, kind={}, namespace={}, name={})",
        resource.api_version(),
        resource.kind(),
        resource.namespace(),
        resource.name()
    )
}

/// A warning if the matcher selects nothing, and the new namespace does not exist either.
fn no_match(list: &ResourceList, config: &SetNamespace, tally: &Tally) -> Option<FunctionResult> {
    let (function_config, matcher) = (function_config(list)?, config.namespace_matcher.as_str());
    let is_fine = matcher.is_empty() || tally.count > 0 || tally.seen.is_empty();
    if is_fine || [matcher, &config.namespace].iter().any(|it| tally.seen.contains(*it)) {
        return None;
    }
    let seen: Vec<_> = tally.seen.iter().take(3).map(|it| format!("`{it}`")).collect();
    let message = format!("no namespace is `{matcher}`: namespaces are {}", seen.join(", "));
    let field =
        if is_config_map(function_config) { "data.namespaceMatcher" } else { "namespaceMatcher" };
    Some(function_config.result(Severity::Warning, message).field(field).into())
}

fn read(list: &ResourceList) -> Result<SetNamespace, Error> {
    let Some(config) = function_config(list) else {
        let message = "FunctionConfig is missing. Expect `ConfigMap.v1` or `SetNamespace.v1alpha1.fn.kpt.dev`";
        return Err(missing::<SetNamespace>(list, BUILTIN.name, message));
    };
    if is_config_map(config) && config.name() == PACKAGE_CONTEXT {
        return read_context(config);
    }
    let field = match config {
        config if is_config_map(config) => "data.namespace",
        config if is_custom(config, "SetNamespace") => "namespace",
        _ => {
            let message = format!(
                "unknown functionConfig Kind={} ApiVersion={}, expect `ConfigMap.v1` or `SetNamespace.v1alpha1.fn.kpt.dev`",
                config.kind(),
                config.api_version()
            );
            return Err(unknown_kind(config, "SetNamespace", message));
        }
    };
    let read: SetNamespace = config.read_config()?;
    if read.namespace.is_empty() {
        return Err(empty(config, field));
    }
    Ok(read)
}

/// The package context: `name` is the namespace unless it has `namespace`. Other keys are allowed.
fn read_context(config: &Resource) -> Result<SetNamespace, Error> {
    let data: BTreeMap<String, String> = config.read_config()?;
    let text = |name: &str| data.get(name).filter(|text| !text.is_empty()).cloned();
    let Some(namespace) = text("namespace").or_else(|| text("name")) else {
        return Err(empty(config, "data.name"));
    };
    Ok(SetNamespace { namespace, namespace_matcher: text("namespaceMatcher").unwrap_or_default() })
}

fn empty(config: &Resource, field: &str) -> Error {
    let error = invalid_field(config, field, format!("`{field}` should not be empty"));
    error.hint(format!("set `{field}` to the new namespace")).into()
}

impl SetNamespace {
    /// Sets the namespace, and returns whether that of the resource itself changed.
    fn set<'a>(
        &self,
        changes: &mut Changes<'a>,
        resource: &'a Resource,
        fields: Vec<NamespaceField<'a>>,
        tally: &mut Tally,
        messages: &mut Vec<String>,
    ) -> bool {
        let mut is_moved = false;
        for field in fields {
            let current = field.slot.node().and_then(text_of).unwrap_or_default();
            let is_default = current.is_empty();
            let current = if is_default { "default" } else { &*current };
            if !tally.seen.contains(current) {
                tally.seen.insert(current.to_owned());
            }
            if current == self.namespace {
                if is_default && self.namespace_matcher.is_empty() {
                    changes.set(&field.slot, &self.namespace);
                }
                continue;
            }
            if !self.is_selected(current, field.origin.as_deref(), resource, messages) {
                continue;
            }
            tally.add(current);
            changes.set(&field.slot, &self.namespace);
            is_moved |= field.is_own;
        }
        is_moved
    }

    fn is_selected(
        &self,
        current: &str,
        origin: Option<&str>,
        resource: &Resource,
        messages: &mut Vec<String>,
    ) -> bool {
        let matcher = self.namespace_matcher.as_str();
        let by_origin = !matcher.is_empty() && origin == Some(matcher);
        if by_origin {
            messages.push(format!("[{}] has matching origin {matcher}", label(resource)));
        }
        matcher.is_empty() || by_origin || matcher == current
    }
}

/// The reference by which others depend on a resource.
fn dependency(resource: &Resource) -> Dependency {
    let namespace = match resource.namespace() {
        namespace if namespace.is_empty() => "default".to_owned(),
        namespace => namespace,
    };
    Dependency {
        group: resource.view().group(),
        namespace: Some(namespace),
        kind: resource.kind(),
        name: resource.name(),
    }
}

/// Updates dependencies of the resources at `dependents` on resources whose namespace changed.
fn rewrite_dependencies(
    list: &mut ResourceList,
    dependents: &[usize],
    new: &str,
    moved: &BTreeMap<Dependency, bool>,
) -> Result<Tally, Error> {
    let mut tally = Tally::default();
    for at in dependents {
        change(&mut list.items[*at], |changes, resource| {
            rewrite(changes, resource, |dependency| {
                let is_moved = moved.get(&dependency).copied().unwrap_or(false);
                let old = dependency.namespace.as_deref().filter(|_| is_moved)?;
                tally.add(old);
                Some(Dependency { namespace: Some(new.to_owned()), ..dependency })
            });
            Ok(())
        })?;
    }
    Ok(tally)
}

fn summarize(list: &mut ResourceList, new: &str, tally: &Tally, depends: &Tally) {
    let message = match tally.count {
        0 => format!("all matching namespaces are already {new:?}. no value changed"),
        count => {
            format!("namespace {} updated to {new:?}, {count} value(s) changed", tally.old_values())
        }
    };
    list.add_result(Severity::Info, message);
    let message = match depends.count {
        0 => "all `depends-on` annotations are up-to-date. no `namespace` changed".to_owned(),
        count => format!(
            "`depends-on` annotation namespace {} updated to {new:?}, {count} value(s) changed",
            depends.old_values()
        ),
    };
    list.add_result(Severity::Info, message);
}
