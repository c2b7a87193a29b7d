//! Results as data in the form of a version, and as diagnostics.

use krm_yaml::Value;

use super::{FieldRef, FileRef, FunctionResult, ResourceRef};
use crate::Diagnostic;
use crate::functions::resource_list::{ResourceListKind, Version};

impl FunctionResult {
    /// The result as data, in the form of a version of the specification.
    pub fn to_value(&self, version: Version) -> Value<'_> {
        let mut entries = vec![("message", Value::from(self.message.as_str()))];
        // Compat: kpt writes a result without a severity as it is.
        if !self.is_severity_default {
            entries.push(("severity", Value::from(self.severity.name())));
        }
        entries.extend(self.resource.as_ref().map(|it| ("resourceRef", it.to_value())));
        entries.extend(self.field.as_ref().map(|it| ("field", it.to_value(version))));
        entries.extend(self.file.as_ref().map(|it| ("file", it.to_value())));
        if !self.tags.is_empty() {
            let tag = |(key, value): &'_ (String, String)| {
                (Value::string(key.clone()), Value::string(value.clone()))
            };
            entries.push(("tags", Value::Mapping(self.tags.iter().map(tag).collect())));
        }
        mapping(entries)
    }

    /// The result as a diagnostic.
    pub fn to_diagnostic(&self) -> Diagnostic {
        let kind = ResourceListKind::FunctionResult { message: self.message.as_str().into() };
        let mut diagnostic = Diagnostic::new(self.severity, kind);
        diagnostic.file = self.file.as_ref().map(|file| (&*file.path).into());
        diagnostic.resource = self.resource.as_ref().map(|resource| resource.label().into());
        if let Some(field) = &self.field {
            diagnostic.field = Some(field.path.as_str().into());
            diagnostic.hints.extend(field.hint());
        }
        diagnostic
    }
}

impl ResourceRef {
    fn to_value(&self) -> Value<'_> {
        let names = [
            ("apiVersion", &self.api_version),
            ("kind", &self.kind),
            ("namespace", &self.namespace),
            ("name", &self.name),
        ];
        let known = names.into_iter().filter(|(_, text)| !text.is_empty());
        mapping(known.map(|(name, text)| (name, Value::from(text.as_str()))).collect())
    }
}

impl FieldRef {
    fn to_value(&self, version: Version) -> Value<'_> {
        let mut entries = vec![("path", Value::from(self.path.as_str()))];
        entries.extend(self.current.clone().map(|value| ("currentValue", value)));
        match &self.proposed[..] {
            [] => {}
            all if version.has_many_proposals() => {
                entries.push(("proposedValues", Value::Sequence(all.to_vec())));
            }
            [first, ..] => entries.push(("proposedValue", first.clone())),
        }
        mapping(entries)
    }

    fn hint(&self) -> Option<String> {
        let all: Vec<String> = self.proposed.iter().map(crate::print::json::display).collect();
        match &all[..] {
            [] => None,
            [one] => Some(format!("set `{}` to {one}", self.path)),
            many => Some(format!("set `{}` to one of {}", self.path, many.join(", "))),
        }
    }
}

impl FileRef {
    fn to_value(&self) -> Value<'_> {
        let index = i64::try_from(self.index).unwrap_or(i64::MAX);
        mapping(vec![("path", Value::from(&*self.path)), ("index", Value::int(index))])
    }
}

fn mapping<'a>(entries: Vec<(&'static str, Value<'a>)>) -> Value<'a> {
    Value::Mapping(entries.into_iter().map(|(name, value)| (Value::from(name), value)).collect())
}
