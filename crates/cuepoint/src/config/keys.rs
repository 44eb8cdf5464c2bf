//! The keys of the configuration, derived from the structs that it is deserialized into.

use std::iter;

use serde::de::value::MapDeserializer;
use serde::de::{self, DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// A configuration key and whether its value is secret.
pub(super) struct ConfigKey {
    /// The dotted path, such as `server.port`.
    pub(super) name: String,
    /// Whether the field is a [`Secret`](super::values::Secret).
    pub(super) secret: bool,
}

/// Returns the keys of a tree of structs, in field order.
pub(super) fn keys_of<T: DeserializeOwned>() -> Vec<ConfigKey> {
    let mut keys = Vec::new();
    collect::<T>(&mut Vec::new(), &mut keys);
    keys
}

fn collect<T: DeserializeOwned>(path: &mut Vec<&'static str>, keys: &mut Vec<ConfigKey>) {
    let shape = T::deserialize(Probe(path)).err().unwrap_or(Shape::Value);
    if let Shape::Section(fields) = shape {
        for field in fields {
            path.push(field);
            collect::<T>(path, keys);
            path.pop();
        }
    } else {
        keys.push(ConfigKey { name: path.join("."), secret: matches!(shape, Shape::Secret) });
    }
}

/// The shape that a type expects, reported as the error of a deserializer.
#[derive(Debug, thiserror::Error)]
#[error("{self:?}")]
pub(super) enum Shape {
    /// A struct with the given fields.
    Section(&'static [&'static str]),
    /// An enum with the given variant names.
    Choice(&'static [&'static str]),
    /// Any other value.
    Value,
    /// A secret value, which is never shown.
    Secret,
}

impl de::Error for Shape {
    fn custom<T: std::fmt::Display>(_: T) -> Self {
        Self::Value
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::Choice(expected)
    }
}

/// A deserializer without input. It follows the fields of its path and fails with the shape found there.
struct Probe<'p>(&'p [&'static str]);

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Shape;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Shape> {
        Err(Shape::Value)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Shape> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: V,
    ) -> Result<V::Value, Shape> {
        // The name that serde derives for `values::Secret`.
        Err(if name == "Secret" { Shape::Secret } else { Shape::Value })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Shape> {
        match self.0.split_first() {
            None => Err(Shape::Section(fields)),
            Some((field, rest)) => visitor.visit_map(MapDeserializer::new(iter::once((*field, Probe(rest))))),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map enum identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Shape> for Probe<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}
