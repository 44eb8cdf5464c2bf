//! Readers of the values of the OpenAPI document.

use serde_json::Value;

/// Returns the entries of an object, or nothing for any other value.
pub(crate) fn entries(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

/// Returns the items of an array, or nothing for any other value.
pub(crate) fn items(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns a text of an object, or an empty text.
pub(crate) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Resolves a reference to a component; returns any other value unchanged.
pub(crate) fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let pointer = text(value, "$ref").strip_prefix('#');
    pointer.and_then(|pointer| document.pointer(pointer)).unwrap_or(value)
}
