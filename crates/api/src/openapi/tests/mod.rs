//! Properties of the whole document.

mod examples;

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::declaration::Declaration;
use crate::endpoint::Body;

/// Methods and paths.
type Operations = BTreeSet<(String, String)>;

fn json() -> Value {
    serde_json::to_value(document()).unwrap()
}

fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths
        .flat_map(|(path, item)| {
            let methods = item.as_object().unwrap().iter();
            methods.map(|(method, operation)| (method.to_uppercase(), path.clone(), operation.clone()))
        })
        .collect()
}

/// A value, or the component to which it refers.
fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => value,
    }
}

fn declared() -> Operations {
    let all = crate::operations::all().into_iter();
    all.map(|operation| (operation.method.to_string(), operation.path.to_owned())).collect()
}

#[test]
fn the_document_lists_every_route() {
    let described: Operations =
        operations(&json()).into_iter().map(|(method, path, _)| (method, path)).collect();
    assert_eq!(described, declared());
}

/// The keys of an object in the description of a fixed operation in `docs/api.md`.
fn written_keys(operation: &str) -> BTreeSet<String> {
    let document = include_str!("../../../../../docs/api.md");
    let (_, description) = document.split_once(&format!("**`{operation}`**")).unwrap();
    let (description, _) = description.split_once("\n\n").unwrap();
    let words = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, list) = words.split_once("the keys ").unwrap();
    list.split('.').next().unwrap().split(',').map(|key| key.trim().to_owned()).collect()
}

#[test]
fn answers_of_fixed_operations_have_the_documented_json_keys() {
    let document = json();
    for (method, path, status, pointer) in [
        ("POST", "/withdrawal/crypto", "201", "/data/withdrawal_request"),
        ("GET", "/user/personal-info", "200", "/data/user"),
        ("PATCH", "/music/requests-update/{id}", "200", "/data"),
    ] {
        let operation = &document["paths"][format!("/api/v1{path}")][method.to_lowercase()];
        let answer = resolved(&document, &operation["responses"][status]);
        let envelope = &answer["content"]["application/json"]["schema"];
        let object = pointer.split('/').skip(1).fold(resolved(&document, envelope), |object, key| {
            resolved(&document, &object["properties"][key])
        });
        let keys: BTreeSet<String> = object["properties"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(written_keys(&format!("{method} {path}")), keys, "{method} {path}");
    }
}

#[test]
fn routes_and_operation_ids_are_unique() {
    let all = crate::operations::all();
    assert_eq!(declared().len(), all.len());
    let ids: BTreeSet<_> = all.iter().map(|operation| operation.id).collect();
    assert_eq!(ids.len(), all.len());
}

#[test]
fn every_operation_documents_its_request_and_responses() {
    let document = json();
    for declaration in crate::operations::all() {
        let method = declaration.method.as_str().to_lowercase();
        let operation = &document["paths"][declaration.path][method];
        let name = format!("{} {}", declaration.method, declaration.path);
        let answers = operation["responses"].as_object().unwrap();
        let successes = 1 + usize::from(declaration.answers.or_no_content.is_some());
        assert_eq!(answers.keys().filter(|status| status.starts_with('2')).count(), successes, "{name}");
        for code in common::failures(&declaration) {
            let answer = resolved(&document, &answers[code.status().as_str()]);
            let example = &answer["content"]["application/json"]["examples"][code.name()];
            assert_eq!(resolved(&document, example)["value"]["code"], code.name(), "{name}");
        }
        let schemes = operation["security"].as_array().unwrap();
        let is_public = schemes.is_empty() || schemes.contains(&serde_json::json!({}));
        assert_eq!(is_public, declaration.run.is_open(), "{name}");
        let takes_body = declaration.body.takes != Body::None;
        assert_eq!(operation["requestBody"].is_object(), takes_body, "{name}");
    }
}

/// The rule of `docs/api.md`, "Answers", because a fixed operation returns a music request in this form.
#[test]
fn only_music_requests_and_withdrawals_are_placed_directly_in_data() {
    let document = json();
    let schema = |schema: &Value| resolved(&document, schema).clone();
    for (method, path, operation) in operations(&document) {
        for (status, answer) in operation["responses"].as_object().unwrap() {
            let envelope = schema(&resolved(&document, answer)["content"]["application/json"]["schema"]);
            let data = &envelope["properties"]["data"];
            if status.starts_with('2') && schema(data)["properties"]["id"].is_object() {
                let name = data["$ref"].as_str().unwrap_or_default().rsplit('/').next();
                let is_bare = ["MusicRequest", "Withdrawal", "OperatorWithdrawal"].contains(&name.unwrap());
                assert!(is_bare, "{method} {path}: {data}");
            }
        }
    }
}

#[test]
fn only_plain_operations_are_outside_the_base_path() {
    for Declaration { method, path, run, body, .. } in crate::operations::all() {
        let fits = if run.is_plain() { !path.starts_with("/api/") } else { path.starts_with("/api/v1/") };
        assert!(fits && (body.takes == Body::None) == body.schema.is_none(), "{method} {path}");
    }
}

#[test]
fn summaries_are_short_and_descriptions_are_sentences() {
    for operation in crate::operations::all() {
        let summary = operation.summary();
        let is_short = (5..=50).contains(&summary.len()) && !summary.ends_with('.');
        assert!(is_short && summary.starts_with(char::is_uppercase), "{summary}");
        let description = operation.description().unwrap_or_default();
        assert!(description.len() > 20, "{summary} has no description");
        let end = description.rsplit('\n').next().unwrap_or_default();
        assert!(end.ends_with('.') || end.ends_with('|'), "{summary}: {description}");
    }
}

/// The rules of redocly's recommended set that span more than one place of the document.
#[test]
fn the_document_follows_the_linter_rules_that_span_several_places() {
    let document = json();
    let text = document.to_string();
    let uses = |kind: &str, name: &str| text.matches(&format!("\"#/components/{kind}/{name}\"")).count();
    for (kind, components) in document["components"].as_object().unwrap() {
        for name in components.as_object().unwrap().keys().filter(|_| kind != "securitySchemes") {
            assert!(uses(kind, name) > 0, "{kind}/{name} is unused");
        }
    }
    assert_eq!(document["info"]["license"]["identifier"], LICENCE);
    assert!(document["servers"].as_array().is_some_and(|servers| servers.len() == 1));
    assert!(document["tags"].as_array().unwrap().iter().all(|tag| tag["description"].is_string()));
    for (method, path, operation) in operations(&document) {
        let answers = operation["responses"].as_object().unwrap();
        assert!(answers.keys().any(|status| status.starts_with('4')), "{method} {path}");
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let in_path = parameters.map(|it| resolved(&document, it)).filter(|it| it["in"] == "path");
        assert_eq!(in_path.count(), path.matches('{').count(), "{method} {path}");
    }
}

#[test]
fn the_document_has_at_most_615_kilobytes() {
    let size = document().to_json().unwrap().len();
    assert!(size <= 615_000, "{size} bytes");
}

#[test]
fn a_tag_has_at_most_fifteen_operations() {
    let mut counts = std::collections::BTreeMap::new();
    for operation in crate::operations::all() {
        *counts.entry(operation.tag.name()).or_insert(0) += 1;
    }
    assert!(counts.values().all(|count| *count <= 15), "{counts:?}");
}

#[test]
fn each_value_of_an_enumeration_has_a_meaning() {
    let document = json();
    let mut explained = 0;
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let description = schema["description"].as_str().unwrap_or_default();
        // An enumeration within a property would have no place for meanings.
        assert!(!schema["properties"].to_string().contains("\"enum\":"), "{name}");
        for value in schema["enum"].as_array().into_iter().flatten() {
            let start = format!("- `{}`: ", value.as_str().unwrap());
            let meaning = description.lines().find_map(|line| line.strip_prefix(&start));
            assert!(
                meaning.is_some_and(|it| it.len() > 3 && it.ends_with('.')),
                "{name}: {start}{meaning:?}"
            );
            explained += 1;
        }
    }
    assert!(explained > 200, "{explained}");
}

#[test]
fn response_keys_are_required_except_for_the_listed_ones() {
    fn check(place: &str, schema: &Value) {
        if let Some(properties) = schema["properties"].as_object() {
            let required: BTreeSet<_> =
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let keys: BTreeSet<_> = properties.keys().map(String::as_str).collect();
            let optional: Vec<_> = keys.difference(&required).copied().collect();
            let expected: &[&str] = match place {
                "Failure" => {
                    &["allowed", "continue_after", "current", "details", "errors", "gig", "oldest", "owed"]
                }
                "PayoutOrder" => &["reference"],
                _ => &[],
            };
            assert_eq!(optional, expected, "{place}");
            properties.iter().for_each(|(key, property)| check(&format!("{place}.{key}"), property));
        }
        if schema["items"].is_object() {
            check(&format!("{place}[]"), &schema["items"]);
        }
        schema["allOf"].as_array().into_iter().flatten().for_each(|part| check(place, part));
    }
    let (sent, document) = (schemas::sent(&crate::operations::all()), json());
    assert!(sent.contains("NewWithdrawal") && !sent.contains("User"), "{sent:?}");
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        if !sent.contains(name) {
            check(name, schema);
        }
    }
}

#[test]
fn only_coordinates_and_radii_are_doubles_and_statuses_are_enumerated() {
    fn check(document: &Value, place: &str, schema: &Value) {
        let Some(properties) = schema["properties"].as_object() else { return };
        for (key, property) in properties {
            let place = format!("{place}.{key}");
            let measured = matches!(key.as_str(), "latitude" | "longitude" | "radius" | "distance_km");
            assert_eq!(property["format"] == "double", measured, "{place}");
            let listed =
                matches!(key.as_str(), "status" | "code" | "kind" | "artist_type" | "token_type" | "type");
            // The codes that people type are not the code of a failure, and a status of HTTP is a number.
            let others = [
                "FirstOperator.code",
                "VerificationCode.code",
                "GigDetails.code",
                "GigRecord.code",
                "Board.code",
                "NearbyBoard.code",
                "WebhookAttempt.status",
            ];
            if listed && !others.contains(&place.as_str()) {
                let reference = property["$ref"].as_str().unwrap_or_else(|| panic!("{place}: {property}"));
                let names = document.pointer(&format!("{}/enum", reference.trim_start_matches('#')));
                assert!(names.is_some_and(Value::is_array), "{place}: {reference}");
            }
            check(document, &place, property);
        }
    }
    let document = json();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        check(&document, name, schema);
    }
}

#[test]
fn every_reference_in_the_document_resolves() {
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    match value {
                        Value::String(target) if key == "$ref" => drop(found.insert(target.clone())),
                        _ => references(value, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }
    let document = json();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 10);
    for reference in found {
        let pointer = reference.trim_start_matches('#');
        assert!(document.pointer(pointer).is_some(), "{reference}");
    }
}
