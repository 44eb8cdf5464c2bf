//! Bodies: the strict reader agrees with any other reader, and rejects only what it must.

use std::fmt;

use cuepoint_views::wire::json::{BodyError, Object};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The maximum nesting below the top-level object.
const MAX_DEPTH: usize = 32;

/// The input is a body.
pub(crate) fn check(input: &[u8]) {
    let value: Option<Value> = serde_json::from_slice(input).ok();
    match (Object::parse(input), value) {
        (Ok(object), Some(Value::Object(fields))) => {
            let size: Size = serde_json::from_slice(input).unwrap_or_default();
            assert_eq!(size.keys, keys(&Value::Object(fields.clone())), "a duplicate key was accepted");
            for (key, value) in &fields {
                let raw = object.get(key).map(|raw| serde_json::from_str(raw.get()));
                assert!(raw.is_some_and(|raw| raw.is_ok_and(|raw: Value| raw == *value)), "{key:?} differs");
            }
        }
        // A number outside the range of floats, which the strict reader keeps as text.
        (Ok(_), None) => {}
        (Ok(_), Some(other)) => assert!(other.is_object(), "{other} is not an object"),
        (Err(BodyError::NotAnObject), value) => {
            assert!(!value.is_some_and(|value| value.is_object()), "it is an object");
        }
        (Err(BodyError::Malformed(_)), Some(value)) => {
            let size: Size = serde_json::from_slice(input).unwrap_or_default();
            let repeated = size.keys != keys(&value);
            assert!(repeated || size.depth > MAX_DEPTH, "{value} was refused as malformed");
        }
        (Err(BodyError::Malformed(_)), None) => {}
    }
}

/// Counts the distinct keys of all objects in a value.
fn keys(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.values().map(keys).sum::<usize>().saturating_add(fields.len()),
        Value::Array(items) => items.iter().map(keys).sum(),
        _ => 0,
    }
}

/// The number of keys in a text, including repeated ones, and the levels of objects and lists below the
/// first.
#[derive(Default)]
struct Size {
    keys: usize,
    depth: usize,
}

impl Size {
    fn add(&mut self, below: &Self) {
        self.keys = self.keys.saturating_add(below.keys);
        self.depth = self.depth.max(below.depth.saturating_add(1));
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Measure)
    }
}

struct Measure;

impl<'de> Visitor<'de> for Measure {
    type Value = Size;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Size, A::Error> {
        let mut size = Size::default();
        while let Some((_, below)) = map.next_entry::<String, Size>()? {
            size.keys = size.keys.saturating_add(1);
            size.add(&below);
        }
        Ok(size)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Size, A::Error> {
        let mut size = Size::default();
        while let Some(below) = list.next_element::<Size>()? {
            size.add(&below);
        }
        Ok(size)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Size, E> {
        Ok(Size::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Size, E> {
        Ok(Size::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Size, E> {
        Ok(Size::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Size, E> {
        Ok(Size::default())
    }

    fn visit_str<E>(self, _: &str) -> Result<Size, E> {
        Ok(Size::default())
    }

    fn visit_unit<E>(self) -> Result<Size, E> {
        Ok(Size::default())
    }
}
