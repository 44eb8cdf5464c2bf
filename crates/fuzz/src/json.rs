//! Bodies: the strict reader agrees with any other reader, and rejects only what it must.

use std::collections::HashSet;
use std::fmt;

use cuepoint_views::wire::json::{BodyError, Object};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The maximum number of objects and lists around a value, including the top-level object.
const MAX_LEVELS: usize = 33;

/// The input is a body.
pub(crate) fn check(input: &[u8]) {
    let json: Option<Json> = serde_json::from_slice(input).ok();
    match (Object::parse(input), json) {
        (Ok(object), Some(json)) => {
            assert!(!json.repeats_a_key(), "a duplicate key was accepted");
            assert!(json.levels() <= MAX_LEVELS, "deep nesting was accepted");
            assert!(matches!(json, Json::Object(_)), "{json:?} is not an object");
            if let Json::Object(Pairs(pairs)) = json {
                for (key, value) in &pairs {
                    let raw = object.get(key).map(|raw| serde_json::from_str(raw.get()));
                    assert!(
                        raw.is_some_and(|raw| raw.is_ok_and(|raw: Json| raw == *value)),
                        "{key:?} differs"
                    );
                }
            }
        }
        // A number outside the range of floats, which the strict reader keeps as text.
        (Ok(_), None) => {}
        (Err(BodyError::NotAnObject), json) => {
            assert!(!matches!(json, Some(Json::Object(_))), "it is an object");
        }
        (Err(BodyError::Malformed(_)), Some(json)) => {
            assert!(json.repeats_a_key() || json.levels() > MAX_LEVELS, "{json:?} was refused as malformed");
        }
        (Err(BodyError::Malformed(_)), None) => {}
    }
}

/// Any JSON value with all pairs of its objects. `serde_json::Value` drops repeated keys, and takes an object
/// with the key of its raw values for the text in it.
#[derive(PartialEq, Debug, Deserialize)]
#[serde(untagged)]
enum Json {
    Null,
    Bool(bool),
    Whole(u64),
    Negative(i64),
    Float(f64),
    Text(String),
    List(Vec<Json>),
    Object(Pairs),
}

impl Json {
    /// The values directly below this one.
    fn below(&self) -> Vec<&Self> {
        match self {
            Self::List(items) => items.iter().collect(),
            Self::Object(Pairs(pairs)) => pairs.iter().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether an object has a key twice, at any depth.
    fn repeats_a_key(&self) -> bool {
        let mut keys = HashSet::new();
        let repeated =
            matches!(self, Self::Object(Pairs(pairs)) if !pairs.iter().all(|(key, _)| keys.insert(key)));
        repeated || self.below().into_iter().any(Self::repeats_a_key)
    }

    /// The maximum number of objects and lists inside each other.
    fn levels(&self) -> usize {
        let below = self.below().into_iter().map(Self::levels).max().unwrap_or(0);
        below.saturating_add(usize::from(matches!(self, Self::List(_) | Self::Object(_))))
    }
}

/// The pairs of an object, also those of a repeated key.
#[derive(PartialEq, Debug)]
struct Pairs(Vec<(String, Json)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Read)
    }
}

struct Read;

impl<'de> Visitor<'de> for Read {
    type Value = Pairs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}
