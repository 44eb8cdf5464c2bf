//! Fields of an object that a body names although they cannot be set.
//!
//! The known fields of an object are the keys of its view in the answer, so that each is declared once.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use cuepoint_domain::money::Currency;
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::openapi::{RefOr, Schema};

use crate::wire::validation_texts::{self, Errors};
use cuepoint_views::wire::json::Object;
use cuepoint_views::wire::schema::{Described, Schemas};

/// More decimals than any currency has.
const MAX_SCALE: u8 = 8;

/// The fields of the object in an answer that its body cannot set, derived once.
#[derive(Default)]
pub struct ReadOnlyFields(OnceCell<Rc<[String]>>);

impl ReadOnlyFields {
    /// The fields.
    #[must_use]
    pub fn get_or_derive(&self, derive: impl FnOnce() -> Vec<String>) -> Rc<[String]> {
        Rc::clone(self.0.get_or_init(|| derive().into()))
    }
}

/// The keys of the data of this answer, and of the objects in it, that are not properties of this body.
#[must_use]
pub fn derived(body: &Described, answer: &Described) -> Vec<String> {
    let mut schemas = Schemas::new();
    body.collect(&mut schemas);
    answer.collect(&mut schemas);
    let shown = properties(&schemas, &answer.schema());
    let shown = shown.get("data").map(|data| properties(&schemas, data)).unwrap_or_default();
    let inner = shown.values().flat_map(|object| properties(&schemas, object).into_keys());
    let names = inner.chain(shown.keys().cloned());
    let settable = properties(&schemas, &body.schema());
    let mut names: Vec<String> = names.filter(|name| !settable.contains_key(name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The properties of an object, or of all parts of a flattened one.
fn properties(schemas: &Schemas, schema: &RefOr<Schema>) -> BTreeMap<String, RefOr<Schema>> {
    match schema {
        RefOr::Ref(reference) => {
            let name = reference.ref_location.rsplit('/').next().unwrap_or_default();
            schemas.get(name).map(|found| properties(schemas, found)).unwrap_or_default()
        }
        RefOr::T(Schema::Object(object)) => object.properties.clone(),
        RefOr::T(Schema::AllOf(parts)) => {
            parts.items.iter().flat_map(|part| properties(schemas, part)).collect()
        }
        RefOr::T(_) => BTreeMap::new(),
    }
}

/// The refusals of read-only fields whose value differs from the present one. `present` is the data of an answer
/// with the object; a new object has only null values.
#[must_use]
pub fn refusals(fields: &[String], body: &Object, present: Option<&Value>) -> Errors {
    let mut errors = Errors::default();
    for name in fields {
        if let Some(given) = body.get(name)
            && !is_present(given, present.and_then(|data| value(data, name)).unwrap_or(&Value::Null))
        {
            errors.add(name.clone(), validation_texts::prohibited(name));
        }
    }
    errors
}

/// The value of a field in the data of an answer, or in an object there.
fn value<'v>(data: &'v Value, name: &str) -> Option<&'v Value> {
    let objects = || data.as_object().into_iter().flat_map(|object| object.values());
    data.get(name).or_else(|| objects().find_map(|object| object.get(name)))
}

/// Whether a value is the present one; numbers are compared by their exact decimal values.
fn is_present(given: &RawValue, present: &Value) -> bool {
    let exact = |text: &str| Currency::new("USD", MAX_SCALE).and_then(|scale| scale.parse(text).ok());
    match (serde_json::from_str::<Value>(given.get()), present) {
        (Ok(Value::Number(_)), Value::Number(present)) => {
            let (given, present) = (given.get(), present.to_string());
            given == present || exact(given).is_some_and(|sum| exact(&present) == Some(sum))
        }
        (Ok(given), present) => given == *present,
        (Err(_), _) => false,
    }
}
