//! The changes of the wire format between two documents, with references resolved and texts left out.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

/// The keys that hold texts when their value is a string.
const TEXTS: [&str; 3] = ["summary", "description", "title"];

/// A change of one value.
#[derive(PartialEq, Debug)]
pub(super) struct Change {
    /// The path of the value, as a JSON pointer.
    place: String,
    old: Option<Value>,
    new: Option<Value>,
}

impl Change {
    /// Whether the old document lacks the value.
    pub(super) fn is_addition(&self) -> bool {
        self.old.is_none()
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.old, &self.new) {
            (None, Some(new)) => write!(f, "+ {} {}", self.place, excerpt(new)),
            (Some(old), None) => write!(f, "- {} {}", self.place, excerpt(old)),
            (old, new) => {
                let [old, new] = [old, new].map(|value| value.as_ref().map(excerpt).unwrap_or_default());
                write!(f, "! {} {old} -> {new}", self.place)
            }
        }
    }
}

fn excerpt(value: &Value) -> String {
    value.to_string().chars().take(120).collect()
}

/// Returns the changes of the paths; components matter only where a path refers to them.
pub(super) fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let mut changes = Vec::new();
    let paths = |document: &Value| document.get("paths").map(|paths| resolved(document, paths, &[]));
    compare("", paths(old), paths(new), &mut changes);
    changes
}

/// Returns the value with its references resolved and texts removed; a reference within its own target stays.
fn resolved(document: &Value, value: &Value, within: &[&str]) -> Value {
    match value {
        Value::Object(keys) => {
            let reference = keys.get("$ref").and_then(Value::as_str);
            let reference = reference.filter(|reference| !within.contains(reference));
            let target = reference.and_then(|it| document.pointer(it.trim_start_matches('#')));
            let mut result = match (reference, target) {
                (Some(reference), Some(target)) => {
                    match resolved(document, target, &[within, &[reference]].concat()) {
                        Value::Object(keys) => keys,
                        _ => Map::new(),
                    }
                }
                _ => Map::new(),
            };
            for (key, value) in keys {
                let is_text = TEXTS.contains(&key.as_str()) && value.is_string();
                if !is_text && (key != "$ref" || target.is_none()) {
                    result.insert(key.clone(), resolved(document, value, within));
                }
            }
            Value::Object(result)
        }
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(|item| resolved(document, item, within)).collect();
            // The order of parameters and of required keys has no meaning.
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        other => other.clone(),
    }
}

fn compare(place: &str, old: Option<Value>, new: Option<Value>, changes: &mut Vec<Change>) {
    match (old, new) {
        (Some(Value::Object(mut old)), Some(Value::Object(mut new))) => {
            let keys: BTreeSet<String> = old.keys().chain(new.keys()).cloned().collect();
            for key in keys {
                let place = format!("{place}/{}", key.replace('~', "~0").replace('/', "~1"));
                compare(&place, old.remove(&key), new.remove(&key), changes);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) if old.len() == new.len() => {
            for (index, (old, new)) in old.into_iter().zip(new).enumerate() {
                compare(&format!("{place}/{index}"), Some(old), Some(new), changes);
            }
        }
        (old, new) if old == new => {}
        (old, new) => changes.push(Change { place: place.to_owned(), old, new }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(operation: &Value) -> Value {
        json!({
            "paths": {"/a": {"get": operation}},
            "components": {"schemas": {"A": {"type": "string", "description": "One text."}}},
        })
    }

    #[test]
    fn inlining_a_reference_or_rewording_a_description_is_not_a_change() {
        let old = document(&json!({"schema": {"$ref": "#/components/schemas/A"}, "summary": "Old"}));
        let new =
            document(&json!({"schema": {"type": "string", "description": "Another."}, "summary": "New"}));
        assert_eq!(changes(&old, &new), []);
    }

    #[test]
    fn changes_are_listed_with_their_paths() {
        let old = document(&json!({"required": ["b", "a"], "minimum": 1, "gone": true}));
        let new = document(&json!({"required": ["a", "b"], "minimum": 2, "added": {}}));
        let listed: Vec<String> = changes(&old, &new).iter().map(Change::to_string).collect();
        assert_eq!(listed, ["+ /~1a/get/added {}", "- /~1a/get/gone true", "! /~1a/get/minimum 1 -> 2"]);
    }
}
