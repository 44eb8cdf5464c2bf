//! Raw bodies: JSON objects whose numbers stay text, read strictly and in bounded time.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The maximum nesting depth of values.
const MAX_DEPTH: usize = 32;

/// The reason for rejecting a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BodyError {
    /// Not valid JSON, for this reason.
    Malformed(&'static str),
    /// JSON, but not an object.
    NotAnObject,
}

/// The keys of an object, each once, with the text of their values, which may be a password and is redacted
/// in `Debug`.
#[derive(Clone, Default)]
pub struct Object(Vec<(String, Box<RawValue>)>);

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(key, _)| key)).finish()
    }
}

impl Object {
    /// Parses the body as an object.
    ///
    /// # Errors
    /// [`BodyError`]; a repeated key, at any depth, is as malformed as a missing bracket.
    pub fn parse(body: &[u8]) -> Result<Self, BodyError> {
        let text = std::str::from_utf8(body).map_err(|_| BodyError::Malformed("The body is not UTF-8."))?;
        let Ok(Pairs(pairs)) = serde_json::from_str(text) else { return Err(refusal(text)) };
        judge(text).map_err(BodyError::Malformed)?;
        Ok(Self(pairs.into_iter().map(|(key, value)| (key, value.to_owned())).collect()))
    }

    /// The text of a key's value; `None` without the key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| &**value)
    }
}

/// The reason for rejecting a text that has no pairs.
fn refusal(text: &str) -> BodyError {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(value) => judge(value.get()).err().map_or(BodyError::NotAnObject, BodyError::Malformed),
        Err(_) => BodyError::Malformed("The body is not valid JSON."),
    }
}

/// The pairs of one object, borrowed from its text.
struct Pairs<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Collect)
    }
}

/// Rejects, in one pass, what the scanner of raw values accepts: repeated keys, invalid Unicode, and
/// excessive depth.
fn judge(json: &str) -> Result<(), &'static str> {
    // The keys so far of each open object; an array has none.
    let mut open: Vec<BTreeSet<Cow<'_, [u8]>>> = Vec::new();
    let mut rest = json.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        match first {
            b'"' => {
                let (text, after) = string(rest).ok_or("The body has text that is no Unicode.")?;
                let is_key = after.trim_ascii_start().starts_with(b":");
                if is_key && open.last_mut().is_some_and(|keys| !keys.insert(text)) {
                    return Err("The body gives a key twice.");
                }
                rest = after;
                continue;
            }
            b'{' | b'[' if open.len() > MAX_DEPTH => return Err("The body is nested too deeply."),
            b'{' | b'[' => open.push(BTreeSet::new()),
            b'}' | b']' => drop(open.pop()),
            _ => {}
        }
        rest = after;
    }
    Ok(())
}

/// Splits valid JSON after the string at its start. `None` unless its text is Unicode, as it is without escapes.
fn string(json: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let (mut bytes, mut is_escaped) = (json.iter().enumerate().skip(1), false);
    let end = loop {
        match bytes.next()? {
            (_, b'\\') => {
                is_escaped = true;
                bytes.next();
            }
            (end, b'"') => break end,
            _ => {}
        }
    };
    let (text, after) = (json.get(1..end)?, json.get(end..)?.strip_prefix(b"\"")?);
    if is_escaped {
        let text: String = serde_json::from_slice(json.get(..=end)?).ok()?;
        Some((Cow::Owned(text.into_bytes()), after))
    } else {
        Some((Cow::Borrowed(text), after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn malformed(body: &[u8]) -> bool {
        matches!(Object::parse(body), Err(BodyError::Malformed(_)))
    }

    #[test]
    fn numbers_are_kept_as_text() {
        let object = Object::parse(br#" {"amount": 1e999999999 , "b":0.10} "#).unwrap();
        assert_eq!(object.get("amount").unwrap().get(), "1e999999999");
        assert_eq!(object.get("b").unwrap().get(), "0.10");
        assert!(object.get("c").is_none());
    }

    #[test]
    fn invalid_json_is_refused() {
        for body in [
            &b""[..],
            b"{",
            b"{}x",
            b"{'a':1}",
            b"{\"a\":01}",
            b"{\"a\":1,}",
            b"{\"a\":NaN}",
            b"\xef\xbb\xbf{}",
            b"{\"a\":\"\xff\"}",
            b"{\"a\":\"\\ud800\"}",
            b"{\"\\ud800\":1}",
        ] {
            assert!(malformed(body), "{}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn duplicate_keys_are_refused_at_any_depth_and_in_any_spelling() {
        for body in [
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":2}"#,
            r#"{"x":{"a":1,"a":2}}"#,
            r#"{"x":[0,[{"a":1,"b":{},"a":2}]]}"#,
            r#"[{"a":1,"a":2}]"#,
            r#"{"a" : "}]{[:\\\"" ,"b":["a","a"], "a"	:2}"#,
            r#"{"\\":1,"x":"\"a\":1","\\":2}"#,
        ] {
            assert!(malformed(body.as_bytes()), "{body}");
        }
    }

    #[test]
    fn keys_in_strings_or_other_objects_are_not_duplicates() {
        for body in [
            r#"{"a":"a","b":"\"a\":","c":["a","a"]}"#,
            r#"{"a":{"a":{"a":1},"b":[{"a":1},{"a":2}]},"b":"}"}"#,
            r#"{"a\\":1,"a":2,"a\"":3,"":4,"\\":5}"#,
        ] {
            assert!(Object::parse(body.as_bytes()).is_ok(), "{body}");
        }
    }

    #[test]
    fn json_other_than_an_object_is_refused() {
        for body in ["1", "null", "true", "\"x\"", "[]", "[{}]", "1e999"] {
            assert_eq!(Object::parse(body.as_bytes()).unwrap_err(), BodyError::NotAnObject, "{body}");
        }
    }

    #[test]
    fn nesting_depth_is_limited() {
        let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(Object::parse(nested(32).as_bytes()).is_ok());
        assert!(malformed(nested(33).as_bytes()));
        assert!(malformed(nested(32_000).as_bytes()));
    }
}
