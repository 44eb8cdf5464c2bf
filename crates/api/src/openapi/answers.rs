//! Examples of answers, derived from the examples of their fields.

use cuepoint_views::wire::schema::Schemas;
use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};

/// The list in the example addresses of the schema of pages.
const EXAMPLE_LIST: &str = "https://api.example.com/api/v1/djs";
/// Its origin.
const ORIGIN: &str = "https://api.example.com";

/// The schemas of the document, from which examples are derived.
pub(super) struct ExampleValues(Value);

impl ExampleValues {
    /// Examples with these components.
    pub(super) fn new(schemas: &Schemas) -> Self {
        Self(serde_json::to_value(schemas).unwrap_or_default())
    }

    /// An example of a schema.
    pub(super) fn of(&self, schema: &RefOr<Schema>) -> Value {
        self.example(&serde_json::to_value(schema).unwrap_or_default())
    }

    /// An example of an answer of the operation at this path, in which fields of the given names have the given values.
    pub(super) fn showing(&self, schema: &RefOr<Schema>, path: &str, values: &[(&str, &str)]) -> Value {
        let mut example = self.of(schema);
        address(&mut example, path);
        if let Some(data) = example.get_mut("data") {
            values.iter().for_each(|(name, value)| set(data, name, value));
        }
        example
    }

    fn example(&self, schema: &Value) -> Value {
        if let Some(example) = schema.get("example") {
            return example.clone();
        }
        if let Some(reference) = schema["$ref"].as_str() {
            let name = reference.rsplit('/').next().unwrap_or_default();
            return self.0.get(name).map_or(Value::Null, |schema| self.example(schema));
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let parts = parts.iter().filter_map(|part| match self.example(part) {
                Value::Object(keys) => Some(keys),
                _ => None,
            });
            return Value::Object(parts.flatten().collect());
        }
        if let Some(cases) = schema["oneOf"].as_array() {
            let null = json!({ "type": "null" });
            let first = cases.first().filter(|_| !cases.contains(&null));
            return first.map_or(Value::Null, |first| self.example(first));
        }
        if let Some(names) = schema["enum"].as_array() {
            return names.first().cloned().unwrap_or_default();
        }
        if let Some(properties) = schema["properties"].as_object() {
            let keys = properties.iter().map(|(key, property)| (key.clone(), self.example(property)));
            return Value::Object(keys.collect::<Map<_, _>>());
        }
        if schema["items"].is_object() {
            return json!([self.example(&schema["items"])]);
        }
        match schema["type"].as_str() {
            Some("boolean") => json!(true),
            Some("object") => json!({}),
            _ => Value::Null,
        }
    }
}

/// Replaces the addresses of the list that the schema of pages shows by addresses of this list.
fn address(value: &mut Value, path: &str) {
    match value {
        Value::Object(keys) => keys.values_mut().for_each(|value| address(value, path)),
        Value::Array(items) => items.iter_mut().for_each(|item| address(item, path)),
        Value::String(text) if text.starts_with(EXAMPLE_LIST) => {
            *text = text.replacen(EXAMPLE_LIST, &format!("{ORIGIN}{}", path.replace("{id}", "4")), 1);
        }
        _ => {}
    }
}

/// Sets the fields of this name, wherever they are.
fn set(value: &mut Value, name: &str, to: &str) {
    match value {
        Value::Object(keys) => {
            for (key, value) in keys {
                if key == name {
                    *value = json!(to);
                } else {
                    set(value, name, to);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| set(item, name, to)),
        _ => {}
    }
}
