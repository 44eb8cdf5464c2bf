//! What all schemas have in common, once each part has described its own.

use std::collections::{BTreeMap, BTreeSet};

use utoipa::openapi::path::Operation;
use utoipa::openapi::schema::ArrayItems;
use utoipa::openapi::{OpenApi, Ref, RefOr, Schema};

/// What only some answers have, as its own schema says.
const WITH_OPTIONAL_KEYS: &str = "Failure";

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

/// The names of the bodies that calls send.
pub(super) fn sent(document: &OpenApi) -> BTreeSet<String> {
    let items = document.paths.paths.values();
    let operations = items.flat_map(|item| [&item.get, &item.post, &item.patch]).flatten();
    operations.filter_map(body_name).map(str::to_owned).collect()
}

/// The name of the body that an operation takes.
pub(super) fn body_name(operation: &Operation) -> Option<&str> {
    let Some(RefOr::T(body)) = &operation.request_body else { return None };
    let Some(RefOr::T(content)) = body.content.values().next() else { return None };
    let Some(RefOr::Ref(reference)) = &content.schema else { return None };
    reference.ref_location.rsplit('/').next()
}

fn complete_schema(schema: &mut Schema, described: &Schemas, answered: bool) {
    match schema {
        Schema::Object(object) => {
            if answered {
                object.required = object.properties.keys().cloned().collect();
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
