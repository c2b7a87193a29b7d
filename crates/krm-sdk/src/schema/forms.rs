//! The forms of a functionConfig: fields at the top level, in `spec`, or in the `data` of a ConfigMap.

use krm_yaml::Value;

use crate::typed::field;
use crate::value;

/// The fields of a functionConfig.
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// The kind, if the function accepts several.
    pub(super) kind: Option<String>,
    pub(super) description: Option<Value<'static>>,
    /// The fields with their schemas.
    pub(super) properties: Vec<(String, Value<'static>)>,
    pub(super) required: Vec<String>,
    /// The schema of other fields, or false.
    pub(super) more: Value<'static>,
}

/// The schema that accepts every form of these bodies. The first form is the one to write new functionConfigs in.
pub(super) fn document(
    bodies: &[Body],
    definitions: Vec<(Value<'static>, Value<'static>)>,
) -> Value<'static> {
    let mut forms: Vec<Value<'static>> = bodies.iter().flat_map(Body::forms).collect();
    let mut entries =
        vec![(Value::from("$schema"), Value::from("https://json-schema.org/draft/2020-12/schema"))];
    match (forms.len(), forms.pop()) {
        (1, Some(Value::Mapping(only))) => entries.extend(only),
        (_, last) => {
            forms.extend(last);
            entries.push((Value::from("anyOf"), Value::Sequence(forms)));
        }
    }
    if !definitions.is_empty() {
        entries.push((Value::from("$defs"), Value::Mapping(definitions)));
    }
    Value::Mapping(entries)
}

impl Body {
    fn has(&self, name: &str) -> bool {
        self.properties.iter().any(|(own, _)| own == name)
    }

    fn forms(&self) -> Vec<Value<'static>> {
        let is_config_map = self.kind.as_deref() == Some("ConfigMap");
        let mut forms = Vec::new();
        // A ConfigMap has its fields in `data`, unless the type describes the ConfigMap itself.
        if !is_config_map || self.has("data") {
            forms.push(self.top_level());
            if !self.has("spec") {
                forms.push(self.inside("spec", &self.kind_schema(), self.fields(Clone::clone)));
            }
        }
        if (is_config_map || self.kind.is_none()) && !self.has("data") {
            let fields = self.fields(as_string);
            forms.push(self.inside("data", &value!({ "const": "ConfigMap" }), fields));
        }
        forms
    }

    fn kind_schema(&self) -> Value<'static> {
        match &self.kind {
            Some(kind) => value!({ "const": kind.clone() }),
            // A ConfigMap is read in another way.
            None if !self.has("data") => {
                value!({ "type": "string", "not": { "const": "ConfigMap" } })
            }
            None => value!({ "type": "string" }),
        }
    }

    fn common(&self, kind: &Value<'static>) -> Vec<(Value<'static>, Value<'static>)> {
        let common = [
            ("apiVersion", value!({ "type": "string" })),
            ("kind", kind.clone()),
            ("metadata", value!({ "type": "object" })),
        ];
        let common = common.into_iter().filter(|(name, _)| !self.has(name));
        common.map(|(name, schema)| (Value::from(name), schema)).collect()
    }

    fn top_level(&self) -> Value<'static> {
        let mut properties = self.common(&self.kind_schema());
        let own = self.properties.iter();
        properties.extend(own.map(|(name, schema)| (Value::from(name.clone()), schema.clone())));
        let required = ["apiVersion", "kind"].map(str::to_owned).into_iter();
        let required = required.chain(self.required.iter().cloned()).collect();
        self.object(properties, required, self.more.clone(), true)
    }

    /// The fields as an object.
    fn fields(&self, convert: impl Fn(&Value<'static>) -> Value<'static>) -> Value<'static> {
        let properties = self.properties.iter();
        let properties =
            properties.map(|(name, schema)| (Value::from(name.clone()), convert(schema))).collect();
        let more = match &self.more {
            Value::Bool(more) => Value::Bool(*more),
            schema => convert(schema),
        };
        self.object(properties, self.required.clone(), more, false)
    }

    fn inside(
        &self,
        field: &'static str,
        kind: &Value<'static>,
        fields: Value<'static>,
    ) -> Value<'static> {
        let mut properties = self.common(kind);
        properties.push((Value::from(field), fields));
        let mut required = vec!["apiVersion".to_owned(), "kind".to_owned()];
        required.extend((!self.required.is_empty()).then(|| field.to_owned()));
        self.object(properties, required, Value::Bool(false), true)
    }

    fn object(
        &self,
        properties: Vec<(Value<'static>, Value<'static>)>,
        required: Vec<String>,
        more: Value<'static>,
        is_root: bool,
    ) -> Value<'static> {
        let mut entries = vec![("type", Value::from("object"))];
        entries.extend(self.description.clone().filter(|_| is_root).map(|it| ("description", it)));
        entries.push(("properties", Value::Mapping(properties)));
        if !required.is_empty() {
            entries.push(("required", Value::from(required)));
        }
        entries.push(("additionalProperties", more));
        entries.into_iter().collect()
    }
}

/// The schema of a value in a ConfigMap, which may be written as a string, and where a string may be written without quotes.
fn as_string(schema: &Value<'static>) -> Value<'static> {
    let Value::Mapping(entries) = schema else { return schema.clone() };
    let is_string = match field(schema, "type") {
        Some(Value::Sequence(types)) => types.iter().any(is_string),
        Some(name) => is_string(name),
        None => false,
    };
    let has_enum = field(schema, "enum").is_some();
    match (entries.is_empty(), is_string, has_enum) {
        (true, ..) | (_, true, true) => schema.clone(),
        (_, true, false) => {
            value!({ "anyOf": [schema.clone(), { "type": ["number", "boolean", "null"] }] })
        }
        _ => value!({ "anyOf": [schema.clone(), { "type": "string" }] }),
    }
}

fn is_string(type_name: &Value<'_>) -> bool {
    matches!(type_name, Value::String(name) if name == "string")
}
