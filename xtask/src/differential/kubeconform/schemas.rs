//! The JSON Schemas that kubeconform reads, made from the OpenAPI document of a Kubernetes version and from CustomResourceDefinitions.
//!
//! They follow the schemas that kubeconform downloads by default: references are replaced by what they refer to, optional fields may be
//! null, an IntOrString is one of two types, and the strict variant does not allow other fields.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::json::Json;
use crate::{TaskResult, schema};

/// The definitions of a Kubernetes version.
pub(super) struct Definitions(BTreeMap<String, Json>);

/// What decides how a schema is written.
#[derive(Clone, Copy)]
struct Context {
    strict: bool,
    /// Whether null is allowed.
    nullable: bool,
}

impl Definitions {
    pub(super) fn download(version: &str) -> TaskResult<Self> {
        let directory = schema::download(version)?;
        let text = fs::read_to_string(directory.with_file_name("swagger.json"))?;
        let document = Json::parse(&text)?;
        let all = document.get("definitions").map_or(&[][..], Json::entries);
        Ok(Self(all.iter().cloned().collect()))
    }

    fn all(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(name, it)| (name.as_str(), it))
    }

    /// The definition that a reference names.
    pub(super) fn resolve<'a>(&'a self, of: &'a Json) -> (&'a str, &'a Json) {
        let name = of.get("$ref").and_then(Json::text).and_then(|it| it.rsplit('/').next());
        let found = name.and_then(|name| self.0.get_key_value(name));
        found.map_or(("", of), |(name, it)| (name.as_str(), it))
    }

    /// The kinds that have metadata: `apiVersion`, `kind` and definition.
    pub(super) fn kinds(&self) -> Vec<(String, String, &Json)> {
        let mut kinds = Vec::new();
        for (_, definition) in self.all() {
            let has_metadata = definition.at(&["properties", "metadata"]).is_some();
            let [(api_version, kind)] = &names(definition)[..] else { continue };
            if has_metadata && !kind.ends_with("List") {
                kinds.push((api_version.clone(), kind.clone(), definition));
            }
        }
        kinds
    }

    /// Writes the schemas of all kinds, in both variants.
    pub(super) fn write(&self, version: &str, directory: &Path) -> TaskResult {
        for strict in [false, true] {
            let suffix = if strict { "-strict" } else { "" };
            let directory = directory.join(format!("{version}-standalone{suffix}"));
            if directory.exists() {
                continue;
            }
            // An interrupted run leaves no directory that looks complete.
            let unfinished = directory.with_extension("unfinished");
            fs::create_dir_all(&unfinished)?;
            for (title, definition) in self.all() {
                let parts: Vec<&str> = title.split('.').rev().take(3).collect();
                let [kind, version, group] = parts[..] else { continue };
                // Compat: types that contain themselves cannot be written without references, and are left out.
                if names(definition).is_empty() || self.is_recursive(definition, &mut vec![title]) {
                    continue;
                }
                let group = if matches!(group, "core" | "api") { "" } else { group };
                let mut parts = vec![kind, group, version];
                parts.retain(|it| !it.is_empty());
                let name = parts.join("-").to_lowercase();
                let schema = self.root(definition, strict);
                fs::write(unfinished.join(format!("{name}.json")), schema.to_string())?;
            }
            fs::rename(&unfinished, &directory)?;
        }
        Ok(())
    }

    /// Whether a definition refers to one of those that lead to it.
    fn is_recursive<'a>(&'a self, of: &'a Json, path: &mut Vec<&'a str>) -> bool {
        match of {
            Json::Array(items) => items.iter().any(|it| self.is_recursive(it, path)),
            Json::Object(entries) => {
                let (name, target) = self.resolve(of);
                if name.is_empty() {
                    return entries.iter().any(|(_, it)| self.is_recursive(it, path));
                }
                if path.contains(&name) {
                    return true;
                }
                path.push(name);
                let is_recursive = self.is_recursive(target, path);
                path.pop();
                is_recursive
            }
            _ => false,
        }
    }

    fn root(&self, definition: &Json, strict: bool) -> Json {
        let mut schema = self.schema(definition, Context { strict, nullable: false }, true);
        if strict {
            schema.set("additionalProperties", Json::Bool(false));
        }
        schema
    }

    fn schema(&self, of: &Json, context: Context, is_root: bool) -> Json {
        let (name, of) = self.resolve(of);
        let either = |types: [&str; 2]| {
            let branch = |it| Json::Object(vec![("type".to_owned(), types_of(it, true))]);
            Json::Object(vec![("oneOf".to_owned(), Json::Array(types.map(branch).into()))])
        };
        let format = of.get("format").and_then(Json::text);
        if format == Some("int-or-string") {
            return either(["string", "integer"]);
        }
        if name.ends_with(".resource.Quantity") {
            return either(["string", "number"]);
        }
        let mut schema = Json::Object(Vec::new());
        if let Some(name) = of.get("type").and_then(Json::text) {
            schema.set("type", types_of(name, context.nullable));
        }
        if let Some(format) = format {
            schema.set("format", Json::string(format));
        }
        if let Some(required) = of.get("required") {
            schema.set("required", required.clone());
        }
        let nullable = Context { nullable: true, ..context };
        for keyword in ["items", "additionalProperties"] {
            if let Some(inner) = of.get(keyword) {
                schema.set(keyword, self.schema(inner, nullable, false));
            }
        }
        if let Some(properties) = of.get("properties") {
            let properties = self.properties(of, properties, context, is_root);
            schema.set("properties", properties);
            if context.strict && of.get("additionalProperties").is_none() {
                schema.set("additionalProperties", Json::Bool(false));
            }
        }
        schema
    }

    fn properties(&self, of: &Json, properties: &Json, context: Context, is_root: bool) -> Json {
        let names = names(of);
        let mut written = Json::Object(Vec::new());
        for (field, inner) in properties.entries() {
            // Compat: the fields of a kind may be null even if they are required.
            let required = of.get("required").map_or(&[][..], Json::items);
            let is_required = required.iter().any(|it| it.text() == Some(field));
            let context = Context { nullable: is_root || !is_required, ..context };
            let mut schema = self.schema(inner, context, false);
            let allowed = names.iter().filter_map(|(api_version, kind)| match field.as_str() {
                "apiVersion" => Some(api_version),
                "kind" => Some(kind),
                _ => None,
            });
            let mut allowed: Vec<Json> = allowed.map(|it| Json::string(it)).collect();
            allowed.dedup();
            if !allowed.is_empty() {
                schema.set("enum", Json::Array(allowed));
            }
            written.set(field, schema);
        }
        written
    }
}

fn types_of(name: &str, nullable: bool) -> Json {
    match nullable {
        true => Json::Array(vec![Json::string(name), Json::string("null")]),
        false => Json::string(name),
    }
}

/// The `apiVersion` and `kind` of a definition.
fn names(definition: &Json) -> Vec<(String, String)> {
    let kinds = definition.get("x-kubernetes-group-version-kind").map_or(&[][..], Json::items);
    let name = |it: &Json| {
        let text = |key| it.get(key).and_then(Json::text).unwrap_or_default();
        let (group, version) = (text("group"), text("version"));
        let api_version =
            if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        (api_version, text("kind").to_owned())
    };
    kinds.iter().map(name).collect()
}

/// Writes the schema of a version of a CustomResourceDefinition. Fields that are not declared are not allowed below the root.
pub(super) fn write_custom(definition: &Json, directory: &Path) -> TaskResult {
    let text = |path: &[&str]| definition.at(path).and_then(Json::text).unwrap_or_default();
    let kind = text(&["spec", "names", "kind"]).to_lowercase();
    let versions = definition.at(&["spec", "versions"]).map_or(&[][..], Json::items);
    fs::create_dir_all(directory)?;
    for version in versions {
        let name = version.get("name").and_then(Json::text).unwrap_or_default();
        let Some(schema) = version.at(&["schema", "openAPIV3Schema"]) else { continue };
        let entries = schema.entries().iter().map(|(key, it)| (key.clone(), closed(it)));
        let path = directory.join(format!("{kind}_{name}.json"));
        fs::write(path, Json::Object(entries.collect()).to_string())?;
    }
    Ok(())
}

/// A schema that does not allow fields that are not declared.
fn closed(schema: &Json) -> Json {
    let Json::Object(entries) = schema else { return schema.clone() };
    let mut closed =
        Json::Object(entries.iter().map(|(key, it)| (key.clone(), self::closed(it))).collect());
    if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
        closed.set("additionalProperties", Json::Bool(false));
    }
    closed
}
