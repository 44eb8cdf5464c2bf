//! What all schemas have in common, once each part has described its own.

use std::collections::{BTreeMap, BTreeSet};

use cuepoint_domain::text::MAX_CHARACTERS;
use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::ArrayItems;
use utoipa::openapi::{OpenApi, Ref, RefOr, Schema};

/// What only some answers have, as its own schema says.
const WITH_OPTIONAL_KEYS: &str = "Failure";

/// A line of text that says something: no control characters, and not blanks alone.
const LINE: &str =
    r"^[^\u0000-\u001F\u007F-\u009F]*[^\s\u0000-\u001F\u007F-\u009F][^\u0000-\u001F\u007F-\u009F]*$";

type Schemas = BTreeMap<String, RefOr<Schema>>;

/// Requires every key of an answer, since answers have them all, and names what would stand there twice.
pub(super) fn complete(document: &mut OpenApi) {
    let sent = sent(document);
    let Some(components) = document.components.as_mut() else { return };
    let described: Schemas =
        components.schemas.iter().map(|(name, schema)| (name.clone(), schema.clone())).collect();
    for (name, schema) in &mut components.schemas {
        if let RefOr::T(schema) = schema {
            let answered = !sent.contains(name) && name != WITH_OPTIONAL_KEYS;
            complete_schema(schema, &described, answered);
        }
    }
}

/// The names of the bodies that calls send, and of their parts.
pub(super) fn sent(document: &OpenApi) -> BTreeSet<String> {
    let items = document.paths.paths.values();
    let operations =
        items.flat_map(|item| [&item.get, &item.post, &item.put, &item.patch, &item.delete]).flatten();
    let bodies: BTreeSet<&str> = operations.filter_map(body_name).collect();
    let schemas = document.components.iter().flat_map(|components| &components.schemas);
    let objects = schemas.filter_map(|(name, schema)| match schema {
        RefOr::T(Schema::Object(object)) if bodies.contains(name.as_str()) => Some(object),
        _ => None,
    });
    let parts = objects.flat_map(|object| object.properties.values()).filter_map(referred);
    parts.chain(bodies.iter().copied()).map(str::to_owned).collect()
}

/// The name of the body that an operation takes.
pub(super) fn body_name(operation: &Operation) -> Option<&str> {
    let Some(RefOr::T(body)) = &operation.request_body else { return None };
    let Some(RefOr::T(content)) = body.content.values().next() else { return None };
    content.schema.as_ref().and_then(referred)
}

/// The name of the schema that is meant, where it has one.
fn referred(schema: &RefOr<Schema>) -> Option<&str> {
    let RefOr::Ref(reference) = schema else { return None };
    reference.ref_location.rsplit('/').next()
}

fn complete_schema(schema: &mut Schema, described: &Schemas, answered: bool) {
    match schema {
        Schema::Object(object) => {
            if answered {
                object.required = object.properties.keys().cloned().collect();
            } else if object.max_length == Some(MAX_CHARACTERS) && object.format.is_none() {
                object.pattern = Some(LINE.to_owned());
            }
            for property in object.properties.values_mut() {
                complete_part(property, described, answered);
            }
        }
        Schema::Array(array) => {
            if let ArrayItems::RefOrSchema(items) = &mut array.items {
                complete_part(items, described, answered);
            }
        }
        _ => {}
    }
}

fn complete_part(part: &mut RefOr<Schema>, described: &Schemas, answered: bool) {
    if let Some((name, _)) = described.iter().find(|(_, schema)| *schema == part) {
        *part = RefOr::Ref(Ref::from_schema_name(name));
    } else if let RefOr::T(schema) = part {
        complete_schema(schema, described, answered);
    }
}
