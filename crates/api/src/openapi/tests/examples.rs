//! Examples of the document, checked against its schemas.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::{SIGNATURE, schemas};
use super::{json as document, operations, resolved};

/// Whether an example has exactly the keys of its schema, and values that the schema permits.
fn check_example(document: &Value, place: &str, schema: &Value, example: &Value) {
    let schema = resolved(document, schema);
    if let Some(cases) = schema["oneOf"].as_array() {
        if example.is_null() {
            return assert!(cases.contains(&json!({ "type": "null" })), "{place}");
        }
        return check_example(document, place, &cases[0], example);
    }
    if schema["allOf"].is_array() || schema["properties"].is_object() {
        let properties = properties(document, schema);
        let keys: BTreeSet<_> = example.as_object().unwrap_or_else(|| panic!("{place}")).keys().collect();
        assert_eq!(keys, properties.keys().collect(), "{place}");
        for (key, property) in &properties {
            check_example(document, &format!("{place}.{key}"), property, &example[key]);
        }
        return;
    }
    if let Some(names) = schema["enum"].as_array() {
        return assert!(names.contains(example), "{place}: {example}");
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let fits = types.iter().any(|of_type| match *of_type {
        "string" => example.is_string(),
        "integer" => example.is_i64(),
        "number" => example.is_number(),
        "boolean" => example.is_boolean(),
        "array" => example.is_array(),
        "object" => example.is_object(),
        "null" => example.is_null() && schema.get("example").is_some(),
        other => panic!("{place}: {other}"),
    });
    assert!(fits, "{place}: {example} is none of {types:?}");
    for item in example.as_array().into_iter().flatten() {
        check_example(document, &format!("{place}[]"), &schema["items"], item);
    }
}

/// The properties of an object, or of all parts of a flattened one.
fn properties(document: &Value, schema: &Value) -> Map<String, Value> {
    let schema = resolved(document, schema);
    let parts = schema["allOf"].as_array().into_iter().flatten();
    let parts = parts.flat_map(|part| properties(document, part));
    parts.chain(schema["properties"].as_object().cloned().unwrap_or_default()).collect()
}

#[test]
fn every_successful_answer_has_an_example_that_fits_its_schema() {
    let document = document();
    let mut checked = 0;
    for (method, path, operation) in operations(&document) {
        for (status, answer) in operation["responses"].as_object().unwrap() {
            let content = &answer["content"]["application/json"];
            if status.starts_with('2') && content.is_object() {
                let example = content.get("example").unwrap_or_else(|| panic!("{method} {path}"));
                check_example(&document, &format!("{method} {path}"), &content["schema"], example);
                checked += 1;
            }
        }
    }
    assert!(checked > 90, "{checked}");
}

#[test]
fn webhooks_and_stream_events_have_examples() {
    let document = document();
    let webhook = |name: &str| document["webhooks"][name]["post"].clone();
    for (name, schema) in [
        ("event", "Event"),
        ("operatorEvent", "OperatorEvent"),
        ("webhookTest", "WebhookTest"),
        ("paymentRequest", "PaymentRequest"),
        ("payoutOrder", "PayoutOrder"),
    ] {
        let operation = webhook(name);
        let content = &operation["requestBody"]["content"]["application/json"];
        assert_eq!(content["schema"]["$ref"], format!("#/components/schemas/{schema}"), "{name}");
        check_example(&document, name, &content["schema"], &content["example"]);
        let headers: BTreeSet<_> = operation["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["name"].as_str().unwrap())
            .collect();
        assert!(headers.is_superset(&["webhook-id", "webhook-timestamp"].into()), "{name}: {headers:?}");
        assert_eq!(operation["security"][0][SIGNATURE], json!([]), "{name}");
    }
    let stream = &document["paths"]["/api/v1/events/stream"]["get"]["responses"]["200"];
    let content = &stream["content"]["text/event-stream"];
    let data = &content["schema"]["contentSchema"]["items"]["properties"]["data"]["contentSchema"]["$ref"];
    assert_eq!(data, "#/components/schemas/Event");
    let example = content["example"].as_str().unwrap();
    assert!(
        example.starts_with("id: ") && example.contains("\nevent: ") && example.ends_with("\n\n"),
        "{example}"
    );
}

#[test]
fn every_text_and_number_in_answers_has_an_example() {
    fn check(place: &str, property: &Value, missing: &mut Vec<String>) {
        let types = property["type"].to_string();
        let is_plain = ["string", "number", "integer"].iter().any(|plain| types.contains(plain));
        if is_plain && property["enum"].is_null() && property.get("example").is_none() {
            missing.push(place.to_owned());
        }
        for (key, property) in property["properties"].as_object().into_iter().flatten() {
            check(&format!("{place}.{key}"), property, missing);
        }
        for part in property["allOf"].as_array().into_iter().flatten() {
            check(place, part, missing);
        }
    }
    let (sent, document) = (schemas::sent(&crate::operations::all()), document());
    let mut missing = Vec::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        if !sent.contains(name) {
            check(name, schema, &mut missing);
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}
