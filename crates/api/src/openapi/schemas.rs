//! Common parts of the schemas of all answers.

#[cfg(test)]
use std::collections::BTreeSet;

use utoipa::openapi::schema::ArrayItems;
use utoipa::openapi::{Ref, RefOr, Schema};

use super::webhooks;
use crate::declaration::Declaration;
use crate::wire::envelope::FailureEnvelope;
use cuepoint_views::wire::schema::{Described, Schemas};

/// The schemas of sent bodies with optional keys, which declare them themselves.
const WITH_OPTIONAL_KEYS: [&str; 2] = ["Failure", "PayoutOrder"];

/// The named schemas of all operations. Every key of an answer is required, since answers always have all
/// keys.
pub(super) fn of(declarations: &[Declaration]) -> Schemas {
    let mut described = Schemas::new();
    Described::named::<FailureEnvelope<'_>>().collect(&mut described);
    for declaration in declarations {
        let answer = declaration.answers.content.map(|(_, schema)| schema);
        let filters = declaration.filters.iter().map(|filter| filter.schema);
        let streamed = declaration.answers.streamed.map(|streamed| streamed.data);
        filters.chain(answer).chain(streamed).for_each(|schema| schema.collect(&mut described));
    }
    webhooks::bodies().for_each(|schema| schema.collect(&mut described));
    let mut schemas = described.clone();
    for (name, schema) in &mut schemas {
        if let RefOr::T(schema) = schema {
            complete(schema, &described, !WITH_OPTIONAL_KEYS.contains(&name.as_str()));
        }
    }
    schemas.extend(sent_schemas(declarations));
    schemas
}

/// The names of bodies that the service receives, and of their parts.
#[cfg(test)]
pub(super) fn sent(declarations: &[Declaration]) -> BTreeSet<String> {
    sent_schemas(declarations).into_keys().collect()
}

fn sent_schemas(declarations: &[Declaration]) -> Schemas {
    let mut sent = Schemas::new();
    let bodies = declarations.iter().filter_map(|it| it.body.schema);
    bodies.chain(webhooks::answers()).for_each(|schema| schema.collect(&mut sent));
    sent
}

fn complete(schema: &mut Schema, described: &Schemas, answered: bool) {
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
        Schema::AllOf(parts) => {
            for part in &mut parts.items {
                complete_part(part, described, answered);
            }
        }
        _ => {}
    }
}

fn complete_part(part: &mut RefOr<Schema>, described: &Schemas, answered: bool) {
    if let Some((name, _)) = described.iter().find(|(_, schema)| *schema == part) {
        *part = RefOr::Ref(Ref::from_schema_name(name));
    } else if let RefOr::T(schema) = part {
        complete(schema, described, answered);
    }
}
